"""``make painel-carga``: many transitions through the real consumer, with failures, and the figures.

The handler runs in this process against moto (or a running engine, with ``--motor``); the model of AWS's mapping
delivers, four shards interleaved; about one call in a hundred fails, before or after its effect, or kills the process
there. What the mapping discards comes back through the reprocessing code. Exit status 1 if anything is lost, repeated
or out of order.

The rate is of this machine and of a stand-in for DynamoDB: it says what the handler costs here, not what AWS gives.
"""

import argparse
import json
import logging
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

os.environ |= {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "sa-east-1",
    "POWERTOOLS_SERVICE_NAME": "painel",
    "POWERTOOLS_METRICS_NAMESPACE": "Cadencia",
}
os.environ.pop("AWS_ENDPOINT_URL", None)

import boto3
from moto import mock_aws

from comum import aws as comum_aws
from comum.observabilidade import logger, metricas
from painel import consumidor
from painel.alertas import PublicadorAlertas
from painel.gravacao import Gravador
from painel.repositorio import RepositorioPainel
from painel.reprocesso import Faixa, Registro, Reprocessador
from tests.models.fonte_painel import FalhaInjetada, Falhas, criar_tabela_painel, registros_de
from tests.models.mapeamento_streams import Mapeamento, ModeloDoMapeamento, ProcessoMorto, Shard

SHARDS = 4
CAMINHOS = {"PENDENTE": ["SEPARADO", "CANCELADO"], "SEPARADO": ["EM_ENTREGA", "CANCELADO", "PENDENTE"]}


def mudancas(pedidos: int, transicoes: int, sorteio: random.Random) -> list[tuple[str, str]]:
    """``transicoes`` changes of status over ``pedidos`` orders, interleaved; every change is a real one."""
    nomes = [f"P{numero:05d}" for numero in range(pedidos)]
    status = dict.fromkeys(nomes, "PENDENTE")
    feitas = []
    for numero in range(transicoes):
        pedido = nomes[numero % pedidos] if numero < pedidos else sorteio.choice(nomes)
        destinos = CAMINHOS.get(status[pedido], ["SEPARADO", "PENDENTE"])
        status[pedido] = sorteio.choice([destino for destino in destinos if destino != status[pedido]])
        feitas.append((pedido, status[pedido]))
    return feitas


def plano(sorteio: random.Random, taxa: float) -> Iterator[str]:
    """What each call does: nearly always ``ok``."""
    while True:
        falha = sorteio.random() < taxa
        yield sorteio.choice(["antes", "depois", "morte-antes", "morte-depois"]) if falha else "ok"


