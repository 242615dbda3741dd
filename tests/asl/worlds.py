"""Two complete systems for the bench to run: ours, with the deployed handlers, and the lab's, with its defects.

A world answers the same questions about either: what the stock holds, what each customer is out of pocket, in which
order money moved. Scenarios are written once against it.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, cast
from unittest import mock

from comum.processo import esquecer
from comum.relogio import agora_iso
from tests.asl.bench import FUNCTION_PLACEHOLDERS, Bench, Context, Fault, Handler, Outcome, functions, load_asl
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

    ``movements(pedidoId)`` gives the gateway's ledger for one order, in order: (COBRANCA or ESTORNO, centavos).
    """

    bench: Bench
    asl: dict[str, Any]
    movements: Callable[[str], list[tuple[str, int]]]
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
        self.stock(saga_input["sku"])
        self.receive(saga_input)
        return saga_input

    def stock(self, sku: str, balance: int = INITIAL_BALANCE, maps: bool = True) -> None:
        """A sku with this balance; without ``maps``, as an item made by hand would be."""
        item: dict[str, Any] = {"sku": {"S": sku}, "saldo": {"N": str(balance)}}
        self.bench.dynamodb.put_item(TableName="cesta-estoque", Item=item | ({"reservas": {"M": {}}} if maps else {}))

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


@contextmanager
def lab_world() -> Iterator[World]:
    """The lab: its listing and its functions."""
    gateway = Gateway()
    handlers: dict[str, Handler] = {}
    with Bench(handlers) as bench:
        bench.handlers = lab_handlers(lambda: bench.dynamodb, gateway)

        def movements(pedido_id: str) -> list[tuple[str, int]]:
            key = f"cesta-cobranca-{pedido_id}"
            return [(kind, cents) for kind, moved, cents in gateway.ledger if moved == key]

        yield World(bench, load_asl(LAB_ASL_FILE), movements)


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
        "TABELA_GATEWAY": "cesta-gateway-simulado",
        "PARAMETRO_CHAVE_GATEWAY": GATEWAY_KEY_PARAMETER,
        "TIMEOUT_CONEXAO_GATEWAY_S": "1",
        "TIMEOUT_TOTAL_GATEWAY_S": "8",
        "PERMITIR_INJECAO_FALHAS": "true",
        "ATRASO_LENTO_S": "0.2",
        "ATRASO_PADRAO_MS": "0",
    }
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict("os.environ", environment))
        bench = stack.enter_context(Bench({}))
        bench.ssm.put_parameter(Name=GATEWAY_KEY_PARAMETER, Type="SecureString", Value=GATEWAY_KEY)
        gateway, context = deployed_handler(GATEWAY_FUNCTION), Context(GATEWAY_FUNCTION, 3600)
        url = stack.enter_context(served(gateway, context))
        stack.enter_context(mock.patch.dict("os.environ", {"URL_GATEWAY": url}))
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

        yield World(bench, load_asl(), movements)
