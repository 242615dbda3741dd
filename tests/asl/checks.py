"""What can be said of a state machine without running it. Each check returns what it found wrong, in words.

The tables below are the specification of the saga's graph; a change there and a change in the file have to agree.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from tests.asl.bench import FUNCTION_PLACEHOLDERS, ROOT, functions, tasks

Asl = Mapping[str, Any]

QUEUE = "CompensacaoFalhouParaFilaHumana"
EVERYTHING = "States.ALL"
NOT_RESERVED = ("EstoqueInsuficienteError", "ProdutoInexistenteError", "PedidoInvalidoError")
CONDITION_FAILED = "DynamoDB.ConditionalCheckFailedException"
LAMBDA_SERVICE = (
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.TooManyRequestsException",
)

# state -> {error: next}; EVERYTHING stands for States.DataLimitExceeded and then States.ALL.
CATCHES: dict[str, dict[str, str]] = {
    "ReservarEstoque": dict.fromkeys(NOT_RESERVED, "RegistrarFalhaSemCompensacao") | {EVERYTHING: "LiberarEstoque"},
    "RegistrarReservado": {EVERYTHING: "LiberarEstoque"},
    "CobrarPagamento": {"CartaoRecusadoError": "LiberarEstoque", EVERYTHING: "MarcarCompensando"},
    "ConfirmarPedido": {EVERYTHING: "MarcarCompensando"},
    "MarcarCompensando": {CONDITION_FAILED: "PedidoJaConfirmado", EVERYTHING: QUEUE},
    "PedidoJaConfirmado": {EVERYTHING: QUEUE},
    "EstornarPagamento": {EVERYTHING: QUEUE},
    "LiberarEstoque": {EVERYTHING: QUEUE},
    "RegistrarFalhaSemCompensacao": {},
    "RegistrarFalhaComEstoqueLiberado": {},
    QUEUE: {},
    "RegistrarRequerIntervencaoHumana": {},
}

# state -> next, None where the execution ends.
NEXTS: dict[str, str | None] = {
    "ReservarEstoque": "RegistrarReservado",
    "RegistrarReservado": "CobrarPagamento",
    "CobrarPagamento": "ConfirmarPedido",
    "ConfirmarPedido": None,
    "MarcarCompensando": "EstornarPagamento",
    "PedidoJaConfirmado": None,
    "EstornarPagamento": "LiberarEstoque",
    "LiberarEstoque": "RegistrarFalhaComEstoqueLiberado",
    "RegistrarFalhaSemCompensacao": None,
    "RegistrarFalhaComEstoqueLiberado": None,
    QUEUE: "RegistrarRequerIntervencaoHumana",
    "RegistrarRequerIntervencaoHumana": None,
}

RESULT_PATHS = {
    "ReservarEstoque": "$.reserva",
    "RegistrarReservado": "$.registro",
    "CobrarPagamento": "$.cobranca",
    "ConfirmarPedido": "$.confirmacao",
    "MarcarCompensando": "$.marca",
    "PedidoJaConfirmado": "$.confirmacao",
    "EstornarPagamento": "$.estorno",
    "LiberarEstoque": "$.liberacao",
    "RegistrarFalhaSemCompensacao": "$.registro",
    "RegistrarFalhaComEstoqueLiberado": "$.registro",
    QUEUE: "$.fila",
    "EnviarParaFilaHumana": "$.fila",
    "RegistrarRequerIntervencaoHumana": "$.registro",
}

# state -> error -> (first interval in s, retries, backoff, longest delay in s, jitter); 0 retries says "never".
# The numbers of the lab's table, then the service errors of Lambda, then what the corrections add.
_NEVER = (None, 0, None, None, None)
_GATEWAY = (2, 4, 2.0, 15, "FULL")
RETRIES: dict[str, dict[str, tuple[Any, ...]]] = {
    "ReservarEstoque": dict.fromkeys(NOT_RESERVED, _NEVER) | {"States.TaskFailed": (1, 2, 2.0, None, None)},
    "CobrarPagamento": {"CartaoRecusadoError": _NEVER, "GatewayIndisponivelError": _GATEWAY},
    "ConfirmarPedido": {"States.TaskFailed": (1, 2, 2.0, None, None)},
    "EstornarPagamento": {
        "GatewayIndisponivelError": _GATEWAY,
        "States.Timeout": _GATEWAY,
        "States.TaskFailed": _GATEWAY,
    },
    "LiberarEstoque": {"States.TaskFailed": (2, 3, 2.0, None, "FULL"), "States.Timeout": (2, 3, 2.0, None, "FULL")},
}
FUNCTION_STATES = tuple(RETRIES)
for _state in FUNCTION_STATES:
    RETRIES[_state] |= dict.fromkeys(LAMBDA_SERVICE, (2, 6, 2.0, None, "FULL"))

FORWARD = ("ReservarEstoque", "RegistrarReservado", "CobrarPagamento", "ConfirmarPedido")
UNDOES = {"EstornarPagamento": "CobrarPagamento", "LiberarEstoque": "ReservarEstoque"}

# Lambda gives a function up to 10 s to start, outside its own timeout.
LAMBDA_START_LIMIT_S = 10

# Errors no class of ours raises: the platform does.
PLATFORM_PREFIXES = ("States.", "Lambda.", "DynamoDB.", "SQS.")

# Concrete classes no state names, because for the saga they are "anything else": the step may have happened.
MEANT_FOR_STATES_ALL: dict[str, str] = {
    "ConfiguracaoInvalidaError": "the step may have run before under a good configuration",
    "ReservaEncerradaError": "a reserve after its undo: the release finds nothing to do",
    "ReservaDivergenteError": "what the order already holds is given back",
    "ReservaEmDisputaError": "repeated by States.TaskFailed; in the end the release gives back whatever landed",
    "CobrancaCanceladaError": "an undo already ran for this order: compensate to the end",
    "CobrancaDivergenteError": "that charge may exist",
    "RespostaInesperadaGatewayError": "what happened is unknown",
    "ConfirmacaoRecusadaError": "the mark COMPENSANDO decides what happens next",
    "ConfirmacaoForcadaAFalharError": "a proof's injected failure, treated as any other",
}

# Raised by functions that are not steps of the saga: the machine never sees them.
NOT_IN_THE_SAGA = ("PedidoDivergenteError", "FilaIndisponivelError")


def retriers(state: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Error name -> numbers, first match wins as in the language."""
    found: dict[str, tuple[Any, ...]] = {}
    for retrier in state.get("Retry", []):
        numbers = tuple(
            retrier.get(name)
            for name in ("IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds", "JitterStrategy")
        )
        for error in retrier["ErrorEquals"]:
            found.setdefault(error, numbers)
    return found


