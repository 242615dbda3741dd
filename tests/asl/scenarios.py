"""Every single failure of the saga, each with the end the specification gives it.

A scenario knows how to break the saga and what must come out; the same list proves the machine (test_single_faults) and
proves the proof (test_mutants: a machine with one thing wrong must make some scenario complain).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.asl.bench import Fault, Outcome
from tests.asl.invariants import violations
from tests.asl.worlds import INITIAL_BALANCE, QUANTITY, VALUE_CENTS, World

FIRST = frozenset({1})
ALWAYS = None
CONFIRMED = "CONFIRMADO"
UNDONE = "FALHOU_COMPENSADO"
NOTHING_DONE = "FALHOU_SEM_RESERVA"
HUMAN = "REQUER_INTERVENCAO_HUMANA"
FORWARD = ("ReservarEstoque", "RegistrarReservado", "CobrarPagamento", "ConfirmarPedido")

Interference = Callable[[World, dict[str, Any], str, int], None]


@dataclass(frozen=True)
class Scenario:
    """One way to break one order, and how it must end.

    Parameters
    ----------
    name : str
        What breaks and how.
    faults : tuple[Fault, ...]
        What the bench injects.
    status : str
        The order's status at the end.
    execution : str
        SUCCEEDED, or FAILED where giving up in sight of the alarm is all that is left.
    paid, held : bool
        Whether the customer ends up charged, and the stock held.
    messages : int
        Messages in the human queue.
    visits, avoids : tuple[str, ...]
        States that must, and must not, be on the path.
    ends : tuple[str, ...]
        Last states of the path, when that matters.
    message : Mapping[str, Any]
        What the message must say, beyond what every message says.
    reason : str | None
        ``motivo.erro`` of the order.
    changes : Mapping[str, Any]
        Changes to the saga's input.
    interfere : Interference | None
        Called before each attempt (world, order, state, attempt): what somebody else does meanwhile.
    """

    name: str
    faults: tuple[Fault, ...] = ()
    status: str = CONFIRMED
    execution: str = "SUCCEEDED"
    paid: bool = True
    held: bool = True
    messages: int = 0
    visits: tuple[str, ...] = ()
    avoids: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    message: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    interfere: Interference | None = None

    def run(self, world: World, asl: Mapping[str, Any] | None = None) -> tuple[Outcome, list[str]]:
        """Play it on a new order: (what happened, everything wrong with it)."""
        order = world.order(**self.changes)

        def on_attempt(state: str, attempt: int) -> None:
            if self.interfere:
                self.interfere(world, order, state, attempt)

        outcome = world.bench.run(asl or world.asl, order, self.faults, on_attempt)
        return outcome, violations(world, order, outcome) + self._differences(world, order, outcome)

    def _differences(self, world: World, order: Mapping[str, Any], outcome: Outcome) -> list[str]:
        expected = {
            "execution": self.execution,
            "status": self.status,
            "paid": VALUE_CENTS if self.paid else 0,
            "held": QUANTITY if self.held else 0,
            "messages": self.messages,
        }
        seen = {
            "execution": outcome.status,
            "status": outcome.order_status,
            "paid": world.paid(order),
            "held": world.reserved(order),
            "messages": len(outcome.messages),
        }
        wrong = [f"{what} is {seen[what]}, not {expected[what]}" for what in expected if seen[what] != expected[what]]
        wrong += [f"did not go through {state}" for state in self.visits if state not in outcome.path]
        wrong += [f"went through {state}" for state in self.avoids if state in outcome.path]
        if self.ends and tuple(outcome.path[-len(self.ends) :]) != self.ends:
            wrong.append(f"ended in {outcome.path[-len(self.ends) :]}")
        for message in outcome.messages:
            wrong += [
                f"message's {name} is {message.get(name)}"
                for name, value in self.message.items()
                if message.get(name) != value
            ]
        if self.reason and (outcome.order or {}).get("motivo", {}).get("erro") != self.reason:
            wrong.append(f"motivo is {(outcome.order or {}).get('motivo')}")
        return wrong


@dataclass(frozen=True)
class Kind:
    """A way for one call to break: whether its effect happened, and the error each service would report."""

    name: str
    effect: str
    function: str | None
    dynamodb: str | None = None
    sqs: str | None = None

    def fault(self, state: str, attempts: frozenset[int] | None) -> Fault | None:
        """The fault of this kind in one state, or None if the state's service cannot break this way."""
        direct = self.sqs if state == "EnviarParaFilaHumana" else self.dynamodb
        error = self.function if state in FUNCTIONS else direct
        return None if error is None and self.effect != "twice" else Fault(state, error, self.effect, attempts)


