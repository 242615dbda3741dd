"""One order, one correlation id: every line any function logs about it carries its pedidoId, and no other's."""

import json
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

import boto3
import pytest

from comum.observabilidade import correlacao, identificar
from estoque import baixar_reserva, liberar_estoque, reservar_estoque
from fila import api as fila_api
from fila import consumidor as fila_consumidor
from pagamentos import cobrar_pagamento, estornar_pagamento
from painel import consumidor as painel_consumidor
from pedidos import confirmar_pedido, consultar_pedido, criar_pedido, iniciar_saga
from tests.models.fonte_painel import criar_tabela_painel
from tests.models.fonte_painel import registro as registro_do_painel
from tests.unit.apoio_unit import Contexto, cliente
from tests.unit.conftest import criar_tabela

SKU = "CAFE-500G"


def pedido_http(metodo: str, **partes: Any) -> dict[str, Any]:
    return {"requestContext": {"http": {"method": metodo}}, "rawPath": "/pedidos", "headers": {}, **partes}


def mensagem(corpo: str, **partes: Any) -> dict[str, Any]:
    registro = {"messageId": "m-1", "body": corpo, "eventSource": "aws:sqs", "attributes": {}, "messageAttributes": {}}
    return {"Records": [registro | partes]}


def imagem(pedido_id: str, status: str, passo: str = "ConfirmarPedido") -> dict[str, Any]:
    historico = {"L": [{"M": {"passo": {"S": passo}, "status": {"S": status}}}]}
    campos = {"pedidoId": {"S": pedido_id}, "status": {"S": status}, "sku": {"S": SKU}, "quantidade": {"N": "2"}}
    return {
        "Records": [
            {
                "eventName": "MODIFY",
                "eventSource": "aws:dynamodb",
                "dynamodb": {"NewImage": campos | {"historico": historico}, "SequenceNumber": "1"},
            }
        ]
    }


def pedir(sistema: Any, cartao: str, **marcas: bool) -> dict[str, Any]:
    """POST an order and start its saga: the state every step receives."""
    sistema.por_estoque(SKU, 10)
    corpo = {"sku": SKU, "quantidade": 2, "valorCentavos": 14000, "cartaoToken": cartao}
    criar_pedido.handler(pedido_http("POST", body=json.dumps(corpo)), Contexto())
    [publicada] = sistema.mensagens()
    estado: dict[str, Any] = json.loads(publicada)
    iniciar_saga.handler(mensagem(publicada), Contexto())
    return estado | marcas


def conferir(linhas: list[dict[str, Any]], pedido_id: str, esperadas: list[str]) -> None:
    """Those messages were logged, in order, and each line carries the id under both names."""
    assert [linha["message"] for linha in linhas] == esperadas
    assert {(linha.get("correlation_id"), linha.get("pedidoId")) for linha in linhas} == {(pedido_id, pedido_id)}


def test_an_order_that_is_confirmed(sistema: Any, gateway_no_ar: None, saida: Any) -> None:
    estado = pedir(sistema, "tok-ok")
    sistema.por_pedido(estado["pedidoId"], "RESERVADO")  # the state machine's own write
    for passo in (reservar_estoque, cobrar_pagamento, confirmar_pedido):
        passo.handler(estado, Contexto())
    baixar_reserva.handler(imagem(estado["pedidoId"], "CONFIRMADO"), Contexto())
    consultar_pedido.handler(pedido_http("GET", pathParameters={"pedidoId": estado["pedidoId"]}), Contexto())

    esperadas = ["order accepted", "saga started", "stock reserved", "gateway answered", "payment charged"]
    conferir(saida.linhas(), estado["pedidoId"], [*esperadas, "order confirmed", "reservation written off"])


def test_an_order_in_which_everything_fails(sistema: Any, gateway_no_ar: None, saida: Any) -> None:
    estado = pedir(sistema, "tok-forcar-recusa", forcarFalhaConfirmar=True, forcarFalhaEstorno=True)
    pedido_id = estado["pedidoId"]
    for passo in (reservar_estoque, cobrar_pagamento, confirmar_pedido, estornar_pagamento, liberar_estoque):
        with suppress(Exception):
            passo.handler(estado, Contexto())
    estornar_pagamento.handler(estado | {"forcarFalhaEstorno": False}, Contexto())
    baixar_reserva.handler(
        imagem(pedido_id, "REQUER_INTERVENCAO_HUMANA", "RegistrarRequerIntervencaoHumana"), Contexto()
    )
    baixar_reserva.handler(imagem(pedido_id, "COMPENSANDO"), Contexto())

    falha = "invocation failed"
    conferir(
        saida.linhas(),
        pedido_id,
        [
            *("order accepted", "saga started", "stock reserved", "request refused", falha, falha, falha),
            *("stock released", "gateway answered", "refund answered", "order left to a person"),
            "record of an order that is not confirmed skipped",
        ],
    )
    erros = [linha["erro"] for linha in saida.linhas() if linha["message"] == falha]
    assert erros == ["CartaoRecusadoError", "ConfirmacaoForcadaAFalharError", "GatewayIndisponivelError"]


