"""The local engine itself: its life, what AWS's runtime client reports through it, permissions, metrics, alarms.

Starts an engine of its own, on a free port and in a folder of its own, so that nothing deployed elsewhere counts.
"""

from __future__ import annotations

import io
import json
import os
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from engine.build import BOOTSTRAP
from engine.settings import ROOT

pytestmark = pytest.mark.e2e
REGION = "sa-east-1"
HANDLERS = """
import os, time
import boto3

class CartaoRecusadoError(Exception):
    pass

def handler(event, context):
    match event["do"]:
        case "raise":
            raise CartaoRecusadoError("recusado")
        case "hang":
            time.sleep(30)
        case "die":
            os._exit(7)
        case "read":
            return boto3.client("dynamodb").list_tables()["TableNames"]
    return {"pid": os.getpid(), "tmp": os.environ["TMPDIR"], "profile": os.environ.get("AWS_PROFILE")}
"""


class Engine:
    """One engine, driven through its command line as an operator would."""

    def __init__(self, build: Path, port: int) -> None:
        self.build, self.port = build, port

    def run(self, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        env = os.environ | {"CESTA_DIR_BUILD": str(self.build), "CESTA_PORTA_MOTOR": str(self.port)} | variables
        return subprocess.run(
            [sys.executable, "-m", "engine", command],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    @property
    def pid(self) -> int:
        return int(json.loads((self.build / "local/motor/pid.json").read_text())["pid"])

    def client(self, service: str) -> Any:
        session: Any = boto3.Session("test", "test", region_name=REGION)
        return session.client(service, endpoint_url=f"http://127.0.0.1:{self.port}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def processes_of_group(group: int) -> list[str]:
    shown = subprocess.run(
        ["ps", "-A", "-o", "pgid=,stat=,command="], capture_output=True, text=True, check=True
    ).stdout
    lines = [line.split(None, 2) for line in shown.splitlines()]
    return [line[2] for line in lines if int(line[0]) == group and not line[1].startswith("Z")]


def wait_for(what: str, condition: Callable[[], Any], timeout_s: float = 30) -> Any:
    """Poll until the condition holds; fails naming what never came."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"{what}: did not happen in {timeout_s} s")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    found = Engine(tmp_path_factory.mktemp("build"), free_port())
    started = found.run("up", AWS_PROFILE="do-desenvolvedor")
    assert started.returncode == 0, started.stdout + started.stderr
    yield found
    stopped = found.run("down")
    assert stopped.returncode == 0, stopped.stdout + stopped.stderr


def make_role(engine: Engine, name: str, *actions: str) -> str:
    iam = engine.client("iam")
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    arn = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document)["Role"]["Arn"]
    if actions:
        allowed = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [allowed]})
        iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=policy)
    return str(arn)


def make_function(engine: Engine, name: str, role: str) -> None:
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as bundle:
        bundle.writestr("bootstrap", BOOTSTRAP)
        bundle.writestr("m.py", HANDLERS)
    engine.client("lambda").create_function(
        FunctionName=name,
        Runtime="provided.al2023",
        Handler="m.handler",
        Role=role,
        Timeout=2,
        Code={"ZipFile": package.getvalue()},
    )


def invoke(engine: Engine, name: str, what: str) -> tuple[bool, Any]:
    answer = engine.client("lambda").invoke(FunctionName=name, Payload=json.dumps({"do": what}))
    return "FunctionError" not in answer, json.loads(answer["Payload"].read())


@pytest.fixture(scope="module")
def function(engine: Engine) -> str:
    make_function(engine, "com-permissao", make_role(engine, "leitora", "dynamodb:ListTables"))
    return "com-permissao"


# --- life ------------------------------------------------------------------------------------------------------------


def test_a_second_up_changes_nothing(engine: Engine) -> None:
    before = engine.pid
    again = engine.run("up")
    assert again.returncode == 0
    assert "já no ar" in again.stdout
    assert engine.pid == before
    assert engine.run("status").returncode == 0


def test_a_port_of_another_program_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        refused = Engine(tmp_path, other.getsockname()[1]).run("up")
    assert refused.returncode == 1
    assert "já está em uso por outro programa" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert Engine(tmp_path, free_port()).run("status").returncode == 3


def test_down_stops_every_process_and_discards_the_state(tmp_path: Path) -> None:
    engine = Engine(tmp_path, free_port())
    assert engine.run("up").returncode == 0
    group = engine.pid
    try:
        make_function(engine, "f", make_role(engine, "r"))
        assert invoke(engine, "f", "answer")[0]
        running = wait_for("the bridge", lambda: "engine.bridge" in str(found := processes_of_group(group)) and found)
        assert any("awslambdaric" in command for command in running), running
        (tmp_path / "local/terraform.tfstate").write_text("{}")
        (tmp_path / "local/saidas.json").write_text("{}")
    finally:
        assert engine.run("down").returncode == 0
    assert processes_of_group(group) == []
    assert sorted(path.name for path in (tmp_path / "local").rglob("*") if path.is_file()) == ["motor.log"]
    assert engine.run("down").returncode == 0


def test_the_bridge_comes_back(engine: Engine) -> None:
    def bridge() -> int | None:
        shown = subprocess.run(["ps", "-A", "-o", "pgid=,pid=,command="], capture_output=True, text=True, check=True)
        for line in shown.stdout.splitlines():
            group, pid, command = line.split(None, 2)
            if int(group) == engine.pid and "engine.bridge" in command:
                return int(pid)
        return None

    first = wait_for("the bridge", bridge)
    os.kill(first, 9)
    wait_for("another bridge", lambda: (found := bridge()) and found != first)


def test_an_answer_leaves_in_one_piece(engine: Engine) -> None:
    """Go's SDK may have closed the connection when the body comes after the head: see engine.launcher."""
    asked = f"GET /_ministack/health HTTP/1.1\r\nHost: 127.0.0.1:{engine.port}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", engine.port), timeout=10) as connection:
        for _ in range(50):
            connection.sendall(asked)
            head, _, body = connection.recv(1 << 16).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            assert len(body) == int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])


