"""What a proof listens with: a queue that only its topic may write to."""

from __future__ import annotations

import json

import boto3
import pytest
from moto import mock_aws

from provas.alvo import Alvo
from provas.base import Contexto, Prova

REGIAO = "sa-east-1"


class Ouvinte(Prova):
    numero = 0

    def executar(self) -> None:
        """Nothing: the test drives it."""


@mock_aws
def test_only_the_topic_may_write_to_the_queue_and_both_are_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    for nome in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(nome, "testing")
    sqs, sns = boto3.client("sqs", REGIAO), boto3.client("sns", REGIAO)
    topico = sns.create_topic(Name="alertas")["TopicArn"]
    prova = Ouvinte(Contexto(Alvo("aws", {"topico": topico}, None)))

    fila = prova.assinar(topico, "cesta")

    lida = sqs.get_queue_attributes(QueueUrl=fila, AttributeNames=["Policy", "QueueArn"])["Attributes"]
    [permissao] = json.loads(lida["Policy"])["Statement"]
    assert permissao["Principal"] == {"Service": "sns.amazonaws.com"}
    assert permissao["Condition"] == {"ArnEquals": {"aws:SourceArn": topico}}
    assert permissao["Resource"] == lida["QueueArn"]
    sns.publish(TopicArn=topico, Message="ALARM")
    assert len(sqs.receive_message(QueueUrl=fila).get("Messages", [])) == 1
    assert prova.limpar() == []
    assert sns.list_subscriptions()["Subscriptions"] == []
    assert sqs.list_queues().get("QueueUrls", []) == []
