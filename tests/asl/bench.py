"""Runs the real state machine in process, with real handlers, and breaks it on purpose.

The interpreter is LocalStack's, as moto ships it. Three seams are replaced and nothing else:

* where the interpreter calls Lambda, the handler named in ``template.yaml`` is called instead;
* where it calls DynamoDB and SQS directly, the same call goes through :meth:`Bench._attempt` so that it can be broken;
* where it sleeps between retries, the seconds are written down instead of slept.

A :class:`Fault` says what one attempt of one state does: whether its effect happens (not at all, once, twice, or late:
when another state starts) and which error name the interpreter sees. Every injected failure combines the two.
"""

from __future__ import annotations

import json
import re
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from unittest import mock

import boto3
import yaml
from boto3.dynamodb.types import TypeDeserializer
from botocore.client import BaseClient
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.stepfunctions.parser.api import HistoryEventType, LambdaFunctionFailedEventDetails
from moto.stepfunctions.parser.asl.component.common.error_name.error_equals_decl import ErrorEqualsDecl
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import FailureEvent, FailureEventException
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name import StatesErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name_type import StatesErrorNameType
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.program.program import Program
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_dynamodb import (
    StateTaskServiceDynamoDB,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_sqs import (
    StateTaskServiceSqs,
)
from moto.stepfunctions.parser.asl.eval.event.event_detail import EventDetails
from moto.stepfunctions.parser.asl.parse import asl_parser
from moto.stepfunctions.parser.asl.utils.json_path import NoSuchJsonPathError
from moto.stepfunctions.parser.backend import execution_worker
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

ROOT = Path(__file__).resolve().parents[2]
ASL_FILE = ROOT / "asl" / "saga-pedido.asl.json"
TEMPLATE_FILE = ROOT / "template.yaml"

ACCOUNT = "123456789012"
REGION = "sa-east-1"
MACHINE = "cesta-saga-pedido"
END = "end"

# Time left to a handler, whatever its function's timeout: a slow machine must not look like a fault.
CALL_LIMIT_S = 60

# The longest path of the machine has a dozen states.
STATES_PER_EXECUTION = 100
NOT_COVERED_BY_ALL = (StatesErrorNameType.StatesStatesDataLimitExceeded, StatesErrorNameType.StatesRuntime)

Handler = Callable[[dict[str, Any], Any], Any]


@lru_cache
def functions() -> Mapping[str, dict[str, Any]]:
    """Properties of each function of template.yaml, by function name."""
    resources = yaml.safe_load(TEMPLATE_FILE.read_text())["Resources"].values()
    return {
        properties["FunctionName"]: properties
        for resource in resources
        if (properties := resource.get("Properties", {})).get("FunctionName")
    }


# State machine placeholder -> function name; Terraform passes the same names.
FUNCTION_PLACEHOLDERS = {
    "funcao_reservar_estoque": "cesta-reservar-estoque",
    "funcao_liberar_estoque": "cesta-liberar-estoque",
    "funcao_cobrar_pagamento": "cesta-cobrar-pagamento",
    "funcao_estornar_pagamento": "cesta-estornar-pagamento",
    "funcao_confirmar_pedido": "cesta-confirmar-pedido",
}


def load_asl(path: Path = ASL_FILE) -> dict[str, Any]:
    """The state machine as written, placeholders and all."""
    return dict(json.loads(path.read_text()))


def render(asl: Mapping[str, Any], **extra: str) -> str:
    """Do what Terraform's templatefile does. An unknown placeholder is a KeyError, as it is an error there."""
    values = {
        "particao": "aws",
        "regiao": REGION,
        "conta": ACCOUNT,
        "tabela_pedidos": "cesta-pedidos",
        **FUNCTION_PLACEHOLDERS,
        **extra,
    }
    return re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], json.dumps(asl))


