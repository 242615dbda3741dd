"""The store's account against the gateway's contract: every answer it may give, and the stand-in's real handler."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from comum.http_saida import RespostaJson
from comum.processo import esquecer
from desenhos_minimos import gateway_simulado
from fila.erros import CobrancaEmAndamentoError, CobrancaMalFormadaError, CobrancaSemRespostaError
from fila.gateway import Aprovada, ContaDaLoja, Recusada

PEDIDO = "7e0cfa5a-0000-4000-8000-000000000001"


def conta(status: int, corpo: dict[str, Any]) -> ContaDaLoja:
    return ContaDaLoja(lambda *_: RespostaJson(status, corpo))


@pytest.mark.parametrize(
    ("status", "corpo", "esperado"),
    [
        (201, {"idTransacao": "t", "status": "APROVADA"}, Aprovada("t")),
        (200, {"idTransacao": "t", "status": "APROVADA"}, Aprovada("t")),
        (402, {"codigo": "CARTAO_RECUSADO"}, Recusada("CARTAO_RECUSADO")),
        (409, {"codigo": "TOKEN_CANCELADO"}, Recusada("TOKEN_CANCELADO")),
    ],
)
def test_what_a_charge_answers(status: int, corpo: dict[str, Any], esperado: Any) -> None:
    assert conta(status, corpo).cobrar(PEDIDO, "loja-1", 1990) == esperado


@pytest.mark.parametrize(
    ("status", "corpo", "erro"),
    [
        (409, {"codigo": "EM_ANDAMENTO"}, CobrancaEmAndamentoError),
        (409, {}, CobrancaMalFormadaError),
        (402, {}, CobrancaMalFormadaError),  # a proxy's page, not the gateway's word
        (422, {"codigo": "CHAVE_REUTILIZADA"}, CobrancaMalFormadaError),
        (400, {}, CobrancaMalFormadaError),
        (404, {"message": "Not Found"}, CobrancaMalFormadaError),
        (201, {}, CobrancaSemRespostaError),
        (201, {"idTransacao": "", "status": "APROVADA"}, CobrancaSemRespostaError),
        (201, {"idTransacao": "t", "status": "PENDENTE"}, CobrancaSemRespostaError),
    ],
)
def test_what_is_not_a_final_word(status: int, corpo: dict[str, Any], erro: type[Exception]) -> None:
    with pytest.raises(erro):
        conta(status, corpo).cobrar(PEDIDO, "loja-1", 1990)


@pytest.mark.parametrize(
    ("status", "corpo", "esperado"),
    [
        (200, {"status": "APROVADA", "idTransacao": "t"}, Aprovada("t")),
        (200, {"status": "RECUSADA"}, Recusada("RECUSADA")),
        (200, {"status": "ESTORNADA", "idTransacao": "t"}, Recusada("ESTORNADA")),
        (404, {"status": 404, "codigo": "COBRANCA_INEXISTENTE"}, None),
        (200, {"status": "EM_ANDAMENTO"}, None),  # whoever was deciding may be dead: charging again tells
    ],
)
def test_what_a_look_up_answers(status: int, corpo: dict[str, Any], esperado: Any) -> None:
    assert conta(status, corpo).consultar(PEDIDO) == esperado


@pytest.mark.parametrize(
    ("status", "corpo", "erro"),
    [
        (404, {"message": "Not Found"}, CobrancaMalFormadaError),  # a wrong address must not read as "nothing charged"
        (200, {}, CobrancaMalFormadaError),
    ],
)
def test_a_look_up_never_guesses(status: int, corpo: dict[str, Any], erro: type[Exception]) -> None:
    with pytest.raises(erro):
        conta(status, corpo).consultar(PEDIDO)


@pytest.fixture
def simulado(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[ContaDaLoja]:
    """The stand-in's handler as the transport: what it really answers, without a network."""
    boto3.client("dynamodb").create_table(
        TableName="gateway",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    boto3.client("ssm").put_parameter(Name="/chave", Value="chave-de-teste", Type="SecureString")
    for nome, valor in {
        "TABELA_GATEWAY": "gateway",
        "PARAMETRO_CHAVE_GATEWAY": "/chave",
        "ATRASO_LENTO_S": "0",
        "ATRASO_PADRAO_MS": "0",
    }.items():
        monkeypatch.setenv(nome, valor)
    esquecer()

    def transporte(metodo: str, caminho: str, corpo: Any, chave: str | None) -> RespostaJson:
        evento = {
            "rawPath": caminho,
            "headers": {"x-api-key": "chave-de-teste", **({"idempotency-key": chave} if chave else {})},
            "requestContext": {"http": {"method": metodo, "path": caminho}},
            "body": json.dumps(corpo) if corpo else None,
        }
        resposta = gateway_simulado.handler(evento, None)
        if resposta["statusCode"] >= 500:
            raise CobrancaSemRespostaError("no usable answer", motivo=f"HTTP_{resposta['statusCode']}")
        return RespostaJson(resposta["statusCode"], json.loads(resposta["body"]))

    yield ContaDaLoja(transporte)


def movimentos() -> int:
    itens = boto3.client("dynamodb").query(
        TableName="gateway",
        KeyConditionExpression="pk = :m",
        ExpressionAttributeValues={":m": {"S": "MOVIMENTOS"}},
    )["Items"]
    return sum(item["movimento"]["S"] == "COBRANCA_APROVADA" for item in itens)


def test_stand_in_approves_once_and_is_found_by_key(simulado: ContaDaLoja) -> None:
    assert simulado.consultar(PEDIDO) is None
    primeira = simulado.cobrar(PEDIDO, "loja-1", 1990)
    assert isinstance(primeira, Aprovada)
    assert simulado.cobrar(PEDIDO, "loja-1", 1990) == simulado.consultar(PEDIDO) == primeira
    with pytest.raises(CobrancaMalFormadaError):
        simulado.cobrar(PEDIDO, "loja-1", 9990)
    assert movimentos() == 1


def test_stand_in_refuses_for_good(simulado: ContaDaLoja) -> None:
    assert simulado.cobrar(PEDIDO, "forcar-recusa", 1990) == Recusada("CARTAO_RECUSADO")
    assert isinstance(simulado.consultar(PEDIDO), Recusada)


def test_error_stored_under_the_key_is_seen_through_by_looking_up(simulado: ContaDaLoja) -> None:
    """The stand-in, as Stripe, replays a stored 500: only the look-up tells that the charge is there."""
    for _ in range(2):
        with pytest.raises(CobrancaSemRespostaError):
            simulado.cobrar(PEDIDO, "erro-apos-cobrar", 1990)
    assert isinstance(simulado.consultar(PEDIDO), Aprovada)
    assert movimentos() == 1


def test_charge_abandoned_half_way_is_taken_over(simulado: ContaDaLoja, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway died while deciding: its look-up says "in progress" for ever; only a new charge gets an answer."""
    with monkeypatch.context() as morte:

        def morrer(*_: object, **__: object) -> None:
            raise TimeoutError

        morte.setattr(gateway_simulado.TabelaGateway, "decidir", morrer)
        with pytest.raises(TimeoutError):
            simulado.cobrar(PEDIDO, "loja-1", 1990)
    boto3.client("dynamodb").update_item(
        TableName="gateway",
        Key={"pk": {"S": f"COBRANCA#fila-cobranca-{PEDIDO}"}, "sk": {"S": "COBRANCA"}},
        UpdateExpression="SET posse = :passado",
        ExpressionAttributeValues={":passado": {"N": "1"}},
    )
    assert simulado.consultar(PEDIDO) is None
    assert isinstance(simulado.cobrar(PEDIDO, "loja-1", 1990), Aprovada)
    assert movimentos() == 1
