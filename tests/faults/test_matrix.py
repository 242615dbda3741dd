"""A seeded sample of the fault matrix, and the proof that the matrix can fail. All of it: ``make faults``."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.asl.bench import load_asl, tasks
from tests.faults.explore import explore, sample
from tests.faults.laboratory import Laboratory, laboratory
from tests.faults.more_mutants import CONDITIONS_COVERED, condition_mutants, conditions_in
from tests.faults.retries import rows
from tests.faults.schedules import ROUTES, STATES, Schedule, distinct_kinds, kinds, treatment

ORPHAN = "nothing-else/ReservarEstoque#1:lost-late,ReservarEstoque#2:sold-out"
LATE_DUPLICATE = "nothing-else/ReservarEstoque#1:again-late"
SAMPLE = 60
SEED = 20


@pytest.fixture(scope="module")
def lab() -> Iterator[Laboratory]:
    with laboratory() as ours:
        yield ours


def test_a_sample_of_schedules_keeps_every_promise(lab: Laboratory) -> None:
    played = list(sample(lab.play, SAMPLE, SEED))
    assert [(str(one.schedule), one.problems) for one in played if one.problems] == []
    assert sum(len(one.schedule.faults) == 2 for one in played) > SAMPLE // 4


def test_every_fault_where_there_is_nothing_to_sell(lab: Laboratory) -> None:
    """The shortest route whole, so that the walk of the tree itself runs in every test run."""
    report = explore(lambda schedules: map(lab.play, schedules), ["no-such-product"], faults=1)
    assert [(str(one.schedule), one.problems) for one in report.broken] == []
    assert report.singles == sum(len(kinds(point.state)) for point in report.played[0].points)
    assert report.pairs > report.singles


def test_every_state_is_on_the_way(lab: Laboratory) -> None:
    confirmed_unheard = Schedule.parse("nothing-else/ConfirmarPedido#1:hang-after")
    paths = [lab.play(Schedule(route)).path for route in ROUTES] + [lab.play(confirmed_unheard).path]
    assert set(STATES) <= {state for path in paths for state in path}


def test_person_told_of_a_confirmed_order_finds_it_confirmed(lab: Laboratory) -> None:
    """The confirmation landed unheard and the mark gave up: nothing is undone, and the second machine says so."""
    played = lab.play(Schedule.parse("nothing-else/ConfirmarPedido#1+:fail-after,MarcarCompensando#1+:fail-before"))
    assert (played.problems, played.told_in_vain, played.finished) == ([], True, True)
    assert (played.status, played.messages) == ("CONFIRMADO", 1)


class TestTheMatrixCanFail:
    def test_orphan_is_broken_until_the_check_of_reservations_ran(
        self, lab: Laboratory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        healed = lab.play(Schedule.parse(ORPHAN))
        assert (healed.status, healed.reconciled, healed.problems) == ("FALHOU_SEM_RESERVA", True, [])
        monkeypatch.setattr(Laboratory, "_reconcile", lambda *_: None)
        assert any("reserved" in problem for problem in lab.play(Schedule.parse(ORPHAN)).problems)

    def test_late_duplicate_of_a_sold_order_is_given_back(
        self, lab: Laboratory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        healed = lab.play(Schedule.parse(LATE_DUPLICATE))
        assert (healed.status, healed.reconciled, healed.problems) == ("CONFIRMADO", True, [])
        monkeypatch.setattr(Laboratory, "_reconcile", lambda *_: None)
        assert lab.play(Schedule.parse(LATE_DUPLICATE)).problems

    @pytest.mark.parametrize(
        ("state", "error", "target", "case"),
        [
            ("CobrarPagamento", "States.ALL", "LiberarEstoque", "nothing-else/CobrarPagamento#1:hang-after"),
            ("ConfirmarPedido", "States.ALL", "LiberarEstoque", "nothing-else/ConfirmarPedido#1:hang-before"),
            ("ReservarEstoque", "States.ALL", "RegistrarFalhaSemCompensacao", None),
            ("EstornarPagamento", "States.ALL", "LiberarEstoque", "refund-refused/no-fault"),
        ],
    )
    def test_machine_that_skips_a_compensation(
        self, lab: Laboratory, state: str, error: str, target: str, case: str | None
    ) -> None:
        asl = copy.deepcopy(lab.world.asl)
        for catcher in dict(tasks(asl))[state]["Catch"]:
            if error in catcher["ErrorEquals"]:
                catcher["Next"] = target
        schedule = Schedule.parse(case or "nothing-else/ReservarEstoque#1:hang-after")
        assert lab.play(schedule).problems == []
        # A reservation with no one to release it is what the check of reservations exists for: it is seen as healed.
        broken = lab.play(schedule, asl)
        assert broken.problems or broken.reconciled

    def test_effects_in_the_wrong_order(self, lab: Laboratory) -> None:
        asl: Any = copy.deepcopy(lab.world.asl)
        states = asl["States"]
        states["MarcarCompensando"]["Next"] = "LiberarEstoque"
        states["LiberarEstoque"]["Next"] = "EstornarPagamento"
        states["EstornarPagamento"]["Next"] = "RegistrarFalhaComEstoqueLiberado"
        problems = lab.play(Schedule("confirm-refused"), asl).problems
        assert any("after the stock was given back" in problem for problem in problems)


def test_a_schedule_is_read_as_it_is_written() -> None:
    line = "confirm-refused/ReservarEstoque#1:lost-late,LiberarEstoque#1:land,EstornarPagamento#1+:crash-before"
    assert str(Schedule.parse(line)) == line
    for wrong in ("nowhere/no-fault", "nothing-else/ReservarEstoque:twice", "nothing-else/Nada#1:twice"):
        with pytest.raises(ValueError, match="unknown"):
            Schedule.parse(wrong)


def test_kinds_left_out_of_pairs_are_treated_as_one_that_is_not() -> None:
    for state in STATES:
        treated = {
            (kind.effect, None if kind.error(state) in (None, "ok") else treatment(state, str(kind.error(state))))
            for kind, _ in distinct_kinds(state)
        }
        for kind, _ in kinds(state):
            error = kind.error(state)
            assert (kind.effect, None if error in (None, "ok") else treatment(state, str(error))) in treated


def test_every_promise_of_the_retry_table(lab: Laboratory) -> None:
    chosen = [row for row in rows() if row.state in ("CobrarPagamento", "RegistrarReservado", "EnviarParaFilaHumana")]
    assert [problem for row in chosen for problem in row.broken(lab.world, lab.world.asl)] == []
    lab.forget()


def test_every_condition_of_a_function_has_its_mutants(lab: Laboratory) -> None:
    """A new conditional write of the functions must be listed, or nothing would hunt it."""
    seen: set[tuple[str, str]] = set()
    with ExitStack() as stack:
        for operation in ("UpdateItem", "PutItem", "TransactWriteItems"):
            stack.enter_context(lab.world.bench.every_call(operation, lambda p: seen.update(conditions_in(p))))
        for line in (ORPHAN, LATE_DUPLICATE, "nothing-else/ReservarEstoque#1:hang-before", "confirm-refused/no-fault"):
            lab.play(Schedule.parse(line))
    machine = {
        state["Parameters"].get("ConditionExpression") for _, state in tasks(load_asl()) if "Parameters" in state
    }
    ours = {(table, text) for table, text in seen if table != "cesta-gateway-simulado" and text not in machine}
    assert ours == CONDITIONS_COVERED
    assert len(list(condition_mutants())) > len(CONDITIONS_COVERED)
