"""One scenario for each way in which the lab's own listing does not hold (docs/departures.md).

A scenario states what must be true and raises :class:`Broken` when it is not. It must hold on our system and be broken
on the lab's. Where another defect of the lab would hide the one at hand, ``amend`` mends that other one first.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.asl.bench import ROOT, Fault
from tests.asl.worlds import INITIAL_BALANCE, QUANTITY, VALUE_CENTS, World, lab_world, real_world

CONFIRMED_ORDERS = 60
# Well beyond a barrier's life, so that when one expires does not depend on how fast the test runs.
MINUTES_BETWEEN = 10
# More than any redrive policy of ours asks for.
MAX_RECEIVES = 8

Amend = Callable[[dict[str, Any]], None]


class Broken(AssertionError):
    """The scenario's invariant does not hold."""


def must(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Broken(otherwise)


def charge_keeps_the_input(world: World) -> None:
    """1: after a charge, the compensations still know the order, the sku and the quantity."""
    order = world.order()
    outcome = world.run(order, Fault("ConfirmarPedido", "RuntimeError"))
    must("CobrarPagamento" in outcome.path, "the scenario never charged")
    must(world.balance(order) == INITIAL_BALANCE, "stock still held after a failed confirmation")
    must(world.paid(order) == 0, "customer still charged after a failed confirmation")


def queue_keeps_the_input(world: World) -> None:
    """2: after the message is sent, the order can still be marked."""
    order = world.order(cartaoToken="tok-forcar-recusa")
    outcome = world.run(order, Fault("LiberarEstoque", "RuntimeError"))
    must([message["pedidoId"] for message in outcome.messages] == [order["pedidoId"]], "no message for a person")
    must(outcome.status == "SUCCEEDED", f"the execution failed after the message: {outcome.cause}")
    must(outcome.order_status == "REQUER_INTERVENCAO_HUMANA", f"order is {outcome.order_status}")


def unknown_charge_is_refunded(world: World) -> None:
    """3: a charge that took effect and then timed out does not stay with the customer."""
    order = world.order()
    world.run(order, Fault("CobrarPagamento", "Sandbox.Timedout", effect="once"))
    must(("COBRANCA", VALUE_CENTS) in world.movements(order["pedidoId"]), "the scenario never charged")
    must(world.balance(order) == INITIAL_BALANCE, "stock still held")
    must(world.paid(order) == 0, "customer charged for nothing")


def unknown_reservation_is_released(world: World) -> None:
    """4: a reservation that took effect and then timed out does not stay locked."""
    order = world.order()
    outcome = world.run(order, Fault("ReservarEstoque", "Sandbox.Timedout", effect="once"))
    must("ReservarEstoque" in [call.state for call in outcome.calls if call.ran], "the scenario never reserved")
    must(world.reserved(order) == 0, "stock locked for ever")
    must(world.balance(order) == INITIAL_BALANCE, "units lost")


def confirmed_order_is_not_refunded(world: World) -> None:
    """5: a confirmation that landed and whose answer was lost is a success, not a refund."""
    order = world.order()
    outcome = world.run(order, Fault("ConfirmarPedido", "Sandbox.Timedout", effect="once"))
    must(outcome.order_status == "CONFIRMADO", f"a confirmed order became {outcome.order_status}")
    must(world.paid(order) == VALUE_CENTS, "a confirmed order was refunded")
    must(world.reserved(order) == QUANTITY, "a confirmed order lost its stock")


def stock_item_without_map(world: World) -> None:
    """7: the first reservation of an item that has no map yet works."""
    order = world.order()
    world.stock(order["sku"], maps=False)
    outcome = world.run(order)
    must(outcome.order_status == "CONFIRMADO", f"order is {outcome.order_status}")
    must(world.reserved(order) == QUANTITY, "nothing reserved")


def release_gives_back_what_was_reserved(world: World) -> None:
    """8: the quantity given back is the quantity held, whatever the event says."""
    order = world.order()
    call = world.bench.call
    call("cesta-reservar-estoque", order)
    call("cesta-liberar-estoque", order | {"quantidade": QUANTITY - 1})
    must(world.reserved(order) == 0, "still reserved")
    must(world.balance(order) == INITIAL_BALANCE, f"{INITIAL_BALANCE - world.balance(order)} unit(s) vanished")


def failure_keeps_the_order(world: World) -> None:
    """9: writing a failure keeps what the order already said, and its history grows."""
    order = world.order(cartaoToken="tok-forcar-recusa")
    outcome = world.run(order)
    written = outcome.order or {}
    must(written.get("status") == "FALHOU_COMPENSADO", f"order is {written.get('status')}")
    must(written.get("sku") == order["sku"], "the order lost its sku")
    statuses = [entry["status"] for entry in written.get("historico", [])]
    must(statuses[:1] == ["RECEBIDO"] and statuses[-1:] == ["FALHOU_COMPENSADO"], f"history is {statuses}")


def throttling_is_retried(world: World) -> None:
    """10: one throttled write, or one throttled invocation, changes nothing in the end."""
    refused = world.order(cartaoToken="tok-forcar-recusa")
    throttled = "DynamoDB.ProvisionedThroughputExceededException"
    outcome = world.run(refused, Fault("RegistrarFalhaComEstoqueLiberado", throttled, attempts=frozenset({1})))
    must(outcome.status == "SUCCEEDED", f"one throttled write failed the execution: {outcome.error}")
    good = world.order()
    throttled = "Lambda.TooManyRequestsException"
    outcome = world.run(good, Fault("CobrarPagamento", throttled, attempts=frozenset({1})))
    must(outcome.order_status == "CONFIRMADO", "one throttled invocation undid a good order")


def quantity_of_zero_or_less_is_refused(world: World) -> None:
    """13: no order raises the balance, whatever reaches the step."""
    for quantity in (-3, 0):
        order = world.order(quantidade=quantity)
        outcome = world.run(order)
        must(world.balance(order) == INITIAL_BALANCE, f"balance is {world.balance(order)}")
        must(outcome.order_status == "FALHOU_SEM_RESERVA", f"order is {outcome.order_status}")


def stock_item_stays_small(world: World) -> None:
    """6: what a confirmed order held leaves the item, so that the last reservation costs what the first did."""
    first = world.order(quantidade=1)
    sizes = []
    for number in range(CONFIRMED_ORDERS):
        order = first if number == 0 else world.order(sku=first["sku"], quantidade=1)
        outcome = world.run(order)
        must(outcome.order_status == "CONFIRMADO", f"order {number} is {outcome.order_status}")
        world.write_off(order, MINUTES_BETWEEN * number)
        sizes.append(world.item_size(first["sku"]))
    half = CONFIRMED_ORDERS // 2
    early, late = max(sizes[:half]), max(sizes[half:])
    must(late <= early, f"the item reached {early} bytes in {half} orders, then {late}, and never stops")


def poison_message_is_kept(world: World) -> None:
    """11: a message nobody can read ends where a person finds it, instead of looping for a day and vanishing."""
    queue, dead_letters = world.input_queue()
    world.bench.sqs.send_message(QueueUrl=queue, MessageBody="isto não é um pedido")
    for _ in range(MAX_RECEIVES):
        for message in world.bench.sqs.receive_message(QueueUrl=queue, VisibilityTimeout=0).get("Messages", []):
            must(not world.consume(message), "the poison message passed for an order")
    left = world.bench.sqs.receive_message(QueueUrl=queue, VisibilityTimeout=0).get("Messages", [])
    must(not left, f"still looping after {MAX_RECEIVES} receives")
    kept = world.bench.sqs.receive_message(QueueUrl=dead_letters).get("Messages", []) if dead_letters else []
    must([message["Body"] for message in kept] == ["isto não é um pedido"], "vanished")


def second_start_is_a_duplicate(world: World) -> None:
    """12: a second start of one order is told to be a duplicate, whether the first still runs or is over."""
    order = world.order()
    told: list[bool] = []

    def again(state: str, attempt: int) -> None:
        if state == "CobrarPagamento":
            told.append(world.starts_twice(order))

    outcome = world.bench.run(world.asl, order, (), again)
    must(outcome.order_status == "CONFIRMADO", f"order is {outcome.order_status}")
    told.append(world.starts_twice(order))
    must(told == [True, True], f"duplicate while running: {told[0]}, after it closed: {told[-1]}")
    must(world.movements(order["pedidoId"]) == [("COBRANCA", VALUE_CENTS)], "charged more than once")


def _mend_charge_result(asl: dict[str, Any]) -> None:
    asl["States"]["CobrarPagamento"]["ResultPath"] = "$.cobranca"


@dataclass(frozen=True)
class Row:
    """A row of the list: its number, its scenario, what the lab's version does, and what to mend in it first."""

    number: int
    scenario: Callable[[World], None]
    lab_breaks: str
    amend: Amend | None = None


ROWS = (
    Row(1, charge_keeps_the_input, "stock still held"),
    Row(2, queue_keeps_the_input, "the execution failed after the message"),
    Row(3, unknown_charge_is_refunded, "customer charged for nothing"),
    Row(4, unknown_reservation_is_released, "stock locked for ever"),
    Row(5, confirmed_order_is_not_refunded, "a confirmed order became FALHOU_COMPENSADO", _mend_charge_result),
    Row(6, stock_item_stays_small, "and never stops"),
    Row(7, stock_item_without_map, "order is FALHOU_SEM_RESERVA"),
    Row(8, release_gives_back_what_was_reserved, "unit(s) vanished"),
    Row(9, failure_keeps_the_order, "the order lost its sku"),
    Row(10, throttling_is_retried, "one throttled write failed the execution"),
    Row(11, poison_message_is_kept, "still looping"),
    Row(12, second_start_is_a_duplicate, "duplicate while running: False"),
    Row(13, quantity_of_zero_or_less_is_refused, "balance is"),
)


each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.number}-{row.scenario.__name__}")