def is_function(state: Mapping[str, Any]) -> bool:
    return ":lambda:" in state.get("Resource", "")


def graph_differs(asl: Asl) -> list[str]:
    """States, Next, Catch and ResultPath against the specification's tables."""
    wrong = [f"state {name} missing" for name in NEXTS if name not in asl["States"]]
    wrong += [f"state {name} is not in the specification" for name in asl["States"] if name not in NEXTS]
    if asl["StartAt"] != FORWARD[0]:
        wrong.append(f"starts at {asl['StartAt']}")
    for name, state in asl["States"].items():
        if state.get("Next") != NEXTS.get(name):
            wrong.append(f"{name}: Next {state.get('Next')}")
        caught: dict[str, str] = {}
        for catcher in state.get("Catch", []):
            for error in catcher["ErrorEquals"]:
                caught.setdefault(error, catcher["Next"])
        expected = dict(CATCHES.get(name, {}))
        if EVERYTHING in expected:
            expected["States.DataLimitExceeded"] = expected[EVERYTHING]
        if caught != expected:
            wrong.append(f"{name}: Catch {caught}")
    for name, state in tasks(asl):
        if state["Type"] in ("Task", "Parallel") and state.get("ResultPath") != RESULT_PATHS.get(name):
            wrong.append(f"{name}: ResultPath {state.get('ResultPath')}")
        for catcher in state.get("Catch", []):
            path = "$.erro" if name in FORWARD else "$.erroCompensacao"
            if catcher.get("ResultPath") != path:
                wrong.append(f"{name}: Catch ResultPath {catcher.get('ResultPath')}")
    return wrong


