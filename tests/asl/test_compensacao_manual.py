"""The second state machine: what a person asks to be undone, whatever was already done and whatever breaks."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pedidos.situacao import Status
from tests.asl import checks
from tests.asl.bench import ROOT, Fault, Outcome, load_asl, render, tasks
from tests.asl.fast import quick_world
from tests.asl.worlds import INITIAL_BALANCE, QUANTITY, VALUE_CENTS, World

ASL_FILE = ROOT / "asl" / "compensacao-manual.asl.json"
ASL = load_asl(ASL_FILE)
REFUND, RELEASE = "EstornarPagamento", "LiberarEstoque"
FINAL = "RegistrarFalhaComEstoqueLiberado"
HUMAN, UNDONE = "REQUER_INTERVENCAO_HUMANA", "FALHOU_COMPENSADO"
REFUNDED = [("COBRANCA", VALUE_CENTS), ("ESTORNO", VALUE_CENTS)]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with quick_world() as world:
        yield world


def stuck(world: World) -> tuple[dict[str, Any], dict[str, Any]]:
    """An order charged and reserved whose refund failed, and its message."""
    order = world.order(forcarFalhaConfirmar=True, forcarFalhaEstorno=True)
    outcome = world.run(order)
    assert outcome.order_status == HUMAN
    assert (world.paid(order), world.reserved(order)) == (VALUE_CENTS, QUANTITY)
    return order, outcome.messages[0]


_runs = count(1)


def manual(world: World, order: dict[str, Any], pending: list[str], *faults: Fault, asl: Any = ASL) -> Outcome:
    """Run the machine on an order. The bench names executions by pedidoId, so each run is a machine of its own."""
    machine = copy.deepcopy(asl) | {"Comment": f"run {next(_runs)}"}
    wanted = {name: order[name] for name in ("pedidoId", "sku", "criadoEm")}
    return world.bench.run(machine, wanted | {"compensacoesPendentes": pending}, faults)


def undone(world: World, order: dict[str, Any]) -> bool:
    return (world.paid(order), world.reserved(order), world.balance(order)) == (0, 0, INITIAL_BALANCE)


# --- as text ---------------------------------------------------------------------------------------------------------


def lint(path: Path) -> int:
    return subprocess.run([sys.executable, "-m", "statelint", str(path)], capture_output=True, check=False).returncode


def test_template_and_rendered_machine_pass_the_linter(tmp_path: Path) -> None:
    rendered = tmp_path / "manual.json"
    rendered.write_text(render(ASL))
    assert (lint(ASL_FILE), lint(rendered)) == (0, 0)


def test_retries_are_the_sagas_and_tasks_outlive_their_functions() -> None:
    saga = load_asl()["States"]
    for name in (REFUND, RELEASE):
        assert ASL["States"][name]["Retry"] == saga[name]["Retry"]
        assert ASL["States"][name]["TimeoutSeconds"] == saga[name]["TimeoutSeconds"]
    assert checks.timeouts_too_short(ASL) == []
    assert checks.retries_differ(ASL) == []


def test_every_result_has_a_place_and_no_failure_is_swallowed() -> None:
    """Nothing but a refused condition is caught: any other failure ends the execution where people can see it."""
    for name, state in tasks(ASL):
        if state["Type"] == "Task":
            assert state["ResultPath"] not in (None, "$"), name
        caught = [error for catcher in state.get("Catch", []) for error in catcher["ErrorEquals"]]
        assert set(caught) <= {"DynamoDB.ConditionalCheckFailedException"}, name


# --- whatever was already done ---------------------------------------------------------------------------------------


def test_what_the_saga_left_is_undone_in_mirror_order(world: World) -> None:
    order, message = stuck(world)
    outcome = manual(world, order, message["compensacoesPendentes"])
    assert outcome.status == "SUCCEEDED"
    assert outcome.path == ["ConferirPedido", "OQueFaltaDesfazer", REFUND, RELEASE, FINAL]
    assert outcome.order_status == UNDONE
    assert world.movements(order["pedidoId"]) == REFUNDED
    assert undone(world, order)
    assert outcome.order is not None
    assert outcome.order["motivo"]["erro"], "the saga's reason is kept"


@pytest.mark.parametrize("done", [(), (REFUND,), (REFUND, RELEASE), (RELEASE,)], ids=str)
def test_whatever_subset_was_already_done(world: World, done: tuple[str, ...]) -> None:
    order, message = stuck(world)
    functions = {REFUND: "cesta-estornar-pagamento", RELEASE: "cesta-liberar-estoque"}
    for name in done:
        world.bench.call(functions[name], {**order, "forcarFalhaEstorno": False})
    outcome = manual(world, order, message["compensacoesPendentes"])
    assert (outcome.status, outcome.order_status) == ("SUCCEEDED", UNDONE)
    assert world.movements(order["pedidoId"]) == REFUNDED
    assert undone(world, order)


def test_running_it_again_moves_nothing_and_history_does_not_grow(world: World) -> None:
    order, message = stuck(world)
    first = manual(world, order, message["compensacoesPendentes"])
    second = manual(world, order, message["compensacoesPendentes"])
    assert (second.status, second.path[-1]) == ("SUCCEEDED", "JaRegistrado")
    assert second.order == first.order
    assert world.movements(order["pedidoId"]) == REFUNDED
    assert undone(world, order)


def test_when_only_the_release_is_pending_the_gateway_is_not_called(world: World) -> None:
    order = world.order(cartaoToken="tok-forcar-recusa")
    left = world.run(order, Fault(RELEASE, "RuntimeError"))
    outcome = manual(world, order, left.messages[0]["compensacoesPendentes"])
    assert (outcome.status, outcome.order_status) == ("SUCCEEDED", UNDONE)
    assert REFUND not in outcome.path
    assert undone(world, order)


# --- whatever status it finds ----------------------------------------------------------------------------------------


def test_a_confirmed_order_is_never_touched(world: World) -> None:
    order = world.order()
    before = world.run(order).order
    outcome = manual(world, order, [REFUND, RELEASE])
    assert (outcome.status, outcome.path[-1]) == ("SUCCEEDED", "PedidoJaConfirmado")
    assert outcome.effects(REFUND, RELEASE) == []
    assert outcome.order == before
    assert (world.paid(order), world.reserved(order)) == (VALUE_CENTS, QUANTITY)


@pytest.mark.parametrize("found", [None, *Status], ids=str)
def test_what_each_status_allows(world: World, found: Status | None) -> None:
    """Undone only from where the status table lets the order go to a person, and never over a person's own ending."""
    order = world.order()
    if found is None:
        world.bench.dynamodb.delete_item(TableName="cesta-pedidos", Key={"pedidoId": {"S": order["pedidoId"]}})
    else:
        world.set_status(order, found.value)
    outcome = manual(world, order, [REFUND, RELEASE])
    refused = found in (None, Status.ENCERRADO_MANUALMENTE)
    assert (outcome.status == "FAILED") == refused, outcome.error
    if refused or found is Status.CONFIRMADO:
        assert outcome.effects(REFUND, RELEASE) == []
        assert outcome.order_status == (found.value if found else None)
    else:
        kept = {Status.FALHOU_SEM_RESERVA: "FALHOU_SEM_RESERVA"}
        assert outcome.order_status == kept.get(found, UNDONE)


