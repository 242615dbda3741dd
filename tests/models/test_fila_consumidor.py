"""The real consumer under the SQS model: for any delivery, order and crash, effects are the distinct orders."""

import json
import random
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.models.mapeamento_sqs import Handler, RelogioSimulado
from tests.models.mundo_da_fila import Acao, Fronteiras, Mundo, PedidoDeTeste, aws_simulada, tempo_do_powertools

CRIADOR = Callable[..., Mundo]


@pytest.fixture(scope="module")
def aws() -> Iterator[tuple[Any, Fronteiras]]:
    with aws_simulada() as par:
        yield par


@pytest.fixture(autouse=True)
def quieto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")


@pytest.fixture
def criar(aws: tuple[Any, Fronteiras]) -> Iterator[CRIADOR]:
    relogio = RelogioSimulado()

    def novo(pedidos: list[PedidoDeTeste], **opcoes: Any) -> Mundo:
        aws[1].pilha.clear()
        return Mundo(aws[0], aws[1], relogio, pedidos, **opcoes)

    with tempo_do_powertools(relogio):
        yield novo


def pedido(numero: int, **campos: Any) -> PedidoDeTeste:
    return PedidoDeTeste(str(uuid.UUID(int=numero)), **campos)


def lab(mundo: Mundo) -> Handler:
    """The lab's listing: the order is marked as processed *before* its effect, so a retry skips what never happened."""

    def handler(evento: dict[str, Any], _contexto: Any) -> dict[str, Any]:
        for registro in evento["Records"]:
            corpo = json.loads(registro["body"])
            try:
                mundo.cliente.put_item(
                    TableName=mundo.tabela("processados"),
                    Item={"PedidoId": {"S": corpo["pedidoId"]}},
                    ConditionExpression="attribute_not_exists(PedidoId)",
                )
            except mundo.cliente.exceptions.ConditionalCheckFailedException:
                continue
            mundo.cliente.update_item(
                TableName=mundo.tabela("estoque"),
                Key={"itemId": {"S": corpo["itemId"]}},
                UpdateExpression="SET saldo = saldo - :q",
                ExpressionAttributeValues={":q": {"N": str(corpo["quantidade"])}},
            )
            cobranca = {"valorCentavos": corpo["valorCentavos"], "cartaoToken": "t", "referencia": corpo["pedidoId"]}
            mundo.gateway("POST", "/cobrancas", cobranca, corpo["pedidoId"])
        return {"batchItemFailures": []}

    return handler


def violacoes_ao_morrer(criar: CRIADOR, acao: Acao, recusado: bool = False, **opcoes: Any) -> tuple[int, list[int]]:
    """Kill (or overlap) the first invocation at each boundary in turn: how many there are, which break the books."""
    violacoes, fronteira = [], 0
    while True:
        fronteira += 1
        pedidos = [pedido(1, quantidade=3, valor=4990, recusado=recusado)]
        mundo = criar(pedidos, planos=[{fronteira: acao}], **opcoes)
        mundo.enviar_pedidos()
        processo_morreu = mundo.mapeamento.passo()
        assert processo_morreu is not None
        mundo.fila.relogio.avancar(61)
        mundo.mapeamento.esvaziar()
        try:
            mundo.conferir_dinheiro_e_estoque()
            if not opcoes:
                mundo.conferir_efeitos()
        except AssertionError:
            violacoes.append(fronteira)
        if acao == "morre" and not processo_morreu.morreu:
            return fronteira - 1, violacoes
        if acao != "morre" and mundo.invocacoes == 1:
            return fronteira - 1, violacoes


@pytest.mark.parametrize("recusado", [False, True])
def test_crash_at_each_boundary_neither_loses_nor_doubles(criar: CRIADOR, recusado: bool) -> None:
    fronteiras, violacoes = violacoes_ao_morrer(criar, "morre", recusado)
    assert violacoes == []
    # before and after: IN_PROGRESS, debit, charge, conclusion or undo, COMPLETED; and the answer to the mapping
    assert fronteiras == 11


def test_lab_design_loses_the_order_between_mark_and_effect(criar: CRIADOR) -> None:
    fronteiras, violacoes = violacoes_ao_morrer(criar, "morre", fabrica=lab)
    # marked (2), about to debit (3), debited and not charged (4, 5): all lost for ever
    assert violacoes == [2, 3, 4, 5]
    assert fronteiras == 7


@pytest.mark.parametrize("recusado", [False, True])
@pytest.mark.parametrize("acao", ["duplicata", "zumbi"])
def test_second_delivery_in_the_middle_of_the_first(criar: CRIADOR, acao: Acao, recusado: bool) -> None:
    fronteiras, violacoes = violacoes_ao_morrer(criar, acao, recusado)
    assert violacoes == []
    assert fronteiras >= 11


