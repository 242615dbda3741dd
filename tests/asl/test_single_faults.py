"""Each step breaks once, or every time, in each way a call can break; the order must still end well."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.asl.fast import quick_world
from tests.asl.scenarios import NOTHING_BREAKS, SCENARIOS, Scenario
from tests.asl.worlds import World


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with quick_world() as ours:
        yield ours


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name.replace(" ", "-"))
def test_single_fault(world: World, scenario: Scenario) -> None:
    outcome, wrong = scenario.run(world)
    assert wrong == [], outcome.path


def test_nothing_breaks_writes_each_status_once(world: World) -> None:
    outcome, _ = NOTHING_BREAKS.run(world)
    assert [entry["status"] for entry in (outcome.order or {})["historico"]] == ["RECEBIDO", "RESERVADO", "CONFIRMADO"]


def test_a_repeated_write_is_bounded_in_the_history(world: World) -> None:
    """A status write retried after a lost answer repeats its entry, at most twice: the list stays under a dozen."""
    scenario = next(s for s in SCENARIOS if s.name == "RegistrarFalhaComEstoqueLiberado lost-answer always")
    outcome, _ = scenario.run(world)
    statuses = [entry["status"] for entry in (outcome.order or {})["historico"]]
    assert statuses == ["RECEBIDO", "RESERVADO", "COMPENSANDO", *["FALHOU_COMPENSADO"] * 3]


def test_a_refused_condition_is_not_retried(world: World) -> None:
    scenario = next(s for s in SCENARIOS if s.name == "last record finds CONFIRMADO")
    outcome, _ = scenario.run(world)
    assert outcome.error == "DynamoDB.ConditionalCheckFailedException"
    assert [call.attempt for call in outcome.calls if call.state == "RegistrarFalhaComEstoqueLiberado"] == [1]


@pytest.mark.parametrize(
    ("missing", "status"),
    [
        ("sku", "FALHOU_SEM_RESERVA"),
        ("quantidade", "FALHOU_SEM_RESERVA"),
        ("valorCentavos", "FALHOU_COMPENSADO"),
        ("cartaoToken", "FALHOU_COMPENSADO"),
        ("criadoEm", "REQUER_INTERVENCAO_HUMANA"),
    ],
)
def test_input_without_a_field(world: World, missing: str, status: str) -> None:
    """A path that is not there ends an execution where no Catch sees it: no state may read what no step has checked."""
    order = world.order()
    outcome = world.run({name: value for name, value in order.items() if name != missing})
    assert outcome.status == "SUCCEEDED", outcome.cause
    assert outcome.order_status == status
    assert len(outcome.messages) == (status == "REQUER_INTERVENCAO_HUMANA")
    assert world.paid(order) == 0
    assert world.reserved(order) == 0 or outcome.messages