def test_an_order_left_half_way_can_no_longer_be_confirmed(world: World) -> None:
    order = world.order()
    world.bench.call("cesta-reservar-estoque", order)
    world.set_status(order, "RESERVADO")
    tried: list[str] = []

    def late(state: str, attempt: int) -> None:
        if state == REFUND:
            try:
                world.bench.call("cesta-confirmar-pedido", order)
                tried.append("confirmed")
            except Exception as error:  # noqa: BLE001 - its name is what is looked at
                tried.append(type(error).__name__)

    machine = copy.deepcopy(ASL) | {"Comment": "late confirmation"}
    wanted = {name: order[name] for name in ("pedidoId", "sku", "criadoEm")}
    outcome = world.bench.run(machine, wanted | {"compensacoesPendentes": [REFUND, RELEASE]}, on_attempt=late)
    assert tried == ["ConfirmacaoRecusadaError"]
    assert outcome.order_status == UNDONE


@pytest.mark.parametrize("pending", [[], [RELEASE, REFUND], [REFUND], ["CobrarPagamento"], [REFUND, RELEASE, REFUND]])
def test_an_unknown_list_is_refused_before_anything_moves(world: World, pending: list[str]) -> None:
    order, _ = stuck(world)
    outcome = manual(world, order, pending)
    assert outcome.status == "FAILED"
    assert (world.paid(order), world.reserved(order)) == (VALUE_CENTS, QUANTITY)