def catchers_out_of_order(asl: Asl) -> list[str]:
    """States.ALL alone and last; States.DataLimitExceeded named right before it, because ALL does not cover it."""
    wrong = []
    for name, state in tasks(asl):
        lists = [catcher["ErrorEquals"] for catcher in state.get("Catch", [])]
        if lists and lists[-2:] != [["States.DataLimitExceeded"], [EVERYTHING]]:
            wrong.append(f"{name}: catchers end in {lists[-2:]}")
        if any(EVERYTHING in errors for errors in lists[:-1]):
            wrong.append(f"{name}: States.ALL before the last catcher")
    return wrong


def retries_differ(asl: Asl) -> list[str]:
    """Retry numbers of the functions against the specification; other effects retry, but no refused condition."""
    wrong = []
    for name, state in tasks(asl):
        if state["Type"] != "Task":
            continue
        numbers = retriers(state)
        if is_function(state):
            if numbers != RETRIES.get(name):
                wrong.append(f"{name}: Retry {numbers}")
            continue
        if not {"States.TaskFailed", "States.Timeout"} <= numbers.keys():
            wrong.append(f"{name}: transient failures are not retried")
        if ":dynamodb:" in state["Resource"] and numbers.get(CONDITION_FAILED, (0, 1))[1] != 0:
            wrong.append(f"{name}: retries a refused condition")
    return wrong


def business_task_without_catch(asl: Asl) -> list[str]:
    """No effect may be left without a named way to undo it."""
    return [name for name, state in tasks(asl) if is_function(state) and not state.get("Catch")]


def timeouts_too_short(asl: Asl) -> list[str]:
    """A task gives up only after the call it waits for is surely over: an expired call would be a third writer."""
    wrong = []
    for name, state in tasks(asl):
        if state["Type"] != "Task":
            continue
        limit = state.get("TimeoutSeconds")
        if limit is None:
            wrong.append(f"{name}: no TimeoutSeconds")
        elif placeholder := re.search(r"\$\{(funcao_\w+)\}", state["Resource"]):
            timeout = functions()[FUNCTION_PLACEHOLDERS[placeholder[1]]]["Timeout"]
            if limit <= timeout + LAMBDA_START_LIMIT_S:
                wrong.append(f"{name}: {limit} s, function {timeout} s + {LAMBDA_START_LIMIT_S} s to start")
    return wrong


def edges(asl: Asl) -> Iterator[tuple[str, str]]:
    """Every way out of every top-level state."""
    for name, state in asl["States"].items():
        if "Next" in state:
            yield name, state["Next"]
        for catcher in state.get("Catch", []):
            yield name, catcher["Next"]


def paths(asl: Asl) -> Iterator[list[tuple[str, str | None]]]:
    """Every path from the start to an end, as (state, error path written when it was left by a Catch)."""

    def walk(name: str, so_far: list[tuple[str, str | None]]) -> Iterator[list[tuple[str, str | None]]]:
        if any(name == visited for visited, _ in so_far):
            yield [*so_far, (name, "again")]
            return
        state = asl["States"][name]
        here = [*so_far, (name, None)]
        if state.get("Next"):
            yield from walk(state["Next"], here)
        else:
            yield here
        for target, path in sorted({(c["Next"], c.get("ResultPath", "$")) for c in state.get("Catch", [])}):
            yield from walk(target, [*so_far, (name, path)])

    yield from walk(asl["StartAt"], [])


def order_of_undoing(asl: Asl) -> list[str]:
    """On every path: no state twice, and what is undone is undone in the mirror order of what was done."""
    wrong = set()
    for path in paths(asl):
        names = [name for name, _ in path]
        if path[-1][1] == "again":
            wrong.add(f"{names[-1]} can run twice")
        done = [name for name in names if name in UNDOES.values()]
        undone = [UNDOES[name] for name in names if name in UNDOES]
        if undone != [name for name in reversed(done) if name in undone]:
            wrong.add(f"undo order on {' > '.join(names)}")
    return sorted(wrong)