def tasks(asl: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every state of the machine by name, inside branches too."""
    for name, state in asl["States"].items():
        yield name, state
        for branch in state.get("Branches", []):
            yield from tasks(branch)


@dataclass(frozen=True)
class Fault:
    """What goes wrong in one state.

    Parameters
    ----------
    state : str
        Name of the state whose attempts are broken.
    error : str | None
        Error name the interpreter sees; None when the attempt succeeds all the same (a duplicate, a late effect).
        ``States.Timeout`` is the task's own timeout; anything else arrives as Lambda, DynamoDB or SQS would report it.
    effect : str
        ``none``, ``once``, ``twice``, or ``late:STATE``: the call only runs when STATE makes its first attempt
        (``late:end``: after the execution closed). Plain ``late`` waits for :meth:`Bench.land_late`, or for the end;
        ``once+late`` is a call that runs now and a copy of it that runs late.
    attempts : frozenset[int] | None
        Which attempts of the state, counted from 1; None is every attempt.
    """

    state: str
    error: str | None
    effect: str = "none"
    attempts: frozenset[int] | None = None

    def hits(self, state: str, attempt: int) -> bool:
        return state == self.state and (self.attempts is None or attempt in self.attempts)

    def __str__(self) -> str:
        when = "*" if self.attempts is None else ",".join(map(str, sorted(self.attempts)))
        return f"{self.state}#{when}:{self.effect}:{self.error or 'ok'}"


@dataclass
class Call:
    """One attempt of one state, as it went: ``error`` is the call's own, ``seen`` the one the machine was told."""

    state: str
    attempt: int
    payload: Any
    ran: int = 0
    result: Any = None
    error: str | None = None
    late: bool = False
    seen: str | None = None


@dataclass
class Outcome:
    """Everything one execution left behind."""

    status: str
    error: str | None
    cause: str | None
    output: dict[str, Any] | None
    path: list[str]
    calls: list[Call]
    slept: list[float]
    order: dict[str, Any] | None
    messages: list[dict[str, Any]]
    execution_arn: str
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def order_status(self) -> str | None:
        return self.order["status"] if self.order else None

    def effects(self, *states: str) -> list[str]:
        """States whose effect really happened, in order (of the given ones, when given)."""
        return [
            call.state
            for call in self.calls
            if call.ran and call.error is None and (not states or call.state in states)
        ]


class HandlerCrash(Exception):
    """Raised by a handler stand-in to die with a platform error name, e.g. Runtime.ExitError."""

    def __init__(self, error_name: str) -> None:
        super().__init__(error_name)
        self.error_name = error_name


class Context:
    """Lambda context, as much as Powertools and the handlers read of it."""

    memory_limit_in_mb = 256
    aws_request_id = "00000000-0000-0000-0000-000000000000"

    def __init__(self, function_name: str, timeout_s: int) -> None:
        self.function_name = function_name
        self.invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function_name}"
        self._ends = time.monotonic() + timeout_s

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._ends - time.monotonic()) * 1000))


class _Injected(Exception):
    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


def make_orders_table(dynamodb: Any) -> None:
    """``cesta-pedidos`` with an index by status that carries keys alone."""
    dynamodb.create_table(
        TableName="cesta-pedidos",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "pedidoId", "KeyType": "HASH"}],
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in ("pedidoId", "status", "atualizadoEm")
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "por-status",
                "KeySchema": [
                    {"AttributeName": "status", "KeyType": "HASH"},
                    {"AttributeName": "atualizadoEm", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["criadoEm", "valorCentavos"]},
            }
        ],
    )