# --- whatever breaks -------------------------------------------------------------------------------------------------

FAULTS = [
    Fault(state, error, effect=effect)
    for state in ("ConferirPedido", REFUND, RELEASE, FINAL)
    for error, effect in (
        ("States.Timeout", "none"),
        ("States.Timeout", "once"),
        ("States.Timeout", "late:end"),
        ("Lambda.TooManyRequestsException" if state in (REFUND, RELEASE) else "DynamoDB.ThrottlingException", "none"),
        ("Sandbox.Timedout" if state in (REFUND, RELEASE) else "DynamoDB.InternalServerError", "twice"),
    )
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_failure_is_visible_and_the_next_attempt_finishes(world: World, fault: Fault) -> None:
    order, message = stuck(world)
    broken = manual(world, order, message["compensacoesPendentes"], fault)
    # No attempt is ever told what it did, so a person is told; one lost answer is another test's matter.
    assert broken.status == "FAILED"
    assert RELEASE not in broken.effects(REFUND, RELEASE) or REFUND in broken.effects(REFUND, RELEASE)
    again = manual(world, order, message["compensacoesPendentes"])
    assert (again.status, again.order_status) == ("SUCCEEDED", UNDONE)
    assert world.movements(order["pedidoId"]) == REFUNDED
    assert undone(world, order)


@pytest.mark.parametrize("state", ["ConferirPedido", REFUND, RELEASE, FINAL])
def test_one_failed_attempt_is_retried(world: World, state: str) -> None:
    order, message = stuck(world)
    outcome = manual(
        world, order, message["compensacoesPendentes"], Fault(state, "States.Timeout", "once", frozenset({1}))
    )
    assert (outcome.status, outcome.order_status) == ("SUCCEEDED", UNDONE)
    assert world.movements(order["pedidoId"]) == REFUNDED


def test_an_order_taken_over_whose_answer_was_lost_goes_on(world: World) -> None:
    order = world.order()
    world.bench.call("cesta-reservar-estoque", order)
    world.set_status(order, "COMPENSANDO")
    outcome = manual(world, order, [REFUND, RELEASE], Fault("AssumirPedido", "States.Timeout", "once", frozenset({1})))
    assert (outcome.status, outcome.order_status) == ("SUCCEEDED", UNDONE)
    assert undone(world, order)


# --- the tests can fail ----------------------------------------------------------------------------------------------


def _no_guard(asl: Any) -> None:
    asl["StartAt"] = "OQueFaltaDesfazer"


def _guard_lets_confirmed_through(asl: Any) -> None:
    conferir = asl["States"]["ConferirPedido"]["Parameters"]
    conferir["ConditionExpression"] = "attribute_exists(#status)"
    del conferir["ExpressionAttributeValues"]


@pytest.mark.parametrize("break_it", [_no_guard, _guard_lets_confirmed_through])
def test_without_the_guard_a_confirmed_order_is_refunded(world: World, break_it: Any) -> None:
    asl = copy.deepcopy(ASL)
    break_it(asl)
    order = world.order()
    world.run(order)
    manual(world, order, [REFUND, RELEASE], asl=asl)
    assert world.paid(order) == 0, "the guard is what protects it, and the test above would notice"
