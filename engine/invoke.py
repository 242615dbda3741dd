"""Run one handler on this machine as Lambda would: AWS's runtime client, its own process, its time limit.

The code is the working tree's, the settings are those of the deployed function, and the answer is what Lambda
would answer, errors included. Unlike the deployed function, it runs with the engine's administrator credentials.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import yaml
from botocore.exceptions import ClientError

from engine.build import BuildPlan, build, run_sam
from engine.deploy import require_reachable
from engine.settings import ROOT, EngineError, EngineSettings, build_root, environment_python, shown, target_dir

_PREFIX = "/2018-06-01/runtime"
_ACCOUNT = "000000000000"


def find_function(name: str) -> tuple[str, dict[str, Any]]:
    """Find a function in template.yaml by logical id, handler module or function name.

    Returns
    -------
    tuple
        Logical id and its ``Properties``.

    Raises
    ------
    EngineError
        If there is none, or more than one; the message lists them.
    """
    resources = yaml.safe_load((ROOT / "template.yaml").read_text())["Resources"]
    functions = {
        logical_id: resource["Properties"]
        for logical_id, resource in resources.items()
        if resource.get("Type") == "AWS::Serverless::Function"
    }
    found = [
        logical_id
        for logical_id, properties in functions.items()
        if name in (logical_id, properties["FunctionName"], properties["Handler"].split(".")[-2])
    ]
    if len(found) == 1:
        return found[0], functions[found[0]]
    if found:
        raise EngineError(f"FN={name} é ambíguo; diga qual: {', '.join(found)}.")
    raise EngineError(f"FN={name!r} não existe em template.yaml; há: {', '.join(sorted(functions))}.")


def sample_event(logical_id: str, chosen: str | None) -> Any:
    """Read the event: ``chosen``, else ``events/<logical id>.json``.

    Raises
    ------
    EngineError
        If it is missing or is not JSON.
    """
    path = Path(chosen) if chosen else ROOT / "events" / f"{logical_id}.json"
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        raise EngineError(
            f"falta o evento de exemplo {shown(path)}; crie-o ou aponte outro com EVENTO=arquivo."
        ) from None
    except ValueError as error:
        raise EngineError(f"{shown(path)} não é JSON: {error}.") from None


def _deployed_variables(function_name: str, settings: EngineSettings) -> dict[str, str]:
    client = boto3.Session("test", "test", region_name=settings.region).client("lambda", endpoint_url=settings.endpoint)
    try:
        found = client.get_function_configuration(FunctionName=function_name)
    except ClientError as error:
        raise EngineError(
            f"{function_name} não está implantada ({error.response['Error']['Code']}); rode make deploy."
        ) from None
    return dict(found.get("Environment", {}).get("Variables", {}))


class _RuntimeApi(ThreadingHTTPServer):
    """The Lambda Runtime API for a single invocation.

    Attributes
    ----------
    answered : threading.Event
        Set once the function has answered or failed.
    answer : tuple[bool, Any] or None
        (succeeded, payload).
    """

    daemon_threads = True

    def __init__(self, event: Any, arn: str, limit_s: float) -> None:
        super().__init__(("127.0.0.1", 0), _RuntimeHandler)
        self.event, self.arn, self.limit_s = event, arn, limit_s
        self.request = str(uuid4())
        self.answered = threading.Event()
        self.started = threading.Event()
        self.answer: tuple[bool, Any] | None = None

    def settle(self, succeeded: bool, payload: Any) -> None:
        """Keep the first answer only."""
        if self.answer is None:
            self.answer = (succeeded, payload)
            self.answered.set()


class _RuntimeHandler(BaseHTTPRequestHandler):
    server: _RuntimeApi

    def do_GET(self) -> None:
        """``/invocation/next``: the event the first time, nothing more afterwards."""
        if self.server.started.is_set():
            time.sleep(3600)  # the process is stopped long before
            return
        self.server.started.set()
        body = json.dumps(self.server.event).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Lambda-Runtime-Aws-Request-Id", self.server.request)
        self.send_header("Lambda-Runtime-Invoked-Function-Arn", self.server.arn)
        self.send_header("Lambda-Runtime-Trace-Id", "Root=1-00000000-000000000000000000000000;Sampled=0")
        self.send_header("Lambda-Runtime-Deadline-Ms", str(int((time.time() + self.server.limit_s) * 1000)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """``/invocation/<id>/response``, ``/invocation/<id>/error`` and ``/init/error``."""
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(202)
        self.send_header("Content-Length", "0")
        self.end_headers()
        try:
            payload = json.loads(raw) if raw else None
        except ValueError:
            payload = raw.decode(errors="replace")
        self.server.settle(self.path.endswith("/response"), payload)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the function's own lines are what the reader wants."""


