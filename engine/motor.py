"""Start, stop and look at the local engine: one process group, one pid file, one log, nothing outside build/."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from engine.settings import ROOT, EngineError, EngineSettings, environment_python, shown, target_dir

_START_TIMEOUT_S = 60
_STOP_TIMEOUT_S = 5
_LAUNCHER = "engine.launcher"


def _pid_file(settings: EngineSettings) -> Path:
    return settings.state_dir / "pid.json"


def log_file(settings: EngineSettings) -> Path:
    """Path of the engine's log, with the bridge's lines in it."""
    return settings.state_dir / "motor.log"


def _recorded(settings: EngineSettings) -> tuple[int, int] | None:
    """(pid, port) of the engine this checkout started and that is still running, else None."""
    try:
        record = json.loads(_pid_file(settings).read_text())
        pid, port = int(record["pid"]), int(record["porta"])
    except (OSError, ValueError, KeyError):
        return None
    return (pid, port) if _is_launcher(pid) else None


def _is_launcher(pid: int) -> bool:
    """Whether the process is an engine: a pid file outlives a reboot, and pids are reused."""
    shown = subprocess.run(
        ["ps", "-o", "stat=,command=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return _LAUNCHER in shown and not shown.startswith("Z")


def health(settings: EngineSettings, *, timeout_s: float = 2) -> dict[str, Any] | None:
    """The engine's own health document, or None when nothing that looks like it answers on the port."""
    try:
        url = f"{settings.endpoint}/_ministack/health"
        with urllib.request.urlopen(url, timeout=timeout_s) as answer:  # noqa: S310 - fixed http URL on 127.0.0.1
            document = json.load(answer)
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and "services" in document else None