class Bench:
    """A mocked account with the tables, the queue and one state machine per definition. Use as a context manager."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self.handlers = dict(handlers)
        self._stack = ExitStack()
        self._faults: Sequence[Fault] = ()
        self._calls: list[Call] = []
        self._late: list[tuple[str, str, Callable[[], None]]] = []
        self._slept: list[float] = []
        self._on_attempt: Callable[[str, int], None] | None = None
        self.on_effect: Callable[[Call], None] | None = None
        self.on_end: Callable[[], None] | None = None
        self._env: Any = None
        self._machines: dict[str, str] = {}
        self._made = 0
        self._executions = 0
        self._states_entered = 0

    def __enter__(self) -> Bench:
        enter = self._stack.enter_context
        environment = {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_REGION": REGION,
        }
        enter(mock.patch.dict("os.environ", environment))
        enter(mock_aws(config={"stepfunctions": {"execute_state_machine": True}}))
        enter(self._plugged())
        self.dynamodb = boto3.client("dynamodb")
        self.sqs = boto3.client("sqs")
        self.ssm = boto3.client("ssm")
        self.states = boto3.client("stepfunctions")
        make_orders_table(self.dynamodb)
        for table, key in (
            ("cesta-estoque", "sku"),
            ("cesta-estoque-baixas", "pedidoId"),
            ("cesta-conferencias", "nome"),
        ):
            self.dynamodb.create_table(
                TableName=table,
                BillingMode="PAY_PER_REQUEST",
                KeySchema=[{"AttributeName": key, "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"}],
            )
        self._make_gateway_table()
        self.queue_url = self.sqs.create_queue(QueueName="cesta-compensacao-falhou")["QueueUrl"]
        return self

    def _make_gateway_table(self) -> None:
        self.dynamodb.create_table(
            TableName="cesta-gateway-simulado",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
        )

    def forget_gateway(self) -> None:
        """Empty the gateway's table: no key, no ledger."""
        self.dynamodb.delete_table(TableName="cesta-gateway-simulado")
        self._make_gateway_table()

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    # --- seams ---------------------------------------------------------------------------------------------------

    @contextmanager
    def _plugged(self) -> Iterator[None]:
        bench = self

        def call_lambda(env: Any, parameters: dict[str, Any], region: str, state_credentials: Any) -> None:
            name = parameters["FunctionName"].rsplit(":", 1)[-1]
            payload = json.loads(parameters["Payload"])

            def invoke() -> Any:
                context = Context(name, CALL_LIMIT_S)
                result = bench.handlers[name](json.loads(json.dumps(payload)), context)
                return json.loads(json.dumps(result))

            bench._env = env
            try:
                result = bench._attempt(_state_of(env), payload, invoke)
            except _Injected as injected:
                if injected.error == "States.Timeout":
                    raise TimeoutError from None
                if injected.error == "States.DataLimitExceeded":
                    failure = _failure(env, StatesErrorNameType.StatesStatesDataLimitExceeded, "injected")
                    raise FailureEventException(failure) from None
                raise lambda_eval_utils.LambdaFunctionErrorException(
                    "Unhandled", _error_payload(injected.error)
                ) from None
            except Exception as error:
                raise lambda_eval_utils.LambdaFunctionErrorException(
                    "Unhandled", _error_payload(error_name(error), str(error))
                ) from error
            env.stack.append({"Payload": result, "StatusCode": 200})

        def direct(service: type, prefix: str) -> ExitStack:
            original = service._eval_service_task
            original_error = service._from_error

            def evaluate(task: Any, env: Any, **kwargs: Any) -> None:
                state = _state_of(env)

                def invoke() -> Any:
                    original(task, env, **kwargs)
                    return env.stack.pop()

                bench._env = env
                try:
                    env.stack.append(bench._attempt(state, kwargs["normalised_parameters"], invoke))
                except _Injected as injected:
                    if injected.error == "States.Timeout":
                        raise FailureEventException(task._get_timed_out_failure_event(env)) from None
                    code = injected.error.removeprefix(prefix)
                    raise ClientError(
                        {
                            "Error": {"Code": code, "Message": "injected"},
                            "ResponseMetadata": {"HTTPStatusCode": 400, "RequestId": "injected"},
                        },
                        "Injected",
                    ) from None

            def from_error(task: Any, env: Any, ex: Exception) -> Any:
                if isinstance(ex, FailureEventException):
                    return ex.failure_event
                if isinstance(ex, NoSuchJsonPathError):
                    # As AWS: a path that is not there ends the execution, no Catch sees it.
                    return _failure(env, StatesErrorNameType.StatesRuntime, str(ex))
                return original_error(task, env=env, ex=ex)

            patches = ExitStack()
            patches.enter_context(mock.patch.object(service, "_eval_service_task", evaluate))
            patches.enter_context(mock.patch.object(service, "_from_error", from_error))
            return patches

        matches = ErrorEqualsDecl._eval_body

        def match(decl: Any, env: Any) -> None:
            """As AWS: States.ALL covers neither of these two (the interpreter thinks it does)."""
            uncovered = any(env.stack[-1] == StatesErrorName(typ=kind) for kind in NOT_COVERED_BY_ALL)
            matches(decl, env)
            if uncovered and ErrorEqualsDecl._STATE_ALL_ERROR in decl.error_names:
                env.stack[-1] = False

        find_state = Program._get_state

        def find(program: Any, name: str) -> Any:
            """A machine that turns in circles (only a broken one does) ends as AWS would end it, only sooner."""
            bench._states_entered += 1
            if bench._states_entered > STATES_PER_EXECUTION:
                raise RuntimeError("too many states entered")
            return find_state(program, name)

        # Parsing takes most of an execution's time and gives the same tree each time.
        parse = lru_cache(maxsize=64)(asl_parser.AmazonStateLanguageParser.parse)
        with (
            mock.patch.object(ErrorEqualsDecl, "_eval_body", match),
            mock.patch.object(Program, "_get_state", find),
            mock.patch.object(lambda_eval_utils, "execute_lambda_function_integration", call_lambda),
            mock.patch.object(retrier_decl, "time", types.SimpleNamespace(sleep=self._slept_for)),
            mock.patch.object(execution_worker.AmazonStateLanguageParser, "parse", parse),
            mock.patch.object(execution_worker.ExecutionWorker, "start", lambda worker: worker._execution_logic()),
            direct(StateTaskServiceDynamoDB, "DynamoDB."),
            direct(StateTaskServiceSqs, "SQS."),
        ):
            yield

    def _slept_for(self, seconds: float) -> None:
        self._slept.append(seconds)

    def _attempt(self, state: str, payload: Any, invoke: Callable[[], Any]) -> Any:
        number = 1 + sum(1 for call in self._calls if call.state == state and not call.late)
        if number == 1:
            self._land_late(state)
        if self._on_attempt:
            self._on_attempt(state, number)
        call = Call(state, number, payload)
        self._calls.append(call)
        fault = next((fault for fault in self._faults if fault.hits(state, number)), None)
        effect, _, later = (fault.effect if fault else "once").partition("+")
        late, _, landing = (later or effect).partition(":")
        if late == "late":
            self._late.append((landing or END, state, lambda: self._run_late(state, payload, invoke)))
        for _ in range({"once": 1, "twice": 2}.get(effect, 0)):
            call.ran += 1
            try:
                call.result = invoke()
                call.error = None
            except Exception as error:
                call.error = call.seen = error_name(error)
                if fault and fault.error:
                    call.seen = fault.error
                    # The caller hears of the fault, never of what the call went on to find out.
                    raise _Injected(fault.error) from error
                raise
            finally:
                if self.on_effect:
                    self.on_effect(call)
        if fault and fault.error:
            call.seen = fault.error
            raise _Injected(fault.error)
        return call.result

    def _land_late(self, state: str) -> None:
        due = [run for when, _, run in self._late if when == state]
        self._late = [waiting for waiting in self._late if waiting[0] != state]
        for run in due:
            run()

    @property
    def waiting(self) -> int:
        """How many late calls have not landed yet."""
        return len(self._late)

    def late_states(self) -> list[str]:
        """States whose late calls have not landed yet, oldest first."""
        return [state for _, state, _ in self._late]

    def calls_so_far(self) -> Sequence[Call]:
        """Attempts of the execution under way."""
        return self._calls

    def land_late(self, which: int) -> None:
        """Land one of the late calls now, by its position among those still waiting (the oldest is 0)."""
        *_, run = self._late.pop(which)
        run()

    def state_input(self) -> dict[str, Any]:
        """Input of the state whose attempt is under way: the saga's whole state so far."""
        return dict(self._env.states.get_input())

    def _run_late(self, state: str, payload: Any, invoke: Callable[[], Any]) -> None:
        call = Call(state, 0, payload, ran=1, late=True)
        self._calls.append(call)
        try:
            call.result = invoke()
        except Exception as error:  # noqa: BLE001 - nobody is listening to a late call any more
            call.error = error_name(error)
        if self.on_effect:
            self.on_effect(call)

    # --- use -----------------------------------------------------------------------------------------------------

    def machine(self, asl: Mapping[str, Any]) -> str:
        """ARN of the state machine with this definition; made once per definition."""
        definition = render(asl, url_fila_compensacao_falhou=self.queue_url)
        if definition not in self._machines:
            self._made += 1
            name = MACHINE if self._made == 1 else f"{MACHINE}-{self._made - 1}"
            created = self.states.create_state_machine(
                name=name, definition=definition, roleArn=f"arn:aws:iam::{ACCOUNT}:role/{MACHINE}-role"
            )
            self._machines[definition] = created["stateMachineArn"]
        return self._machines[definition]

    def forget_machine(self, asl: Mapping[str, Any]) -> None:
        """Delete the state machine of a definition that will not be run again."""
        definition = render(asl, url_fila_compensacao_falhou=self.queue_url)
        if definition in self._machines:
            self.states.delete_state_machine(stateMachineArn=self._machines.pop(definition))

    def run(
        self,
        asl: Mapping[str, Any],
        saga_input: Mapping[str, Any],
        faults: Iterable[Fault] = (),
        on_attempt: Callable[[str, int], None] | None = None,
    ) -> Outcome:
        """Run one execution to its end and gather what it left.

        Parameters
        ----------
        asl : Mapping[str, Any]
            State machine as :func:`load_asl` gives it (or a mutation of it).
        saga_input : Mapping[str, Any]
            Input of the saga; ``pedidoId`` names the execution.
        faults : Iterable[Fault]
            What breaks.
        on_attempt : Callable[[str, int], None] | None
            Called before each attempt with the state and the attempt's number.
        """
        self._faults, self._calls, self._late, self._slept = tuple(faults), [], [], []
        self._states_entered = 0
        self._on_attempt = on_attempt
        self._executions += 1
        name = str(saga_input.get("pedidoId", f"sem-id-{self._executions}"))
        arn = self.states.start_execution(stateMachineArn=self.machine(asl), name=name, input=canonical(saga_input))[
            "executionArn"
        ]
        if self.on_end:
            self.on_end()
        for which in dict.fromkeys(when for when, *_ in self._late):
            self._land_late(which)
        # Straight from the interpreter: serialising the history for the API would double the time of an execution.
        execution = stepfunctions_parser_backends[ACCOUNT][REGION].describe_execution(arn)
        history = execution.exec_worker.env.event_manager.get_event_history()
        return Outcome(
            status=str(execution.status),
            error=execution.error,
            cause=execution.cause,
            output=execution.output,
            path=[
                event["stateEnteredEventDetails"]["name"] for event in history if "stateEnteredEventDetails" in event
            ],
            calls=self._calls,
            slept=self._slept,
            order=self.item("cesta-pedidos", {"pedidoId": saga_input.get("pedidoId", "")})
            if saga_input.get("pedidoId")
            else None,
            messages=self.drain(),
            execution_arn=arn,
        )

    def call(self, function: str, event: Mapping[str, Any]) -> Any:
        """Invoke one handler directly, as Lambda would."""
        return self.handlers[function](json.loads(json.dumps(event)), Context(function, CALL_LIMIT_S))

    @contextmanager
    def every_call(self, operation: str, change: Callable[[dict[str, Any]], None]) -> Iterator[None]:
        """Change the parameters of every AWS call of one operation (``UpdateItem``), whoever makes it."""
        make = BaseClient._make_api_call

        def call(client: Any, name: str, params: dict[str, Any]) -> Any:
            if name == operation:
                params = dict(params)
                change(params)
            return make(client, name, params)

        with mock.patch.object(BaseClient, "_make_api_call", call):
            yield

    def item(self, table: str, key: Mapping[str, str]) -> dict[str, Any] | None:
        """One item as plain Python, or None."""
        found = self.dynamodb.get_item(
            TableName=table, Key={name: {"S": value} for name, value in key.items()}, ConsistentRead=True
        ).get("Item")
        return None if found is None else {name: _plain(value) for name, value in found.items()}

    def drain(self) -> list[dict[str, Any]]:
        """Take every message out of the human queue."""
        messages: list[dict[str, Any]] = []
        while found := self.sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10).get("Messages"):
            for message in found:
                messages.append(json.loads(message["Body"]))
                self.sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])
        return messages


