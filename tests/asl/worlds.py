"""Two complete systems for the bench to run: ours, with the deployed handlers, and the lab's, with its defects.

A world answers the same questions about either: what the stock holds, what each customer is out of pocket, in which
order money moved. Scenarios are written once against it.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, cast
from unittest import mock

import hcl2

from comum.processo import esquecer
from comum.relogio import agora, agora_iso
from estoque.baixas import RepositorioBaixas
from tests.asl.bench import (
    FUNCTION_PLACEHOLDERS,
    ROOT,
    Bench,
    Context,
    Fault,
    Handler,
    Outcome,
    canonical,
    functions,
    load_asl,
)
from tests.asl.gateway_http import event, served
from tests.asl.lab.handlers import Gateway, lab_handlers

LAB_ASL_FILE = Path(__file__).parent / "lab" / "saga-pedido.asl.json"
INITIAL_BALANCE = 100
QUANTITY = 3
VALUE_CENTS = 14_000

# The mocked table reads its whole ledger to find one order's lines.
ORDERS_PER_LEDGER = 20

_numbers = count(1)


@dataclass
class World:
    """A system on the bench.

    Parameters
    ----------
    bench : Bench
        The mocked account.
    asl : dict[str, Any]
        The state machine.
    movements : Callable[[str], list[tuple[str, int]]]
        Gateway's ledger for one pedidoId, in order: (COBRANCA or ESTORNO, centavos).
    starts_twice : Callable[[dict[str, Any]], bool]
        Starts an order that was already started: whether it was told to be a duplicate.
    consume : Callable[[Mapping[str, Any]], bool]
        Hands one message of the input queue to its consumer: whether it was accepted.
    input_queue : Callable[[], tuple[str, str | None]]
        Makes the input queue as deployed: its URL, and its dead-letter queue's.
    write_off : Callable[[dict[str, Any], int], None]
        What happens to the stock of a confirmed order, this many minutes after the first.
    """

    bench: Bench
    asl: dict[str, Any]
    movements: Callable[[str], list[tuple[str, int]]]
    starts_twice: Callable[[dict[str, Any]], bool]
    consume: Callable[[Mapping[str, Any]], bool]
    input_queue: Callable[[], tuple[str, str | None]]
    write_off: Callable[[dict[str, Any], int], None]
    _orders: int = 0

    def order(self, **changes: Any) -> dict[str, Any]:
        """Input of a new saga on its own new sku, already RECEBIDO as iniciar_saga leaves it."""
        self._orders += 1
        if self._orders % ORDERS_PER_LEDGER == 0:
            self.bench.forget_gateway()
        number = next(_numbers)
        saga_input = {
            "pedidoId": f"pedido-{number:06d}",
            "sku": f"SKU-{number:06d}",
            "quantidade": QUANTITY,
            "valorCentavos": VALUE_CENTS,
            "cartaoToken": "tok-ok",
            "criadoEm": agora_iso(),
            **changes,
        }
        if self.bench.item("cesta-estoque", {"sku": saga_input["sku"]}) is None:
            self.stock(saga_input["sku"])
        self.receive(saga_input)
        return saga_input

    def stock(self, sku: str, balance: int = INITIAL_BALANCE, maps: bool = True) -> None:
        """A sku with this balance; without ``maps``, as an item made by hand would be."""
        item: dict[str, Any] = {"sku": {"S": sku}, "saldo": {"N": str(balance)}}
        self.bench.dynamodb.put_item(TableName="cesta-estoque", Item=item | ({"reservas": {"M": {}}} if maps else {}))

    def item_size(self, sku: str) -> int:
        """Bytes of a stock item, near enough."""
        return len(json.dumps(self.bench.item("cesta-estoque", {"sku": sku})))

    def remove_stock(self, sku: str) -> None:
        """Take a sku out of the catalogue."""
        self.bench.dynamodb.delete_item(TableName="cesta-estoque", Key={"sku": {"S": sku}})

    def receive(self, saga_input: Mapping[str, Any]) -> None:
        """Write the order as RECEBIDO."""
        received = {"status": {"S": "RECEBIDO"}, "em": {"S": saga_input["criadoEm"]}, "passo": {"S": "IniciarSaga"}}
        self.bench.dynamodb.put_item(
            TableName="cesta-pedidos",
            Item={
                "pedidoId": {"S": saga_input["pedidoId"]},
                "status": {"S": "RECEBIDO"},
                "sku": {"S": saga_input["sku"]},
                "quantidade": {"N": str(saga_input["quantidade"])},
                "valorCentavos": {"N": str(saga_input["valorCentavos"])},
                "criadoEm": {"S": saga_input["criadoEm"]},
                "atualizadoEm": {"S": saga_input["criadoEm"]},
                "historico": {"L": [{"M": received}]},
            },
        )

    def set_status(self, saga_input: Mapping[str, Any], status: str) -> None:
        """Put a status on the order from outside the saga, history and all."""
        entry = {"M": {"status": {"S": status}, "em": {"S": saga_input["criadoEm"]}, "passo": {"S": "teste"}}}
        self.bench.dynamodb.update_item(
            TableName="cesta-pedidos",
            Key={"pedidoId": {"S": saga_input["pedidoId"]}},
            UpdateExpression="SET #status = :status, historico = list_append(historico, :entry)",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":status": {"S": status}, ":entry": {"L": [entry]}},
        )

    def run(self, saga_input: Mapping[str, Any], *faults: Fault, asl: Mapping[str, Any] | None = None) -> Outcome:
        return self.bench.run(asl or self.asl, saga_input, faults)

    def balance(self, saga_input: Mapping[str, Any]) -> int:
        """Units of the order's sku free to sell."""
        item = self.bench.item("cesta-estoque", {"sku": saga_input["sku"]})
        return INITIAL_BALANCE if item is None else int(item["saldo"])  # nothing is taken from what is not there

    def reserved(self, saga_input: Mapping[str, Any]) -> int:
        """Units of the order's sku held for the order."""
        item = self.bench.item("cesta-estoque", {"sku": saga_input["sku"]}) or {}
        return int(item.get("reservas", {}).get(saga_input["pedidoId"], 0))

    def paid(self, saga_input: Mapping[str, Any]) -> int:
        """Centavos the customer is out of pocket."""
        signs = {"COBRANCA": 1, "ESTORNO": -1}
        return sum(signs[kind] * cents for kind, cents in self.movements(saga_input["pedidoId"]))


