"""Unit tests touch no network: moto answers for AWS, a loopback server for the gateway."""

import os
from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from comum.processo import esquecer

# Powertools reads these when it is imported.
os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "cesta")
os.environ.setdefault("POWERTOOLS_METRICS_NAMESPACE", "Cesta")

CREDENCIAIS_FALSAS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_DEFAULT_REGION": "sa-east-1",
    "AWS_REGION": "sa-east-1",
}


@pytest.fixture(autouse=True)
def processo_limpo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test starts and ends without clients, settings, credentials or an endpoint of another."""
    for nome in ("AWS_ENDPOINT_URL", "AWS_PROFILE"):
        monkeypatch.delenv(nome, raising=False)
    for nome, valor in CREDENCIAIS_FALSAS.items():
        monkeypatch.setenv(nome, valor)
    esquecer()
    yield
    esquecer()


@pytest.fixture
def aws() -> Iterator[None]:
    """Every AWS call goes to moto."""
    with mock_aws():
        yield


@pytest.fixture
def tabela_chaves(aws: None) -> str:
    """The table of the Idempotency-Key protocol."""
    boto3.client("dynamodb").create_table(
        TableName="cesta-idempotencia-api",
        KeySchema=[{"AttributeName": "chave", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "chave", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return "cesta-idempotencia-api"
