"""Business metrics the local engine's bridge takes from the functions' logs."""

import json
import time
from typing import Any

import boto3
from moto import mock_aws

from engine.bridge import EmbeddedMetricReader, embedded_metrics


def line(name: str = "DisjuntorAberto", values: Any = (1.0, 2.0), **changes: Any) -> str:
    directive = {"Namespace": "Cesta", "Dimensions": [["service", "operacao"]], "Metrics": [{"Name": name}]}
    document = {
        "_aws": {"Timestamp": 1, "CloudWatchMetrics": [directive | changes]},
        "service": "cesta",
        "operacao": "cobrar",
        name: values,
    }
    return json.dumps(document)


def test_each_value_is_a_point_with_its_dimensions() -> None:
    [first, second] = embedded_metrics(line())["Cesta"]
    assert (first["MetricName"], first["Value"], second["Value"]) == ("DisjuntorAberto", 1.0, 2.0)
    assert first["Dimensions"] == [{"Name": "operacao", "Value": "cobrar"}, {"Name": "service", "Value": "cesta"}]
    assert [p["Value"] for p in embedded_metrics(line(values=3))["Cesta"]] == [3.0]


def test_any_other_line_is_nothing() -> None:
    for text in ("nada", "[]", "{}", '{"_aws": 1}', line(Dimensions=[["absent"]]), line(values="x")):
        assert embedded_metrics(text) == {}


@mock_aws
def test_every_line_is_read_once_and_what_came_before_is_not() -> None:
    logs = boto3.client("logs", region_name="sa-east-1")
    group, start = "/aws/lambda/f", int(time.time() * 1000) - 60_000

    def write(stream: str, at: int, *messages: str) -> None:
        logs.create_log_stream(logGroupName=group, logStreamName=stream)
        events = [{"timestamp": at, "message": message} for message in messages]
        logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)

    logs.create_log_group(logGroupName=group)
    write("before", start - 1, line())
    reader = EmbeddedMetricReader(logs, now=lambda: start / 1000)
    assert reader.read() == {}
    write("a", start + 10, "START", line(values=1))
    assert [p["Value"] for p in reader.read()["Cesta"]] == [1]
    assert reader.read() == {}
    write("b", start + 10, line(values=1))  # the same instant and text, another invocation
    write("c", start + 20, line(values=2))
    assert [p["Value"] for p in reader.read()["Cesta"]] == [1, 2]
    assert reader.read() == {}
