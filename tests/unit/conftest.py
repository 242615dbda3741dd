"""Unit tests touch no network: moto answers for AWS, a loopback server for the gateway."""

import io
import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from moto import mock_aws

import comum.aws
from comum.processo import esquecer
from desenhos_minimos import gateway_simulado
from tests.asl.gateway_http import served
from tests.unit.apoio_unit import CHAVE_GATEWAY, CREDENCIAIS_FALSAS, Contexto, cliente

# Powertools reads these when it is imported.
os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "cesta")
os.environ.setdefault("POWERTOOLS_METRICS_NAMESPACE", "Cesta")
# What a script starts in the background is deaf to Ctrl-C, and some tests send it to themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every AWS call, of the tests and of the functions, goes to moto."""
    monkeypatch.setattr(comum.aws, "cliente", cliente)
    with mock_aws():
        yield


@pytest.fixture
def tabela_chaves(aws: None) -> str:
    """The table of the Idempotency-Key protocol."""
    return criar_tabela("cesta-idempotencia-api", "chave")


def criar_tabela(nome: str, *chaves: str) -> str:
    """An on-demand table whose key attributes are strings."""
    cliente("dynamodb").create_table(
        TableName=nome,
        KeySchema=[
            {"AttributeName": chave, "KeyType": tipo} for chave, tipo in zip(chaves, ("HASH", "RANGE"), strict=False)
        ],
        AttributeDefinitions=[{"AttributeName": chave, "AttributeType": "S"} for chave in chaves],
        BillingMode="PAY_PER_REQUEST",
    )
    return nome


def criar_tabela_pedidos() -> None:
    """``cesta-pedidos`` with its index by status."""
    cliente("dynamodb").create_table(
        TableName="cesta-pedidos",
        KeySchema=[{"AttributeName": "pedidoId", "KeyType": "HASH"}],
        AttributeDefinitions=[
            {"AttributeName": nome, "AttributeType": "S"} for nome in ("pedidoId", "status", "atualizadoEm")
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "por-status",
                "KeySchema": [
                    {"AttributeName": "status", "KeyType": "HASH"},
                    {"AttributeName": "atualizadoEm", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["valorCentavos", "criadoEm"]},
            }
        ],
        BillingMode="PAY_PER_REQUEST",
    )


MAQUINA = "cesta-saga-pedido"


@pytest.fixture
def sistema(aws: None, tabela_chaves: str, monkeypatch: pytest.MonkeyPatch) -> "Sistema":
    """Every resource the functions touch, and every variable they read."""
    criado = Sistema()
    for nome, valor in criado.variaveis().items():
        monkeypatch.setenv(nome, valor)
    return criado


