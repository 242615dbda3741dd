"""POST and GET /api/pedidos: what is published, what is refused and how, and the Idempotency-Key."""

import io
import json
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from comum.observabilidade import logger
from comum.processo import esquecer
from fila import api

CORPO = {"itemId": "ITEM-1", "quantidade": 2, "valorCentavos": 1990, "lojaId": "loja-1"}
POST = Callable[..., dict[str, Any]]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the logger writes (its stream was chosen when it was imported)."""
    texto = io.StringIO()
    monkeypatch.setattr(logger.registered_handler, "stream", texto)
    return texto


@pytest.fixture
def fila(aws: None, tabela_chaves: str, monkeypatch: pytest.MonkeyPatch) -> str:
    sqs = boto3.client("sqs")
    url = sqs.create_queue(QueueName="ffv-lab-fila-pedidos")["QueueUrl"]
    boto3.client("dynamodb").create_table(
        TableName="efeitos",
        KeySchema=[{"AttributeName": "pedidoId", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pedidoId", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    for nome, valor in {
        "URL_FILA_PEDIDOS": url,
        "TABELA_IDEMPOTENCIA": tabela_chaves,
        "TABELA_EFEITOS": "efeitos",
        "QUANTIDADE_MAXIMA": "10",
        "VALOR_MAXIMO_CENTAVOS": "100000",
    }.items():
        monkeypatch.setenv(nome, valor)
    esquecer()
    return url


def chamar(metodo: str, corpo: Any = None, pedido_id: str | None = None, **cabecalhos: str) -> dict[str, Any]:
    evento = {
        "version": "2.0",
        "rawPath": "/api/pedidos",
        "headers": {"content-type": "application/json", **{k.replace("_", "-"): v for k, v in cabecalhos.items()}},
        "requestContext": {"http": {"method": metodo, "path": "/api/pedidos"}},
        "pathParameters": {"pedidoId": pedido_id} if pedido_id else None,
        "body": corpo if isinstance(corpo, str) else json.dumps(corpo),
    }
    resposta = api.handler(evento, None)
    return {**resposta, "corpo": json.loads(resposta["body"])}


def mensagens(url: str) -> list[dict[str, Any]]:
    return (
        boto3.client("sqs")
        .receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
        .get("Messages", [])
    )


def test_accepted_order_is_on_the_queue_and_nothing_else_happened(fila: str) -> None:
    resposta = chamar("POST", CORPO)
    assert resposta["statusCode"] == 202
    pedido_id = resposta["corpo"]["pedidoId"]
    assert resposta["corpo"] == {"pedidoId": pedido_id, "status": "recebido"}
    assert resposta["headers"]["Location"] == f"pedidos/{pedido_id}"
    (mensagem,) = mensagens(fila)
    corpo = json.loads(mensagem["Body"])
    assert {k: corpo[k] for k in CORPO} == CORPO
    assert set(corpo) == {*CORPO, "pedidoId", "recebidoEm"}
    assert corpo["pedidoId"] == pedido_id == mensagem["MessageAttributes"]["PedidoId"]["StringValue"]


@pytest.mark.parametrize(
    ("mudanca", "campos"),
    [
        ({"quantidade": 0}, ["quantidade"]),
        ({"quantidade": 11}, ["quantidade"]),
        ({"quantidade": "2"}, ["quantidade"]),
        ({"quantidade": True}, ["quantidade"]),
        ({"valorCentavos": 100001}, ["valorCentavos"]),
        ({"valorCentavos": 19.9}, ["valorCentavos"]),
        ({"itemId": "item 1"}, ["itemId"]),
        ({"lojaId": "Loja/1"}, ["lojaId"]),
        ({"itemId": None, "lojaId": ""}, ["itemId", "lojaId"]),
        ({"cupom": "segredo-do-cliente"}, ["campo desconhecido"]),
        ({"pedidoId": "00000000-0000-0000-0000-000000000000"}, ["campo desconhecido"]),
    ],
)
def test_refused_order_names_fields_not_content_and_publishes_nothing(
    fila: str, mudanca: dict[str, Any], campos: list[str], log: io.StringIO
) -> None:
    resposta = chamar("POST", {**CORPO, **mudanca})
    assert resposta["statusCode"] == 400
    assert resposta["headers"]["Content-Type"].startswith("application/problem+json")
    assert [erro["campo"] for erro in resposta["corpo"]["erros"]] == campos
    assert "request refused" in log.getvalue()
    assert "segredo-do-cliente" not in resposta["body"] + log.getvalue()
    assert mensagens(fila) == []


def test_card_number_is_refused_and_never_logged(fila: str, log: io.StringIO) -> None:
    resposta = chamar("POST", {**CORPO, "lojaId": "4111111111111111"})
    assert (resposta["statusCode"], resposta["corpo"]["type"]) == (400, "urn:cesta:problema:numero-de-cartao")
    assert "request refused" in log.getvalue()
    assert "411111111111" not in resposta["body"] + log.getvalue()


def test_key_replays_refuses_and_conflicts(fila: str) -> None:
    primeira = chamar("POST", CORPO, idempotency_key="k-1")
    assert chamar("POST", CORPO, idempotency_key="k-1")["corpo"] == primeira["corpo"]
    assert chamar("POST", {**CORPO, "quantidade": 3}, idempotency_key="k-1")["statusCode"] == 422
    assert chamar("POST", CORPO, idempotency_key="k,1")["statusCode"] == 400
    assert chamar("POST", CORPO, idempotency_key="")["statusCode"] == 400
    assert len(mensagens(fila)) == 1


def test_key_in_flight_is_409(fila: str, monkeypatch: pytest.MonkeyPatch) -> None:
    respostas = []

    def publicar(_mensagem: Any) -> None:
        respostas.append(chamar("POST", CORPO, idempotency_key="k-1"))

    monkeypatch.setattr(api._fila(), "publicar", publicar)
    assert chamar("POST", CORPO, idempotency_key="k-1")["statusCode"] == 202
    assert [r["statusCode"] for r in respostas] == [409]
    assert "Retry-After" in respostas[0]["headers"]


def test_queue_out_of_reach_is_503_and_the_same_order_on_retry(fila: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The claim is handed back with its promise: the retry publishes the very same pedidoId."""
    enviadas: list[str] = []
    original = api._fila()._sqs.send_message

    def cair(**argumentos: Any) -> Any:
        enviadas.append(json.loads(argumentos["MessageBody"])["pedidoId"])
        if len(enviadas) == 1:
            raise ClientError({"Error": {"Code": "ServiceUnavailable", "Message": "x"}}, "SendMessage")
        return original(**argumentos)

    monkeypatch.setattr(api._fila()._sqs, "send_message", cair)
    primeira = chamar("POST", CORPO, idempotency_key="k-1")
    assert (primeira["statusCode"], primeira["headers"]["Retry-After"]) == (503, "5")
    segunda = chamar("POST", CORPO, idempotency_key="k-1")
    assert segunda["statusCode"] == 202
    assert enviadas == [segunda["corpo"]["pedidoId"]] * 2


