"""HTTP edge, settings and clock: bad input gets a clear, named answer that echoes nothing."""

import base64
import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from comum import aws
from comum.configuracao import Configuracao
from comum.erros import ConfiguracaoInvalidaError
from comum.http_borda import ProblemaHttp, RequisicaoHttp, RespostaHttp, borda, ler_requisicao, resposta_json
from comum.processo import esquecer
from comum.relogio import agora_iso, de_iso, para_iso


def evento(corpo: str | None = "{}", **extras: Any) -> dict[str, Any]:
    return {
        "version": "2.0",
        "rawPath": "/pedidos",
        "headers": {"Content-Type": "application/json"},
        "requestContext": {"http": {"method": "POST", "path": "/pedidos"}},
        "body": corpo,
        **extras,
    }


@borda
def eco(requisicao: RequisicaoHttp) -> RespostaHttp:
    return resposta_json(200, {"recebido": requisicao.json(), "metodo": requisicao.metodo})


def problema(resposta: RespostaHttp) -> dict[str, Any]:
    assert resposta["headers"]["Content-Type"].startswith("application/problem+json")
    corpo: dict[str, Any] = json.loads(resposta["body"])
    assert corpo["status"] == resposta["statusCode"]
    return corpo


def test_plain_and_base64_bodies_are_the_same_request() -> None:
    texto = '{"nome":"açúcar"}'
    codificado = evento(base64.b64encode(texto.encode()).decode(), isBase64Encoded=True)
    assert eco(evento(texto), None)["body"] == eco(codificado, None)["body"]
    assert json.loads(eco(evento(texto), None)["body"]) == {"recebido": {"nome": "açúcar"}, "metodo": "POST"}


@pytest.mark.parametrize(
    "ruim",
    [
        evento(None),
        evento(""),
        evento("{"),
        evento("[]"),
        evento('"x"'),
        evento('{"a":1,"a":2}'),
        evento('{"a":NaN}'),
        evento("[" * 5000),
        evento("@@@", isBase64Encoded=True),
        evento(base64.b64encode(b"\xff\xfe{").decode(), isBase64Encoded=True),
        evento({"a": 1}),
        [],
        None,
    ],
)
def test_unreadable_request_is_400(ruim: Any) -> None:
    assert problema(eco(ruim, None))["type"] == "urn:cesta:problema:requisicao-invalida"


def test_large_body_is_413_before_and_after_decoding() -> None:
    grande = json.dumps({"a": "x" * 17000})
    assert problema(eco(evento(grande), None))["status"] == 413
    assert (
        problema(eco(evento(base64.b64encode(grande.encode()).decode(), isBase64Encoded=True), None))["status"] == 413
    )
    assert problema(eco(evento("x" * 100_000), None))["status"] == 413


def test_other_content_type_is_415_and_none_is_json() -> None:
    assert problema(eco(evento(headers={"content-type": "text/plain"}), None))["status"] == 415
    assert eco(evento(headers=None), None)["statusCode"] == 200
    assert eco(evento(headers={"content-type": "application/json; charset=utf-8"}), None)["statusCode"] == 200


def test_unexpected_error_goes_through_to_the_alarm() -> None:
    @borda
    def quebrado(requisicao: RequisicaoHttp) -> RespostaHttp:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        quebrado(evento(), None)


def test_headers_and_parameters_are_read() -> None:
    lida = ler_requisicao(
        evento(headers={"X-Api-Key": "k"}, pathParameters={"pedidoId": "p"}, queryStringParameters={"a": "1"})
    )
    assert (lida.cabecalhos["x-api-key"], lida.parametros["pedidoId"], lida.consulta["a"]) == ("k", "p", "1")


def test_problem_carries_headers_and_extensions() -> None:
    resposta = ProblemaHttp(503, "x", "t", "d", cabecalhos={"Retry-After": "5"}, erros=["a"]).resposta()
    assert resposta["headers"]["Retry-After"] == "5"
    assert problema(resposta)["erros"] == ["a"]


class Exemplo(Configuracao):
    tabela_pedidos: str
    timeout_s: float
    permitir: bool


def test_settings_are_typed_and_frozen() -> None:
    lida = Exemplo.do_ambiente({"TABELA_PEDIDOS": "t", "TIMEOUT_S": "2.5", "PERMITIR": "true", "OUTRA": "x"})
    assert (lida.tabela_pedidos, lida.timeout_s, lida.permitir) == ("t", 2.5, True)
    with pytest.raises(ValueError, match="frozen"):
        lida.tabela_pedidos = "outra"


def test_missing_and_malformed_settings_are_named_without_values() -> None:
    with pytest.raises(ConfiguracaoInvalidaError) as recusa:
        Exemplo.do_ambiente({"TABELA_PEDIDOS": "", "TIMEOUT_S": "segredo-123", "PERMITIR": "talvez"})
    texto = str(recusa.value)
    assert all(nome in texto for nome in ("TABELA_PEDIDOS", "TIMEOUT_S", "PERMITIR"))
    assert "segredo-123" not in texto
    assert recusa.value.__context__ is None


def test_time_is_utc_with_milliseconds() -> None:
    instante = datetime(2026, 3, 1, 9, 0, 0, 123999, tzinfo=timezone(timedelta(hours=-3)))
    assert para_iso(instante) == "2026-03-01T12:00:00.123Z"
    assert de_iso("2026-03-01T12:00:00.123Z") == datetime(2026, 3, 1, 12, 0, 0, 123000, tzinfo=UTC)
    assert len(agora_iso()) == 24
    for ruim in (lambda: para_iso(datetime(2026, 3, 1)), lambda: de_iso("2026-03-01T12:00:00")):
        with pytest.raises(ValueError, match="timezone"):
            ruim()


def test_aws_clients_are_lazy_single_and_end_before_a_function_does() -> None:
    dynamodb = aws.dynamodb()
    assert aws.dynamodb() is dynamodb
    ajustes: Any = dynamodb.meta.config
    tentativas = ajustes.retries["total_max_attempts"]
    assert (ajustes.connect_timeout, ajustes.read_timeout, tentativas) == (1, 2, 2)
    esquecer()
    assert aws.dynamodb() is not dynamodb
