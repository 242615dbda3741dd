"""What can go wrong with one call of the saga, and how a way for everything to go wrong is written on one line.

A *schedule* is a route (what the order is like) and choices, each bound to one attempt of one state::

    confirm-refused/ReservarEstoque#1:lost-late,LiberarEstoque#1:land,EstornarPagamento#1+:crash-before

reads: the confirmation is refused for business reasons; the first reserve is lost and lands when the first release
begins; every attempt of the refund, from the first on, crashes before doing anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tests.asl.bench import Fault, load_asl, tasks

# More than any Retry allows.
ATTEMPTS_LIMIT = 30

NO_PRODUCT = "no-such-product"
# What the order is like: changes to its input, and to the world. Every state of the machine is on some route.
ROUTES: Mapping[str, Mapping[str, Any]] = {
    "nothing-else": {},
    "not-enough-stock": {"quantidade": 101},
    NO_PRODUCT: {},
    "card-refused": {"cartaoToken": "tok-forcar-recusa"},
    "confirm-refused": {"forcarFalhaConfirmar": True},
    "refund-refused": {"forcarFalhaConfirmar": True, "forcarFalhaEstorno": True},
}

FUNCTIONS = ("ReservarEstoque", "CobrarPagamento", "ConfirmarPedido", "EstornarPagamento", "LiberarEstoque")
QUEUE_SEND = "EnviarParaFilaHumana"
STATES = {name: state for name, state in tasks(load_asl()) if state["Type"] == "Task"}
_NOT_RESERVE = tuple(name for name in STATES if name != "ReservarEstoque")


@dataclass(frozen=True)
class Kind:
    """One way for a call to go wrong.

    Parameters
    ----------
    name : str
        As written in a schedule.
    family : str
        Which of the issue's eight families it belongs to.
    effect : str
        As in :class:`tests.asl.bench.Fault`; ``late`` is bound to a landing by another choice.
    function, dynamodb, sqs : str | None
        Error name as each service reports it; None when that service cannot fail so. ``ok``: no error at all.
    persists : bool
        Whether "on every attempt from here on" is a schedule of its own: only what makes retries run out is.
    only : tuple[str, ...] | None
        States it can happen in; None: any.
    """

    name: str
    family: str
    effect: str
    function: str | None
    dynamodb: str | None = None
    sqs: str | None = None
    persists: bool = False
    only: tuple[str, ...] | None = None

    def error(self, state: str) -> str | None:
        """Error name seen in this state; None when the state's service cannot fail so."""
        if self.only and state not in self.only:
            return None
        if state in FUNCTIONS:
            return self.function
        return self.sqs if state == QUEUE_SEND else self.dynamodb


_SERVICE, _SERVER, _SQS = "Lambda.ServiceException", "DynamoDB.InternalServerError", "SQS.SdkClientException"
_THROTTLED = "Lambda.TooManyRequestsException"
_THROUGHPUT = "DynamoDB.ProvisionedThroughputExceededException"
_DENIED = "DynamoDB.AccessDeniedException"
_TIMEOUT, _CRASH = "States.Timeout", "Runtime.ExitError"
_DOWN, _MONEY = "GatewayIndisponivelError", ("CobrarPagamento", "EstornarPagamento")
KINDS = {
    kind.name: kind
    for kind in (
        Kind("fail-before", "fail before", "none", _SERVICE, _SERVER, _SQS, persists=True),
        Kind("fail-after", "fail after (response lost)", "once", _SERVICE, _SERVER, _SQS, persists=True),
        Kind("lost-late", "hang, lands late", "late", _SERVICE, _SERVER, _SQS),
        Kind("hang-before", "hang past the timeout", "none", _TIMEOUT, _TIMEOUT, _TIMEOUT, persists=True),
        Kind("hang-after", "hang past the timeout", "once", _TIMEOUT, _TIMEOUT, _TIMEOUT, persists=True),
        Kind("hang-late", "hang, lands late", "late", _TIMEOUT, _TIMEOUT, _TIMEOUT),
        Kind("crash-before", "crash", "none", _CRASH, persists=True),
        Kind("crash-after", "crash", "once", _CRASH, persists=True),
        Kind("crash-late", "crash", "late", _CRASH),
        Kind("twice", "duplicate", "twice", "ok", "ok", "ok"),
        Kind("again-late", "duplicate", "once+late", "ok", "ok", "ok"),
        Kind("throttled", "throttled", "none", _THROTTLED, _THROUGHPUT, "SQS.RequestThrottledException", persists=True),
        Kind("gateway-before", "fail before", "none", _DOWN, persists=True, only=_MONEY),
        Kind("gateway-after", "fail after (response lost)", "once", _DOWN, persists=True, only=_MONEY),
        Kind("gateway-late", "hang, lands late", "late", _DOWN, only=_MONEY),
        # A reserve's own definitive error is never made up: it would deny a reserve that has landed. Somebody else
        # takes the whole balance for as long as the attempt lasts.
        Kind(
            "definitive", "definitive", "none", "PedidoInvalidoError", _DENIED, _SQS, persists=True, only=_NOT_RESERVE
        ),
        Kind("sold-out", "definitive", "sold-out", "ok", persists=True, only=("ReservarEstoque",)),
        Kind("answer-too-big", "definitive", "once", "States.DataLimitExceeded"),
    )
}
LANDINGS = ("land", "land-newest", "land-all")