class Consumo:
    """Write units by DynamoDB's rules: the larger of the item before and after, in KB, and each index it changes."""

    def __init__(self) -> None:
        self.wcu: Counter[str] = Counter()
        self.maior_item = 0

    def medir(self, nome: str, argumentos: dict[str, Any]) -> None:
        """Account for one write."""
        if nome == "put_item":
            item = argumentos["Item"]
            bytes_ = sum(len(chave) + len(next(iter(valor.values()))) for chave, valor in item.items())
            self.maior_item = max(self.maior_item, bytes_)
            self.wcu["TRANSICAO"] += -(-bytes_ // 1024)
            self.wcu["índice de reposição"] += "GSI2PK" in item
        elif "publicadoEm" in argumentos["UpdateExpression"]:
            self.wcu["alerta PUBLICADO (item e índice)"] += 2
        else:
            self.wcu["ATUAL"] += 1
            # The index key changes with every write: the old entry is deleted and a new one is put.
            self.wcu["índice por loja"] += 2


class FalhasMedidas(Falhas):
    """Failures by plan, and the write units of what was called."""

    consumo: Consumo

    def chamar(self, nome: str, funcao: Any, argumentos: dict[str, Any]) -> Any:
        if nome != "publish":
            self.consumo.medir(nome, argumentos)
        return super().chamar(nome, funcao, argumentos)


class _Stream:
    def __init__(self, shards: Sequence[Shard]) -> None:
        self._registros = {shard.id: shard.registros for shard in shards}

    def ler(self, faixa: Faixa) -> Iterator[Registro]:
        for registro in self._registros[faixa.shard]:
            if int(faixa.primeira) <= int(registro["dynamodb"]["SequenceNumber"]) <= int(faixa.ultima):
                yield registro


def rodar(pedidos: int, transicoes: int, taxa: float, semente: int) -> dict[str, Any]:
    """Push the load through and compare; returns the figures."""
    sorteio = random.Random(semente)
    feitas = mudancas(pedidos, transicoes, sorteio)
    registros = registros_de(feitas)
    shards = [Shard(f"shardId-{n}", []) for n in range(SHARDS)]
    for registro in registros:
        shards[int(registro["dynamodb"]["Keys"]["PK"]["S"][-1]) % SHARDS].registros.append(registro)
    falhas = FalhasMedidas(plano(sorteio, taxa))
    falhas.consumo = Consumo()
    comum_aws.cliente = falhas.fabrica(comum_aws.cliente)
    modelo = ModeloDoMapeamento(
        Mapeamento(), lambda evento: consumidor.handler(evento, None), escolher=sorteio.randrange
    )
    comeco = time.perf_counter()
    resultado = modelo.executar(shards)
    segundos = time.perf_counter() - comeco
    reprocessadas = _reprocessar(shards, resultado.mensagens, falhas)
    return {
        **_comparar(registros, falhas),
        "segundos": segundos,
        "registrosPorSegundo": transicoes / segundos,
        "entregues": sum(resultado.invocacoes),
        "invocacoes": len(resultado.invocacoes),
        "mensagensReprocessadas": reprocessadas,
        "falhasInjetadas": falhas.injetadas,
        "wcu": dict(falhas.consumo.wcu),
        "maiorItemBytes": falhas.consumo.maior_item,
    }


def _reprocessar(shards: Sequence[Shard], mensagens: list[dict[str, Any]], falhas: Falhas) -> int:
    gravador = Gravador(
        RepositorioPainel(comum_aws.dynamodb(), os.environ["TABELA_PAINEL"]),
        PublicadorAlertas(comum_aws.cliente("sns"), os.environ["ARN_TOPICO_REPOSICAO"]),
    )
    reprocessador = Reprocessador(gravador, _Stream(shards), lambda _: [])
    pendentes = [json.dumps(mensagem) for mensagem in mensagens]
    while pendentes:
        try:
            if reprocessador.reprocessar(pendentes[0]).desfecho == "reprocessada":
                pendentes.pop(0)
        except (FalhaInjetada, ProcessoMorto):
            pass  # the message stays where it was
    return len(mensagens)


def _comparar(registros: Sequence[dict[str, Any]], falhas: Falhas) -> dict[str, Any]:
    feitas: dict[str, list[tuple[str, str]]] = {}
    esperados = set()
    for registro in registros:
        mudanca = registro["dynamodb"]
        pedido = mudanca["Keys"]["PK"]["S"].removeprefix("PEDIDO#")
        de, para = mudanca["OldImage"]["status"]["S"], mudanca["NewImage"]["status"]["S"]
        feitas.setdefault(pedido, []).append((de, para))
        if (de, para) == ("SEPARADO", "CANCELADO"):
            esperados.add(f"{pedido}#{mudanca['SequenceNumber'].zfill(40)}")
    escritas: dict[str, list[tuple[str, str]]] = {}
    atuais: dict[str, str] = {}
    paginas = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=os.environ["TABELA_PAINEL"])
    itens = sorted((i for p in paginas for i in p["Items"]), key=lambda i: (i["PK"]["S"], i["SK"]["S"]))
    for item in itens:
        if "pedidoId" not in item:
            continue  # what is of no order
        pedido = item["pedidoId"]["S"]
        if item["SK"]["S"] == "ATUAL":
            atuais[pedido] = item["status"]["S"]
        else:
            escritas.setdefault(pedido, []).append((item["de"]["S"], item["para"]["S"]))
    publicados = Counter(falhas.publicados)
    total_feitas, total_escritas = (sum(map(len, grupo.values())) for grupo in (feitas, escritas))
    return {
        "transicoes": total_feitas,
        "pedidos": len(feitas),
        "gravadas": total_escritas,
        "perdidas": sum(max(0, len(lista) - len(escritas.get(p, []))) for p, lista in feitas.items()),
        "repetidas": sum(max(0, len(lista) - len(feitas.get(p, []))) for p, lista in escritas.items()),
        "pedidosForaDeOrdem": sum(escritas.get(p) != lista for p, lista in feitas.items()),
        "atualErrado": sum(atuais.get(p) != lista[-1][1] for p, lista in feitas.items()),
        "alertasEsperados": len(esperados),
        "alertasPerdidos": len(esperados - set(publicados)),
        "alertasIndevidos": len(set(publicados) - esperados),
        "alertasRepetidos": sum(publicados.values()) - len(publicados),
        "janelasDeRepeticao": len(falhas.janelas),
    }


