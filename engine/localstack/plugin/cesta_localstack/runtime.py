"""One Lambda execution environment: a child process and the Runtime API that feeds it.

The Runtime API is AWS's published contract between a runtime and the service
(https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html). AWS's own Python client (``awslambdaric``) speaks it,
so error names, stack traces, crashes and timeouts are those a function shows in an account, not an imitation of them.

Nothing here imports LocalStack: the module is tested on its own with the interpreter of the development environment.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue

API_PREFIX = "/2018-06-01/runtime"
# https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html: initialisation is cut at 10 s and goes
# on inside the first invocation.
INIT_LIMIT_S = 10.0
# Synchronous response quota, https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html (6 MB + envelope).
MAX_RESPONSE_BYTES = 6_291_556


@dataclass(frozen=True)
class Invocation:
    """What one invocation carries.

    Attributes
    ----------
    request_id: unique per invocation, shown in logs and error messages.
    payload: JSON text of the event.
    function_arn: ARN the caller used.
    trace_id: X-Ray header, required by the runtime client even when tracing is off.
    """

    request_id: str
    payload: str
    function_arn: str
    trace_id: str


@dataclass(frozen=True)
class Outcome:
    """How an invocation ended: ``payload`` is the answer, or the JSON error object when ``is_error``."""

    payload: bytes
    is_error: bool
    logs: str


def error_payload(error_type: str, message: str) -> bytes:
    """The error object Lambda itself produces when the runtime cannot (timeout, exit)."""
    return json.dumps({"errorType": error_type, "errorMessage": message}).encode()


class _RuntimeServer(ThreadingHTTPServer):
    daemon_threads = True
    # A finished environment must not wait for the long poll of a process that was killed.
    block_on_close = False

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        super().__init__(("127.0.0.1", 0), _RuntimeHandler)


class _RuntimeHandler(BaseHTTPRequestHandler):
    """Routes of the Runtime API; one thread per connection, the client keeps its connection open."""

    protocol_version = "HTTP/1.1"
    server: _RuntimeServer
    # One packet per answer: small writes would meet delayed acknowledgements (40 ms a call).
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self, status: int, body: bytes = b"{}", headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def do_GET(self) -> None:
        if self.path != f"{API_PREFIX}/invocation/next":
            self._answer(404)
            return
        pending = self.server.environment.next_invocation()
        if pending is None:
            self.close_connection = True
            return
        invocation, deadline_ms = pending
        self._answer(
            200,
            invocation.payload.encode(),
            {
                "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
                "Lambda-Runtime-Deadline-Ms": str(deadline_ms),
                "Lambda-Runtime-Invoked-Function-Arn": invocation.function_arn,
                "Lambda-Runtime-Trace-Id": invocation.trace_id,
            },
        )

    def do_POST(self) -> None:
        if "Content-Length" not in self.headers:
            self._answer(411)
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        environment = self.server.environment
        if self.path == f"{API_PREFIX}/init/error":
            environment.init_failed(body)
        elif self.path.startswith(f"{API_PREFIX}/invocation/") and self.path.endswith("/response"):
            environment.answered(self.path.split("/")[-2], body, is_error=False)
        elif self.path.startswith(f"{API_PREFIX}/invocation/") and self.path.endswith("/error"):
            environment.answered(self.path.split("/")[-2], body, is_error=True)
        else:
            self._answer(404)
            return
        self._answer(202, b'{"status": "OK"}')


class Environment:
    """A child process that runs one function, one invocation at a time.

    Parameters
    ----------
    command: what to execute, e.g. ``["/…/python", "-m", "awslambdaric", "pedidos.criar_pedido.handler"]``.
    code_dir: the function's code; working directory of the child.
    env: the whole environment of the child; ``AWS_LAMBDA_RUNTIME_API`` is added.
    timeout_s: the function's timeout, in seconds.
    on_log: called with each piece of output as it comes (for the engine's own log); may be ``None``.
    """

    def __init__(
        self,
        command: list[str],
        code_dir: Path,
        env: Mapping[str, str],
        timeout_s: float,
        on_log: Callable[[str], None] | None = None,
    ) -> None:
        self.timeout_s = timeout_s
        self._on_log = on_log
        self._queue: SimpleQueue[Invocation | None] = SimpleQueue()
        self._ready = threading.Event()
        self._invocations = 0
        self._init_error: bytes | None = None
        self._current: tuple[str, Future[tuple[bytes, bool]]] | None = None
        self._state_lock = threading.Lock()
        self._output = bytearray()
        self._output_lock = threading.Lock()
        self._server = _RuntimeServer(self)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.2}, daemon=True).start()
        child_env = {**env, "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{self._server.server_address[1]}"}
        try:
            # Same process group as the engine: whatever survives it is found and ended by group.
            self._process = subprocess.Popen(
                command,
                cwd=code_dir,
                env=child_env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError:
            self._close_server()
            raise
        if self._process.stdout is None:
            raise RuntimeError("the child has no output pipe")
        self._fd = self._process.stdout.fileno()
        os.set_blocking(self._fd, False)
        threading.Thread(target=self._read_output, daemon=True).start()
        threading.Thread(target=self._watch_exit, daemon=True).start()

    # --- lifecycle ---------------------------------------------------------------------------------------------------
    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def fresh(self) -> bool:
        """No invocation was given to this environment yet (a failed initialisation still owes its error to one)."""
        return self._invocations == 0

    @property
    def pid(self) -> int:
        return self._process.pid

    def pending_output(self) -> str:
        """Output not yet handed to an invocation."""
        with self._output_lock:
            return self._output.decode(errors="replace")

    def wait_init(self, limit_s: float = INIT_LIMIT_S) -> None:
        """Wait until the runtime asks for work, fails, or ``limit_s`` passes (it goes on inside the invocation)."""
        self._ready.wait(limit_s)

    def kill(self) -> None:
        """End the child at once and fail what it was doing with ``CancelledError``. Safe to call twice."""
        with self._state_lock:
            current, self._current = self._current, None
        if self.alive:
            self._process.kill()
        self._process.wait()
        self._close_server()
        if current:
            current[1].cancel()

    def _close_server(self) -> None:
        self._queue.put(None)
        threading.Thread(target=self._shutdown_server, daemon=True).start()

    def _shutdown_server(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    # --- invocation --------------------------------------------------------------------------------------------------
    def invoke(self, invocation: Invocation) -> Outcome:
        """Run one invocation to its end.

        Returns
        -------
        The function's answer, its error, or the service's own: ``Sandbox.Timedout`` when ``timeout_s`` passes (the
        child is killed), ``Runtime.ExitError`` when the child ends before answering.

        Raises
        ------
        CancelledError: the environment was stopped meanwhile.
        """
        started = time.monotonic()
        self._invocations += 1
        self._append_log(f"START RequestId: {invocation.request_id} Version: $LATEST\n")
        future: Future[tuple[bytes, bool]] = Future()
        with self._state_lock:
            self._current = (invocation.request_id, future)
        if self._init_error is not None:
            self.answered(invocation.request_id, self._init_error, is_error=True)
        elif not self.alive:
            self._exited()
        else:
            self._queue.put(invocation)
        try:
            payload, is_error = future.result(timeout=self.timeout_s)
        except CancelledError:
            raise
        except TimeoutError:
            message = f"RequestId: {invocation.request_id} Error: Task timed out after {self.timeout_s:.2f} seconds"
            payload, is_error = error_payload("Sandbox.Timedout", message), True
            with self._state_lock:
                self._current = None
            self.kill()
            self._append_log(message + "\n")
        if len(payload) > MAX_RESPONSE_BYTES:
            message = f"Response payload size exceeded maximum allowed payload size ({MAX_RESPONSE_BYTES} bytes)."
            payload, is_error = error_payload("Function.ResponseSizeTooLarge", message), True
        duration_ms = (time.monotonic() - started) * 1000
        return Outcome(payload, is_error, self._take_logs(invocation.request_id, duration_ms))

    # --- called by the Runtime API -----------------------------------------------------------------------------------
    def next_invocation(self) -> tuple[Invocation, int] | None:
        """Block until there is work; ``None`` when the environment is closing. Second item: deadline, epoch ms."""
        self._ready.set()
        invocation = self._queue.get()
        if invocation is None:
            return None
        return invocation, int((time.time() + self.timeout_s) * 1000)

    def init_failed(self, payload: bytes) -> None:
        """The handler could not be imported; every invocation of this environment answers with that error."""
        self._init_error = payload
        self._ready.set()

    def answered(self, request_id: str, payload: bytes, *, is_error: bool) -> None:
        with self._state_lock:
            if self._current is None or self._current[0] != request_id:
                return  # an answer that came after the timeout: nobody waits for it
            future = self._current[1]
            self._current = None
        future.set_result((payload, is_error))

    # --- process watch -----------------------------------------------------------------------------------------------
    def _watch_exit(self) -> None:
        self._process.wait()
        self._exited()
        self._ready.set()
        self._close_server()

    def _exited(self) -> None:
        with self._state_lock:
            if self._current is None:
                return
            request_id = self._current[0]
        code = self._process.wait()
        if code < 0:
            reason = f"Runtime exited with error: signal: {(signal.strsignal(-code) or str(-code)).lower()}"
        elif code:
            reason = f"Runtime exited with error: exit status {code}"
        else:
            reason = "Runtime exited without providing a reason"
        payload = self._init_error or error_payload("Runtime.ExitError", f"RequestId: {request_id} Error: {reason}")
        self.answered(request_id, payload, is_error=True)

    # --- output ------------------------------------------------------------------------------------------------------
    def _append_log(self, text: str) -> None:
        with self._output_lock:
            self._output += text.encode()

    def _drain(self) -> bool:
        """Read what is in the pipe now; False at its end. The caller holds the lock, so no line is lost or doubled."""
        while True:
            try:
                piece = os.read(self._fd, 65536)
            except BlockingIOError:
                return True
            except (OSError, ValueError):
                return False
            if not piece:
                return False
            self._output += piece
            if self._on_log:
                self._on_log(piece.decode(errors="replace"))

    def _read_output(self) -> None:
        open_ = True
        while open_:
            select.select([self._fd], [], [], 1.0)
            with self._output_lock:
                open_ = self._drain()

    def _take_logs(self, request_id: str, duration_ms: float) -> str:
        with self._output_lock:
            self._drain()
            text = self._output.decode(errors="replace")
            self._output.clear()
        billed = -(-duration_ms // 1)
        return (
            f"{text}END RequestId: {request_id}\n"
            f"REPORT RequestId: {request_id}\tDuration: {duration_ms:.2f} ms\tBilled Duration: {billed:.0f} ms\n"
        )
