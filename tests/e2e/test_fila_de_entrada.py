"""A message that can never be processed: five receives, then the DLQ, and its alarm; nothing vanishes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from ulid import ULID

pytestmark = pytest.mark.e2e


@pytest.fixture
def visibilidade_curta(alvo) -> Iterator[None]:
    """Five receives at the deployed visibility take 150 s; one second keeps the count and saves the time."""
    sqs, url = alvo.cliente("sqs"), alvo.saida("url_fila_pedidos_criados")
    antes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])["Attributes"]
    assert antes["VisibilityTimeout"] == "30"
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
    yield
    sqs.set_queue_attributes(QueueUrl=url, Attributes=antes)


def alarme_da_fila(alvo, url: str) -> str:
    """Name of the alarm that watches this queue's depth, found by its dimension."""
    nome = url.rsplit("/", 1)[1]
    paginas = alvo.cliente("cloudwatch").get_paginator("describe_alarms").paginate()
    achados = [
        a["AlarmName"]
        for p in paginas
        for a in p["MetricAlarms"]
        if a.get("MetricName") == "ApproximateNumberOfMessagesVisible"
        and {"Name": "QueueName", "Value": nome} in a["Dimensions"]
    ]
    assert len(achados) == 1, f"alarms on {nome}: {achados}"
    return achados[0]


def estado(alvo, alarme: str) -> str:
    return alvo.cliente("cloudwatch").describe_alarms(AlarmNames=[alarme])["MetricAlarms"][0]["StateValue"]


def procurar(alvo, url: str, marca: str, apagar: bool = False):
    """The message of this test in a queue, or None; the others are left visible."""
    sqs = alvo.cliente("sqs")
    recebidas = sqs.receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=10,
        WaitTimeSeconds=1,
        VisibilityTimeout=0,
        MessageSystemAttributeNames=["All"],
    ).get("Messages", [])
    achada = next((m for m in recebidas if marca in m["Body"]), None)
    if achada and apagar:
        sqs.delete_message(QueueUrl=url, ReceiptHandle=achada["ReceiptHandle"])
    return achada


def test_poison_reaches_the_dlq_after_five_receives_and_its_alarm_fires(bancada, alvo, visibilidade_curta):
    dlq = alvo.saida("url_fila_pedidos_criados_dlq")
    alarme = alarme_da_fila(alvo, dlq)
    marca = f"veneno-{ULID()}"
    bancada.publicar(json.dumps({"pedidoId": marca, "isto": "não é um pedido"}))
    mensagem = bancada.esperar_ate(lambda: procurar(alvo, dlq, marca), 60, "mensagem na DLQ")
    # The DLQ keeps the count: five on the input queue, then this test's own receives.
    assert int(mensagem["Attributes"]["ApproximateReceiveCount"]) >= 5
    bancada.esperar_ate(lambda: estado(alvo, alarme), alvo.prazos.alarme_dispara, f"{alarme} em ALARM", "ALARM".__eq__)
    bancada.esperar_ate(lambda: procurar(alvo, dlq, marca, apagar=True), 30, "mensagem ainda na DLQ")
    bancada.esperar_ate(lambda: estado(alvo, alarme), alvo.prazos.alarme_normaliza, f"{alarme} em OK", "OK".__eq__)


def test_a_poison_message_does_not_hold_back_its_batch(bancada, alvo, visibilidade_curta):
    sku, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    marca = f"veneno-{ULID()}"
    alvo.cliente("sqs").send_message_batch(
        QueueUrl=alvo.saida("url_fila_pedidos_criados"),
        Entries=[
            {"Id": "1", "MessageBody": json.dumps({"pedidoId": marca})},
            {"Id": "2", "MessageBody": bancada.entrada(pedido_id, sku)},
        ],
    )
    assert bancada.esperar_execucao(pedido_id).situacao == "SUCCEEDED"
    assert bancada.situacao_execucao(marca) == "inexistente"
    dlq = alvo.saida("url_fila_pedidos_criados_dlq")
    bancada.esperar_ate(lambda: procurar(alvo, dlq, marca, apagar=True), 60, "veneno recolhido da DLQ")