class Sistema:
    """The saga's resources in moto, with the few questions tests ask of them."""

    def __init__(self) -> None:
        self.dynamodb = cliente("dynamodb")
        self.sqs = cliente("sqs")
        self.stepfunctions = cliente("stepfunctions")
        criar_tabela("cesta-estoque", "sku")
        criar_tabela("cesta-estoque-baixas", "pedidoId")
        criar_tabela("cesta-conferencias", "nome")
        criar_tabela_pedidos()
        criar_tabela("cesta-disjuntor", "operacao")
        criar_tabela("cesta-gateway-simulado", "pk", "sk")
        self.url_fila = self.sqs.create_queue(QueueName="cesta-pedidos-criados")["QueueUrl"]
        self.url_fila_humana = self.sqs.create_queue(QueueName="cesta-compensacao-falhou")["QueueUrl"]
        cliente("ssm").put_parameter(Name="/cesta/chave-gateway", Value=CHAVE_GATEWAY, Type="SecureString")
        self.arn_maquina = self.stepfunctions.create_state_machine(
            name=MAQUINA,
            definition='{"StartAt":"Fim","States":{"Fim":{"Type":"Succeed"}}}',
            roleArn="arn:aws:iam::123456789012:role/cesta-saga-pedido-role",
        )["stateMachineArn"]

    def variaveis(self) -> dict[str, str]:
        """Environment of every function, as Terraform would set it."""
        return {
            "URL_FILA_PEDIDOS_CRIADOS": self.url_fila,
            "TABELA_IDEMPOTENCIA": "cesta-idempotencia-api",
            "QUANTIDADE_MAXIMA": "1000",
            "VALOR_MAXIMO_CENTAVOS": "10000000",
            "TABELA_PEDIDOS": "cesta-pedidos",
            "TABELA_ESTOQUE": "cesta-estoque",
            "TABELA_ESTOQUE_BAIXAS": "cesta-estoque-baixas",
            "TABELA_CONFERENCIAS": "cesta-conferencias",
            "URL_FILA_COMPENSACAO_FALHOU": self.url_fila_humana,
            "LIMITE_RESERVA_S": "900",
            "LIMITE_DECISAO_S": "604800",
            "MAXIMO_ITENS_CONFERIDOS": "1000",
            "LIMITE_COBRANCA_S": "1800",
            "JANELA_COBRANCA_S": "259200",
            "REAVISO_S": "1123200",
            "MAXIMO_CONSULTAS": "200",
            "TABELA_GATEWAY": "cesta-gateway-simulado",
            "ARN_MAQUINA_SAGA": self.arn_maquina,
            "PERMITIR_INJECAO_FALHAS": "true",
            "URL_GATEWAY": "http://127.0.0.1:9",
            "PARAMETRO_CHAVE_GATEWAY": "/cesta/chave-gateway",
            # A gateway that answers is never late, however busy the machine; tests of lateness set their own.
            "TIMEOUT_CONEXAO_GATEWAY_S": "5",
            "TIMEOUT_TOTAL_GATEWAY_S": "29",
            "TABELA_DISJUNTOR": "cesta-disjuntor",
            "DISJUNTOR_FALHAS": "5",
            "DISJUNTOR_JANELA_S": "60",
            "DISJUNTOR_ABERTO_S": "30",
            "ATRASO_LENTO_S": "0.6",
            "ATRASO_PADRAO_MS": "0",
        }

    def por_estoque(self, sku: str, saldo: int, **atributos: Any) -> None:
        """Stock an sku; without ``reservas`` the item has no map, as one written by hand."""
        self.dynamodb.put_item(
            TableName="cesta-estoque", Item={"sku": {"S": sku}, "saldo": {"N": str(saldo)}, **atributos}
        )

    def estoque(self, sku: str) -> tuple[int, dict[str, int]]:
        """(balance, reservations) of an sku, in units."""
        item = self.dynamodb.get_item(TableName="cesta-estoque", Key={"sku": {"S": sku}})["Item"]
        reservas = item.get("reservas", {"M": {}})["M"]
        return int(item["saldo"]["N"]), {pedido: int(valor["N"]) for pedido, valor in reservas.items()}

    def pedido(self, pedido_id: str) -> dict[str, Any] | None:
        """The order's item, as DynamoDB types it, or None."""
        return self.dynamodb.get_item(TableName="cesta-pedidos", Key={"pedidoId": {"S": pedido_id}}).get("Item")

    def por_pedido(self, pedido_id: str, status: str, **atributos: Any) -> None:
        """Write an order in a given status with one history entry."""
        passo = {"M": {"status": {"S": status}, "em": {"S": "2026-03-01T12:00:00.000Z"}, "passo": {"S": "x"}}}
        self.dynamodb.put_item(
            TableName="cesta-pedidos",
            Item={
                "pedidoId": {"S": pedido_id},
                "status": {"S": status},
                "historico": {"L": [passo]},
                **atributos,
            },
        )

    def mensagens(self) -> list[str]:
        """Bodies waiting in the queue of created orders."""
        recebidas = self.sqs.receive_message(QueueUrl=self.url_fila, MaxNumberOfMessages=10, VisibilityTimeout=0).get(
            "Messages", []
        )
        return [mensagem["Body"] for mensagem in recebidas]


@pytest.fixture
def gateway_no_ar(sistema: "Sistema", monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The stand-in behind a loopback address, as API Gateway would call it."""
    with served(gateway_simulado.handler, None) as url:
        monkeypatch.setenv("URL_GATEWAY", url)
        yield


class Saida:
    """What the functions wrote: log lines and EMF metrics."""

    def __init__(self, registros: io.StringIO, capsys: pytest.CaptureFixture[str]) -> None:
        self._registros = registros
        self._capsys = capsys
        self._impresso = ""

    def tudo(self) -> str:
        """Everything written so far, as text."""
        self._impresso += "".join(self._capsys.readouterr())
        return self._registros.getvalue() + self._impresso

    def linhas(self) -> list[dict[str, Any]]:
        """Log lines, parsed."""
        return [json.loads(linha) for linha in self._registros.getvalue().splitlines()]

    def metricas(self) -> dict[str, float]:
        """Sum of each business metric written so far."""
        self.tudo()
        somas: dict[str, float] = {}
        for linha in self._impresso.splitlines():
            if '"CloudWatchMetrics"' not in linha:
                continue
            emf = json.loads(linha)
            for metrica in emf["_aws"]["CloudWatchMetrics"][0]["Metrics"]:
                valor = emf[metrica["Name"]]
                somas[metrica["Name"]] = somas.get(metrica["Name"], 0) + sum(valor)
        return somas


@pytest.fixture
def saida(capsys: pytest.CaptureFixture[str]) -> Iterator[Saida]:
    """Captures the logs and metrics of the functions called by the test."""
    from comum.observabilidade import logger

    registros = io.StringIO()
    antes = [(manipulador, manipulador.setStream(registros)) for manipulador in logger.handlers]
    yield Saida(registros, capsys)
    for manipulador, fluxo in antes:
        if fluxo is not None:
            manipulador.setStream(fluxo)


@pytest.fixture
def contexto() -> Contexto:
    """A context with ten seconds left."""
    return Contexto()
