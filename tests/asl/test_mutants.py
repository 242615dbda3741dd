"""The proof of the proof: a state machine with one thing wrong must make some check complain.

Three kinds of check hunt each mutant, cheapest first: the text (checks), the status table (status_writes), and running
the broken machine through the failures that pass by the broken place (scenarios).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.asl import checks
from tests.asl.bench import load_asl
from tests.asl.fast import quick_world
from tests.asl.mutants import SURVIVORS, Mutant, mutants
from tests.asl.scenarios import SCENARIOS, Scenario
from tests.asl.status_writes import FOUND, ONLY_CHECKS, WRITES, wrong_write
from tests.asl.worlds import World

Asl = Mapping[str, Any]
Visited = Mapping[str, tuple[str, ...]]

MUTANTS = tuple(mutants(load_asl()))
BY_TEXT = frozenset(mutant.name for mutant in MUTANTS if checks.problems(mutant.of(load_asl())))
ASKS_A_PERSON = tuple(
    s for s in SCENARIOS if s.message and not any(f.state == "EnviarParaFilaHumana" for f in s.faults)
)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with quick_world() as ours:
        yield ours


@pytest.fixture(scope="module")
def visited(world: World) -> Visited:
    """Path of each scenario that ends in front of a person, on the machine as it is; one per distinct path."""
    paths: dict[tuple[str, ...], str] = {}
    for scenario in ASKS_A_PERSON:
        outcome, wrong = scenario.run(world)
        assert wrong == []
        paths.setdefault(tuple(outcome.path), scenario.name)
    return {name: path for path, name in paths.items()}


def _killed_by_running(
    world: World, asl: Mapping[str, Any], mutant: Mutant, visited: Mapping[str, tuple[str, ...]]
) -> bool:
    passing_by = (s for s in ASKS_A_PERSON if mutant.state in visited.get(s.name, ()))
    return any(scenario.run(world, asl)[1] for scenario in passing_by)


def _killed_by_status_table(world: World, asl: Asl, mutant: Mutant) -> bool:
    if mutant.state not in (*WRITES, ONLY_CHECKS):
        return False
    return any(wrong_write(world.bench, asl, mutant.state, found) for found in FOUND)


@pytest.mark.parametrize(
    "mutant", [m for m in MUTANTS if m.name not in BY_TEXT], ids=lambda m: m.name.replace(" ", "-")
)
def test_mutant_is_killed(world: World, visited: Visited, mutant: Mutant) -> None:
    asl = mutant.of(world.asl)
    killed = _killed_by_status_table(world, asl, mutant) or _killed_by_running(world, asl, mutant, visited)
    assert killed != (mutant.name in SURVIVORS), "a survivor without a reason, or a reason nobody needs"


def test_the_rest_are_killed_by_reading() -> None:
    """Every Catch, every Next, every ResultPath of a task: the specification's tables are enough."""
    kinds = {mutant.kind for mutant in MUTANTS if mutant.name in BY_TEXT}
    assert kinds >= {"catch-dropped", "catch-retargeted", "catch-result-dropped", "next-retargeted", "result-dropped"}
    assert len(BY_TEXT) > 300


def _scenario(name: str) -> Scenario:
    return next(scenario for scenario in SCENARIOS if scenario.name == name)


class TestReserveWithoutItsIdempotency:
    """The one condition that is not in the machine: dropping it must be as visible."""

    def test_is_caught(self, world: World) -> None:
        def unconditional(params: dict[str, Any]) -> None:
            condition = params.get("ConditionExpression", "")
            params["ConditionExpression"] = condition.replace("attribute_not_exists(reservas.#pedido)", "saldo >= :qtd")

        repeated = _scenario("ReservarEstoque lost-answer once")
        assert repeated.run(world)[1] == []
        with world.bench.every_call("UpdateItem", unconditional):
            _, wrong = repeated.run(world)
        assert any("units lost" in problem for problem in wrong), wrong
