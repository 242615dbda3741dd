"""Plays one schedule from the order to the last act of those who clean up, and says everything that is wrong.

After the execution come, as in production: the write-off of a confirmed order (before whatever is still late lands,
and once more after it), a redrive of an execution that failed (an alarm watches for it), and the two checks that run on
a schedule. Only then are the promises asked for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from moto.sqs.models import sqs_backends

from estoque.baixar_reserva import handler as baixar_reserva
from estoque.conferir_reservas import handler as conferir_reservas
from pagamentos.conferir_cobrancas import handler as conferir_cobrancas
from tests.asl.bench import ACCOUNT, REGION, ROOT, Call, Context, Outcome, load_asl
from tests.asl.checks import QUEUE
from tests.asl.fast import forget_executions, forget_items, shortcuts
from tests.asl.invariants import violations
from tests.asl.worlds import INITIAL_BALANCE, World, real_world
from tests.faults.schedules import LANDINGS, NO_PRODUCT, ROUTES, Schedule, treatment

RESERVE = "cesta-reservar-estoque"
ASKS = "RegistrarRequerIntervencaoHumana"
MANUAL = load_asl(ROOT / "asl" / "compensacao-manual.asl.json")
# Of the schedules that leave an order to a person, one in so many is carried on until the person is done.
ONE_IN = 10
# An execution may only end in failure where there is nothing left to undo.
MAY_FAIL = (
    "RegistrarFalhaSemCompensacao",
    "RegistrarFalhaComEstoqueLiberado",
    "EnviarParaFilaHumana",
    "RegistrarRequerIntervencaoHumana",
)


@dataclass(frozen=True)
class Point:
    """One attempt of one state on the way, before anything is chosen for it.

    ``same_as`` is equal for two points exactly when nothing that comes after can differ: the state and how much of its
    Retry is used up, the saga's own data, the order, the stock, the gateway, the queue, and the calls still to land.
    The order's history is left out: nothing reads it, and each run's own length is checked.
    """

    state: str
    attempt: int
    waiting: int
    same_as: int


@dataclass
class Played:
    """What became of a schedule."""

    schedule: Schedule
    points: list[Point] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    status: str = ""
    execution: str = ""
    path: tuple[str, ...] = ()
    caught: tuple[tuple[str, str], ...] = ()
    log: tuple[str, ...] = ()
    redriven: bool = False
    told_in_vain: bool = False
    finished: bool = False
    reconciled: bool = False
    messages: int = 0

    @property
    def end(self) -> tuple[Any, ...]:
        """What two schedules that are the same must have in common."""
        return self.status, self.execution, self.redriven, self.reconciled, min(self.messages, 1), self.path[-1:]


class Laboratory:
    """A world in which schedules are played one after the other. See :func:`laboratory`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._sold_out = False
        reserve = world.bench.handlers[RESERVE]

        def reserve_while_sold_out(event: Mapping[str, Any], context: Any) -> Any:
            if not self._sold_out:
                return reserve(dict(event), context)
            self._sold_out = False
            if world.bench.item("cesta-estoque", {"sku": event["sku"]}) is None:
                return reserve(dict(event), context)
            taken = world.balance(event)
            self._move(event["sku"], -taken)
            try:
                return reserve(dict(event), context)
            finally:
                self._move(event["sku"], taken)

        world.bench.handlers[RESERVE] = reserve_while_sold_out

    def _move(self, sku: str, units: int) -> None:
        self.world.bench.dynamodb.update_item(
            TableName="cesta-estoque",
            Key={"sku": {"S": sku}},
            UpdateExpression="ADD saldo :units",
            ExpressionAttributeValues={":units": {"N": str(units)}},
        )

    def play(self, schedule: Schedule, asl: Mapping[str, Any] | None = None) -> Played:
        """Play a schedule on a new order, on the deployed machine unless told otherwise."""
        order = self.world.order(**ROUTES[schedule.route])
        if schedule.route == NO_PRODUCT:
            self.world.remove_stock(order["sku"])
        played = Played(schedule)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                self._play(played, order, asl or self.world.asl)
        finally:
            self.forget()
        return played

    def _play(self, played: Played, order: dict[str, Any], asl: Mapping[str, Any]) -> None:
        world, bench, schedule = self.world, self.world.bench, played.schedule
        self._sold_out = False
        log: list[str] = []
        inputs: dict[str, dict[str, Any]] = {}

        def on_attempt(state: str, attempt: int) -> None:
            if state not in inputs:
                inputs[state] = bench.state_input()
            played.points.append(self._point(schedule, order, state, attempt, inputs[state]))
            for landing in schedule.at(state, attempt, LANDINGS):
                for _ in range(bench.waiting if landing == "land-all" else min(1, bench.waiting)):
                    bench.land_late(-1 if landing == "land-newest" else 0)
            self._sold_out = any(schedule.at(state, attempt, ("sold-out",)))

        before = {"stock": "nothing", "money": "nothing"}

        def on_effect(call: Call) -> None:
            now = {"stock": self._stock(order), "money": self._money(order)}
            log.extend(now[what] for what in now if now[what] != before[what])
            before.update(now)

        bench.on_effect, bench.on_end = on_effect, lambda: self._write_off(order)
        try:
            outcome = bench.run(asl, order, schedule.injected(), on_attempt)
            played.path, played.execution = tuple(outcome.path), outcome.status
            played.caught = tuple((call.state, call.seen) for call in outcome.calls if call.seen)
            if outcome.status != "SUCCEEDED":
                outcome = self._redrive(asl, order, outcome, inputs, played)
        finally:
            bench.on_effect = bench.on_end = None
        self._write_off(order)  # the stream delivers at least once
        self._reconcile(played)
        outcome = dataclasses.replace(outcome, order=bench.item("cesta-pedidos", {"pedidoId": order["pedidoId"]}))
        played.status, played.messages, played.log = str(outcome.order_status or ""), len(outcome.messages), tuple(log)
        sold = (bench.item("cesta-estoque-baixas", {"pedidoId": order["pedidoId"]}) or {}).get("quantidade", 0)
        played.problems += violations(world, order, outcome, sold) + _order_of_undoing(log)
        if outcome.status != "SUCCEEDED" and not played.told_in_vain:
            played.problems.append(f"execution {outcome.status} even after a redrive: {outcome.error}")
        if outcome.order_status == "CONFIRMADO" and world.reserved(order):
            played.problems.append("a confirmed order's units never left the stock item")
        if outcome.messages and (played.told_in_vain or _stable_hash(str(schedule)) % ONE_IN == 0):
            self._finish(order, outcome, played)

    # --- after the execution ---------------------------------------------------------------------------------------

    def _redrive(
        self, asl: Mapping[str, Any], order: dict[str, Any], failed: Outcome, inputs: Mapping[str, Any], played: Played
    ) -> Outcome:
        """What the alarm on failed executions asks for: start again from the state that failed, with its input."""
        last = next((call.state for call in reversed(failed.calls) if not call.late), "")
        if last not in MAY_FAIL or failed.path[-1] != last:
            played.problems.append(f"execution failed in {failed.path[-1]}: {failed.error} {failed.cause}")
            return failed
        if failed.error == "DynamoDB.ConditionalCheckFailedException":
            if last == ASKS and failed.order_status == "CONFIRMADO" and failed.messages:
                # The mark gave up on an order whose confirmation had landed: a person is told, and finds it confirmed.
                played.told_in_vain = True
                return failed
            played.problems.append(f"{last} was refused by the order's status")
        played.redriven = True
        start = last if last in asl["States"] else QUEUE
        again = self.world.bench.run({**asl, "StartAt": start}, inputs[last])
        for message in again.messages:
            message["executionArn"] = failed.execution_arn
        return dataclasses.replace(
            again,
            path=failed.path + [state for state in again.path if state not in failed.path],
            calls=failed.calls + again.calls,
            messages=failed.messages + again.messages,
            execution_arn=failed.execution_arn,
        )

    def _finish(self, order: Mapping[str, Any], outcome: Outcome, played: Played) -> None:
        """What a person does with the message: the second machine undoes what is pending, or finds it confirmed."""
        world, played.finished = self.world, True
        wanted = {name: order[name] for name in ("pedidoId", "sku", "criadoEm")}
        pending = outcome.messages[0]["compensacoesPendentes"]
        manual = world.bench.run(MANUAL, wanted | {"compensacoesPendentes": pending})
        left = (manual.status, manual.order_status, world.paid(order), world.reserved(order))
        if played.told_in_vain:
            expected: tuple[Any, ...] = ("SUCCEEDED", "CONFIRMADO", order["valorCentavos"], 0)
        else:
            expected = ("SUCCEEDED", "FALHOU_COMPENSADO", 0, 0)
        if left != expected or (not played.told_in_vain and world.balance(order) != INITIAL_BALANCE):
            played.problems.append(f"a person cannot finish it: {left}, balance {world.balance(order)}")

    def _write_off(self, order: Mapping[str, Any]) -> None:
        """What the stream of the orders does about a confirmed one."""
        key = {"pedidoId": {"S": order["pedidoId"]}}
        image = self.world.bench.dynamodb.get_item(TableName="cesta-pedidos", Key=key, ConsistentRead=True).get("Item")
        if image and image["status"]["S"] == "CONFIRMADO":
            record = {"eventName": "MODIFY", "dynamodb": {"SequenceNumber": "1", "NewImage": image}}
            baixar_reserva({"Records": [record]}, _context("cesta-baixar-reserva"))

    def _reconcile(self, played: Played) -> None:
        """The checks that run on a schedule, once each."""
        stock = conferir_reservas({}, _context("cesta-conferir-reservas"))["contagem"]
        money = conferir_cobrancas({}, _context("cesta-conferir-cobrancas"))["contagem"]
        played.reconciled = bool(stock.get("OrfasLiberadas") or stock.get("BaixasTardias"))
        # The saga and its redrive leave nothing to these: whatever they say is a promise broken before they came.
        for count, found in {**stock, **money}.items():
            if found and count in ("ReservasPresas", "ConferenciasComFalha", "ConferenciasInterrompidas"):
                played.problems.append(f"the checks count {count}: {found}")
        if money.get("CobrancasOrfas") or self.world.bench.drain():
            played.problems.append("a charge of an order that is not confirmed was left to the check of charges")

    def forget(self) -> None:
        """Leave nothing to the next schedule: the checks walk whole tables, which so hold one order at a time."""
        forget_items()
        forget_executions()
        self.world.bench.drain()

    # --- what the world looks like ---------------------------------------------------------------------------------

    def _stock(self, order: Mapping[str, Any]) -> str:
        item = self.world.bench.item("cesta-estoque", {"sku": order["sku"]}) or {}
        if order["pedidoId"] in item.get("reservas", {}):
            return "RESERVED"
        return "RELEASED" if order["pedidoId"] in item.get("encerradas", {}) else "nothing"

    def _money(self, order: Mapping[str, Any]) -> str:
        key = f"COBRANCA#cesta-cobranca-{order['pedidoId']}"
        charge = self.world.bench.item("cesta-gateway-simulado", {"pk": key, "sk": "COBRANCA"})
        return str(charge["situacao"]) if charge else "nothing"

    def _point(
        self, schedule: Schedule, order: dict[str, Any], state: str, attempt: int, saga: Mapping[str, Any]
    ) -> Point:
        bench, pedido_id = self.world.bench, order["pedidoId"]
        stored = bench.item("cesta-pedidos", {"pedidoId": pedido_id}) or {}
        stock = bench.item("cesta-estoque", {"sku": order["sku"]}) or {}
        refund = bench.item("cesta-gateway-simulado", {"pk": f"ESTORNO#cesta-estorno-{pedido_id}", "sk": "ESTORNO"})
        used_up: dict[int, int] = {}
        for call in bench.calls_so_far():
            if call.state == state and call.seen and not call.late:
                position = treatment(state, call.seen)[0]
                used_up[position] = used_up.get(position, 0) + 1
        lasting = [str(c) for c in schedule.choices if c.onwards and c.state == state and c.attempt < attempt]
        read_error = {
            name: treatment("CobrarPagamento", saga[name]["Error"])[2]
            for name in ("erro", "erroCompensacao")
            if name in saga
        }
        seen = (
            schedule.route,
            state,
            sorted(used_up.items()),
            lasting,
            sorted(saga),
            sorted(read_error.items()),
            stored.get("status"),
            stock.get("saldo"),
            stock.get("reservas", {}).get(pedido_id),
            pedido_id in stock.get("encerradas", {}),
            self._money(order),
            refund and refund["resultado"],
            self._messages_waiting(),
            bench.late_states(),
        )
        return Point(state, attempt, bench.waiting, _stable_hash(repr(seen)))

    def _messages_waiting(self) -> int:
        backend = sqs_backends[ACCOUNT][REGION]
        return len(backend.queues["cesta-compensacao-falhou"]._messages)


