"""A target to probe: its clients, and throw-away resources that are deleted whatever happens."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import secrets
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from engine.localstack import endereco

ALVOS = ("local", "localstack", "aws")
FUNCAO = Path(__file__).parent / "funcao" / "sonda.py"
BOOTSTRAP = '#!/bin/sh\nexec "${CESTA_PYTHON_RUNTIME:-python3}" -m awslambdaric "$_HANDLER"\n'

T = TypeVar("T")


class NaoAconteceuError(Exception):
    """A state the probe waited for did not come in time."""


def esperar(ler: Callable[[], T | None], limite_s: float, cada_s: float = 0.5) -> T:
    """Call ``ler`` until it answers something true.

    Raises
    ------
    NaoAconteceuError: not within ``limite_s`` seconds.
    """
    fim = time.monotonic() + limite_s
    while True:
        if valor := ler():
            return valor
        if time.monotonic() > fim:
            raise NaoAconteceuError(f"nothing within {limite_s:g} s")
        time.sleep(cada_s)


@dataclass
class Alvo:
    """Clients of one target and the resources made on it.

    Parameters
    ----------
    nome: one of :data:`ALVOS`.
    endpoint: URL of the engine; ``None`` on AWS.
    regiao: region of every resource.
    """

    nome: str
    endpoint: str | None
    regiao: str
    pilha: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    marca: str = field(default_factory=lambda: f"sonda-{secrets.token_hex(4)}")
    _numeros: Iterator[int] = field(default_factory=itertools.count)

    @classmethod
    def abrir(cls, nome: str) -> Alvo:
        """The target by name; local's endpoint comes from CESTA_PORTA_MOTOR, LocalStack's from ``endereco``."""
        endpoint = None
        if nome != "aws":
            endpoint = f"http://127.0.0.1:{os.environ.get('CESTA_PORTA_MOTOR') or '4566'}"
        if nome == "localstack":
            endpoint = endereco.endpoint()
        return cls(nome, endpoint, os.environ.get("CESTA_REGIAO") or os.environ.get("AWS_REGION") or "sa-east-1")

    # --- clients ---------------------------------------------------------------------------------------------------
    def cliente(self, servico: str, **credenciais: str) -> Any:
        """A boto3 client of this target; without SDK retries, so that what is seen is what was answered."""
        if self.endpoint and not credenciais:
            credenciais = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
        tentativas: Any = {"total_max_attempts": 1 if self.endpoint else 4, "mode": "standard"}
        config = Config(retries=tentativas, connect_timeout=5, read_timeout=70)
        fabrica: Any = boto3.client
        return fabrica(servico, region_name=self.regiao, endpoint_url=self.endpoint, config=config, **credenciais)

    @cached_property
    def conta(self) -> str:
        return str(self.cliente("sts").get_caller_identity()["Account"])

    def versao(self) -> str:
        """Version of the engine, so that a table can be read together with what it was seen on."""
        import urllib.request

        if self.endpoint is None:
            return "AWS"
        try:
            saude_em = f"{self.endpoint}/_localstack/health"
            with urllib.request.urlopen(saude_em, timeout=5) as resposta:  # noqa: S310 - an engine's own http address
                saude = json.load(resposta)
        except OSError:
            return "?"
        return f"{'ministack' if self.nome == 'local' else 'LocalStack'} {saude.get('version', '?')}"

    # --- resources -------------------------------------------------------------------------------------------------
    def nome_novo(self) -> str:
        return f"{self.marca}-{next(self._numeros)}"

    def depois(self, desfazer: Callable[..., Any], **argumentos: Any) -> None:
        """Register a deletion; one that fails is tried three times and then reported by its exception."""

        def fazer() -> None:
            for restantes in (2, 1, 0):
                try:
                    desfazer(**argumentos)
                    return
                except ClientError as erro:
                    if "NotFound" in erro.response["Error"]["Code"] or "NonExistent" in erro.response["Error"]["Code"]:
                        return
                    if restantes == 0:
                        raise
                    time.sleep(2)

        self.pilha.callback(fazer)

    def fila(self, **atributos: str) -> tuple[str, str]:
        """A queue; returns (URL, ARN)."""
        sqs = self.cliente("sqs")
        url = sqs.create_queue(QueueName=self.nome_novo(), Attributes=atributos)["QueueUrl"]
        self.depois(sqs.delete_queue, QueueUrl=url)
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        return url, arn

    def receber(self, url: str, limite_s: float) -> dict[str, Any]:
        """Body of the next message of a queue, as JSON; one that is empty would be taken for none."""
        sqs = self.cliente("sqs")

        def ler() -> dict[str, Any] | None:
            mensagens = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=2).get("Messages", [])
            if not mensagens:
                return None
            sqs.delete_message(QueueUrl=url, ReceiptHandle=mensagens[0]["ReceiptHandle"])
            corpo: dict[str, Any] = json.loads(mensagens[0]["Body"])
            return corpo

        return esperar(ler, limite_s)

    def tabela(self, stream: bool = False) -> tuple[str, str]:
        """A table with keys ``pk`` and ``sk``; returns (name, stream ARN or table ARN)."""
        ddb = self.cliente("dynamodb")
        nome = self.nome_novo()
        ddb.create_table(
            TableName=nome,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in ("pk", "sk")],
            **(
                {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}
                if stream
                else {}
            ),
        )
        self.depois(ddb.delete_table, TableName=nome)
        ddb.get_waiter("table_exists").wait(TableName=nome, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        descricao = ddb.describe_table(TableName=nome)["Table"]
        return nome, descricao["LatestStreamArn"] if stream else descricao["TableArn"]

    def papel(self, servico: str, acoes: Mapping[str, Any] | None = None) -> str:
        """A role that ``servico`` (lambda, states, …) assumes, allowed exactly ``acoes`` (action -> resource)."""
        iam = self.cliente("iam")
        nome = self.nome_novo()
        confianca = {
            "Version": "2012-10-17",
            "Statement": [
                {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": f"{servico}.amazonaws.com"}}
            ],
        }
        arn = iam.create_role(RoleName=nome, AssumeRolePolicyDocument=json.dumps(confianca))["Role"]["Arn"]
        self.depois(iam.delete_role, RoleName=nome)
        if acoes:
            declaracoes = [{"Effect": "Allow", "Action": a, "Resource": r} for a, r in acoes.items()]
            politica = json.dumps({"Version": "2012-10-17", "Statement": declaracoes})
            iam.put_role_policy(RoleName=nome, PolicyName="sonda", PolicyDocument=politica)
            self.depois(iam.delete_role_policy, RoleName=nome, PolicyName="sonda")
        if self.endpoint is None:
            time.sleep(12)  # a new role takes seconds to be known everywhere on AWS
        return str(arn)

    def funcao(
        self, acoes: Mapping[str, Any] | None = None, timeout_s: int = 5, variaveis: Mapping[str, str] | None = None
    ) -> str:
        """The probe function with a role of its own; returns its name once it can be invoked."""
        lambda_ = self.cliente("lambda")
        nome = self.nome_novo()
        logs = {"logs:CreateLogGroup": "*", "logs:CreateLogStream": "*", "logs:PutLogEvents": "*"}
        argumentos = {
            "FunctionName": nome,
            "Handler": "sonda.handler",
            "Role": self.papel("lambda", {**logs, **(acoes or {})}),
            "Code": {"ZipFile": _zip()},
            "Timeout": timeout_s,
            "Runtime": "provided.al2023" if self.nome == "local" else "python3.13",
            "Environment": {"Variables": dict(variaveis or {})},
        }
        lambda_.create_function(**argumentos)
        self.depois(lambda_.delete_function, FunctionName=nome)
        self.depois(self._apagar_log, nome=f"/aws/lambda/{nome}")
        lambda_.get_waiter("function_active_v2").wait(FunctionName=nome, WaiterConfig={"Delay": 1, "MaxAttempts": 60})
        return nome

    def _apagar_log(self, nome: str) -> None:
        logs = self.cliente("logs")
        with contextlib.suppress(logs.exceptions.ResourceNotFoundException):
            logs.delete_log_group(logGroupName=nome)

    @cached_property
    def funcao_comum(self) -> str:
        """A function without any permission, for probes that need one that answers, fails or hangs (timeout 2 s)."""
        return self.funcao(timeout_s=2)

    @cached_property
    def papel_maquina(self) -> str:
        """A state machine's role that may do what any probe asks."""
        acoes = ("lambda:InvokeFunction", "sqs:SendMessage", "dynamodb:UpdateItem")
        return self.papel("states", dict.fromkeys(acoes, "*"))

    def arn_funcao(self, nome: str) -> str:
        return f"arn:aws:lambda:{self.regiao}:{self.conta}:function:{nome}"

    def diario(self, tabela: str, sonda: str) -> list[list[str]]:
        """The deliveries the probe function noted, in order: for each, the names of the records it carried."""
        ddb = self.cliente("dynamodb")
        itens = ddb.query(
            TableName=tabela,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": sonda}},
            ConsistentRead=True,
        )["Items"]
        return [json.loads(item["nomes"]["S"]) for item in itens]

    def mapeamento(self, origem: str, funcao: str, **opcoes: Any) -> str:
        """An event source mapping, deleted before its function; returns its id once it is enabled."""
        lambda_ = self.cliente("lambda")
        criado = lambda_.create_event_source_mapping(EventSourceArn=origem, FunctionName=funcao, **opcoes)
        uuid = str(criado["UUID"])
        self.depois(lambda_.delete_event_source_mapping, UUID=uuid)
        esperar(lambda: lambda_.get_event_source_mapping(UUID=uuid)["State"] == "Enabled", 120)
        return uuid


def _zip() -> bytes:
    memoria = io.BytesIO()
    with zipfile.ZipFile(memoria, "w") as arquivo:
        for nome, texto, modo in (("sonda.py", FUNCAO.read_text(), 0o644), ("bootstrap", BOOTSTRAP, 0o755)):
            entrada = zipfile.ZipInfo(nome)
            entrada.external_attr = (0o100000 | modo) << 16
            arquivo.writestr(entrada, texto)
    return memoria.getvalue()


@contextlib.contextmanager
def descartavel(nome: str) -> Iterator[Alvo]:
    """A target whose resources are deleted at the end, last made first; every deletion is tried even if one fails."""
    alvo = Alvo.abrir(nome)
    with alvo.pilha:
        yield alvo
