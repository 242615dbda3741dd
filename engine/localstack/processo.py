"""Start, stop and look at the engine's process.

State lives in ``build/localstack/motor`` (pid, log, the engine's files) and goes with the engine: every start is empty.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from engine.localstack import endereco
from engine.localstack.preparo import PreparoError, Tools, find_java, find_python, find_runtime_python, prepare
from engine.settings import build_root, shown

STATE = build_root() / "localstack" / "motor"
PID_FILE = STATE / "pid"
LOG_FILE = STATE / "localstack.log"
FILES = STATE / "arquivos"
START_LIMIT_S = 90
STOP_LIMIT_S = 20


class MotorError(Exception):
    """The engine did not start or stop; the message is one Portuguese sentence."""


def port() -> int:
    """Port of the engine.

    Raises
    ------
    MotorError: CESTA_PORTA_LOCALSTACK is not a port.
    """
    try:
        return endereco.porta()
    except ValueError as error:
        raise MotorError(str(error)) from None


def external_endpoint() -> str | None:
    """Address of a LocalStack the user already runs, or ``None``."""
    return endereco.do_usuario()


def endpoint() -> str:
    return external_endpoint() or f"http://127.0.0.1:{port()}"


def _get(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - always the engine's own http address
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def health() -> dict[str, str] | None:
    """State of each service by name, ``None`` when nothing answers as LocalStack at the endpoint."""
    try:
        status, body = _get(f"{endpoint()}/_localstack/health")
        return dict(json.loads(body)["services"]) if status == 200 else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _pid() -> int | None:
    """Pid of the engine we started, ``None`` when it is not ours or not alive."""
    try:
        pid = int(PID_FILE.read_text())
        os.kill(pid, 0)
        # The engine leads its own group; a recycled pid does not.
        return pid if os.getpgid(pid) == pid else None
    except (OSError, ValueError):
        return None


def _environment(tools: Tools) -> dict[str, str]:
    """The engine's whole environment; each variable is documented by LocalStack unless it starts with CESTA_."""
    region = os.environ.get("CESTA_REGIAO") or "sa-east-1"
    tmp = FILES / "tmp"
    tmp.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(FILES),
        "TMPDIR": str(tmp),
        "LANG": "C.UTF-8",
        "OVERRIDE_IN_DOCKER": "0",
        "FILESYSTEM_ROOT": str(FILES),
        "GATEWAY_LISTEN": f"127.0.0.1:{port()}",
        "LOCALSTACK_HOST": f"127.0.0.1:{port()}",
        "DNS_ADDRESS": "0",
        # Nothing leaves the machine: no usage events, no certificate download.
        "DISABLE_EVENTS": "1",
        "SKIP_SSL_CERT_DOWNLOAD": "1",
        "PROVIDER_OVERRIDE_DYNAMODB": "v2",
        "PROVIDER_OVERRIDE_DYNAMODBSTREAMS": "v2",
        "DYNAMODB_IN_MEMORY": "1",
        # The provider takes only <host>/<account>/<queue> for a queue URL.
        "SQS_ENDPOINT_STRATEGY": "off",
        # AWS pushes queue metrics each minute; shorter here only shortens the waiting of a proof.
        "SQS_CLOUDWATCH_METRICS_REPORT_INTERVAL": os.environ.get("CESTA_METRICAS_FILA_S", "10"),
        "LAMBDA_RUNTIME_EXECUTOR": "processo",
        # Includes the waiting for a place to start (see the plugin's executor).
        "LAMBDA_RUNTIME_ENVIRONMENT_TIMEOUT": "120",
        "AWS_DEFAULT_REGION": region,
        "CESTA_PYTHON_RUNTIME": str(tools.runtime_python),
        "CESTA_DYNAMODB_LOCAL": str(tools.dynamodb),
        "CESTA_JAVA": str(tools.java),
        "CESTA_ESCALA_ALARMES_LOCALSTACK": os.environ.get("CESTA_ESCALA_ALARMES_LOCALSTACK", "0.1"),
        "DEBUG": os.environ.get("DEBUG", "0"),
    }


def _port_taken() -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port())) == 0