def _port_is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _environment(settings: EngineSettings) -> dict[str, str]:
    """Environment of the engine, which every function's process inherits.

    The developer's own AWS settings must not reach it, and nothing may be written outside build/.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PYTHON", "VIRTUAL_ENV", "CESTA_"))}
    temporary = settings.state_dir / "tmp"
    return kept | {
        "AUTH": "true",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_DEFAULT_REGION": settings.region,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": settings.endpoint,  # without it a `provided` function would call the real AWS
        "BIND_HOST": "127.0.0.1",
        "CESTA_ESCALA_ALARMES": str(settings.alarm_scale),
        "CESTA_INTERVALO_PONTE_S": str(settings.bridge_interval_s),
        "CESTA_PORTA_MOTOR": str(settings.port),
        "CESTA_PYTHON_PONTE": sys.executable,
        "CESTA_PYTHON_RUNTIME": str(environment_python("runtime")),
        "CESTA_REGIAO": settings.region,
        "DOCKER_HOST": f"unix://{temporary}/sem-docker.sock",  # the engine must not touch the developer's containers
        "GATEWAY_PORT": str(settings.port),
        "IOT_MTLS_ENABLED": "0",
        "LAMBDA_EXECUTOR": "local",
        "LAMBDA_WARM_TTL_SECONDS": "60",  # a burst leaves 60 MB per idle process; one per function always stays
        "MINISTACK_HOST": "127.0.0.1",
        "MINISTACK_REGION": settings.region,
        "PYTHONUNBUFFERED": "1",
        "S3_DATA_DIR": str(temporary / "s3"),
        "SFN_WAIT_SCALE": str(settings.wait_scale),
        "SFTP_ENABLED": "0",
        "STATE_DIR": str(temporary / "estado"),
        "TMPDIR": str(temporary),
    }


def discard_state(settings: EngineSettings) -> None:
    """Remove what only makes sense while that engine lives: its files, and the local Terraform state and outputs."""
    shutil.rmtree(settings.state_dir / "tmp", ignore_errors=True)
    _pid_file(settings).unlink(missing_ok=True)
    local = target_dir("local")
    for name in ("terraform.tfstate", "terraform.tfstate.backup", ".terraform.tfstate.lock.info", "saidas.json"):
        (local / name).unlink(missing_ok=True)


def up(settings: EngineSettings) -> None:
    """Start the engine and wait until it answers; does nothing when this checkout's engine is already up.

    Raises
    ------
    EngineError
        If the port belongs to something else, another engine of this checkout runs on another port, an
        environment is missing, or the engine does not come up.
    """
    running = _recorded(settings)
    if running:
        pid, port = running
        if port != settings.port:
            raise EngineError(f"o motor deste diretório já está na porta {port}; pare-o com make local-down.")
        _wait_until_healthy(settings, pid)
        print(f"motor já no ar em {settings.endpoint} (pid {pid})")
        return
    if _port_is_taken(settings.port):
        raise EngineError(
            f"a porta {settings.port} já está em uso por outro programa; "
            f"libere-a ou escolha outra, por exemplo CESTA_PORTA_MOTOR={settings.port + 1}."
        )
    discard_state(settings)
    (settings.state_dir / "tmp").mkdir(parents=True)
    python = environment_python("motor")
    began = time.monotonic()
    with log_file(settings).open("wb") as log:
        process = subprocess.Popen(
            [str(python), "-m", _LAUNCHER],
            cwd=ROOT,
            env=_environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # its own process group, which `down` stops as a whole
        )
    _pid_file(settings).write_text(json.dumps({"pid": process.pid, "porta": settings.port}) + "\n")
    _wait_until_healthy(settings, process.pid)
    print(f"motor no ar em {settings.endpoint} (pid {process.pid}, {time.monotonic() - began:.1f} s)")


def _wait_until_healthy(settings: EngineSettings, pid: int) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline:
        document = health(settings)
        if document is not None:
            if document.get("auth") != "enabled":
                raise EngineError(f"o motor em {settings.endpoint} está sem verificação de permissões (AUTH).")
            return
        if not _is_launcher(pid):
            break
        time.sleep(0.1)
    tail = "\n".join(log_file(settings).read_text(errors="replace").splitlines()[-15:])
    raise EngineError(f"o motor não respondeu em {settings.endpoint}; fim de {shown(log_file(settings))}:\n{tail}")


def down(settings: EngineSettings) -> None:
    """Stop the engine, its bridge and every function process, and discard their state. Safe to repeat."""
    running = _recorded(settings)
    if running is None:
        discard_state(settings)
        print("motor já parado")
        return
    pid, port = running
    for signum in (signal.SIGTERM, signal.SIGKILL):
        if not _signal_group(pid, signum):
            break
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        while time.monotonic() < deadline and _signal_group(pid, 0):
            time.sleep(0.05)
    discard_state(settings)
    print(f"motor da porta {port} parado; o estado dele foi descartado")


def _signal_group(group: int, signum: int) -> bool:
    """Signal the whole group; False when no live process is left in it."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(group, os.WNOHANG)  # reap it when this very process started it
    try:
        os.killpg(group, signum)
    except ProcessLookupError:
        return False
    return True


def status(settings: EngineSettings) -> int:
    """Print whether the engine is up; returns 0 when it is and answers, 3 when it is not (as init scripts do)."""
    running = _recorded(settings)
    if running is None:
        print("motor parado")
        return 3
    pid, port = running
    if health(settings) is None:
        print(f"motor com pid {pid} na porta {port}, mas não responde em {settings.endpoint}; veja make local-logs")
        return 3
    print(f"motor no ar em {settings.endpoint} (pid {pid}); registro em {shown(log_file(settings))}")
    return 0


def logs(settings: EngineSettings, lines: int) -> None:
    """Print the last lines of the engine's log.

    Raises
    ------
    EngineError
        If the engine was never started from this checkout.
    """
    path = log_file(settings)
    if not path.exists():
        raise EngineError("ainda não há registro: o motor nunca foi iniciado neste diretório.")
    print("\n".join(path.read_text(errors="replace").splitlines()[-lines:]))
