"""The DLQ tool: nothing leaves without a trace, and an order that may have been charged is never thrown away."""

import json
import uuid
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from operacao.dlq import Dlq, DlqError, principal
from provas.alvo import Alvo


@pytest.fixture
def alvo(aws: None) -> Alvo:
    sqs, ddb = boto3.client("sqs"), boto3.client("dynamodb")
    dlq = sqs.create_queue(QueueName="dlq")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dlq, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    politica = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 5})
    fila = sqs.create_queue(QueueName="pedidos", Attributes={"RedrivePolicy": politica})["QueueUrl"]
    for tabela, chave in (("efeitos", "pedidoId"), ("estoque", "itemId"), ("descartes", "messageId")):
        ddb.create_table(
            TableName=tabela,
            KeySchema=[{"AttributeName": chave, "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": chave, "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    ddb.put_item(TableName="estoque", Item={"itemId": {"S": "ITEM-1"}, "saldo": {"N": "7"}})
    saidas = {
        "fila_pedidos_url": fila,
        "fila_pedidos_dlq_url": dlq,
        "tabelas_fila": {"efeitos": "efeitos", "estoque": "estoque", "descartes": "descartes"},
    }
    return Alvo("local", saidas, None, {"sqs": sqs, "dynamodb": ddb})


def parar(alvo: Alvo, corpo: str, atributos: dict[str, Any] | None = None) -> str:
    return str(
        alvo.cliente("sqs").send_message(
            QueueUrl=alvo.saida("fila_pedidos_dlq_url"), MessageBody=corpo, MessageAttributes=atributos or {}
        )["MessageId"]
    )


def pedido(**campos: Any) -> dict[str, Any]:
    return {
        "pedidoId": str(uuid.UUID(int=1)),
        "itemId": "ITEM-1",
        "quantidade": 3,
        "valorCentavos": 1990,
        "lojaId": "loja-1",
        "recebidoEm": "2026-03-01T12:00:00.000Z",
        **campos,
    }


def quantas(alvo: Alvo, saida: str) -> int:
    lidos = alvo.cliente("sqs").get_queue_attributes(QueueUrl=alvo.saida(saida), AttributeNames=["All"])["Attributes"]
    return int(lidos["ApproximateNumberOfMessages"])


def debitado(alvo: Alvo) -> None:
    item = pedido()
    alvo.cliente("dynamodb").put_item(
        TableName="efeitos",
        Item={
            "pedidoId": {"S": item["pedidoId"]},
            "situacao": {"S": "ESTOQUE_DEBITADO"},
            "itemId": {"S": "ITEM-1"},
            "quantidade": {"N": "3"},
            "valorCentavos": {"N": "1990"},
            "lojaId": {"S": "loja-1"},
        },
    )


def test_listing_says_what_is_wrong_and_leaves_everything_visible(alvo: Alvo) -> None:
    parar(alvo, json.dumps(pedido(quantidade=0)))
    parar(alvo, json.dumps(pedido()))
    with Dlq(alvo).segurar() as paradas:
        assert sorted(p.defeito.split(":")[0] for p in paradas) == ["", "quantidade"]
        assert quantas(alvo, "fila_pedidos_dlq_url") == 0
    assert quantas(alvo, "fila_pedidos_dlq_url") == 2


def test_sent_back_with_body_and_attributes(alvo: Alvo, monkeypatch: pytest.MonkeyPatch) -> None:
    corpo = json.dumps(pedido())
    parar(alvo, corpo, {"PedidoId": {"DataType": "String", "StringValue": pedido()["pedidoId"]}})

    def sem_tarefa(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "InvalidAction", "Message": "x"}}, "StartMessageMoveTask")

    monkeypatch.setattr(alvo.cliente("sqs"), "start_message_move_task", sem_tarefa)
    assert Dlq(alvo).devolver_todas() == (1, "uma a uma")
    (mensagem,) = alvo.cliente("sqs").receive_message(
        QueueUrl=alvo.saida("fila_pedidos_url"), MessageAttributeNames=["All"]
    )["Messages"]
    assert mensagem["Body"] == corpo
    assert mensagem["MessageAttributes"]["PedidoId"]["StringValue"] == pedido()["pedidoId"]
    assert quantas(alvo, "fila_pedidos_dlq_url") == 0


def test_move_task_is_used_where_there_is_one(alvo: Alvo, monkeypatch: pytest.MonkeyPatch) -> None:
    pedidas: list[str] = []
    sqs = alvo.cliente("sqs")
    monkeypatch.setattr(sqs, "start_message_move_task", lambda **pedido: pedidas.append(pedido["SourceArn"]))
    tarefa = {"Status": "COMPLETED", "ApproximateNumberOfMessagesMoved": 4}
    monkeypatch.setattr(sqs, "list_message_move_tasks", lambda **_: {"Results": [tarefa]})
    assert Dlq(alvo).devolver_todas() == (4, "tarefa")
    assert [arn.rsplit(":", 1)[-1] for arn in pedidas] == ["dlq"]


def test_refusal_to_move_is_not_hidden(alvo: Alvo, monkeypatch: pytest.MonkeyPatch) -> None:
    def negado(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "x"}}, "StartMessageMoveTask")

    monkeypatch.setattr(alvo.cliente("sqs"), "start_message_move_task", negado)
    with pytest.raises(ClientError, match="AccessDenied"):
        Dlq(alvo).devolver_todas()


