"""The fault matrix's schedules on the engine: the same lines, made to happen on the network.

What a schedule says of a function's write is done by microburst, a proxy that speaks DynamoDB, between that function
and the engine; what it says of the gateway is done by the stand-in, by the card's token. The function's own settings
send it through the proxy (``AWS_ENDPOINT_URL_DYNAMODB``), so nothing else sees it, and a rule names its order.

The engine checks signatures, which name the host: the proxy signs again with the engine's own keys. Roles are proved
elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from itertools import product
from typing import Any

import boto3

from provas.alvo import Alvo
from tests.faults.schedules import Choice, Schedule

# botocore makes two attempts of each call of a function: an attempt of the state fails when both do.
CALLS_PER_ATTEMPT = 2
# comum.aws gives up on an answer after 2 s.
LATE_MS = 3_500

# Function -> the write whose fate is decided, as microburst matches it.
WRITES = {
    "ReservarEstoque": ("cesta-estoque", "starts_with(UpdateExpression, 'SET saldo = saldo - ') && {order}"),
    "LiberarEstoque": ("cesta-estoque", "starts_with(UpdateExpression, 'SET saldo = saldo + ') && {order}"),
    "ConfirmarPedido": ("cesta-pedidos", "Key.pedidoId.S == '{id}'"),
}
_STOCK_ORDER = "ExpressionAttributeNames.\"#pedido\" == '{id}'"
FATES: dict[str, dict[str, Any]] = {
    "fail-before": {"reset": True},
    "fail-after": {"response": {"abort_bytes": 0}},
    "throttled": {"error": {"code": "ProvisionedThroughputExceededException"}},
    "hang-before": {"timeout_ms": LATE_MS},
    "lost-late": {"latency": LATE_MS},
}
KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}

# What each card does to every charge, as a schedule says it.
CARDS = {
    Choice("CobrarPagamento", 1, "gateway-before", True): "tok-indisponivel",
    Choice("CobrarPagamento", 1, "gateway-after", True): "tok-erro-apos-cobrar",
    Choice("CobrarPagamento", 1, "hang-after"): "tok-lento-apos-cobrar",
    Choice("CobrarPagamento", 1, "hang-late"): "tok-cobra-depois",
}
ROUTES = {"nothing-else": {}, "card-refused": {"cartao": "tok-forcar-recusa"}, "confirm-refused": {"forcar": True}}


def schedules(how_many: int, seed: int) -> list[Schedule]:
    """A sample of the schedules of one or two faults that the network can make happen."""
    writes = [
        Choice(state, 1, fate, onwards)
        for state, fate, onwards in product(WRITES, FATES, (False, True))
        if not (onwards and fate == "lost-late")
    ]
    alone = [(choice,) for choice in (*writes, *CARDS)]
    pairs = [(a, b) for a, b in product((*writes, *CARDS), writes) if _in_order(a, b)]
    everything = [
        Schedule(route, choices)
        for route, choices in product(ROUTES, alone + pairs)
        # A card is either refused or misbehaves; and a route that never releases has no release to break.
        if not (route == "card-refused" and any(c.state in ("CobrarPagamento", "ConfirmarPedido") for c in choices))
        if not (route == "nothing-else" and choices[-1].state == "LiberarEstoque" and len(choices) == 1)
    ]
    return random.Random(seed).sample(everything, how_many)


def _in_order(first: Choice, second: Choice) -> bool:
    order = ("ReservarEstoque", "CobrarPagamento", "ConfirmarPedido", "LiberarEstoque")
    if first.state == order[0] and first.onwards and second.state != order[-1]:
        return False  # a reserve that never succeeds is followed by its release
    return order.index(first.state) < order.index(second.state)


def card(schedule: Schedule) -> str:
    """The card that makes a schedule's charge go wrong."""
    found = (CARDS[choice] for choice in schedule.choices if choice in CARDS)
    return next(found, str(ROUTES[schedule.route].get("cartao", "tok-ok")))


class Network:
    """microburst between some functions and the engine. See :func:`network`."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/_microburst"

    def break_for(self, order: str, schedule: Schedule) -> None:
        """Add the rules of one schedule, for one order alone."""
        rules = []
        for choice in schedule.choices:
            if choice.state in WRITES:
                table, body = WRITES[choice.state]
                rule = {"service": "dynamodb", "operation": "UpdateItem", "resource": table, **FATES[choice.what]}
                rule["body"] = body.replace("{order}", _STOCK_ORDER).replace("{id}", order)
                rules.append(rule if choice.onwards else rule | {"times": CALLS_PER_ATTEMPT})
        if rules:
            self._ask("PATCH", "rules", rules)

    def fired(self) -> int:
        """How many faults really happened."""
        return len(self._ask("GET", "fired"))

    def ready(self) -> bool:
        """Whether the proxy answers."""
        with contextlib.suppress(OSError):
            return bool(self._ask("GET", "health"))
        return False

    def _ask(self, method: str, what: str, body: Any = None) -> Any:
        request = urllib.request.Request(  # noqa: S310 - fixed http URL on 127.0.0.1
            f"{self._url}/{what}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - the same
            return json.load(answer)


@contextlib.contextmanager
def network(alvo: Alvo) -> Iterator[Network]:
    """Send the functions' DynamoDB calls through a proxy for as long as the block lasts."""
    upstream = alvo.cliente("dynamodb").meta.endpoint_url
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    proxy = subprocess.Popen(
        [sys.executable, "-m", "microburst", "--upstream", upstream, "--port", str(port), "--resign"],
        env=os.environ | {name.upper(): value for name, value in KEYS.items()} | {"AWS_REGION": alvo.regiao},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        between = Network(port)
        ends = time.monotonic() + 30
        while not between.ready():
            assert proxy.poll() is None and time.monotonic() < ends, "the proxy does not come up"
            time.sleep(0.1)
        # It reads its model of the service at the first call, and everybody waits.
        client = boto3.client("dynamodb", endpoint_url=f"http://127.0.0.1:{port}", region_name=alvo.regiao, **KEYS)
        for operation in ("update_item", "get_item"):
            with contextlib.suppress(client.exceptions.ClientError):
                getattr(client, operation)(TableName="aquecimento", Key={"nada": {"S": "nada"}})
        with contextlib.ExitStack() as stack:
            for function in WRITES:
                stack.enter_context(_through(alvo, function, f"http://127.0.0.1:{port}"))
            yield between
    finally:
        proxy.kill()  # asked politely, it waits for connections that the functions keep open
        proxy.wait(timeout=10)


@contextlib.contextmanager
def _through(alvo: Alvo, function: str, proxy: str) -> Iterator[None]:
    lambda_, name = alvo.cliente("lambda"), alvo.funcao(function)
    before = lambda_.get_function_configuration(FunctionName=name)["Environment"]
    changed = {"Variables": before["Variables"] | {"AWS_ENDPOINT_URL_DYNAMODB": proxy}}
    lambda_.update_function_configuration(FunctionName=name, Environment=changed)
    try:
        yield
    finally:
        lambda_.update_function_configuration(FunctionName=name, Environment=before)