def errors_read_but_never_written(asl: Asl) -> list[str]:
    """A state that reads $.erro or $.erroCompensacao is only reached after a Catch that wrote it."""
    wrong = set()
    for path in paths(asl):
        written: set[str] = set()
        for name, error_path in path:
            text = str(asl["States"][name])
            wrong |= {
                f"{name} reads {needed} nobody wrote"
                for needed in ("$.erro", "$.erroCompensacao")
                if re.search(re.escape(needed) + r"[.'\"]", text.replace(f"'ResultPath': '{needed}'", ""))
                and needed not in written
            }
            if error_path:
                written.add(error_path)
    return sorted(wrong)


def concrete_errors() -> dict[str, str]:
    """Error class -> context, of every class in lambdas/*/erros.py that a step of the saga may raise."""
    from comum import erros as bases

    contexts = ("comum", "estoque", "pagamentos", "pedidos")
    classes: dict[type, str] = {}
    for context in contexts:
        try:
            module = import_module(f"{context}.erros")
        except ModuleNotFoundError:
            continue
        for candidate in vars(module).values():
            if inspect.isclass(candidate) and issubclass(candidate, bases.ErroDeNegocio):
                classes.setdefault(candidate, candidate.__module__.split(".")[0])
    parents = {parent for candidate in classes for parent in candidate.__mro__[1:]}
    abstract = {bases.ErroDeNegocio, bases.ErroDefinitivo, bases.ErroTransitorio, bases.ErroDesfechoDesconhecido}
    assert not (parents - abstract) & classes.keys(), "a subclass does not match its parent's name in the ASL"
    return {candidate.__name__: context for candidate, context in classes.items() if candidate not in abstract}


def raised_errors() -> set[str]:
    """Names that some ``raise`` statement in lambdas/ mentions."""
    names: set[str] = set()
    for source in (ROOT / "lambdas").rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.Raise) and node.exc is not None:
                target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                names.add(target.id if isinstance(target, ast.Name) else getattr(target, "attr", ""))
    return names


def named_errors(asl: Asl) -> dict[str, set[str]]:
    """Our own error names in the machine -> states that name them."""
    found: dict[str, set[str]] = {}
    for name, state in tasks(asl):
        for rule in [*state.get("Retry", []), *state.get("Catch", [])]:
            for error in rule["ErrorEquals"]:
                if not error.startswith(PLATFORM_PREFIXES):
                    found.setdefault(error, set()).add(name)
    return found


def names_without_a_class(asl: Asl) -> list[str]:
    """A name nobody raises matches nothing and looks as if it did."""
    raised = raised_errors()
    classes = concrete_errors()
    return [error for error in named_errors(asl) if error not in classes or error not in raised]


def classes_without_a_name(asl: Asl) -> list[str]:
    """Every concrete class is matched by its own name or is written down as meant for States.ALL, never both."""
    named = set(named_errors(asl))
    classes = set(concrete_errors()) - set(NOT_IN_THE_SAGA)
    wrong = [
        f"{error} is neither named nor meant for States.ALL" for error in classes - named - MEANT_FOR_STATES_ALL.keys()
    ]
    wrong += [f"{error} is named and meant for States.ALL" for error in named & MEANT_FOR_STATES_ALL.keys()]
    wrong += [f"{error} no longer exists" for error in MEANT_FOR_STATES_ALL.keys() - classes]
    return wrong


CHECKS = (
    graph_differs,
    catchers_out_of_order,
    retries_differ,
    business_task_without_catch,
    timeouts_too_short,
    order_of_undoing,
    errors_read_but_never_written,
)


def problems(asl: Asl) -> list[str]:
    """Everything the checks that need no handler find wrong."""
    found = []
    for check in CHECKS:
        found += [f"{check.__name__}: {problem}" for problem in check(asl)]
    return found