def test_message_lost_between_send_and_delete_is_repeated_not_lost(alvo: Alvo, monkeypatch: pytest.MonkeyPatch) -> None:
    identificador = parar(alvo, json.dumps(pedido()))
    monkeypatch.setattr(alvo.cliente("sqs"), "send_message", lambda **_: (_ for _ in ()).throw(ConnectionError()))
    with pytest.raises(ConnectionError):
        Dlq(alvo).devolver([identificador])
    assert quantas(alvo, "fila_pedidos_dlq_url") == 1


def test_discard_keeps_content_reason_and_author(alvo: Alvo) -> None:
    identificador = parar(alvo, "nao e json")
    Dlq(alvo).descartar(identificador, "lixo do teste de carga", "ana", cobranca_conferida=False)
    (registro,) = alvo.cliente("dynamodb").scan(TableName="descartes")["Items"]
    assert {k: registro[k]["S"] for k in ("messageId", "corpo", "motivo", "por")} == {
        "messageId": identificador,
        "corpo": "nao e json",
        "motivo": "lixo do teste de carga",
        "por": "ana",
    }
    assert quantas(alvo, "fila_pedidos_dlq_url") == 0


def test_order_that_may_have_been_charged_is_not_discarded(alvo: Alvo) -> None:
    debitado(alvo)
    identificador = parar(alvo, json.dumps(pedido()))
    with pytest.raises(DlqError, match="pode ter sido cobrado"):
        Dlq(alvo).descartar(identificador, "motivo qualquer", "ana", cobranca_conferida=False)
    assert quantas(alvo, "fila_pedidos_dlq_url") == 1
    assert alvo.cliente("dynamodb").scan(TableName="descartes")["Items"] == []


def test_after_checking_the_gateway_the_stock_comes_back_once(alvo: Alvo) -> None:
    debitado(alvo)
    for _ in range(2):
        identificador = parar(alvo, json.dumps(pedido()))
        efeito = Dlq(alvo).descartar(identificador, "gateway sem cobrança", "ana", cobranca_conferida=True)
        assert efeito is not None
        assert (str(efeito.situacao), str(efeito.motivo)) == ("RECUSADO", "ENCERRADO_MANUALMENTE")
    item = alvo.cliente("dynamodb").get_item(TableName="estoque", Key={"itemId": {"S": "ITEM-1"}})["Item"]
    assert item["saldo"]["N"] == "10"


@pytest.mark.parametrize("motivo", ["", "   ", "abc"])
def test_discard_needs_a_reason(alvo: Alvo, motivo: str) -> None:
    with pytest.raises(DlqError, match="motivo"):
        Dlq(alvo).descartar(parar(alvo, "x"), motivo, "ana", cobranca_conferida=False)


def test_unknown_id_touches_nothing(alvo: Alvo) -> None:
    parar(alvo, json.dumps(pedido()))
    with pytest.raises(DlqError, match="Não está na DLQ"):
        Dlq(alvo).devolver(["nenhuma"])
    assert quantas(alvo, "fila_pedidos_dlq_url") == 1


def test_command_line_says_what_to_do_without_a_deploy(capsys: pytest.CaptureFixture[str]) -> None:
    assert principal(["--alvo", "marte", "listar"]) == 1
    assert "não está implantado" in capsys.readouterr().out.replace("\n", " ")