FUNCTIONS = ("ReservarEstoque", "CobrarPagamento", "ConfirmarPedido", "EstornarPagamento", "LiberarEstoque")
THROTTLED = Kind(
    "throttled",
    "none",
    "Lambda.TooManyRequestsException",
    "DynamoDB.ProvisionedThroughputExceededException",
    "SQS.SdkClientException",
)
LOST_ANSWER = Kind(
    "lost-answer", "once", "Lambda.ServiceException", "DynamoDB.InternalServerError", "SQS.SdkClientException"
)
HANG_BEFORE = Kind("hang-before-effect", "none", "Sandbox.Timedout")
HANG_AFTER = Kind("hang-after-effect", "once", "Sandbox.Timedout")
TASK_TIMEOUT_BEFORE = Kind("task-timeout-before-effect", "none", "States.Timeout", "States.Timeout", "States.Timeout")
TASK_TIMEOUT_AFTER = Kind("task-timeout-after-effect", "once", "States.Timeout", "States.Timeout", "States.Timeout")
CRASH_BEFORE = Kind("crash-before-effect", "none", "Runtime.ExitError")
CRASH_AFTER = Kind("crash-after-effect", "once", "Runtime.ExitError")
TOO_MUCH_DATA = Kind("answer-too-big", "once", "States.DataLimitExceeded")
DENIED = Kind(
    "denied", "none", "Lambda.AccessDeniedException", "DynamoDB.AccessDeniedException", "SQS.SdkClientException"
)
TWICE = Kind("twice", "twice", None)
BREAKING = (
    THROTTLED,
    LOST_ANSWER,
    HANG_BEFORE,
    HANG_AFTER,
    TASK_TIMEOUT_BEFORE,
    TASK_TIMEOUT_AFTER,
    CRASH_BEFORE,
    CRASH_AFTER,
    TOO_MUCH_DATA,
    DENIED,
)

# Which kinds the Retry of a function covers: broken on the first attempt only, they change nothing in the end.
# States.TaskFailed covers all but the task's own timeout and too much data; the charge retries Lambda's own errors.
_ANY_FAILURE = {k.name for k in BREAKING if k not in (TASK_TIMEOUT_BEFORE, TASK_TIMEOUT_AFTER, TOO_MUCH_DATA)}
RETRIED = {
    "ReservarEstoque": _ANY_FAILURE,
    "CobrarPagamento": {THROTTLED.name, LOST_ANSWER.name},
    "ConfirmarPedido": _ANY_FAILURE,
}
_NEVER_CONFIRMS = Fault("ConfirmarPedido", "Runtime.ExitError")
_OFTEN = {FIRST: "once", ALWAYS: "always"}


def _forward() -> Iterator[Scenario]:
    for state in FORWARD:
        for kind in BREAKING:
            for attempts, often in _OFTEN.items():
                fault = kind.fault(state, attempts)
                if fault is None:
                    continue
                recovers = attempts is FIRST and kind.name in RETRIED.get(state, {kind.name})
                landed = state == "ConfirmarPedido" and kind.effect == "once"
                confirmed = recovers or landed
                if confirmed:
                    ends = ("MarcarCompensando", "PedidoJaConfirmado") if landed and not recovers else FORWARD[-1:]
                    yield Scenario(f"{state} {kind.name} {often}", (fault,), avoids=("LiberarEstoque",), ends=ends)
                    continue
                refund = ("MarcarCompensando", "EstornarPagamento") if state in FORWARD[2:] else ()
                yield Scenario(
                    f"{state} {kind.name} {often}",
                    (fault,),
                    UNDONE,
                    paid=False,
                    held=False,
                    visits=(*refund, "LiberarEstoque"),
                    avoids=() if refund else ("EstornarPagamento",),
                )
        twice = TWICE.fault(state, ALWAYS)
        assert twice
        yield Scenario(f"{state} invoked twice", (twice,), avoids=("LiberarEstoque",))