@dataclass(frozen=True, order=True)
class Choice:
    """What happens at one attempt of one state; with ``onwards``, at every later attempt of it too."""

    state: str
    attempt: int
    what: str
    onwards: bool = False

    def __str__(self) -> str:
        return f"{self.state}#{self.attempt}{'+' if self.onwards else ''}:{self.what}"

    @property
    def is_fault(self) -> bool:
        return self.what in KINDS


_CHOICE = re.compile(r"(\w+)#(\d+)(\+?):([a-z-]+)")


@dataclass(frozen=True)
class Schedule:
    """A route and the choices along it, in the order in which they come up."""

    route: str
    choices: tuple[Choice, ...] = ()

    def __str__(self) -> str:
        return f"{self.route}/{','.join(map(str, self.choices)) or 'no-fault'}"

    @classmethod
    def parse(cls, line: str) -> Schedule:
        """Read what ``str`` wrote.

        Raises
        ------
        ValueError
            Naming the part that is not understood.
        """
        route, _, rest = line.strip().partition("/")
        if route not in ROUTES:
            raise ValueError(f"unknown route {route!r}; one of {', '.join(ROUTES)}")
        choices = []
        for part in [] if rest in ("", "no-fault") else rest.split(","):
            found = _CHOICE.fullmatch(part)
            known = found and (found[4] in KINDS or found[4] in LANDINGS)
            if not found or not known or found[1] not in STATES:
                raise ValueError(f"unknown choice {part!r}")
            choices.append(Choice(found[1], int(found[2]), found[4], found[3] == "+"))
        return cls(route, tuple(choices))

    def and_then(self, *choices: Choice) -> Schedule:
        return Schedule(self.route, (*self.choices, *choices))

    @property
    def faults(self) -> tuple[Choice, ...]:
        return tuple(choice for choice in self.choices if choice.is_fault)

    def injected(self) -> list[Fault]:
        """What the bench injects; a choice about one attempt wins over one about every attempt."""
        faults = []
        for choice in sorted(self.faults, key=lambda choice: choice.onwards):
            kind = KINDS[choice.what]
            last = ATTEMPTS_LIMIT if choice.onwards else choice.attempt
            error = kind.error(choice.state)
            faults.append(
                Fault(
                    choice.state,
                    None if error in ("ok", None) else error,
                    "once" if kind.effect == "sold-out" else kind.effect,
                    frozenset(range(choice.attempt, last + 1)),
                )
            )
        return faults

    def at(self, state: str, attempt: int, what: Sequence[str]) -> Iterator[str]:
        """Which of these things are chosen for an attempt."""
        exact = [c for c in self.choices if (c.state, c.attempt) == (state, attempt)]
        for choice in self.choices:
            lasting = choice.onwards and choice.state == state and attempt > choice.attempt
            if choice.what in what and (choice in exact or (lasting and not any(c.is_fault for c in exact))):
                yield choice.what


@lru_cache
def kinds(state: str) -> tuple[tuple[Kind, bool], ...]:
    """Every way one attempt of a state goes wrong: (kind, on every later attempt too)."""
    found = []
    for kind in KINDS.values():
        if kind.error(state) is None:
            continue
        found += [(kind, onwards) for onwards in (False, True) if kind.persists or not onwards]
    return tuple(found)


_NOT_TASK_FAILED = ("States.Timeout", "States.DataLimitExceeded", "States.Runtime")
_NOT_ALL = ("States.DataLimitExceeded", "States.Runtime")


def _matches(names: Sequence[str], error: str) -> bool:
    return (
        error in names
        or ("States.TaskFailed" in names and error not in _NOT_TASK_FAILED)
        or ("States.ALL" in names and error not in _NOT_ALL)
    )


@lru_cache(maxsize=4096)
def treatment(state: str, error: str) -> tuple[int, int, bool]:
    """What the deployed machine makes of an error: positions of its Retry and Catch (-1: none), and whether it is the
    one error the machine reads the name of after catching it."""
    rules = STATES[state]

    def first(name: str) -> int:
        found = (n for n, rule in enumerate(rules.get(name, ())) if _matches(rule["ErrorEquals"], error))
        return next(found, -1)

    return first("Retry"), first("Catch"), error == "CartaoRecusadoError"


@lru_cache
def distinct_kinds(state: str) -> tuple[tuple[Kind, bool], ...]:
    """Of :func:`kinds`, one of each that the machine can tell apart: same effect and same treatment are the same."""
    found: dict[tuple[Any, ...], tuple[Kind, bool]] = {}
    for kind, onwards in kinds(state):
        error = kind.error(state)
        how = None if error in (None, "ok") else treatment(state, str(error))
        if onwards and how is not None and how[0] == -1:
            continue  # never retried: there is no later attempt
        if onwards and how is not None and STATES[state]["Retry"][how[0]].get("MaxAttempts") == 0:
            continue
        found.setdefault((kind.effect, how, onwards), (kind, onwards))
    return tuple(found.values())
