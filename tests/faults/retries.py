"""What the specification's Retry numbers promise, as executions: n failures in a row change nothing, one more does.

The tables of :mod:`tests.asl.checks` are the specification of the functions' Retry; what the corrections add to the
direct calls (docs/departures.md) is written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.asl.bench import Fault
from tests.asl.checks import RETRIES
from tests.asl.worlds import World
from tests.faults.schedules import QUEUE_SEND, ROUTES, STATES

_THROTTLED = (
    "DynamoDB.ProvisionedThroughputExceededException",
    "DynamoDB.ThrottlingException",
    "DynamoDB.RequestLimitExceeded",
)
_TABLE = dict.fromkeys(_THROTTLED, 6) | {"States.Timeout": 2, "DynamoDB.InternalServerError": 2}
_QUEUE = {"States.Timeout": 6, "SQS.SdkClientException": 6}

# Where each state is on the way, and succeeds at once.
ROUTE_OF = {
    "ReservarEstoque": "nothing-else",
    "RegistrarReservado": "nothing-else",
    "CobrarPagamento": "nothing-else",
    "ConfirmarPedido": "nothing-else",
    "MarcarCompensando": "confirm-refused",
    "EstornarPagamento": "confirm-refused",
    "LiberarEstoque": "confirm-refused",
    "RegistrarFalhaComEstoqueLiberado": "confirm-refused",
    "RegistrarFalhaSemCompensacao": "not-enough-stock",
    "PedidoJaConfirmado": "nothing-else",
    QUEUE_SEND: "refund-refused",
    "RegistrarRequerIntervencaoHumana": "refund-refused",
}
_CONFIRMED_UNHEARD = Fault("ConfirmarPedido", "States.Timeout", "once")


@dataclass(frozen=True)
class Row:
    """``failures`` in a row of one error in one state, and how many attempts that makes."""

    state: str
    error: str
    failures: int
    attempts: int

    def __str__(self) -> str:
        return f"{self.state} {self.error} x{self.failures}"

    def broken(self, world: World, asl: Mapping[str, Any]) -> list[str]:
        """What is wrong; a machine that cannot even be run is wrong too."""
        order = world.order(**ROUTES[ROUTE_OF[self.state]])
        faults = [Fault(self.state, self.error, "none", frozenset(range(1, self.failures + 1)))]
        if self.state == "PedidoJaConfirmado":
            faults.append(_CONFIRMED_UNHEARD)
        outcome = world.bench.run(asl, order, faults)
        made = sum(call.state == self.state and not call.late for call in outcome.calls)
        return [] if made == self.attempts else [f"{self}: {made} attempts, not {self.attempts}"]


def rows() -> Iterator[Row]:
    """Every promise."""
    for state in STATES:
        promised = {error: numbers[1] for error, numbers in RETRIES.get(state, {}).items()}
        if state not in RETRIES:
            promised = _QUEUE if state == QUEUE_SEND else _TABLE
        for error, retries in promised.items():
            name = "Runtime.ExitError" if error == "States.TaskFailed" else error
            yield Row(state, name, retries + 1, retries + 1)
            if retries:
                yield Row(state, name, retries, retries + 1)
        if state not in RETRIES and state != QUEUE_SEND:
            yield Row(state, "DynamoDB.ConditionalCheckFailedException", 1, 1)
