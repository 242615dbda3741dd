"""``make bench``: how far the system is from a floor that does nothing, each figure as a ratio within one run.

The floor and the system take turns, so that a slow moment of the machine falls on both; medians are compared. Writes
``build/bench.json``, ``docs/bench.md`` and the durations that ``make custo`` prices. Local engine only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import urllib3
from ulid import ULID

from comum.relogio import agora_iso
from engine.build import BuildPlan
from engine.settings import ROOT
from medidas import gateway, importacao, piso
from medidas.pacote import pacote
from medidas.relatorio import METAS, documento
from provas.alvo import Alvo, pasta_construida
from provas.erros import ErroDasProvas
from tests.medidas import dynamodb_local, estoque

DOCUMENTO = ROOT / "docs" / "bench.md"
DURACOES = ROOT / "medidas" / "duracoes.json"
CONTAGENS = ROOT / "medidas" / "contagens.json"
SKU = "BENCH-1"
CONCORRENCIAS = (1, 8, 32)


class BenchError(ErroDasProvas):
    """The bench cannot run; the message is Portuguese and says what to do."""


def resumo(leituras: list[float]) -> dict[str, float]:
    """Median and quartiles of readings in ms."""
    q1, mediana, q3 = statistics.quantiles(leituras, n=4)
    return {"mediana_ms": round(mediana, 2), "q1_ms": round(q1, 2), "q3_ms": round(q3, 2), "n": len(leituras)}


class Turnos:
    """Readings of the system and of the floor, which take turns and swap who goes first; any number of times a run.

    Parameters
    ----------
    nosso, do_piso : Callable[[], float]
        One reading, in ms.
    """

    def __init__(self, nosso: Callable[[], float], do_piso: Callable[[], float]) -> None:
        self._medidores = [("nosso", nosso), ("piso", do_piso)]
        self._lados: dict[str, list[float]] = {nome: [] for nome, _ in self._medidores}

    def rodar(self, rodadas: int) -> None:
        """So many readings more of each."""
        for rodada in range(rodadas):
            for nome, medir in self._medidores if rodada % 2 else reversed(self._medidores):
                self._lados[nome].append(medir())

    def comparacao(self) -> dict[str, Any]:
        """The medians of all readings, at least two of each, and their ratio."""
        razao = statistics.median(self._lados["nosso"]) / statistics.median(self._lados["piso"])
        return {"razao": round(razao, 3), **{nome: resumo(leituras) for nome, leituras in self._lados.items()}}


def comparar(nosso: Callable[[], float], do_piso: Callable[[], float], rodadas: int) -> dict[str, Any]:
    """:class:`Turnos` of one stretch."""
    turnos = Turnos(nosso, do_piso)
    turnos.rodar(rodadas)
    return turnos.comparacao()


class Api:
    """Posts orders, and the same body to the floor."""

    def __init__(self, alvo: Alvo, chao: piso.Piso, conexoes: int = 1) -> None:
        self._http = urllib3.PoolManager(retries=False, timeout=30, maxsize=conexoes, block=True)
        self.enderecos = {"nosso": f"{str(alvo.saida('url_api')).rstrip('/')}/pedidos", "piso": chao.url}

    def postar(self, lado: str, com_chave: bool = False) -> float:
        """One accepted POST, in ms.

        Raises
        ------
        BenchError
            It was not accepted.
        """
        corpo = json.dumps({"sku": SKU, "quantidade": 1, "valorCentavos": 14_000, "cartaoToken": "tok-ok"})
        cabecalhos = {"Content-Type": "application/json"} | ({"Idempotency-Key": str(ULID())} if com_chave else {})
        inicio = time.perf_counter()
        resposta = self._http.request("POST", self.enderecos[lado], body=corpo, headers=cabecalhos)
        decorrido = (time.perf_counter() - inicio) * 1000
        if resposta.status != 202:
            raise BenchError(f"{self.enderecos[lado]} respondeu {resposta.status}: {resposta.data[:200]!r}")
        return decorrido

    def vazao(self, lado: str, concorrencia: int, total: int) -> dict[str, float]:
        """Requests a second, the latency of each in ms, and how many were not accepted, with this many in flight.

        Raises
        ------
        BenchError
            None was accepted.
        """

        def tentar(_: int) -> float | None:
            try:
                return self.postar(lado)
            except (BenchError, urllib3.exceptions.HTTPError):
                return None

        inicio = time.perf_counter()
        with ThreadPoolExecutor(concorrencia) as executor:
            tempos = sorted(tempo for tempo in executor.map(tentar, range(total)) if tempo is not None)
        if not tempos:
            raise BenchError(f"{self.enderecos[lado]} recusou os {total} pedidos com {concorrencia} de cada vez")
        return {
            "por_segundo": round(len(tempos) / (time.perf_counter() - inicio), 1),
            "p50_ms": round(statistics.median(tempos), 1),
            "p95_ms": round(tempos[int(0.95 * (len(tempos) - 1))], 1),
            "recusados": total - len(tempos),
        }


@contextmanager
def fila_parada(alvo: Alvo) -> Iterator[None]:
    """Nobody consumes the input queue meanwhile: what a POST costs is measured, not the sagas it starts."""
    funcoes, sqs = alvo.cliente("lambda"), alvo.cliente("sqs")
    [mapeamento] = funcoes.list_event_source_mappings(FunctionName=alvo.funcao("IniciarSaga"))["EventSourceMappings"]
    with ExitStack() as pilha:
        pilha.callback(funcoes.update_event_source_mapping, UUID=mapeamento["UUID"], Enabled=True)
        pilha.callback(sqs.purge_queue, QueueUrl=alvo.saida("url_fila_pedidos_criados"))
        funcoes.update_event_source_mapping(UUID=mapeamento["UUID"], Enabled=False)
        yield


@contextmanager
def em_estoque(alvo: Alvo) -> Iterator[None]:
    """More of the SKU than any run sells, meanwhile."""
    tabela, dynamodb = alvo.saida("tabela_estoque"), alvo.cliente("dynamodb")
    mapas: dict[str, Any] = {"reservas": {"M": {}}, "encerradas": {"M": {}}}
    try:
        dynamodb.put_item(TableName=tabela, Item={"sku": {"S": SKU}, "saldo": {"N": "1000000"}, **mapas})
        yield
    finally:
        dynamodb.delete_item(TableName=tabela, Key={"sku": {"S": SKU}})


def executar(alvo: Alvo, arn: str, **marcas: bool) -> float:
    """One execution that ends well or undone, from its start to its end by the engine's clock, in ms."""
    pedido = f"bench-{ULID()}"
    entrada: dict[str, Any] = {
        "pedidoId": pedido,
        "sku": SKU,
        "quantidade": 1,
        "valorCentavos": 14_000,
        "cartaoToken": "tok-ok",
        "criadoEm": agora_iso(),
        **marcas,
    }
    maquinas = alvo.cliente("stepfunctions")
    execucao = maquinas.start_execution(stateMachineArn=arn, name=pedido, input=json.dumps(entrada))["executionArn"]
    while (estado := maquinas.describe_execution(executionArn=execucao))["status"] == "RUNNING":
        time.sleep(0.02)
    if estado["status"] != "SUCCEEDED":
        raise BenchError(f"a execução {execucao} terminou em {estado['status']}: {estado.get('cause')}")
    time.sleep(0.3)  # the write-off of a confirmed order runs now, and must not fall on the other side's turn
    return float((estado["stopDate"] - estado["startDate"]).total_seconds() * 1000)