INPUT_QUEUE = "cesta-pedidos-criados"


@contextmanager
def lab_world() -> Iterator[World]:
    """The lab: its listing, its functions, its queue without a dead-letter queue."""
    gateway = Gateway()
    asl = load_asl(LAB_ASL_FILE)
    with Bench({}) as bench:
        bench.handlers = lab_handlers(lambda: bench.dynamodb, gateway)

        def movements(pedido_id: str) -> list[tuple[str, int]]:
            key = f"cesta-cobranca-{pedido_id}"
            return [(kind, cents) for kind, moved, cents in gateway.ledger if moved == key]

        def starts_twice(order: dict[str, Any]) -> bool:
            """Its proof 4: the second start must answer ExecutionAlreadyExists."""
            try:
                bench.states.start_execution(
                    stateMachineArn=bench.machine(asl), name=order["pedidoId"], input=canonical(order)
                )
            except bench.states.exceptions.ExecutionAlreadyExists:
                return True
            return False

        def consume(message: Mapping[str, Any]) -> bool:
            try:
                json.loads(message["Body"])
            except ValueError:
                return False
            return True

        def input_queue() -> tuple[str, str | None]:
            attributes = {"VisibilityTimeout": "30", "MessageRetentionPeriod": "86400"}
            return bench.sqs.create_queue(QueueName=INPUT_QUEUE, Attributes=attributes)["QueueUrl"], None

        yield World(bench, asl, movements, starts_twice, consume, input_queue, lambda order, minutes: None)


def deployed_handler(function: str) -> Handler:
    """The handler template.yaml names for a function."""
    module, _, name = functions()[function]["Handler"].rpartition(".")
    return cast(Handler, getattr(importlib.import_module(module), name))


SAGA_FUNCTIONS = tuple(FUNCTION_PLACEHOLDERS.values())
GATEWAY_FUNCTION = "cesta-gateway-simulado"
GATEWAY_KEY_PARAMETER = "/cesta/gateway/chave"
GATEWAY_KEY = "chave-de-teste"
MONEY_MOVES = {"COBRANCA_APROVADA": "COBRANCA", "ESTORNO": "ESTORNO"}