# --- functions -------------------------------------------------------------------------------------------------------


def test_the_real_class_name_of_an_error_comes_through(engine: Engine, function: str) -> None:
    succeeded, answer = invoke(engine, function, "raise")
    assert not succeeded
    assert answer["errorType"] == "CartaoRecusadoError"
    assert "m.py" in str(answer["stackTrace"])


def test_a_time_out_and_a_death_are_told_apart(engine: Engine, function: str) -> None:
    assert invoke(engine, function, "hang")[1]["errorType"] == "Sandbox.Timedout"
    assert invoke(engine, function, "die")[1]["errorType"] == "Runtime.ExitError"
    assert invoke(engine, function, "answer")[0], "the next call must find a new process"


def test_a_function_may_do_what_its_role_allows_and_nothing_else(engine: Engine, function: str) -> None:
    assert invoke(engine, function, "read") == (True, [])
    make_function(engine, "sem-permissao", make_role(engine, "vazia"))
    succeeded, answer = invoke(engine, "sem-permissao", "read")
    assert not succeeded
    assert "AccessDenied" in answer["errorMessage"]


def test_a_function_sees_nothing_of_the_developer_and_writes_inside_build(engine: Engine, function: str) -> None:
    answer = invoke(engine, function, "answer")[1]
    assert answer["profile"] is None
    assert Path(answer["tmp"]).is_relative_to(engine.build)


# --- metrics and alarms ----------------------------------------------------------------------------------------------


def total(engine: Engine, namespace: str, metric: str, statistic: str, **dimensions: str) -> float | None:
    now = time.time()
    answer = engine.client("cloudwatch").get_metric_statistics(
        Namespace=namespace,
        MetricName=metric,
        Dimensions=[{"Name": key, "Value": value} for key, value in dimensions.items()],
        StartTime=now - 3600,
        EndTime=now + 60,
        Period=7200,
        Statistics=[statistic],
    )
    found = [float(point[statistic]) for point in answer["Datapoints"]]
    if not found:
        return None
    return sum(found) if statistic == "Sum" else max(found)


def queue(engine: Engine, name: str, **attributes: str) -> tuple[str, str]:
    sqs = engine.client("sqs")
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    return url, sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]