def test_gateway_without_keys_would_charge_twice(criar: CRIADOR) -> None:
    """What the gateway's key is for: two processes that both found nothing to look up, and Powertools' record
    expired.
    """
    mundo = criar([pedido(1)], sem_chave=True, planos=[{5: "zumbi"}])
    mundo.enviar_pedidos()
    mundo.mapeamento.esvaziar()
    assert len(mundo.gateway.movimentos) == 2


@pytest.mark.parametrize("tropeco", ["mudo_antes", "mudo_depois", "em_andamento", "erro_guardado", "abandonada"])
def test_gateway_stumble_is_retried_with_the_same_key(criar: CRIADOR, tropeco: Any) -> None:
    mundo = criar([pedido(1, tropecos=(tropeco, tropeco))])
    mundo.enviar_pedidos()
    mundo.mapeamento.esvaziar()
    mundo.conferir_dinheiro_e_estoque()
    mundo.conferir_efeitos()
    assert not mundo.dlq.mensagens


VENENOS = ["", "nao-json", "[]", "{}", '{"pedidoId": "x"}', '{"quantidade": -1}', "null"]
pedidos_do_plano = st.lists(
    st.builds(
        dict,
        quantidade=st.integers(1, 5),
        valor=st.integers(1, 99999),
        item=st.sampled_from(["ITEM-1", "ITEM-2"]),
        recusado=st.booleans(),
        tropecos=st.lists(
            st.sampled_from(["mudo_antes", "mudo_depois", "em_andamento", "erro_guardado", "abandonada"]), max_size=1
        ).map(tuple),
        vezes=st.integers(1, 2),
    ),
    min_size=1,
    max_size=6,
)
SEM_PRAZO = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@SEM_PRAZO
@given(
    pedidos=pedidos_do_plano,
    venenos=st.lists(st.sampled_from(VENENOS), max_size=3),
    semente=st.integers(0, 2**32),
    morte=st.tuples(st.integers(0, 3), st.integers(1, 40)),
    sobreposicao=st.tuples(st.integers(0, 3), st.integers(1, 40), st.sampled_from(["duplicata", "zumbi"])),
)
def test_effects_are_the_distinct_orders_and_dlq_is_the_poison(
    criar: CRIADOR,
    pedidos: list[dict[str, Any]],
    venenos: list[str],
    semente: int,
    morte: tuple[int, int],
    sobreposicao: tuple[int, int, Acao],
) -> None:
    """One crash, one overlap and one stumble per order stay within 5 receives: only poison may reach the DLQ."""
    planos: list[dict[int, Acao]] = [{} for _ in range(4)]
    planos[morte[0]][morte[1]] = "morre"
    planos[sobreposicao[0]].setdefault(sobreposicao[1], sobreposicao[2])
    mundo = criar([pedido(n, **p) for n, p in enumerate(pedidos)], planos=planos, sorte=random.Random(semente))
    mundo.enviar_pedidos()
    for veneno in venenos:
        mundo.fila.enviar(veneno)
    mundo.mapeamento.esvaziar()
    mundo.conferir_dinheiro_e_estoque()
    mundo.conferir_efeitos()
    assert sorted(m.corpo for m in mundo.dlq.mensagens) == sorted(venenos)
    assert all(m.recebimentos == 5 for m in mundo.dlq.mensagens)


@SEM_PRAZO
@given(
    pedidos=pedidos_do_plano,
    venenos=st.lists(st.sampled_from(VENENOS), max_size=2),
    semente=st.integers(0, 2**32),
    planos=st.lists(
        st.dictionaries(st.integers(1, 40), st.sampled_from(["morre", "duplicata", "zumbi"]), max_size=2), max_size=20
    ),
)
def test_any_number_of_crashes_then_a_redrive_finishes_every_order(
    criar: CRIADOR,
    pedidos: list[dict[str, Any]],
    venenos: list[str],
    semente: int,
    planos: list[dict[int, Acao]],
) -> None:
    """Good orders may end in the DLQ when everything keeps dying; none is lost, and a redrive finishes them all."""
    sorte = random.Random(semente)
    mundo = criar([pedido(n, **p) for n, p in enumerate(pedidos)], planos=planos, sorte=sorte)
    mundo.enviar_pedidos()
    for veneno in venenos:
        mundo.fila.enviar(veneno)

    def talvez_volte() -> None:
        if sorte.random() < 0.1:
            mundo.fila.ressuscitar(sorte)

    mundo.mapeamento.esvaziar(talvez_volte)
    mundo.planos = []
    mundo.dlq.redirecionar(mundo.fila)
    mundo.mapeamento.esvaziar()
    mundo.conferir_dinheiro_e_estoque()
    mundo.conferir_efeitos()
    assert sorted(m.corpo for m in mundo.dlq.mensagens) == sorted(venenos)