def up() -> str:
    """Start the engine and wait until it can be used; start nothing when it already runs.

    Returns
    -------
    The endpoint.

    Raises
    ------
    PreparoError, MotorError: it could not; nothing is left running.
    """
    if external_endpoint():
        if health() is None:
            raise MotorError(f"Nenhum LocalStack responde em {endpoint()}: suba o seu ou remova CESTA_URL_LOCALSTACK.")
        return endpoint()
    if _pid() and health() is not None:
        return endpoint()
    tools = prepare()
    if _port_taken():
        raise MotorError(
            f"A porta {port()} já está ocupada: pare quem a usa ou escolha outra em CESTA_PORTA_LOCALSTACK."
        )
    down()
    STATE.mkdir(parents=True, exist_ok=True)
    environment = _environment(tools)
    with LOG_FILE.open("wb") as log:
        process = subprocess.Popen(
            [str(tools.python), "-m", "localstack.runtime.main"],
            cwd=STATE,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    PID_FILE.write_text(str(process.pid))
    try:
        _wait_usable(process)
    except BaseException:
        _end_group(process.pid)
        PID_FILE.unlink(missing_ok=True)
        raise
    return endpoint()


def _wait_usable(process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while health() is None:
        if process.poll() is not None:
            raise MotorError(f"O LocalStack terminou ao subir (status {process.returncode}); veja {shown(LOG_FILE)}.")
        if time.monotonic() > deadline:
            raise MotorError(f"O LocalStack não respondeu em {START_LIMIT_S} s; veja {shown(LOG_FILE)}.")
        time.sleep(0.3)
    # The engine only logs a plugin that fails to load. This route exists only when ours did.
    while not _plugin_in_place():
        if time.monotonic() > deadline:
            raise MotorError(f"O LocalStack subiu sem o plugin do projeto; veja {shown(LOG_FILE)}.")
        time.sleep(0.3)


def _plugin_in_place() -> bool:
    try:
        return _get(f"{endpoint()}/_cesta/pronto")[0] == 200
    except OSError:
        return False


def _group_members(group: int) -> list[int]:
    """Pids of the live processes of a group. Zombies do not count: without an init process nobody collects them."""
    if not Path("/proc/self/stat").exists():
        listing = subprocess.run(["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, text=True, check=True)
        rows = (line.split() for line in listing.stdout.splitlines())
        return [int(pid) for pid, pgid, state in rows if int(pgid) == group and not state.startswith("Z")]
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # "pid (name) state ppid pgrp …"; the name may contain anything, so split after its parenthesis.
            state, _, pgrp = stat.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(pgrp) == group and state != "Z":
            members.append(int(stat.parent.name))
    return members


def _end_group(group: int) -> None:
    """End the engine, then whatever of its process group (functions, DynamoDB Local) outlives it."""

    def wait(gone: Callable[[], bool], limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        while not gone() and time.monotonic() < deadline:
            _reap(group)
            time.sleep(0.1)

    with contextlib.suppress(ProcessLookupError):
        os.kill(group, signal.SIGTERM)
        wait(lambda: group not in _group_members(group), STOP_LIMIT_S)
    for name, limit_s in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)):
        if _group_members(group):
            os.killpg(group, name)
            wait(lambda: not _group_members(group), limit_s)


def _reap(pid: int) -> None:
    """Collect the engine's exit status when it is our own child."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def down() -> bool:
    """Stop what we started and remove its state; ``True`` when something was running. A user's own engine is kept."""
    if external_endpoint():
        return False
    try:
        group = int(PID_FILE.read_text())
    except (OSError, ValueError):
        group = None
    was_running = bool(group and _group_members(group))
    if group and was_running:
        _end_group(group)
        if _group_members(group):
            raise MotorError(f"Há processos do LocalStack que não terminaram (grupo {group}); encerre-os à mão.")
    shutil.rmtree(FILES, ignore_errors=True)
    PID_FILE.unlink(missing_ok=True)
    # What Terraform made there went with the engine's memory: its state would only mislead the next deploy.
    for name in ("terraform.tfstate", "terraform.tfstate.backup", ".terraform.tfstate.lock.info", "saidas.json"):
        (STATE.parent / name).unlink(missing_ok=True)
    return was_running


def missing() -> str | None:
    """What this machine lacks for the engine, as one sentence; ``None`` when nothing. Installs nothing."""
    if external_endpoint():
        return None
    try:
        find_python(), find_java(), find_runtime_python()
    except PreparoError as error:
        return str(error)
    return None