def test_an_order_of_the_peak_queue(
    sistema: Any, gateway_no_ar: None, saida: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = cliente("sqs").create_queue(QueueName="ffv-lab-fila-pedidos")["QueueUrl"]
    for nome, valor in {
        "URL_FILA_PEDIDOS": url,
        "TABELA_EFEITOS": criar_tabela("efeitos", "pedidoId"),
        "TABELA_ESTOQUE": criar_tabela("estoque-fila", "itemId"),
        "PARALELISMO": "2",
        "TIMEOUT_TOTAL_GATEWAY_S": "6",
    }.items():
        monkeypatch.setenv(nome, valor)
    sistema.dynamodb.put_item(TableName="estoque-fila", Item={"itemId": {"S": SKU}, "saldo": {"N": "9"}})
    corpo = {"itemId": SKU, "quantidade": 1, "valorCentavos": 1000, "lojaId": "l1"}
    resposta = fila_api.handler(pedido_http("POST", body=json.dumps(corpo)), Contexto())
    pedido_id = json.loads(resposta["body"])["pedidoId"]
    [publicada] = cliente("sqs").receive_message(QueueUrl=url, MessageAttributeNames=["All"])["Messages"]

    monkeypatch.setenv("TABELA_IDEMPOTENCIA", criar_tabela("processados", "PedidoId"))
    atributo = {"PedidoId": {"stringValue": pedido_id, "dataType": "String"}}
    evento = mensagem(publicada["Body"], messageAttributes=atributo, attributes={"ApproximateReceiveCount": "1"})
    fila_consumidor.handler(evento, Contexto())

    conferir(saida.linhas(), pedido_id, ["order accepted", "gateway answered", "message processed"])


def test_a_transition_the_panel_could_not_write(aws: None, saida: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABELA_PAINEL", criar_tabela_painel())
    monkeypatch.setenv("ARN_TOPICO_REPOSICAO", "arn:aws:sns:sa-east-1:123456789012:nao-existe")
    boto3.client("sns").create_topic(Name="outro")
    evento = {"Records": [registro_do_painel("P9", "SEPARADO", "CANCELADO", 10**20)]}

    with pytest.raises(Exception, match="first record failed"):
        painel_consumidor.handler(evento, Contexto())

    conferir(saida.linhas(), "P9", ["registro do stream falhou", "invocation failed"])


@pytest.mark.parametrize("tratar", [iniciar_saga.handler, baixar_reserva.handler], ids=["queue", "stream"])
def test_what_cannot_be_read_does_not_borrow_the_previous_order(
    sistema: Any, saida: Any, tratar: Callable[[Any, Any], Any]
) -> None:
    if tratar is iniciar_saga.handler:
        boa, ruim = mensagem("{}")["Records"][0], mensagem("nada")["Records"][0]
        boa["body"] = json.dumps(
            {"pedidoId": "P1", "sku": SKU, "quantidade": 1, "valorCentavos": 1, "cartaoToken": "tok-ok"}
            | {"criadoEm": "2026-03-01T12:00:00.000Z"}
        )
    else:
        boa, ruim = imagem("P1", "COMPENSANDO")["Records"][0], imagem("P 1", "CONFIRMADO")["Records"][0]
    tratar({"Records": [boa, ruim]}, Contexto())

    primeira, segunda = saida.linhas()
    assert (primeira["correlation_id"], segunda.get("correlation_id")) == ("P1", None)


def test_each_thread_has_its_own_order() -> None:
    vistos: list[str | None] = []
    identificar("P1")
    outro = Thread(target=lambda: vistos.append(correlacao()))
    outro.start()
    outro.join()
    assert (vistos, correlacao()) == ([None], "P1")
    identificar(None)
    assert correlacao() is None