def duracoes(alvo: Alvo, api: Api, pedidos: int) -> dict[str, float]:
    """Median Duration (ms) of each function on whole orders, one at a time, by the REPORT lines of their logs.

    Raises
    ------
    BenchError
        A function wrote none.
    """
    logs, medidas, desde_ms = alvo.cliente("logs"), {}, int(time.time() * 1000)
    for _ in range(pedidos):
        api.postar("nosso", com_chave=True)
        executar(alvo, alvo.saida("arn_maquina_saga"), forcarFalhaConfirmar=True)
        time.sleep(1)  # the order posted goes through its saga by itself
    contagens = json.loads(CONTAGENS.read_text())
    for funcao in sorted({*contagens["feliz"]["invocacoes"], *contagens["compensado"]["invocacoes"]}):
        linhas = [
            evento["message"]
            for pagina in logs.get_paginator("filter_log_events").paginate(
                logGroupName=f"/aws/lambda/{funcao}", startTime=desde_ms
            )
            for evento in pagina["events"]
        ]
        tempos = [float(achado[1]) for linha in linhas if (achado := re.search(r"^REPORT.*?Duration: ([\d.]+)", linha))]
        if not tempos:
            raise BenchError(f"o registro de {funcao} não tem linhas REPORT: nenhum pedido passou por ela")
        medidas[funcao] = round(statistics.median(tempos), 1)
    return medidas


