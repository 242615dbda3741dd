"""Amazon's own DynamoDB Local, which charges each write by the size of the item as the service does."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from engine.localstack.preparo import DYNAMODB_FOLDER

JAR = DYNAMODB_FOLDER / "DynamoDBLocal.jar"


def ausente() -> str | None:
    """Why it cannot run here; None when it can."""
    if shutil.which("java") is None:
        return "java is not on PATH"
    if not JAR.is_file():
        return "DynamoDB Local is not installed (make localstack-setup)"
    return None


@contextmanager
def no_ar() -> Iterator[Any]:
    """A client of an empty DynamoDB in memory, gone at the end."""
    with socket.socket() as livre:
        livre.bind(("127.0.0.1", 0))
        porta = livre.getsockname()[1]
    pasta = tempfile.TemporaryDirectory()  # it writes a file about itself where it runs
    processo = subprocess.Popen(
        [
            "java",
            "-Xmx512m",
            f"-Djava.library.path={Path(JAR).parent / 'DynamoDBLocal_lib'}",
            "-jar",
            str(JAR),
            "-inMemory",
            "-disableTelemetry",
            "-port",
            str(porta),
        ],
        cwd=pasta.name,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        cliente = boto3.session.Session(
            aws_access_key_id="local", aws_secret_access_key="local", region_name="sa-east-1"
        ).client(
            "dynamodb",
            endpoint_url=f"http://127.0.0.1:{porta}",
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=30),
        )
        _esperar(cliente, processo)
        yield cliente
    finally:
        processo.kill()
        processo.wait()
        pasta.cleanup()


def _esperar(cliente: Any, processo: subprocess.Popen[bytes]) -> None:
    fim = time.monotonic() + 30
    while True:
        try:
            cliente.list_tables()
        except Exception:
            if processo.poll() is not None or time.monotonic() > fim:
                raise
            time.sleep(0.2)
        else:
            return


def criar_tabela(cliente: Any, nome: str, chave: str) -> None:
    """An on-demand table with one string key."""
    cliente.create_table(
        TableName=nome,
        KeySchema=[{"AttributeName": chave, "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": chave, "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