def _back() -> Iterator[Scenario]:
    """Each state of the way back, after a confirmation that never lands."""
    last = "RegistrarFalhaComEstoqueLiberado"
    for state in ("MarcarCompensando", "EstornarPagamento", "LiberarEstoque", last):
        for kind in BREAKING:
            for attempts, often in _OFTEN.items():
                fault = kind.fault(state, attempts)
                if fault is None:
                    continue
                name, faults = f"{state} {kind.name} {often}", (_NEVER_CONFIRMS, fault)
                if attempts is FIRST and kind is not TOO_MUCH_DATA:
                    yield Scenario(name, faults, UNDONE, paid=False, held=False, reason="Runtime.ExitError")
                elif state == last:
                    status = UNDONE if kind.effect == "once" else "COMPENSANDO"
                    yield Scenario(name, faults, status, "FAILED", paid=False, held=False)
                else:
                    refunded = state == "LiberarEstoque" or (state == "EstornarPagamento" and kind.effect == "once")
                    yield Scenario(
                        name,
                        faults,
                        HUMAN,
                        paid=not refunded,
                        held=not (state == "LiberarEstoque" and kind.effect == "once"),
                        messages=1,
                        message={"passo": "ConfirmarPedido", "passoCompensacao": state},
                        reason="Runtime.ExitError",
                    )
        twice = TWICE.fault(state, ALWAYS)
        assert twice
        yield Scenario(f"{state} invoked twice", (_NEVER_CONFIRMS, twice), UNDONE, paid=False, held=False)


def _definitive() -> Iterator[Scenario]:
    undone = {
        "status": NOTHING_DONE,
        "paid": False,
        "held": False,
        "ends": ("ReservarEstoque", "RegistrarFalhaSemCompensacao"),
    }
    too_many = {"quantidade": INITIAL_BALANCE + 1}
    yield Scenario("not enough stock", reason="EstoqueInsuficienteError", changes=too_many, **undone)
    yield Scenario("quantity zero", reason="PedidoInvalidoError", changes={"quantidade": 0}, **undone)
    yield Scenario("quantity below zero", reason="PedidoInvalidoError", changes={"quantidade": -1}, **undone)

    def remove_the_product(world: World, order: dict[str, Any], state: str, attempt: int) -> None:
        if (state, attempt) == ("ReservarEstoque", 1):
            world.remove_stock(order["sku"])

    yield Scenario("no such product", reason="ProdutoInexistenteError", interfere=remove_the_product, **undone)
    yield Scenario(
        "card refused",
        (),
        UNDONE,
        paid=False,
        held=False,
        avoids=("MarcarCompensando", "EstornarPagamento"),
        reason="CartaoRecusadoError",
        changes={"cartaoToken": "tok-forcar-recusa"},
    )
    for error in ("GatewayIndisponivelError", "RespostaInesperadaGatewayError", "PedidoInvalidoError"):
        yield Scenario(
            f"CobrarPagamento {error} always",
            (Fault("CobrarPagamento", error),),
            UNDONE,
            paid=False,
            held=False,
            visits=("MarcarCompensando", "EstornarPagamento"),
            reason=error,
        )
    yield Scenario(
        "gateway down four times, then up",
        (Fault("CobrarPagamento", "GatewayIndisponivelError", attempts=frozenset({1, 2, 3, 4})),),
    )
    for kind in BREAKING:
        for attempts, often in _OFTEN.items():
            fault = kind.fault("RegistrarFalhaSemCompensacao", attempts)
            if fault is None:
                continue
            lands = attempts is FIRST or kind.effect == "once"
            yield Scenario(
                f"RegistrarFalhaSemCompensacao {kind.name} {often}",
                (fault,),
                NOTHING_DONE if lands else "RECEBIDO",
                "SUCCEEDED" if attempts else "FAILED",
                paid=False,
                held=False,
                changes=too_many,
            )


def _human_queue() -> Iterator[Scenario]:
    """What a person sees must survive the queue's and the table's own failures."""
    broken = (_NEVER_CONFIRMS, Fault("EstornarPagamento", "GatewayIndisponivelError"))
    for state in ("EnviarParaFilaHumana", "RegistrarRequerIntervencaoHumana"):
        for kind in BREAKING:
            for attempts, often in _OFTEN.items():
                fault = kind.fault(state, attempts)
                if fault is None:
                    continue
                sending = state == "EnviarParaFilaHumana"
                landed = kind.effect == "once"
                # An answer lost after sending is a second message: readers are told it may come twice.
                sent = (2 if attempts else 7) if sending and landed else 0 if sending and not attempts else 1
                yield Scenario(
                    f"{state} {kind.name} {often}",
                    (*broken, fault),
                    HUMAN if attempts or (not sending and landed) else "COMPENSANDO",
                    "SUCCEEDED" if attempts else "FAILED",
                    messages=sent,
                    message={"passo": "ConfirmarPedido", "passoCompensacao": "EstornarPagamento"},
                )
    never_releases = Fault("LiberarEstoque", "Runtime.ExitError")
    yield Scenario(
        "release fails after a refusal",
        (never_releases,),
        HUMAN,
        paid=False,
        messages=1,
        message={"passo": "CobrarPagamento", "passoCompensacao": "LiberarEstoque"},
        reason="CartaoRecusadoError",
        changes={"cartaoToken": "tok-forcar-recusa"},
    )
    for state in FORWARD[:2]:
        yield Scenario(
            f"release fails after {state}",
            (Fault(state, "States.Timeout", "once"), never_releases),
            HUMAN,
            paid=False,
            messages=1,
            message={"passo": state, "passoCompensacao": "LiberarEstoque"},
        )
    for state, held in (("MarcarCompensando", True), ("EstornarPagamento", True), ("LiberarEstoque", False)):
        never = "DynamoDB.InternalServerError" if state == "MarcarCompensando" else "Runtime.ExitError"
        yield Scenario(
            f"{state} fails after an unknown charge",
            (Fault("CobrarPagamento", "States.Timeout", "once"), Fault(state, never)),
            HUMAN,
            paid=held,
            messages=1,
            message={"passo": "CobrarPagamento", "passoCompensacao": state},
        )