def exigir_dynamodb_local() -> None:
    """Raise BenchError when the last figure could not be measured, before minutes of the others."""
    if (motivo := dynamodb_local.ausente()) is not None:
        raise BenchError(f"as unidades por pedido são medidas no DynamoDB Local: {motivo}. Rode: make localstack-setup")


def capacidade(pedidos: int) -> dict[str, Any]:
    """Write units of the first and of the last of many orders on one SKU: reserve and write-off, on DynamoDB Local."""
    with dynamodb_local.no_ar() as cliente:
        dynamodb_local.criar_tabela(cliente, estoque.TABELA, "sku")
        dynamodb_local.criar_tabela(cliente, estoque.BAIXAS, "pedidoId")
        leituras = estoque.medir_nossa(cliente, estoque.Medidor(cliente), pedidos).leituras
    return {
        "leituras": [
            {"pedido": lida.pedido, "bytes": lida.bytes_do_item, "unidades": lida.unidades_do_pedido}
            for lida in leituras
        ]
    }


def maquina() -> dict[str, Any]:
    """What ran it."""
    modelo = re.search(r"model name\s*: (.*)", _ler("/proc/cpuinfo"))
    return {
        "quando": datetime.now(UTC).isoformat(timespec="seconds"),
        "processador": modelo[1] if modelo else platform.processor(),
        "nucleos": os.cpu_count(),
        "carga_no_inicio": round(os.getloadavg()[0], 2),
        "sistema": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _ler(caminho: str) -> str:
    try:
        return Path(caminho).read_text()
    except OSError:
        return ""


def medir(alvo: Alvo, rodadas: int, pedidos: int) -> dict[str, Any]:
    """Every figure of one run."""
    contexto = maquina()
    with em_estoque(alvo), piso.no_ar(alvo) as chao:
        medidas = _no_motor(alvo, chao, rodadas)
    _diz("importação dos handlers")
    medidas["importacao"] = importacao.medir(max(5, rodadas // 4))
    _diz(f"unidades por pedido até o {pedidos}º")
    medidas["capacidade"] = capacidade(pedidos)
    return {"maquina": contexto, "pacote": pacote(BuildPlan.for_target("local")), **medidas}


def _no_motor(alvo: Alvo, chao: piso.Piso, rodadas: int) -> dict[str, Any]:
    """The figures that need the engine."""
    api, real = Api(alvo, chao), alvo.saida("arn_maquina_saga")
    posts = Turnos(lambda: api.postar("nosso"), lambda: api.postar("piso"))

    def postar() -> None:
        """One stretch of POSTs: a second or so, in which the machine may be fast or slow, so a run has several."""
        _diz("POST /pedidos")
        for _ in range(5):
            api.postar("nosso"), api.postar("piso")
        posts.rodar(rodadas)

    def sagas() -> dict[str, Any]:
        _diz("saga feliz")
        for arn in (real, chao.arn_maquina):
            executar(alvo, arn)
        return comparar(lambda: executar(alvo, real), lambda: executar(alvo, chao.arn_maquina), rodadas)

    with fila_parada(alvo):
        postar()
        api.postar("nosso", com_chave=True)
        com_chave = comparar(lambda: api.postar("nosso", com_chave=True), lambda: api.postar("piso"), rodadas)
    with gateway.imediato(alvo):
        saga = sagas()
    with fila_parada(alvo):
        postar()
    com_simulado = sagas()
    with fila_parada(alvo):
        postar()
        vazao = {str(concorrencia): _vazao(alvo, chao, concorrencia) for concorrencia in CONCORRENCIAS}
    _diz("duração de cada função")
    return {
        "post": posts.comparacao(),
        "post_com_chave": com_chave,
        "saga": saga,
        "saga_simulado": com_simulado,
        "vazao": vazao,
        "duracoes": duracoes(alvo, api, max(5, rodadas // 4)),
    }


def _vazao(alvo: Alvo, chao: piso.Piso, concorrencia: int) -> dict[str, dict[str, float]]:
    """:meth:`Api.vazao` of each side."""
    _diz(f"vazão com {concorrencia} de cada vez")
    api, total = Api(alvo, chao, concorrencia), max(60, 10 * concorrencia)
    for lado in ("nosso", "piso"):
        api.vazao(lado, concorrencia, 2 * concorrencia)  # a process for each, before the clock
    return {lado: api.vazao(lado, concorrencia, total) for lado in ("nosso", "piso")}


def _diz(o_que: str) -> None:
    print(f"  {o_que}…", flush=True)


def faltas(medidas: dict[str, Any]) -> list[str]:
    """Targets missed, in words."""
    perdidas = [
        f"{nome}: {medidas[nome]['razao']} passa de {METAS[nome]}"
        for nome in ("post", "saga")
        if medidas[nome]["razao"] > METAS[nome]
    ]
    pior = medidas["importacao"]["pior"]
    if pior["razao"] > METAS["importacao"]:
        perdidas.append(f"importação de {pior['handler']}: {pior['razao']} passa de {METAS['importacao']}")
    if medidas["pacote"]["mb"] > METAS["pacote_mb"]:
        perdidas.append(f"pacote: {medidas['pacote']['mb']} MB passa de {METAS['pacote_mb']}")
    if len({(lida["bytes"], lida["unidades"]) for lida in medidas["capacidade"]["leituras"]}) > 1:
        perdidas.append("unidades por pedido: a última não é a primeira")
    return perdidas


def principal(argumentos: list[str] | None = None) -> int:
    """Run and write; 1 when a target is missed, 2 when it cannot run, 130 when stopped by Ctrl-C or SIGTERM."""
    leitor = argparse.ArgumentParser(prog="make bench", description="A distância de um piso que não faz nada.")
    leitor.add_argument("--rodadas", type=int, default=40, help="leituras de cada lado (padrão: %(default)s)")
    leitor.add_argument("--pedidos", type=int, default=10_000, help="pedidos de um SKU (padrão: %(default)s)")
    lidos = leitor.parse_args(argumentos)
    if lidos.rodadas < 4 or lidos.pedidos < 2:
        leitor.error("use ao menos 4 rodadas e 2 pedidos")
    try:
        exigir_dynamodb_local()
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # who is told to end cleans up too
        alvo = Alvo.carregar("local")
        alvo.conferir_no_ar()
        medidas = medir(alvo, lidos.rodadas, lidos.pedidos)
    except ErroDasProvas as erro:
        print(erro, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrompido: o que a medida mudou no motor foi desfeito, e nada foi gravado.", file=sys.stderr)
        return 130
    saida = pasta_construida() / "bench.json"
    saida.write_text(json.dumps(medidas, ensure_ascii=False, indent=2) + "\n")
    DOCUMENTO.write_text(documento(medidas))
    DURACOES.write_text(
        json.dumps({"quando": medidas["maquina"]["quando"], "ms": medidas["duracoes"]}, indent=2) + "\n"
    )
    print(f"{DOCUMENTO.relative_to(ROOT)} e {saida} gravados")
    print("as durações mudaram: rode make custo, que escreve docs/custo.md com elas")
    perdidas = faltas(medidas)
    for falta in perdidas:
        print(f"META PERDIDA {falta}")
    return 1 if perdidas else 0


if __name__ == "__main__":
    sys.exit(principal())