def test_only_its_own_queue_moves_an_alarm_and_both_changes_are_notified(engine: Engine) -> None:
    sqs, sns, cloudwatch = (engine.client(name) for name in ("sqs", "sns", "cloudwatch"))
    human, _ = queue(engine, "humana")
    other, _ = queue(engine, "outra")
    inbox, inbox_arn = queue(engine, "avisos")
    topic = sns.create_topic(Name="alertas")["TopicArn"]
    allow = {"Effect": "Allow", "Principal": {"Service": "sns.amazonaws.com"}, "Action": "sqs:SendMessage"}
    allow |= {"Resource": inbox_arn, "Condition": {"ArnEquals": {"aws:SourceArn": topic}}}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [allow]})
    sqs.set_queue_attributes(QueueUrl=inbox, Attributes={"Policy": policy})
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=inbox_arn, Attributes={"RawMessageDelivery": "true"})
    cloudwatch.put_metric_alarm(
        AlarmName="pendente",
        Namespace="AWS/SQS",
        MetricName="ApproximateNumberOfMessagesVisible",
        Dimensions=[{"Name": "QueueName", "Value": "humana"}],
        Statistic="Maximum",
        Period=300,
        EvaluationPeriods=1,
        Threshold=0,
        ComparisonOperator="GreaterThanThreshold",
        TreatMissingData="notBreaching",
        AlarmActions=[topic],
        OKActions=[topic],
    )

    def alarm_state() -> str:
        return str(cloudwatch.describe_alarms(AlarmNames=["pendente"])["MetricAlarms"][0]["StateValue"])

    def next_notice() -> dict[str, Any] | None:
        messages = sqs.receive_message(QueueUrl=inbox, MaxNumberOfMessages=1).get("Messages", [])
        if not messages:
            return None
        sqs.delete_message(QueueUrl=inbox, ReceiptHandle=messages[0]["ReceiptHandle"])
        return dict(json.loads(messages[0]["Body"]))

    wait_for("a first verdict", lambda: alarm_state() == "OK")
    wait_for("the first notice", next_notice)

    sqs.send_message(QueueUrl=other, MessageBody="x")
    depth = "ApproximateNumberOfMessagesVisible"
    wait_for("the other depth", lambda: total(engine, "AWS/SQS", depth, "Maximum", QueueName="outra") == 1)
    readings = total(engine, "AWS/SQS", depth, "SampleCount", QueueName="humana") or 0
    wait_for(
        "two more readings of both queues",
        lambda: (total(engine, "AWS/SQS", depth, "SampleCount", QueueName="humana") or 0) >= readings + 2,
    )
    assert alarm_state() == "OK"
    assert next_notice() is None

    sqs.send_message(QueueUrl=human, MessageBody="x")
    notice = wait_for("the notice of ALARM", next_notice)
    assert (notice["AlarmName"], notice["OldStateValue"], notice["NewStateValue"]) == ("pendente", "OK", "ALARM")
    assert alarm_state() == "ALARM"

    sqs.purge_queue(QueueUrl=human)
    notice = wait_for("the notice of OK", next_notice)
    assert (notice["OldStateValue"], notice["NewStateValue"]) == ("ALARM", "OK")
    assert alarm_state() == "OK"


def test_the_age_of_the_oldest_message_grows(engine: Engine) -> None:
    url, _ = queue(engine, "parada")
    engine.client("sqs").send_message(QueueUrl=url, MessageBody="x")
    metric = "ApproximateAgeOfOldestMessage"
    wait_for("an age", lambda: (total(engine, "AWS/SQS", metric, "Maximum", QueueName="parada") or 0) >= 2)


def test_each_execution_is_counted_once_under_its_outcome(engine: Engine) -> None:
    states = engine.client("stepfunctions")
    choice = {"Variable": "$.ok", "BooleanEquals": True, "Next": "Certo"}
    definition = {
        "StartAt": "Escolhe",
        "States": {
            "Escolhe": {"Type": "Choice", "Choices": [choice], "Default": "Errado"},
            "Certo": {"Type": "Wait", "Seconds": 20, "End": True},
            "Errado": {"Type": "Fail", "Error": "X"},
        },
    }
    arn = states.create_state_machine(
        name="contada", definition=json.dumps(definition), roleArn=make_role(engine, "maquina")
    )["stateMachineArn"]
    for number in range(5):
        states.start_execution(stateMachineArn=arn, name=f"certa-{number}", input='{"ok": true}')
    states.start_execution(stateMachineArn=arn, name="errada", input='{"ok": false}')

    def counted(metric: str) -> float:
        return total(engine, "AWS/States", metric, "Sum", StateMachineArn=arn) or 0

    wait_for("the failure", lambda: counted("ExecutionsFailed") == 1)
    wait_for("the successes", lambda: counted("ExecutionsSucceeded") == 5)
    readings = total(engine, "AWS/States", "ExecutionsFailed", "SampleCount", StateMachineArn=arn) or 0
    wait_for(
        "two more readings",
        lambda: (
            (total(engine, "AWS/States", "ExecutionsFailed", "SampleCount", StateMachineArn=arn) or 0) > readings + 2
        ),
    )
    assert (counted("ExecutionsStarted"), counted("ExecutionsSucceeded"), counted("ExecutionsFailed")) == (6, 5, 1)
    assert total(engine, "AWS/States", "ExecutionTime", "SampleCount", StateMachineArn=arn) == 6