def _refused_conditions() -> Iterator[Scenario]:
    """A status write that finds another status never passes for success and never loops."""

    def someone_writes(status: str, at: str) -> Interference:
        def write(world: World, order: dict[str, Any], state: str, attempt: int) -> None:
            if (state, attempt) == (at, 1):
                world.set_status(order, status)

        return write

    for status in (UNDONE, NOTHING_DONE, "ENCERRADO_MANUALMENTE"):
        yield Scenario(
            f"mark finds {status}",
            (_NEVER_CONFIRMS,),
            HUMAN,
            messages=1,
            visits=("PedidoJaConfirmado",),
            avoids=("EstornarPagamento",),
            message={"passoCompensacao": "MarcarCompensando"},
            interfere=someone_writes(status, "MarcarCompensando"),
        )
        yield Scenario(
            f"reservation's record finds {status}",
            (),
            UNDONE if status == UNDONE else status,
            "SUCCEEDED" if status == UNDONE else "FAILED",
            paid=False,
            held=False,
            avoids=("CobrarPagamento",),
            interfere=someone_writes(status, "RegistrarReservado"),
        )
    for status in (CONFIRMED, "ENCERRADO_MANUALMENTE"):
        yield Scenario(
            f"last record finds {status}",
            (),
            status,
            "FAILED",
            paid=False,
            held=False,
            changes={"cartaoToken": "tok-forcar-recusa"},
            interfere=someone_writes(status, "RegistrarFalhaComEstoqueLiberado"),
        )
    yield Scenario(
        "failure without reservation finds CONFIRMADO",
        (),
        CONFIRMED,
        "FAILED",
        paid=False,
        held=False,
        changes={"quantidade": INITIAL_BALANCE + 1},
        interfere=someone_writes(CONFIRMED, "RegistrarFalhaSemCompensacao"),
    )
    yield Scenario(
        "a person is asked about a CONFIRMADO order",
        (_NEVER_CONFIRMS, Fault("EstornarPagamento", "Runtime.ExitError")),
        CONFIRMED,
        "FAILED",
        messages=1,
        interfere=someone_writes(CONFIRMED, "RegistrarRequerIntervencaoHumana"),
    )


def _late() -> Iterator[Scenario]:
    """The call lands after the saga stopped waiting for it."""
    for when in ("MarcarCompensando", "EstornarPagamento", "LiberarEstoque", "end"):
        yield Scenario(
            f"charge lands late, at {when}",
            (Fault("CobrarPagamento", "States.Timeout", f"late:{when}"),),
            UNDONE,
            paid=False,
            held=False,
        )
        confirmed = when == "MarcarCompensando"
        yield Scenario(
            f"confirmation lands late, at {when}",
            (Fault("ConfirmarPedido", "States.Timeout", f"late:{when}"),),
            CONFIRMED if confirmed else UNDONE,
            paid=confirmed,
            held=confirmed,
        )
    for when in ("LiberarEstoque", "RegistrarFalhaComEstoqueLiberado", "end"):
        yield Scenario(
            f"reservation lands late, at {when}",
            (Fault("ReservarEstoque", "States.Timeout", f"late:{when}"),),
            UNDONE,
            paid=False,
            held=False,
        )


NOTHING_BREAKS = Scenario("nothing breaks", ends=FORWARD)
SCENARIOS = (
    NOTHING_BREAKS,
    *_definitive(),
    *_forward(),
    *_back(),
    *_human_queue(),
    *_refused_conditions(),
    *_late(),
)
