"""Shortcuts that make ten thousand executions affordable and change nothing that is tested.

The mocked table answers each call from memory, but signing, serialising and parsing a request nobody reads takes nine
tenths of the time. Here a call that succeeds goes straight to the mock; one that is refused changed nothing, so it is
made again the long way and fails exactly as it would have. The gateway is called without a socket in between.
"""

from __future__ import annotations

import base64
import json
import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from botocore import xform_name
from botocore.client import BaseClient
from jsonpath_ng.ext.parser import parse
from jsonpath_ng.parser import parse as parse_plain
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType, Item
from moto.dynamodb.models.table import Table
from moto.dynamodb.responses import DynamoHandler
from moto.sqs.models import sqs_backends
from moto.stepfunctions.models import StateMachine
from moto.stepfunctions.parser.asl.component.common.path import result_path
from moto.stepfunctions.parser.asl.component.state.exec import execute_state
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import (
    state_task_service_dynamodb,
    state_task_service_sqs,
)
from moto.stepfunctions.parser.asl.utils import json_path
from moto.stepfunctions.parser.asl.utils.boto_client import boto_client_for
from moto.stepfunctions.parser.models import stepfunctions_parser_backends
from moto.stepfunctions.parser.utils import TMP_THREADS

from comum.http_saida import ChamadorHttp
from tests.asl.bench import ACCOUNT, REGION, Context
from tests.asl.gateway_http import event
from tests.asl.worlds import GATEWAY_FUNCTION, World, deployed_handler, real_world

SHORT = ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "Query", "Scan", "BatchGetItem")


@contextmanager
def short_way_to_the_tables() -> Iterator[None]:
    """Answer the successful calls of DynamoDB without HTTP."""
    long_way = BaseClient._make_api_call
    table_service = DynamoHandler()
    table_service.current_account, table_service.region = ACCOUNT, REGION

    def call(client: Any, operation: str, parameters: dict[str, Any]) -> Any:
        if operation == "ReceiveMessage" and not _anything_in(parameters["QueueUrl"]):
            return {}
        if operation not in SHORT or client.meta.service_model.service_name != "dynamodb":
            return long_way(client, operation, parameters)
        if operation == "GetItem" and parameters.keys() <= {"TableName", "Key", "ConsistentRead"}:
            # Half of all calls are the laboratory looking.
            item = dynamodb_backends[ACCOUNT][REGION].get_item(parameters["TableName"], parameters["Key"])
            return {"Item": {name: _as_sent(value) for name, value in item.attrs.items()}} if item else {}
        table_service.body = json.loads(json.dumps(parameters))
        try:
            answer = getattr(table_service, xform_name(operation))()
        except Exception:  # noqa: BLE001 - whatever it is, the long way says it in the service's own words
            return long_way(client, operation, parameters)
        return json.loads(json.dumps(answer.result))

    with mock.patch.object(BaseClient, "_make_api_call", call):
        yield


def _as_sent(value: DynamoType) -> dict[str, Any]:
    """An attribute as a client receives it: type and value."""
    if value.is_list():
        return {value.type: [_as_sent(each) for each in value.value]}
    if value.is_map():
        return {value.type: {name: _as_sent(each) for name, each in value.value.items()}}
    return {value.type: value.value}


def _anything_in(queue_url: str) -> bool:
    return bool(sqs_backends[ACCOUNT][REGION].queues[queue_url.rsplit("/", 1)[-1]]._messages)


@contextmanager
def gateway_next_door(handler: Any) -> Iterator[None]:
    """Hand the gateway's requests to its handler, in the caller's own thread."""
    context = Context("cesta-gateway-simulado", 3600)

    def exchange(self: Any, method: str, url: str, headers: Any, body: bytes | None, deadline: Any) -> Any:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        answer = handler(event(method, path, headers, (body or b"").decode()), context)
        text = answer.get("body") or ""
        return answer["statusCode"], base64.b64decode(text) if answer.get("isBase64Encoded") else text.encode()

    with mock.patch.object(ChamadorHttp, "_trocar", exchange):
        yield


@contextmanager
def clients_made_once() -> Iterator[None]:
    """The interpreter makes a client for each task; one for each service does."""
    kept = lru_cache(boto_client_for)

    def client(region: str, service: str, state_credentials: Any = None) -> Any:
        return kept(region, service)

    with (
        mock.patch.object(state_task_service_dynamodb, "boto_client_for", client),
        mock.patch.object(state_task_service_sqs, "boto_client_for", client),
    ):
        yield


class _Here:
    """Stands for a thread that its maker does nothing but wait for."""

    def __init__(self, target: Callable[[], None], daemon: bool) -> None:
        self.start = target


@contextmanager
def states_in_one_thread() -> Iterator[None]:
    """The interpreter gives each state a thread, to be able to give up on it; nothing here takes long."""
    with mock.patch.object(execute_state, "Thread", _Here):
        yield


def forget_items() -> None:
    """Empty every table, and drop what the mock never lets go: every item written, and the copies of whole tables that
    a transaction makes."""
    for table in dynamodb_backends[ACCOUNT][REGION].tables.values():
        table.items.clear()
    for model in (Table, Item):
        model.instances_tracked.clear()


def forget_executions() -> None:
    """Drop what the interpreter keeps of executions that are over: gigabytes, searched through each time."""
    TMP_THREADS.clear()
    StateMachine.instances_tracked.clear()
    for machine in stepfunctions_parser_backends[ACCOUNT][REGION].state_machines:
        if hasattr(machine, "executions"):
            machine.executions.clear()


@contextmanager
def small_things_once() -> Iterator[None]:
    """Paths parsed once, and identifiers without a system call each (which also makes them the same every time)."""
    numbers = random.Random(0)
    with (
        mock.patch.object(json_path, "parse", lru_cache(maxsize=1024)(parse)),
        mock.patch.object(result_path, "parse", lru_cache(maxsize=1024)(parse_plain)),
        mock.patch.object(uuid, "uuid4", lambda: uuid.UUID(int=numbers.getrandbits(128), version=4)),
    ):
        yield


@contextmanager
def shortcuts() -> Iterator[None]:
    """All of them, inside the real world."""
    with ExitStack() as stack:
        stack.enter_context(short_way_to_the_tables())
        stack.enter_context(clients_made_once())
        stack.enter_context(small_things_once())
        stack.enter_context(states_in_one_thread())
        stack.enter_context(gateway_next_door(deployed_handler(GATEWAY_FUNCTION)))
        yield


@contextmanager
def quick_world() -> Iterator[World]:
    """The real world with the shortcuts."""
    with real_world() as world, shortcuts():
        yield world
