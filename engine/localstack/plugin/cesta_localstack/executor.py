"""LocalStack's executor interface for functions that run as child processes, without Docker.

One executor is one execution environment of LocalStack's pool. After a timeout or a crash the child is gone and the
next invocation starts another, as Lambda resets its sandbox.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import threading
from pathlib import Path

from localstack import config
from localstack.services.lambda_.invocation.lambda_models import FunctionVersion, InvocationResult
from localstack.services.lambda_.invocation.runtime_executor import LambdaRuntimeException, RuntimeExecutor
from localstack.utils.archives import unzip

from cesta_localstack.runtime import Environment, Invocation

LOG = logging.getLogger(__name__)

HOST = "127.0.0.1"
# Variables of the engine's own process that a function may see; everything else comes from its configuration.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CESTA_PYTHON_RUNTIME")
# Internal to LocalStack's container runtime; nothing like them exists on AWS.
DROPPED_PREFIX = "LOCALSTACK_"


class CodeStore:
    """Unzipped code, one folder per archive content: functions that share an artifact share the folder.

    LocalStack itself unzips one copy a function (45 MB each for this project's artifact).
    """

    def __init__(self) -> None:
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def path(self, version: FunctionVersion) -> Path:
        code = version.config.code
        if code is None:
            raise LambdaRuntimeException("container images are not supported without Docker; deploy a zip")
        if code.is_hot_reloading():
            return code.get_unzipped_code_location()
        # The hash is base64: "/" cannot be part of a folder name.
        name = code.code_sha256.replace("/", "_").replace("+", "-").rstrip("=")
        return Path(tempfile.gettempdir()) / "lambda-code" / name

    def prepare(self, version: FunctionVersion) -> Path:
        target = self.path(version)
        with self._guard:
            lock = self._locks.setdefault(str(target), threading.Lock())
        with lock:
            if target.exists():
                return target
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = Path(tempfile.mkdtemp(dir=target.parent))
            try:
                with tempfile.NamedTemporaryFile(suffix=".zip") as archive:
                    version.config.code._download_archive_to_file(archive)
                    unzip(archive.name, str(partial))
                # Entries carry the archive's modes; the runtime must be able to execute and traverse them.
                for entry in (partial, *partial.rglob("*")):
                    entry.chmod(0o755)
                partial.rename(target)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
        return target


CODE = CodeStore()
# On AWS each environment has a CPU of its own to import its code. Here they share this machine's: started all at once,
# none would be ready before its function's timeout.
STARTS = threading.BoundedSemaphore(os.cpu_count() or 2)
INIT_LIMIT_S = 30.0


def command_for(version: FunctionVersion, code_dir: Path) -> list[str]:
    """The process that runs the function.

    ``provided*`` runs the artifact's own ``bootstrap``; ``python3.x`` runs AWS's runtime client with the interpreter
    named by CESTA_PYTHON_RUNTIME (the machine's Python, whatever the minor version the function asks for).

    Raises
    ------
    LambdaRuntimeException: another runtime, or no bootstrap in the archive.
    """
    runtime = version.config.runtime or ""
    if runtime.startswith("provided"):
        bootstrap = code_dir / "bootstrap"
        if not bootstrap.is_file():
            raise LambdaRuntimeException(f"runtime {runtime} needs an executable named bootstrap in the archive")
        return [str(bootstrap)]
    if runtime.startswith("python"):
        interpreter = os.environ.get("CESTA_PYTHON_RUNTIME", "python3")
        return [interpreter, "-m", "awslambdaric", version.config.handler]
    raise LambdaRuntimeException(
        f"runtime {runtime or '?'} is not supported without Docker (only python3.x and provided)"
    )


class SubprocessExecutor(RuntimeExecutor):
    """LocalStack's executor: starts, feeds and stops one :class:`~cesta_localstack.runtime.Environment`."""

    def __init__(self, id: str, function_version: FunctionVersion) -> None:
        super().__init__(id=id, function_version=function_version)
        self._environment: Environment | None = None
        self._variables: dict[str, str] = {}
        self._stopped = False
        self._lock = threading.Lock()

    # --- lifecycle ---------------------------------------------------------------------------------------------------
    def start(self, env_vars: dict[str, str]) -> None:
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        own = {k: str(v) for k, v in env_vars.items() if not k.startswith(DROPPED_PREFIX)}
        code_dir = CODE.prepare(self.function_version)
        self._variables = {
            "LANG": "C.UTF-8",
            # The output is a pipe here and would be buffered in blocks: lines would reach the log late or never.
            "PYTHONUNBUFFERED": "1",
            **inherited,
            **own,
            "LAMBDA_TASK_ROOT": str(code_dir),
        }
        self._spawn()

    def _spawn(self) -> Environment:
        code_dir = CODE.prepare(self.function_version)
        with STARTS:
            with self._lock:
                if self._stopped:
                    raise LambdaRuntimeException("the environment was stopped")
                environment = Environment(
                    command_for(self.function_version, code_dir),
                    code_dir,
                    self._variables,
                    float(self.function_version.config.timeout),
                )
                self._environment = environment
            # Counted from here: neither the waiting for a place nor the imports are part of the function's timeout.
            environment.wait_init(INIT_LIMIT_S)
        return environment

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            environment, self._environment = self._environment, None
        if environment:
            environment.kill()

    # --- invocation --------------------------------------------------------------------------------------------------
    def invoke(self, payload: dict[str, str]) -> InvocationResult:
        environment = self._environment
        if environment is None or (not environment.alive and not environment.fresh):
            environment = self._spawn()
        outcome = environment.invoke(
            Invocation(
                request_id=payload["invoke-id"],
                payload=payload["payload"],
                function_arn=payload["invoked-function-arn"],
                trace_id=payload["trace-id"],
            )
        )
        return InvocationResult(payload["invoke-id"], outcome.payload, is_error=outcome.is_error, logs=outcome.logs)

    def get_logs(self) -> str:
        return self._environment.pending_output() if self._environment else ""

    # --- addresses ---------------------------------------------------------------------------------------------------
    def get_address(self) -> str:
        return HOST

    def get_endpoint_from_executor(self) -> str:
        return HOST

    def get_runtime_endpoint(self) -> str:
        return f"http://{HOST}:{config.GATEWAY_LISTEN[0].port}"

    # --- versions ----------------------------------------------------------------------------------------------------
    @classmethod
    def prepare_version(cls, function_version: FunctionVersion) -> None:
        command_for(function_version, CODE.prepare(function_version))

    @classmethod
    def cleanup_version(cls, function_version: FunctionVersion) -> None:
        """The code folder may be shared with other functions: it goes with the engine's state."""

    @classmethod
    def validate_environment(cls) -> bool:
        return True
