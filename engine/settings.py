"""Where things live in the repository and how the local engine is tuned.

Every knob is an environment variable, validated here once, so that the rest of the package never reads
``os.environ`` for a decision of its own.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from engine.localstack import endereco

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ("local", "localstack", "aws")


class EngineError(Exception):
    """A failure the operator can act on. Its text is shown as it is, in Portuguese, without a traceback."""


def build_root() -> Path:
    """Folder everything generated goes to: ``CESTA_DIR_BUILD``, else ``build/`` in the repository."""
    chosen = os.environ.get("CESTA_DIR_BUILD", "").strip()
    return Path(chosen).resolve() if chosen else ROOT / "build"


def shown(path: Path) -> str:
    """A path as an operator wants to read it: relative to the repository when it is inside."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _number(name: str, default: float, low: float, high: float) -> float:
    """Read a number from the environment.

    Raises
    ------
    EngineError
        If the variable holds something that is not a number between ``low`` and ``high``.
    """
    raw = os.environ.get(name, "").strip()
    if not raw:
        return default
    try:
        value = float(raw)
    except ValueError:
        raise EngineError(f"{name}={raw!r} não é um número.") from None
    if not low <= value <= high:
        raise EngineError(f"{name}={raw} está fora do intervalo de {low:g} a {high:g}.")
    return value


@dataclass(frozen=True)
class EngineSettings:
    """How the local engine runs.

    Attributes
    ----------
    port : int
        TCP port of the engine on 127.0.0.1 (``CESTA_PORTA_MOTOR``).
    wait_scale : float
        Factor on every Wait and retry sleep of a state machine (``CESTA_ESCALA_ESPERA``).
    alarm_scale : float
        Factor on the period of every alarm (``CESTA_ESCALA_ALARMES``): 0.02 turns 300 s into 6 s.
    bridge_interval_s : float
        Seconds between two readings of queues and executions (``CESTA_INTERVALO_PONTE_S``).
    region : str
        Region the system is deployed in locally (``CESTA_REGIAO``), as in terraform/ambientes/local.tfvars.
    """

    port: int
    wait_scale: float
    alarm_scale: float
    bridge_interval_s: float
    region: str

    @classmethod
    def from_env(cls) -> EngineSettings:
        """Read and validate the environment. Raises :class:`EngineError` naming the variable that is wrong."""
        port = _number("CESTA_PORTA_MOTOR", 4566, 1024, 65535)
        if port != int(port):
            raise EngineError("CESTA_PORTA_MOTOR deve ser um número inteiro.")
        return cls(
            port=int(port),
            wait_scale=_number("CESTA_ESCALA_ESPERA", 0.1, 0, 10),
            alarm_scale=_number("CESTA_ESCALA_ALARMES", 0.02, 0.001, 1),
            bridge_interval_s=_number("CESTA_INTERVALO_PONTE_S", 1, 0.1, 60),
            region=os.environ.get("CESTA_REGIAO", "").strip() or "sa-east-1",
        )

    @property
    def endpoint(self) -> str:
        """Base URL of every service of the engine."""
        return f"http://127.0.0.1:{self.port}"

    def endpoint_of(self, target: str) -> str:
        """Base URL of a target without an account: this engine, or LocalStack (see ``engine.localstack.endereco``).

        Raises
        ------
        EngineError
            If the variable that names LocalStack's port holds something else.
        """
        if target == "localstack":
            try:
                return endereco.endpoint()
            except ValueError as error:
                raise EngineError(str(error)) from None
        return self.endpoint

    @property
    def state_dir(self) -> Path:
        """Folder with the engine's pid file, log and temporary files."""
        return build_root() / "local" / "motor"


def target_dir(target: str) -> Path:
    """Folder of everything built for, or learnt from, one target.

    Raises
    ------
    EngineError
        If the target is unknown.
    """
    if target not in TARGETS:
        raise EngineError(f"ALVO={target!r} não existe; use {', '.join(TARGETS)}.")
    return build_root() / target


def environment_python(name: str) -> Path:
    """Interpreter of one of the locked environments (``motor``, ``runtime``, ``sam``).

    Raises
    ------
    EngineError
        If the environment has not been made yet.
    """
    python = ROOT / ".venvs" / name / "bin" / "python"
    if not python.exists():
        raise EngineError(f"o ambiente .venvs/{name} não existe; rode make setup.")
    return python


def local_runtime() -> str:
    """Lambda name of the Python that runs this process, for example ``python3.11``."""
    return f"python{sys.version_info.major}.{sys.version_info.minor}"
