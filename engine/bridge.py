"""Publishes to the local engine the metrics AWS would publish by itself: AWS/SQS, AWS/States, and the business metrics
that functions write to their logs in the embedded metric format.

Reads queues, executions and logs through the public APIs and writes with PutMetricData, which also makes the engine
evaluate its alarms. Runs as a child of the engine; ends when the engine does.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import os
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from engine.settings import EngineSettings

log = logging.getLogger("engine.bridge")

_OUTCOME_METRIC = {
    "SUCCEEDED": "ExecutionsSucceeded",
    "FAILED": "ExecutionsFailed",
    "TIMED_OUT": "ExecutionsTimedOut",
    "ABORTED": "ExecutionsAborted",
}
_BATCH = 500
"""Data points per PutMetricData call; AWS takes up to 1,000."""

_LOG_READING_EACH = 3
"""One reading in so many also reads the logs, which are many more than queues and machines."""

Datum = dict[str, Any]


def datum(name: str, value: float, unit: str, **dimensions: str) -> Datum:
    """One data point as PutMetricData takes it."""
    return {
        "MetricName": name,
        "Value": value,
        "Unit": unit,
        "Dimensions": [{"Name": key, "Value": dimensions[key]} for key in sorted(dimensions)],
    }


class QueueReader:
    """Depth and age of every queue, as the AWS/SQS namespace names them.

    Parameters
    ----------
    sqs : SQS client
    endpoint : str
        Base URL of the engine; its message listing gives the send times, which the SQS API only gives to a receiver.
    region : str
        Region whose queues are read.
    """

    def __init__(self, sqs: Any, endpoint: str, region: str) -> None:
        self._sqs = sqs
        self._listing = f"{endpoint}/_ministack/sqs/messages?region={region}"

    def read(self) -> list[Datum]:
        """Data points of this moment: messages visible, in flight and delayed (Count), oldest age (Seconds)."""
        ages = self._oldest_ages()
        data = []
        for url in self._sqs.list_queues().get("QueueUrls", []):
            try:
                attributes = self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
            except self._sqs.exceptions.QueueDoesNotExist:
                continue  # deleted between the two calls
            queue = url.rsplit("/", 1)[-1]
            for attribute, metric in (
                ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesVisible"),
                ("ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesNotVisible"),
                ("ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesDelayed"),
            ):
                data.append(datum(metric, float(attributes.get(attribute, 0)), "Count", QueueName=queue))
            data.append(datum("ApproximateAgeOfOldestMessage", ages.get(queue, 0.0), "Seconds", QueueName=queue))
        return data

    def _oldest_ages(self) -> dict[str, float]:
        with urllib.request.urlopen(self._listing, timeout=5) as answer:  # noqa: S310 - fixed http URL on 127.0.0.1
            listing = json.load(answer)["messages"]
        now = time.time()
        ages: dict[str, float] = {}
        for regions in listing.values():
            for queues in regions.values():
                for url, messages in queues.items():
                    if messages:
                        oldest = min(message["SentTimestamp"] for message in messages)
                        ages[url.rsplit("/", 1)[-1]] = max(0.0, now - oldest)
        return ages


class ExecutionReader:
    """What happened to executions since the last reading, as the AWS/States namespace names it.

    Parameters
    ----------
    states : Step Functions client
    """

    def __init__(self, states: Any) -> None:
        self._states = states
        self._open: dict[str, set[str]] = {}
        self._newest: dict[str, dt.datetime] = {}
        self._at_newest: dict[str, set[str]] = {}

    def read(self) -> list[Datum]:
        """Data points since the last call: executions started and ended by outcome (Count), duration (Milliseconds)."""
        data = []
        for machine in self._states.list_state_machines()["stateMachines"]:
            data += self._read_machine(machine["stateMachineArn"])
        return data

    def _read_machine(self, arn: str) -> list[Datum]:
        still_open = self._open.setdefault(arn, set())
        awaited = set(still_open)
        started, ended = [], []
        # Newest first: once past the newest one already seen, only executions that were still open matter.
        for execution in self._newest_first(arn):
            name = execution["executionArn"]
            if self._is_new(arn, execution):
                started.append(execution)
            elif name in awaited:
                awaited.discard(name)
            elif not awaited:
                break
            else:
                continue
            if execution["status"] == "RUNNING":
                still_open.add(name)
            else:
                still_open.discard(name)
                ended.append(execution)
        still_open -= awaited  # the machine was deleted and made again
        self._remember(arn, started)

        counts: dict[str, int] = {"ExecutionsStarted": len(started)}
        for execution in ended:
            metric = _OUTCOME_METRIC.get(execution["status"])
            if metric:
                counts[metric] = counts.get(metric, 0) + 1
        # Zeros are published too: an alarm leaves ALARM when it sees them, as it does on AWS.
        data = [
            datum(metric, counts.get(metric, 0), "Count", StateMachineArn=arn)
            for metric in ("ExecutionsStarted", *_OUTCOME_METRIC.values())
        ]
        for execution in ended:
            if execution.get("stopDate"):
                elapsed = (execution["stopDate"] - execution["startDate"]).total_seconds() * 1000
                data.append(datum("ExecutionTime", elapsed, "Milliseconds", StateMachineArn=arn))
        return data

    def _newest_first(self, arn: str) -> Any:
        for page in self._states.get_paginator("list_executions").paginate(stateMachineArn=arn, maxResults=100):
            yield from page["executions"]

    def _is_new(self, arn: str, execution: dict[str, Any]) -> bool:
        newest = self._newest.get(arn)
        if newest is None or execution["startDate"] > newest:
            return True
        return bool(execution["startDate"] == newest and execution["executionArn"] not in self._at_newest[arn])

    def _remember(self, arn: str, started: list[dict[str, Any]]) -> None:
        if not started:
            return
        newest = max(execution["startDate"] for execution in started)
        if newest != self._newest.get(arn):
            self._newest[arn], self._at_newest[arn] = newest, set()
        self._at_newest[arn] |= {e["executionArn"] for e in started if e["startDate"] == newest}


class EmbeddedMetricReader:
    """Business metrics in the functions' logs (embedded metric format), which CloudWatch Logs extracts by itself.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html

    Parameters
    ----------
    logs : CloudWatch Logs client
    now : Callable[[], float]
        Epoch seconds; what was logged before the reader was made is not read.
    """

    def __init__(self, logs: Any, now: Callable[[], float] = time.time) -> None:
        self._logs = logs
        self._since = int(now() * 1000)
        self._newest: dict[str, int] = {}
        self._at_newest: dict[str, set[tuple[str, str]]] = {}

    def read(self) -> dict[str, list[Datum]]:
        """Data points logged since the last call, by namespace."""
        data: dict[str, list[Datum]] = {}
        for page in self._logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix="/aws/lambda/"):
            for group in page["logGroups"]:
                for message in self._new_messages(group["logGroupName"]):
                    for namespace, points in embedded_metrics(message).items():
                        data.setdefault(namespace, []).extend(points)
        return data

    def _new_messages(self, group: str) -> list[str]:
        newest = self._newest.get(group, self._since)
        seen = self._at_newest.setdefault(group, set())
        messages = []
        pages = self._logs.get_paginator("filter_log_events").paginate(
            logGroupName=group, startTime=newest, filterPattern='"CloudWatchMetrics"'
        )
        for page in pages:
            for event in page["events"]:
                # Each stream of this engine is one invocation, so a line repeated at the same instant is in another.
                identity = (event["logStreamName"], event["message"])
                if event["timestamp"] == newest and identity in seen:
                    continue
                if event["timestamp"] > newest:
                    newest = event["timestamp"]
                    seen.clear()
                if event["timestamp"] == newest:
                    seen.add(identity)
                messages.append(event["message"])
        self._newest[group] = newest
        return messages


def embedded_metrics(line: str) -> dict[str, list[Datum]]:
    """Data points by namespace of one log line; none if it is not a well-formed one, as on AWS."""
    try:
        document = json.loads(line)
        found: dict[str, list[Datum]] = {}
        for directive in document["_aws"]["CloudWatchMetrics"]:
            for names in directive["Dimensions"]:
                dimensions = {name: str(document[name]) for name in names}
                for metric in directive["Metrics"]:
                    values = document[metric["Name"]]
                    for value in values if isinstance(values, list) else [values]:
                        point = datum(metric["Name"], float(value), metric.get("Unit", "None"), **dimensions)
                        found.setdefault(directive["Namespace"], []).append(point)
    except (ValueError, KeyError, TypeError):
        return {}
    return found


def publish(cloudwatch: Any, namespace: str, data: list[Datum]) -> None:
    """Send data points in batches. An empty list sends nothing."""
    for start in range(0, len(data), _BATCH):
        cloudwatch.put_metric_data(Namespace=namespace, MetricData=data[start : start + _BATCH])


def run(settings: EngineSettings) -> None:
    """Read and publish until the parent process is gone."""
    session = boto3.Session("test", "test", region_name=settings.region)
    config = Config(connect_timeout=2, read_timeout=10, retries={"total_max_attempts": 1})

    def client(name: str) -> Any:
        make: Any = session.client  # the stubs know each service by a literal name
        return make(name, endpoint_url=settings.endpoint, config=config)

    cloudwatch = client("cloudwatch")
    readers = (
        ("AWS/SQS", QueueReader(client("sqs"), settings.endpoint, settings.region)),
        ("AWS/States", ExecutionReader(client("stepfunctions"))),
    )
    embedded = EmbeddedMetricReader(client("logs"))
    parent = os.getppid()
    failures = readings = 0
    while os.getppid() == parent:
        began = time.monotonic()
        readings += 1
        try:
            if readings % _LOG_READING_EACH == 0:
                for namespace, data in embedded.read().items():
                    publish(cloudwatch, namespace, data)
            for namespace, reader in readers:
                publish(cloudwatch, namespace, reader.read())
            failures = 0
        except (ClientError, BotoCoreError, OSError, ValueError, KeyError) as error:
            failures += 1
            if failures in (5, 60):  # the first ones are the engine still starting
                log.warning("reading failed %d times in a row: %s: %s", failures, type(error).__name__, error)
        time.sleep(max(0.05, settings.bridge_interval_s - (time.monotonic() - began)))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    run(EngineSettings.from_env())