def _context(function: str) -> Context:
    return Context(function, 3600)


def _stable_hash(text: str) -> int:
    """The same in every process and on every day."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _order_of_undoing(log: list[str]) -> list[str]:
    """Undone in the mirror order of what was done, as the gateway's record and the stock's item tell it."""
    problems = []
    happened = {what: log.index(what) for what in reversed(log)}
    if "RELEASED" in happened:
        for later in ("APROVADA", "ESTORNADA"):
            if any(what == later for what in log[happened["RELEASED"] :]) and "RESERVED" in happened:
                problems.append(f"money moved after the stock was given back: {log}")
                break
    if log.count("RESERVED") > 1 or log.count("APROVADA") > 1 or log.count("ESTORNADA") > 1:
        problems.append(f"an effect happened twice: {log}")
    return problems


@contextmanager
def laboratory(short: bool = True) -> Iterator[Laboratory]:
    """Our system, with the shortcuts unless told otherwise, and quiet: the interpreter logs each injected failure."""
    logging.getLogger("moto").setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        stack.enter_context(
            mock.patch.dict("os.environ", {"LOG_LEVEL": "CRITICAL", "POWERTOOLS_METRICS_DISABLED": "true"})
        )
        world = stack.enter_context(real_world())
        if short:
            stack.enter_context(shortcuts())
        yield Laboratory(world)
