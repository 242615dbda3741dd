"""The execution environment of the second engine, driven by AWS's own runtime client: no engine, no network."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "engine" / "localstack" / "plugin"))

from cesta_localstack.runtime import Environment, Invocation  # noqa: E402 - found by the line above

RUNTIME_PYTHON = ROOT / ".venvs" / "runtime" / "bin" / "python"

FUNCTION = """
import os, subprocess, sys, time

class CartaoRecusadoError(Exception):
    pass

def handler(event, context):
    print("did", event["do"], flush=True)
    match event["do"]:
        case "raise": raise CartaoRecusadoError("refused")
        case "hang": time.sleep(60)
        case "exit": os._exit(event["code"])
        case "big": return "x" * 6_300_000
    return {"pid": os.getpid(), "env": os.environ.get("SEEN"), "left_ms": context.get_remaining_time_in_millis()}
"""

Make = Callable[..., Environment]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    (tmp_path / "app.py").write_text(FUNCTION)
    made: list[Environment] = []

    def build(handler: str = "app.handler", timeout_s: float = 5) -> Environment:
        env = {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1", "SEEN": "yes", "AWS_REGION": "us-east-1"}
        command = [str(RUNTIME_PYTHON), "-m", "awslambdaric", handler]
        environment = Environment(command, tmp_path, env, timeout_s)
        made.append(environment)
        environment.wait_init()
        return environment

    yield build
    for environment in made:
        environment.kill()


def event(do: str, **more: object) -> Invocation:
    return Invocation(
        "req-1", json.dumps({"do": do, **more}), "arn:aws:lambda:us-east-1:000000000000:function:f", "Root=1-2-3"
    )


def test_answer_environment_and_reuse(make: Make) -> None:
    environment = make()
    first = environment.invoke(event("ok"))
    second = environment.invoke(event("ok"))
    answer = json.loads(first.payload)
    assert not first.is_error
    assert answer["env"] == "yes"
    assert 3000 < answer["left_ms"] <= 5000
    assert json.loads(second.payload)["pid"] == answer["pid"]


def test_exception_keeps_its_class_name(make: Make) -> None:
    outcome = make().invoke(event("raise"))
    assert outcome.is_error
    assert json.loads(outcome.payload)["errorType"] == "CartaoRecusadoError"


def test_timeout_is_sandbox_timedout_and_the_child_is_gone(make: Make) -> None:
    environment = make(timeout_s=1)
    started = time.monotonic()
    outcome = environment.invoke(event("hang"))
    assert outcome.is_error
    assert json.loads(outcome.payload) == {
        "errorType": "Sandbox.Timedout",
        "errorMessage": "RequestId: req-1 Error: Task timed out after 1.00 seconds",
    }
    assert 0.9 < time.monotonic() - started < 3
    assert not environment.alive


@pytest.mark.parametrize(
    ("code", "reason"),
    [(3, "Runtime exited with error: exit status 3"), (0, "Runtime exited without providing a reason")],
)
def test_exit_before_answering_is_exit_error(make: Make, code: int, reason: str) -> None:
    environment = make()
    outcome = environment.invoke(event("exit", code=code))
    assert outcome.is_error
    assert json.loads(outcome.payload) == {
        "errorType": "Runtime.ExitError",
        "errorMessage": f"RequestId: req-1 Error: {reason}",
    }
    assert not environment.alive


def test_a_handler_that_cannot_be_imported_says_so_on_every_invocation(make: Make) -> None:
    environment = make(handler="absent.handler")
    outcome = environment.invoke(event("ok"))
    assert outcome.is_error
    assert json.loads(outcome.payload)["errorType"] == "Runtime.ImportModuleError"


def test_answer_larger_than_the_quota_is_refused(make: Make) -> None:
    outcome = make().invoke(event("big"))
    assert outcome.is_error
    assert json.loads(outcome.payload)["errorType"] == "Function.ResponseSizeTooLarge"


def test_logs_of_an_invocation_are_its_own(make: Make) -> None:
    environment = make()
    first, second = environment.invoke(event("ok")), environment.invoke(event("raise"))
    assert first.logs.splitlines()[0].startswith("START RequestId: req-1")
    assert "did ok" in first.logs
    assert first.logs.splitlines()[-1].startswith("REPORT RequestId: req-1")
    assert "did ok" not in second.logs
    assert "did raise" in second.logs


def test_stopping_cancels_what_runs(make: Make) -> None:
    environment = make(timeout_s=30)
    threading.Timer(0.5, environment.kill).start()
    with pytest.raises(CancelledError):
        environment.invoke(event("hang"))
    assert not environment.alive
