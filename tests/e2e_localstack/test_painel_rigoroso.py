"""What only the stricter engine shows of the deployed panel: a stream mapping that keeps its word.

A record that fails comes back until its attempts are over and then leaves for the dead-letter queue, which receives a
position and no content, while other orders go on; and what was set aside is brought back from the stream by the tool.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from operacao import reprocessar
from provas.base import Contexto
from provas.painel._apoio import ProvaDoPainel

pytestmark = pytest.mark.e2e


class Bancada(ProvaDoPainel):
    """The panel proofs' own helpers, for tests."""

    numero = 0

    def executar(self) -> None:
        """Nothing: a test drives it."""


@pytest.fixture
def painel(alvo: Any) -> Iterator[Bancada]:
    bancada = Bancada(Contexto(alvo))
    bancada.ao_limpar("fila de falhas", lambda: alvo.cliente("sqs").purge_queue(QueueUrl=alvo.saida("dlq_url")))
    yield bancada
    assert bancada.limpar() == []


@pytest.fixture
def sem_tabela(alvo: Any) -> Iterator[Any]:
    """Call to point the consumer at a table that does not exist; undone by calling again, or at the end."""
    funcao, cliente = alvo.funcao("ConsumidorPedidos"), alvo.cliente("lambda")
    antes = cliente.get_function_configuration(FunctionName=funcao)["Environment"]["Variables"]

    def mudar(ausente: bool) -> None:
        variaveis = {**antes, "TABELA_PAINEL": "tabela-ausente"} if ausente else antes
        cliente.update_function_configuration(FunctionName=funcao, Environment={"Variables": variaveis})
        cliente.get_waiter("function_updated_v2").wait(FunctionName=funcao, WaiterConfig={"Delay": 1})

    yield mudar
    mudar(ausente=False)


def posta_de_lado(painel: Bancada) -> dict[str, Any]:
    """The next message of the dead-letter queue; it stays there."""
    sqs, url = painel.alvo.cliente("sqs"), painel.alvo.saida("dlq_url")

    def ler() -> dict[str, Any] | None:
        mensagens = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1, VisibilityTimeout=0).get("Messages", [])
        return json.loads(mensagens[0]["Body"]) if mensagens else None

    return painel.esperar_ate(ler, 120, "mensagem na fila de falhas")


def estragar(painel: Bancada, pedido: str) -> None:
    """Give the order a status that no consumer can read: the record fails however often it comes."""
    painel.alvo.cliente("dynamodb").update_item(
        TableName=painel.alvo.saida("tabela_pedidos_cadencia"),
        Key={"PK": {"S": f"PEDIDO#{pedido}"}, "SK": {"S": "METADADOS"}},
        UpdateExpression="SET #s = :s",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={":s": {"S": "isto não é um status"}},
    )


def test_a_record_that_fails_is_set_aside_after_its_attempts_and_other_orders_go_on(alvo: Any, painel: Bancada) -> None:
    ruim, boa = painel.criar_pedido(), painel.criar_pedido()
    estragar(painel, ruim)
    mensagem = posta_de_lado(painel)
    mapeamento = alvo.cliente("lambda").get_event_source_mapping(UUID=alvo.saida("id_mapeamento_consumidor"))
    chamadas = mensagem["requestContext"]["approximateInvokeCount"]
    assert chamadas == mapeamento["MaximumRetryAttempts"] + 1
    painel.mudar(boa, "SEPARADO")
    painel.esperar_transicoes(boa, 1)
    assert painel.itens(ruim) == []


def test_the_message_has_a_position_and_no_content(painel: Bancada) -> None:
    pedido = painel.criar_pedido()
    estragar(painel, pedido)
    mensagem = posta_de_lado(painel)
    assert {"shardId", "startSequenceNumber", "endSequenceNumber", "streamArn"} <= mensagem["DDBStreamBatchInfo"].keys()
    assert pedido not in json.dumps(mensagem)


def test_what_was_set_aside_comes_back_from_the_stream(
    alvo: Any, painel: Bancada, sem_tabela: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    pedido = painel.criar_pedido()
    sem_tabela(ausente=True)
    painel.mudar(pedido, "SEPARADO")
    posta_de_lado(painel)
    sem_tabela(ausente=False)
    assert painel.itens(pedido) == []
    assert reprocessar.principal(["--alvo", alvo.nome]) == 0
    assert "reprocessada" in capsys.readouterr().out
    (transicao,) = painel.itens(pedido)
    assert (transicao["de"], transicao["para"]) == ("PENDENTE", "SEPARADO")
