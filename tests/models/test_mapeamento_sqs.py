"""The model itself: each rule it claims, in the smallest case."""

import random
from typing import Any

import pytest

from tests.models.mapeamento_sqs import FilaSQS, MapeamentoSQS, RelogioSimulado, devolvidas_por

IDS = ["a", "b", "c"]


@pytest.mark.parametrize(
    ("resposta", "devolvidas"),
    [
        (None, []),
        ({}, []),
        ({"batchItemFailures": None}, []),
        ({"batchItemFailures": []}, []),
        ({"batchItemFailures": [{"itemIdentifier": "b"}]}, ["b"]),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, IDS),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, IDS),
        ({"batchItemFailures": [{"messageId": "b"}]}, IDS),
        ({"batchItemFailures": [{"itemIdentifier": "z"}]}, IDS),
        ("not json", IDS),
    ],
)
def test_what_the_mapping_reads_in_an_answer(resposta: Any, devolvidas: list[str]) -> None:
    assert sorted(devolvidas_por(resposta, IDS)) == sorted(devolvidas)


@pytest.fixture
def relogio() -> RelogioSimulado:
    return RelogioSimulado()


def test_received_message_is_hidden_until_its_time_is_over(relogio: RelogioSimulado) -> None:
    fila, sorte = FilaSQS("q", relogio, 60), random.Random(0)
    fila.enviar("x")
    assert len(fila.receber(10, sorte)) == 1
    relogio.avancar(59)
    assert fila.receber(10, sorte) == []
    relogio.avancar(1)
    assert [m.recebimentos for m in fila.receber(10, sorte)] == [2]


def test_sixth_receive_goes_to_the_dlq_instead(relogio: RelogioSimulado) -> None:
    dlq = FilaSQS("dlq", relogio)
    fila, sorte = FilaSQS("q", relogio, 60, 5, dlq), random.Random(0)
    fila.enviar("x")
    for _ in range(5):
        assert len(fila.receber(10, sorte)) == 1
        relogio.avancar(60)
    assert not dlq.mensagens
    assert fila.receber(10, sorte) == []
    assert [m.recebimentos for m in dlq.mensagens] == [5]
    assert not fila.mensagens


def test_old_receipt_does_not_delete(relogio: RelogioSimulado) -> None:
    fila, sorte = FilaSQS("q", relogio, 60), random.Random(0)
    fila.enviar("x")
    velho = fila.receber(1, sorte)[0].recibo
    relogio.avancar(60)
    novo = fila.receber(1, sorte)[0].recibo
    fila.apagar(str(velho))
    assert len(fila.mensagens) == 1
    fila.apagar(str(novo))
    assert not fila.mensagens


def test_order_is_not_kept(relogio: RelogioSimulado) -> None:
    ordens = set()
    for semente in range(20):
        fila = FilaSQS("q", relogio)
        for corpo in "abc":
            fila.enviar(corpo)
        ordens.add("".join(m.corpo for m in fila.receber(3, random.Random(semente))))
    assert len(ordens) > 1


def test_failed_handler_returns_the_whole_batch(relogio: RelogioSimulado) -> None:
    fila = FilaSQS("q", relogio)
    for corpo in "abc":
        fila.enviar(corpo)

    def handler(_evento: dict[str, Any], _contexto: Any) -> None:
        raise RuntimeError

    mapeamento = MapeamentoSQS(fila, handler, random.Random(1))
    invocacao = mapeamento.invocar(fila.receber(3, random.Random(1)))
    assert (invocacao.apagadas, len(invocacao.devolvidas), invocacao.morreu) == ([], 3, False)
    assert len(fila.mensagens) == 3


def test_redrive_makes_new_messages(relogio: RelogioSimulado) -> None:
    dlq, fila = FilaSQS("dlq", relogio), FilaSQS("q", relogio)
    antigo = dlq.enviar("x", {"PedidoId": "1"})
    dlq.mensagens[0].recebimentos = 5
    assert dlq.redirecionar(fila) == 1
    assert [(m.id != antigo, m.recebimentos, m.atributos) for m in fila.mensagens] == [(True, 0, {"PedidoId": "1"})]
