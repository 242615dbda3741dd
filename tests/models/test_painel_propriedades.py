"""For any schedule of failures: nothing lost, nothing repeated, order kept, alerts as promised.

The real handler runs against moto; the model of the mapping delivers; hypothesis chooses the changes, the failures
(before or after each effect, or the process killed there), the interleaving of shards, repeated deliveries, batch
size, bisect, attempts and what AWS leaves open. What the mapping discards comes back through the real reprocessing
code.
"""

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from comum import aws as comum_aws
from comum.processo import esquecer
from painel import consumidor
from painel.alertas import PublicadorAlertas
from painel.gravacao import Gravador
from painel.repositorio import RepositorioPainel
from painel.reprocesso import Faixa, Registro, Reprocessador
from tests.models.fonte_painel import Falhas, criar_tabela_painel, itens, registros_de
from tests.models.mapeamento_streams import Mapeamento, ModeloDoMapeamento, Shard

PEDIDOS = [f"P{numero}" for numero in range(3)]
# Mostly the pair that alerts, so that few records hold many alerts.
STATUS = ["SEPARADO", "CANCELADO", "SEPARADO", "CANCELADO", "EM_ENTREGA"]
ACOES = ["ok", "ok", "ok", "ok", "antes", "depois", "morte-antes", "morte-depois"]
_tabelas = (f"painel-{numero}" for numero in itertools.count())

mudancas = st.lists(st.tuples(st.sampled_from(PEDIDOS), st.sampled_from(STATUS)), min_size=1, max_size=24)
mapeamentos = st.builds(
    Mapeamento,
    tamanho_do_lote=st.integers(1, 8),
    tentativas=st.integers(0, 3),
    bisect=st.booleans(),
    resposta_parcial=st.just(True),
    paralelismo=st.integers(1, 3),
    progresso_renova_tentativas=st.booleans(),
)


class StreamDeTeste:
    """The stream as the reprocessing tool sees it: the records of every shard, by range."""

    def __init__(self, shards: list[Shard]) -> None:
        self._registros = {shard.id: shard.registros for shard in shards}

    def ler(self, faixa: Faixa) -> Iterator[Registro]:
        for registro in self._registros[faixa.shard]:
            if int(faixa.primeira) <= int(registro["dynamodb"]["SequenceNumber"]) <= int(faixa.ultima):
                yield registro


def em_shards(registros: list[dict[str, Any]], quantos: int) -> list[Shard]:
    """One shard per group of orders: an item's changes are all in one shard."""
    shards = [Shard(f"shardId-{numero}", []) for numero in range(quantos)]
    for registro in registros:
        pedido = registro["dynamodb"]["Keys"]["PK"]["S"]
        shards[int(pedido[-1]) % quantos].registros.append(registro)
    return [shard for shard in shards if shard.registros]


@pytest.fixture
def topico(aws: None) -> str:
    return str(boto3.client("sns").create_topic(Name="ffv-lab-alerta-reposicao-estoque")["TopicArn"])


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    mudancas=mudancas,
    plano=st.lists(st.sampled_from(ACOES), max_size=80),
    mapeamento=mapeamentos,
    quantos_shards=st.integers(1, 3),
    escolhas=st.lists(st.integers(0, 5), max_size=40),
    reentregas=st.lists(st.booleans(), max_size=20),
)
@example(
    mudancas=[("P0", "SEPARADO"), ("P0", "CANCELADO"), ("P0", "SEPARADO")],
    plano=["ok"] * 7 + ["morte-depois"],  # everything is done and the answer is lost: all of it is sent again
    mapeamento=Mapeamento(),
    quantos_shards=1,
    escolhas=[],
    reentregas=[],
)
@example(
    mudancas=[("P0", "SEPARADO"), ("P0", "CANCELADO"), ("P1", "SEPARADO")],
    plano=["ok", "ok", "ok", "ok", "depois"],  # the alert went out and the answer was lost: the window
    mapeamento=Mapeamento(),
    quantos_shards=1,
    escolhas=[],
    reentregas=[],
)
def test_nada_se_perde_nada_se_repete(
    topico: str,
    monkeypatch: pytest.MonkeyPatch,
    mudancas: list[tuple[str, str]],
    plano: list[str],
    mapeamento: Mapeamento,
    quantos_shards: int,
    escolhas: list[int],
    reentregas: list[bool],
) -> None:
    tabela = criar_tabela_painel(next(_tabelas))
    falhas = Falhas(iter(plano))
    esquecer()
    with monkeypatch.context() as troca:
        troca.setenv("TABELA_PAINEL", tabela)
        troca.setenv("ARN_TOPICO_REPOSICAO", topico)
        troca.setattr(comum_aws, "cliente", falhas.fabrica(comum_aws.cliente))
        registros = registros_de(mudancas)
        shards = em_shards(registros, quantos_shards)
        sorteio, dobra = iter(escolhas), iter(reentregas)
        modelo = ModeloDoMapeamento(
            mapeamento,
            lambda evento: consumidor.handler(evento, None),
            escolher=lambda _: next(sorteio, 0),
            reentregar=lambda: next(dobra, False),
        )
        resultado = modelo.executar(shards)
        reprocessar_ate_esvaziar(tabela, topico, shards, resultado.mensagens)
    conferir_que_atual_nao_volta(falhas.atuais)
    conferir(tabela, registros, falhas)