@pytest.mark.parametrize(
    ("situacao", "motivo", "status", "trecho"),
    [
        ("ESTOQUE_DEBITADO", None, "em_processamento", None),
        ("CONCLUIDO", None, "concluido", None),
        ("RECUSADO", "ESTOQUE_INSUFICIENTE", "recusado", "unidades"),
        ("RECUSADO", "PAGAMENTO_RECUSADO", "recusado", "conta da loja"),
    ],
)
def test_customer_reads_what_became_of_the_order(
    fila: str, situacao: str, motivo: str | None, status: str, trecho: str | None
) -> None:
    pedido_id = "7e0cfa5a-0000-4000-8000-000000000001"
    item = {"pedidoId": {"S": pedido_id}, "situacao": {"S": situacao}}
    boto3.client("dynamodb").put_item(
        TableName="efeitos", Item=item if motivo is None else {**item, "motivo": {"S": motivo}}
    )
    resposta = chamar("GET", pedido_id=pedido_id)
    assert (resposta["statusCode"], resposta["corpo"]["status"]) == (200, status)
    assert ("motivo" in resposta["corpo"]) == (trecho is not None)
    assert trecho is None or trecho in resposta["corpo"]["motivo"]


def test_unknown_and_impossible_ids(fila: str) -> None:
    assert chamar("GET", pedido_id="7e0cfa5a-0000-4000-8000-000000000009")["statusCode"] == 404
    assert chamar("GET", pedido_id="../efeitos")["statusCode"] == 400
