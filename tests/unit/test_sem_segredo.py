"""No secret leaves a function: not the card's token, not a card number, not the gateway's key, not the client's key.

Every handler runs its good path and every way it can fail, with sentinels in place of secrets; then everything that
leaves is searched: log lines, metrics, HTTP refusals and error messages, which reach the execution history, the order
and the human queue.
"""

import json
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from botocore.exceptions import ClientError
from test_pagamentos import fixa, servidor

from comum import aws
from comum.observabilidade import logger
from comum.processo import esquecer
from comum.relogio import agora_iso
from desenhos_minimos import criar_pedido_sincrono, gateway_simulado
from estoque import liberar_estoque, reservar_estoque
from pagamentos import cobrar_pagamento, estornar_pagamento
from pedidos import confirmar_pedido, criar_pedido, iniciar_saga
from tests.asl.gateway_http import served
from tests.unit.apoio_unit import CHAVE_GATEWAY

TOKEN = "tok-sentinela-do-cartao"
CARTAO = "4111111111111111"
CHAVE_DO_CLIENTE = "sentinela-da-chave-do-cliente"
SENTINELAS = (TOKEN, CARTAO, "4111 1111", CHAVE_GATEWAY, CHAVE_DO_CLIENTE)


@pytest.fixture
def vazamentos(sistema: Any, saida: Any) -> Callable[..., list[str]]:
    """Runs a handler and returns the sentinels found in what it wrote and in the error it raised."""
    logger.setLevel("DEBUG")

    def procurar(handler: Callable[[Any, Any], Any], evento: Any, *, resposta_publica: bool = False) -> list[str]:
        rastro = ""
        try:
            resposta = handler(evento, None)
            if resposta_publica:
                rastro += json.dumps(resposta)
        except Exception as erro:  # noqa: BLE001 - whatever a handler raises is searched
            # What the runtime reports: the message and the traceback with its causes.
            rastro += str(erro) + repr(erro.args) + json.dumps(getattr(erro, "detalhes", {}))
            if erro.__cause__ is not None or not erro.__suppress_context__:
                rastro += "".join(traceback.format_exception(erro))
        rastro += saida.tudo()
        return [sentinela for sentinela in SENTINELAS if sentinela in rastro]

    return procurar


def estado(**extras: Any) -> dict[str, Any]:
    return {
        "pedidoId": "P1",
        "sku": "CAFE-500G",
        "quantidade": 2,
        "valorCentavos": 14000,
        "cartaoToken": TOKEN,
        "criadoEm": agora_iso(),
        **extras,
    }


RUINS: list[dict[str, Any]] = [
    {"cartaoToken": CARTAO},
    {"cartaoToken": TOKEN.upper()},
    {"pedidoId": f"{CARTAO} "},
    {"sku": f"{CARTAO} "},
    {"quantidade": CARTAO},
    {"valorCentavos": 10**30},
    {"criadoEm": CARTAO},
    {CARTAO: TOKEN},
]


@pytest.mark.parametrize("mudanca", [{}, *RUINS])
@pytest.mark.parametrize(
    "modulo", [reservar_estoque, liberar_estoque, cobrar_pagamento, estornar_pagamento, confirmar_pedido]
)
def test_steps(vazamentos: Callable[..., list[str]], sistema: Any, modulo: Any, mudanca: dict[str, Any]) -> None:
    sistema.por_estoque("CAFE-500G", 10)
    assert vazamentos(modulo.handler, estado(**mudanca)) == []


@pytest.mark.parametrize("mudanca", [{}, *RUINS, {"forcarFalhaEstorno": TOKEN}])
def test_start(vazamentos: Callable[..., list[str]], mudanca: dict[str, Any]) -> None:
    corpo = json.dumps(estado(**mudanca))
    registro = {"messageId": "m0", "body": corpo, "eventSource": "aws:sqs"}
    assert vazamentos(iniciar_saga.handler, {"Records": [registro, registro | {"body": corpo[:-3]}]}) == []


def test_start_when_aws_quotes_the_request(
    vazamentos: Callable[..., list[str]], sistema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recusar(**argumentos: Any) -> None:
        raise ClientError(
            {"Error": {"Code": "InvalidExecutionInput", "Message": argumentos["input"]}}, "StartExecution"
        )

    monkeypatch.setattr(aws.stepfunctions(), "start_execution", recusar)
    registro = {"messageId": "m0", "body": json.dumps(estado()), "eventSource": "aws:sqs"}
    assert vazamentos(iniciar_saga.handler, {"Records": [registro]}) == []


@pytest.mark.parametrize("mudanca", [{}, *RUINS])
@pytest.mark.parametrize("chave", [CHAVE_DO_CLIENTE, CARTAO, f"{CHAVE_DO_CLIENTE} ç"])
def test_api(vazamentos: Callable[..., list[str]], mudanca: dict[str, Any], chave: str) -> None:
    pedido = {campo: valor for campo, valor in estado().items() if campo not in ("pedidoId", "criadoEm")}
    evento = {
        "rawPath": "/pedidos",
        "headers": {"content-type": "application/json", "idempotency-key": chave},
        "requestContext": {"http": {"method": "POST"}},
        "body": json.dumps(pedido | mudanca),
    }
    assert vazamentos(criar_pedido.handler, evento, resposta_publica=True) == []


@pytest.mark.parametrize("cartao", [TOKEN, "tok-forcar-recusa", "tok-indisponivel", CARTAO])
def test_gateway_stand_in(vazamentos: Callable[..., list[str]], cartao: str) -> None:
    evento = {
        "rawPath": "/cobrancas",
        "headers": {"x-api-key": CHAVE_GATEWAY, "idempotency-key": "cesta-cobranca-P1"},
        "requestContext": {"http": {"method": "POST"}},
        "body": json.dumps({"valorCentavos": 1, "cartaoToken": cartao, "referencia": "P1"}),
    }
    assert vazamentos(gateway_simulado.handler, evento, resposta_publica=True) == []


@pytest.mark.parametrize(
    "no_ar",
    [
        partial(served, gateway_simulado.handler, None),
        partial(servidor, fixa(201, json.dumps({"idTransacao": 1, "eco": TOKEN + CARTAO}))),
        partial(servidor, fixa(500, TOKEN + CHAVE_GATEWAY)),
        partial(servidor, fixa(422, json.dumps({"codigo": TOKEN}))),
    ],
    ids=["stand-in", "echo", "error", "unprocessable"],
)
def test_payment_over_http(vazamentos: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch, no_ar: Any) -> None:
    esquecer()
    with no_ar() as url:
        monkeypatch.setenv("URL_GATEWAY", url)
        for modulo in (cobrar_pagamento, estornar_pagamento):
            assert vazamentos(modulo.handler, estado()) == []


def test_minimal_architecture(
    vazamentos: Callable[..., list[str]], sistema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sistema.por_estoque("CAFE-500G", 10, reservas={"M": {}})
    assert vazamentos(criar_pedido_sincrono.handler, estado()) == []
    assert vazamentos(criar_pedido_sincrono.handler, estado(cartaoToken=CARTAO)) == []


def test_the_search_itself_finds_a_leak(vazamentos: Callable[..., list[str]]) -> None:
    def descuidado(evento: Any, contexto: Any) -> None:
        logger.info("received", extra={"evento": evento})
        raise ValueError(CARTAO)

    assert vazamentos(descuidado, estado()) == [TOKEN, CARTAO]