def canonical(saga_input: Mapping[str, Any]) -> str:
    """The input as iniciar_saga writes it: StartExecution compares inputs as text."""
    return json.dumps(saga_input, sort_keys=True, separators=(",", ":"))


def error_name(error: Exception) -> str:
    """The name a failure goes by: the class's own, as Lambda's Python runtime reports it."""
    return error.error_name if isinstance(error, HandlerCrash) else type(error).__name__


def _failure(env: Any, kind: StatesErrorNameType, cause: str) -> FailureEvent:
    details = LambdaFunctionFailedEventDetails(error=kind.to_name(), cause=cause)
    return FailureEvent(
        env=env,
        error_name=StatesErrorName(typ=kind),
        event_type=HistoryEventType.LambdaFunctionFailed,
        event_details=EventDetails(lambdaFunctionFailedEventDetails=details),
    )


def _error_payload(name: str, message: str = "injected") -> str:
    return json.dumps({"errorMessage": message, "errorType": name, "stackTrace": []})


def _state_of(env: Any) -> str:
    return str(env.states.context_object.context_object_data["State"]["Name"])


def _plain(value: Any) -> Any:
    def tidy(plain: Any) -> Any:
        if isinstance(plain, dict):
            return {name: tidy(inner) for name, inner in plain.items()}
        if isinstance(plain, list):
            return [tidy(inner) for inner in plain]
        return int(plain) if hasattr(plain, "to_integral_value") and plain == plain.to_integral_value() else plain

    return tidy(TypeDeserializer().deserialize(value))
