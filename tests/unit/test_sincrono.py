"""The minimal architecture really dies between reserve and write, and leaves the disagreement the saga removes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from botocore import xform_name
from botocore.exceptions import ClientError
from test_pagamentos import responder, servidor

from comum.erros import PedidoInvalidoError
from desenhos_minimos import criar_pedido_sincrono
from tests.unit.apoio_unit import cliente

LAMBDAS = Path(__file__).resolve().parents[2] / "lambdas"
PEDIDO: dict[str, Any] = {
    "pedidoId": "P1",
    "sku": "CAFE-500G",
    "quantidade": 2,
    "valorCentavos": 14000,
    "cartaoToken": "tok-ok",
}


@pytest.mark.parametrize(("cobrado", "saldo", "status"), [(True, 8, "CONFIRMADO"), (False, 10, "FALHOU_COMPENSADO")])
def test_without_a_crash_it_works(
    sistema: Any, monkeypatch: pytest.MonkeyPatch, cobrado: bool, saldo: int, status: str
) -> None:
    sistema.por_estoque("CAFE-500G", 10, reservas={"M": {}})
    monkeypatch.setattr(criar_pedido_sincrono, "_cobrar", lambda pedido: cobrado)
    assert criar_pedido_sincrono.handler(PEDIDO, None) == {"pedidoId": "P1", "status": status}
    assert sistema.estoque("CAFE-500G")[0] == saldo
    assert sistema.pedido("P1")["status"]["S"] == status


def test_no_stock_is_written_as_such(sistema: Any) -> None:
    sistema.por_estoque("CAFE-500G", 1, reservas={"M": {}})
    assert criar_pedido_sincrono.handler(PEDIDO, None)["status"] == "FALHOU_SEM_RESERVA"


def test_bad_payload_is_named(sistema: Any) -> None:
    with pytest.raises(PedidoInvalidoError):
        criar_pedido_sincrono.handler(PEDIDO | {"quantidade": 0}, None)


def dynamodb_por_http(pedido: Any, corpo: bytes) -> None:
    """DynamoDB's protocol over HTTP in front of this process's moto: the state outlives the process that dies."""
    operacao = pedido.headers["X-Amz-Target"].split(".")[1]
    try:
        resposta = getattr(cliente("dynamodb"), xform_name(operacao))(**json.loads(corpo))
    except ClientError as erro:
        responder(pedido, 400, json.dumps({"__type": erro.response["Error"]["Code"]}).encode())
        return
    resposta.pop("ResponseMetadata")
    responder(pedido, 200, json.dumps(resposta).encode(), Content_Type="application/x-amz-json-1.0")


@pytest.mark.parametrize("injecao", ["true", "false"])
def test_interruption_kills_the_process_only_where_injection_is_on(sistema: Any, injecao: str) -> None:
    sistema.por_estoque("CAFE-500G", 10, reservas={"M": {}})
    with servidor(dynamodb_por_http) as url:
        processo = morrer(url, injecao)
    assert sistema.estoque("CAFE-500G") == (8, {"P1": 2})
    assert sistema.pedido("P1") is None
    if injecao == "true":
        assert processo.returncode == criar_pedido_sincrono.CODIGO_DE_MORTE
        assert "finally ran" not in processo.stdout
    else:
        # It goes on to the charge, which nobody answers here: an ordinary error, not a death.
        assert processo.returncode == 1
        assert "finally ran" in processo.stdout


def morrer(url: str, injecao: str) -> "subprocess.CompletedProcess[str]":
    codigo = (
        f"import sys; sys.path.insert(0, {str(LAMBDAS)!r})\n"
        "from desenhos_minimos.criar_pedido_sincrono import handler\n"
        f"try: handler({ {**PEDIDO, 'forcarInterrupcaoAposReserva': True}!r}, None)\n"
        "finally: print('finally ran')\n"
    )
    ambiente = os.environ | {
        "AWS_ENDPOINT_URL": url,
        "TABELA_PEDIDOS": "cesta-pedidos",
        "TABELA_ESTOQUE": "cesta-estoque",
        "URL_GATEWAY": "http://127.0.0.1:9",
        "PARAMETRO_CHAVE_GATEWAY": "/cesta/chave-gateway",
        "TIMEOUT_CONEXAO_GATEWAY_S": "0.2",
        "TIMEOUT_TOTAL_GATEWAY_S": "0.5",
        "PERMITIR_INJECAO_FALHAS": injecao,
    }
    return subprocess.run(
        [sys.executable, "-c", codigo], capture_output=True, text=True, check=False, timeout=60, env=ambiente
    )


def test_charge_is_sent_by_contract(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    enviados: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    class Resposta:
        status = 201

    def pedir(*posicionais: Any, **nomeados: Any) -> Resposta:
        enviados.append((posicionais, nomeados))
        return Resposta()

    monkeypatch.setattr(criar_pedido_sincrono.urllib3, "request", pedir)
    sistema.por_estoque("CAFE-500G", 10, reservas={"M": {}})
    assert criar_pedido_sincrono.handler(PEDIDO, None)["status"] == "CONFIRMADO"
    [(posicionais, nomeados)] = enviados
    assert posicionais == ("POST", "http://127.0.0.1:9/cobrancas")
    assert nomeados["headers"]["Idempotency-Key"] == "cesta-cobranca-P1"
    assert json.loads(nomeados["body"]) == {"valorCentavos": 14000, "cartaoToken": "tok-ok", "referencia": "P1"}