# Two worlds would share one mocked account, so each lives as long as the class that uses it.
@pytest.fixture(scope="class")
def lab() -> Iterator[World]:
    with lab_world() as world:
        yield world


@pytest.fixture(scope="class")
def ours() -> Iterator[World]:
    with real_world() as world:
        yield world


class TestTheLab:
    @each_row
    def test_breaks(self, row: Row, lab: World) -> None:
        asl = copy.deepcopy(lab.asl)
        if row.amend:
            row.amend(asl)
        with pytest.raises(Broken) as broken:
            row.scenario(dataclasses.replace(lab, asl=asl))
        assert row.lab_breaks in str(broken.value)

    def test_works_when_nothing_fails(self, lab: World) -> None:
        """Its defects are about failures: otherwise every row would be red for want of a working system."""
        order = lab.order()
        outcome = lab.run(order)
        assert (outcome.status, outcome.order_status, lab.paid(order)) == ("SUCCEEDED", "CONFIRMADO", VALUE_CENTS)


class TestOurs:
    @each_row
    def test_holds(self, row: Row, ours: World) -> None:
        row.scenario(ours)


def test_the_document_names_each_scenario() -> None:
    """docs/departures.md has thirteen rows, each with the scenario that proves it."""
    lines = (ROOT / "docs" / "departures.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ") and line[2].isdigit()]
    written = {int(row.split("|")[1]): row.split("|")[-2].strip().strip("`") for row in rows}
    assert written == {row.number: row.scenario.__name__ for row in ROWS}
    assert sorted(written) == list(range(1, 14))