@contextmanager
def _onde(motor: str | None) -> Iterator[None]:
    """A table and a topic of their own, in moto or on a running engine, and gone afterwards."""
    os.environ["TABELA_PAINEL"] = f"painel-carga-{os.getpid()}"
    with nullcontext() if motor else mock_aws():
        if motor:
            os.environ |= {"AWS_ENDPOINT_URL": motor, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        criar_tabela_painel(os.environ["TABELA_PAINEL"])
        topico = boto3.client("sns").create_topic(Name=os.environ["TABELA_PAINEL"])["TopicArn"]
        os.environ["ARN_TOPICO_REPOSICAO"] = topico
        try:
            yield
        finally:
            boto3.client("sns").delete_topic(TopicArn=topico)
            boto3.client("dynamodb").delete_table(TableName=os.environ["TABELA_PAINEL"])


def principal(argumentos: Sequence[str] | None = None) -> int:
    """Print the figures; 1 when something was lost, repeated or out of order."""
    p = argparse.ArgumentParser(prog="make painel-carga")
    p.add_argument("--pedidos", type=int, default=2_000)
    p.add_argument("--transicoes", type=int, default=20_000)
    p.add_argument("--taxa", type=float, default=0.01, help="fração das chamadas que falha (padrão: %(default)s)")
    p.add_argument("--semente", type=int, default=29)
    p.add_argument("--motor", metavar="URL", help="DynamoDB e SNS do motor local, em vez dos simulados neste processo")
    lidos = p.parse_args(argumentos)
    logger.setLevel(logging.CRITICAL)  # each injected failure would be a line
    metricas.add_metric = lambda **_: None  # and each invocation a metric
    with _onde(lidos.motor):
        f = rodar(lidos.pedidos, lidos.transicoes, lidos.taxa, lidos.semente)
    wcu = sum(f["wcu"].values())
    print(
        f"{f['transicoes']} transições em {f['pedidos']} pedidos, {f['falhasInjetadas']} falhas injetadas "
        f"({lidos.taxa:.0%} das chamadas)\n"
        f"  gravadas {f['gravadas']} · perdidas {f['perdidas']} · repetidas {f['repetidas']} · "
        f"pedidos fora de ordem {f['pedidosForaDeOrdem']} · ATUAL errado {f['atualErrado']}\n"
        f"  alertas esperados {f['alertasEsperados']} · perdidos {f['alertasPerdidos']} · indevidos "
        f"{f['alertasIndevidos']} · repetidos {f['alertasRepetidos']} (janela aberta {f['janelasDeRepeticao']} vezes)\n"
        f"  entregues {f['entregues']} em {f['invocacoes']} invocações "
        f"({f['entregues'] / f['transicoes']:.2f} por transição) · "
        f"{f['mensagensReprocessadas']} mensagens reprocessadas\n"
        f"  {f['registrosPorSegundo']:.0f} registros por segundo em {f['segundos']:.1f} s\n"
        f"  {wcu / f['transicoes']:.2f} unidades de escrita por transição (maior item {f['maiorItemBytes']} bytes): "
        + ", ".join(f"{nome} {total / f['transicoes']:.2f}" for nome, total in sorted(f["wcu"].items()))
    )
    erros = ("perdidas", "repetidas", "pedidosForaDeOrdem", "atualErrado", "alertasPerdidos", "alertasIndevidos")
    certo = not any(f[nome] for nome in erros) and f["alertasRepetidos"] <= f["janelasDeRepeticao"]
    print("passou" if certo else "FALHOU")
    return 0 if certo else 1


if __name__ == "__main__":
    sys.exit(principal())