def reprocessar_ate_esvaziar(tabela: str, topico: str, shards: list[Shard], mensagens: list[dict[str, Any]]) -> None:
    """Run the tool over the on-failure messages until none is left; each failure leaves its message where it was."""
    gravador = Gravador(
        RepositorioPainel(comum_aws.dynamodb(), tabela), PublicadorAlertas(comum_aws.cliente("sns"), topico)
    )
    reprocessador = Reprocessador(gravador, StreamDeTeste(shards), lambda _: [])
    pendentes = [json.dumps(mensagem) for mensagem in mensagens]
    while pendentes:
        try:
            if reprocessador.reprocessar(pendentes[0]).desfecho == "reprocessada":
                pendentes.pop(0)
        except BaseException as erro:  # noqa: BLE001 - injected failures and killed processes, nothing else
            assert type(erro).__name__ in ("FalhaInjetada", "ProcessoMorto"), erro


def conferir_que_atual_nao_volta(escritas: list[tuple[str, str]]) -> None:
    """Every write that moved ATUAL, within batches too, is of a later sequence than the one before."""
    for pedido in PEDIDOS:
        sequencias = [sequencia for pk, sequencia in escritas if pk == f"PEDIDO#{pedido}"]
        assert sequencias == sorted(set(sequencias))


def conferir(tabela: str, registros: list[dict[str, Any]], falhas: Falhas) -> None:
    feitas: dict[str, list[tuple[str, str]]] = {}
    esperados: list[str] = []
    for registro in registros:
        mudanca = registro["dynamodb"]
        pedido = mudanca["Keys"]["PK"]["S"].removeprefix("PEDIDO#")
        de, para = mudanca["OldImage"]["status"]["S"], mudanca["NewImage"]["status"]["S"]
        if de != para:
            feitas.setdefault(pedido, []).append((de, para))
            if (de, para) == ("SEPARADO", "CANCELADO"):
                esperados.append(f"{pedido}#{mudanca['SequenceNumber'].zfill(40)}")
    for pedido in PEDIDOS:
        escritas = itens(tabela, pedido)
        assert [(item["de"], item["para"]) for item in escritas] == feitas.get(pedido, [])
        atual = itens(tabela, pedido, "ATUAL")
        assert [item["status"] for item in atual] == [para for _, para in feitas.get(pedido, [])][-1:]
        assert [item["sequencia"] for item in atual] == [item["sequencia"] for item in escritas][-1:]
        assert all(item["alerta"] == "PUBLICADO" for item in escritas if "alerta" in item)
    publicados, janelas = Counter(falhas.publicados), Counter(falhas.janelas)
    assert set(publicados) == set(esperados)
    for alerta in esperados:
        # Once, plus once for each time the process failed between the topic accepting it and PUBLICADO being written.
        assert 1 <= publicados[alerta] <= 1 + janelas[alerta]