def invoke(name: str, settings: EngineSettings, event_file: str | None = None) -> int:
    """Run one function and print its answer as JSON; its log lines go to stderr.

    Returns
    -------
    int
        0 when the function answered, 1 when it raised, ran out of time or died.

    Raises
    ------
    EngineError
        If the function, its event or its deployment does not exist, or the engine does not answer.
    """
    logical_id, properties = find_function(name)
    require_reachable("local", settings)
    event = sample_event(logical_id, event_file)
    variables = _deployed_variables(properties["FunctionName"], settings)
    artifact = build(BuildPlan.for_target("local"))
    limit_s = float(properties["Timeout"])
    arn = f"arn:aws:lambda:{settings.region}:{_ACCOUNT}:function:{properties['FunctionName']}"
    with tempfile.TemporaryDirectory(prefix="invoke-", dir=target_dir("local")) as folder:
        with zipfile.ZipFile(artifact) as bundle:
            bundle.extractall(folder)
        api = _RuntimeApi(event, arn, limit_s)
        threading.Thread(target=api.serve_forever, daemon=True).start()
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PYTHON", "VIRTUAL_ENV"))}
        process = subprocess.Popen(
            [str(environment_python("runtime")), "-m", "awslambdaric", properties["Handler"]],
            cwd=folder,
            env=clean
            | variables
            | {
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_CONFIG_FILE": os.devnull,
                "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
                "AWS_ENDPOINT_URL": settings.endpoint,
                "AWS_LAMBDA_FUNCTION_NAME": properties["FunctionName"],
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(properties["MemorySize"]),
                "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
                "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{api.server_address[1]}",
                "AWS_REGION": settings.region,
                "AWS_DEFAULT_REGION": settings.region,
                "LAMBDA_TASK_ROOT": folder,
                "_HANDLER": properties["Handler"],
            },
            stdin=subprocess.DEVNULL,
            stdout=2,
        )
        try:
            succeeded, payload = _wait(api, process, limit_s)
        finally:
            process.kill()
            process.wait()
            api.shutdown()
            api.server_close()
    print(f"{logical_id} ({properties['FunctionName']}) {'respondeu' if succeeded else 'FALHOU'}:")
    print(json.dumps(payload, indent=2, ensure_ascii=False))
    return 0 if succeeded else 1


def sam_invoke(name: str, settings: EngineSettings, event_file: str | None = None) -> int:
    """Run one function in AWS's own container image with ``sam local invoke``, against the local engine.

    Returns
    -------
    int
        SAM's exit status.

    Raises
    ------
    EngineError
        If the function, its event or its deployment does not exist, or the build fails.
    """
    logical_id, properties = find_function(name)
    sample_event(logical_id, event_file)
    variables = _deployed_variables(properties["FunctionName"], settings)
    workspace = build_root() / "sam-invoke"
    shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir(parents=True)
    template_path = run_sam(BuildPlan.for_target("local"), workspace, logical_id).parent / "template.yaml"
    template = yaml.safe_load(template_path.read_text())
    # SAM passes on only the variables the template itself names.
    template["Resources"][logical_id]["Properties"]["Environment"] = {
        "Variables": variables | {"AWS_ENDPOINT_URL": settings.endpoint}
    }
    template_path.write_text(yaml.safe_dump(template))
    event = event_file or str(ROOT / "events" / f"{logical_id}.json")
    sam = ROOT / ".venvs" / "sam" / "bin"
    options = ["--event", str(Path(event).resolve()), "--docker-network", "host", "--region", settings.region]
    return subprocess.run(
        [str(sam / "python"), str(sam / "sam"), "local", "invoke", logical_id, "-t", str(template_path), *options],
        env={**os.environ, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "SAM_CLI_TELEMETRY": "0"},
        check=False,
    ).returncode


def _wait(api: _RuntimeApi, process: subprocess.Popen[bytes], limit_s: float) -> tuple[bool, Any]:
    """Wait for the answer, the time limit or the death of the process, whichever comes first."""
    deadline = time.monotonic() + 30  # start-up is not charged to the function's own limit
    counted = False
    while not api.answered.wait(0.02):
        if api.started.is_set() and not counted:
            deadline, counted = time.monotonic() + limit_s, True
        if process.poll() is not None:
            message = f"RequestId: {api.request} Error: Runtime exited with status {process.returncode}"
            return False, {"errorType": "Runtime.ExitError", "errorMessage": message}
        if time.monotonic() > deadline:
            message = f"RequestId: {api.request} Error: Task timed out after {limit_s:.2f} seconds"
            return False, {"errorType": "Sandbox.Timedout", "errorMessage": message}
    return api.answer or (False, None)