@contextmanager
def real_world() -> Iterator[World]:
    """Ours: the deployed state machine and handlers; the gateway is the stand-in, over HTTP."""
    environment = {
        "LOG_LEVEL": "CRITICAL",
        "POWERTOOLS_SERVICE_NAME": "cesta",
        "POWERTOOLS_METRICS_NAMESPACE": "Cesta",
        "POWERTOOLS_METRICS_DISABLED": "true",
        "RASTREAMENTO_ATIVO": "false",
        "AMBIENTE": "teste",
        "TABELA_PEDIDOS": "cesta-pedidos",
        "TABELA_ESTOQUE": "cesta-estoque",
        "TABELA_ESTOQUE_BAIXAS": "cesta-estoque-baixas",
        "TABELA_CONFERENCIAS": "cesta-conferencias",
        # No time passes between a schedule and the checks after it.
        "LIMITE_RESERVA_S": "0",
        "LIMITE_DECISAO_S": "604800",
        "MAXIMO_ITENS_CONFERIDOS": "100000",
        "LIMITE_COBRANCA_S": "0",
        "JANELA_COBRANCA_S": "86400",
        "REAVISO_S": "1123200",
        "MAXIMO_CONSULTAS": "100000",
        "TABELA_GATEWAY": "cesta-gateway-simulado",
        "PARAMETRO_CHAVE_GATEWAY": GATEWAY_KEY_PARAMETER,
        # Only an injected fault may look like a slow gateway, however busy this machine is.
        "TIMEOUT_CONEXAO_GATEWAY_S": "20",
        "TIMEOUT_TOTAL_GATEWAY_S": "29",
        # Scenarios fail order after order on purpose: the breaker counts them and stays closed.
        "TABELA_DISJUNTOR": "cesta-disjuntor",
        "DISJUNTOR_FALHAS": "1000",
        "DISJUNTOR_JANELA_S": "60",
        "DISJUNTOR_ABERTO_S": "30",
        "PERMITIR_INJECAO_FALHAS": "true",
        "ATRASO_LENTO_S": "0.2",
        "ATRASO_PADRAO_MS": "0",
    }
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict("os.environ", environment))
        bench = stack.enter_context(Bench({}))
        bench.dynamodb.create_table(
            TableName="cesta-disjuntor",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "operacao", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "operacao", "AttributeType": "S"}],
        )
        bench.ssm.put_parameter(Name=GATEWAY_KEY_PARAMETER, Type="SecureString", Value=GATEWAY_KEY)
        gateway, context = deployed_handler(GATEWAY_FUNCTION), Context(GATEWAY_FUNCTION, 3600)
        url = stack.enter_context(served(gateway, context))
        stack.enter_context(
            mock.patch.dict("os.environ", {"URL_GATEWAY": url, "URL_FILA_COMPENSACAO_FALHOU": bench.queue_url})
        )
        esquecer()
        stack.callback(esquecer)
        bench.handlers = {function: deployed_handler(function) for function in SAGA_FUNCTIONS}

        def movements(pedido_id: str) -> list[tuple[str, int]]:
            ledger = gateway(event("GET", f"/movimentos?pedidoId={pedido_id}", {"X-Api-Key": GATEWAY_KEY}), context)
            return [
                (MONEY_MOVES[line["movimento"]], line["valorCentavos"])
                for line in json.loads(ledger["body"])["movimentos"]
                if line["movimento"] in MONEY_MOVES
            ]

        asl = load_asl()
        stack.enter_context(mock.patch.dict("os.environ", {"ARN_MAQUINA_SAGA": bench.machine(asl)}))
        start = deployed_handler("cesta-iniciar-saga")
        context = Context("cesta-iniciar-saga", 3600)

        def consume(message: Mapping[str, Any]) -> bool:
            record = {"messageId": message["MessageId"], "body": message["Body"], "eventSource": "aws:sqs"}
            return not start({"Records": [record]}, context)["batchItemFailures"]

        def starts_twice(order: dict[str, Any]) -> bool:
            before = len(bench.states.list_executions(stateMachineArn=bench.machine(asl))["executions"])
            accepted = consume({"MessageId": "de-novo", "Body": canonical(order)})
            return accepted and before == len(
                bench.states.list_executions(stateMachineArn=bench.machine(asl))["executions"]
            )

        def write_off(order: dict[str, Any], minutes: int) -> None:
            moment = agora() + timedelta(minutes=minutes)
            written_off = RepositorioBaixas(bench.dynamodb, "cesta-estoque", "cesta-estoque-baixas", lambda: moment)
            written_off.baixar(order["sku"], order["pedidoId"], order["quantidade"])

        yield World(bench, asl, movements, starts_twice, consume, lambda: deployed_queue(bench), write_off)


def deployed_queue(bench: Bench) -> tuple[str, str]:
    """The input queue and its dead-letter queue, with what Terraform writes about them."""
    written = hcl2.loads((ROOT / "terraform" / "modules" / "saga" / "dados.tf").read_text())
    queues = {
        name.strip('"'): body
        for resource in written["resource"]
        for kind, named in resource.items()
        if kind.strip('"') == "aws_sqs_queue"
        for name, body in named.items()
    }
    redrive = str(queues["pedidos_criados"]["redrive_policy"])
    assert "aws_sqs_queue.pedidos_criados_dlq.arn" in redrive
    (receives,) = re.findall(r"maxReceiveCount\W+(\d+)", redrive)
    dead_letters = bench.sqs.create_queue(QueueName=f"{INPUT_QUEUE}-dlq")["QueueUrl"]
    arn = bench.sqs.get_queue_attributes(QueueUrl=dead_letters, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": int(receives)})
    queue = bench.sqs.create_queue(QueueName=INPUT_QUEUE, Attributes={"RedrivePolicy": policy})["QueueUrl"]
    return queue, dead_letters
