"""How many mutants die by running: the same schedules, played on a machine (or a write) with one thing wrong.

The hunters:

* ``promises``: a schedule of one fault breaks a promise, or leaves to the reconciler what the real machine does itself;
* ``ends``: a scenario of :mod:`tests.asl.scenarios` does not end as the specification says;
* ``statuses``: a status is written over one it may not follow;
* ``retries``: a failure is retried more, or less, often than the specification says.

What none of them kills may still be killed by reading (:mod:`tests.asl.checks`); what nothing kills needs a reason.
"""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.asl import checks
from tests.asl.bench import load_asl
from tests.asl.mutants import SURVIVORS as MACHINE_SURVIVORS
from tests.asl.mutants import Mutant, mutants
from tests.asl.scenarios import SCENARIOS
from tests.asl.status_writes import FOUND, ONLY_CHECKS, WRITES, wrong_write
from tests.faults.laboratory import Laboratory, Played
from tests.faults.more_mutants import ConditionMutant, condition_mutants, retry_mutants
from tests.faults.retries import rows
from tests.faults.schedules import STATES, Schedule, treatment

Each = Callable[[Callable[[Laboratory, Any], Any], Iterable[Any]], Iterator[Any]]
ROWS = tuple(rows())
CONDITIONS = tuple(condition_mutants())


def machine_mutants() -> tuple[Mutant, ...]:
    """Every mutant of the machine, the same list in every process."""
    asl = load_asl()
    return (*mutants(asl), *retry_mutants(asl))


MACHINES = machine_mutants()
_ALL: tuple[Mutant | ConditionMutant, ...] = (*MACHINES, *CONDITIONS)
BY_NAME = {mutant.name: mutant for mutant in _ALL}

# Schedules, and scenarios, sent after one mutant.
CASES = 16
ENDS = 40

# What nothing kills here, and why that is no hole. What no saga can bring about has its own test, which the same mutant
# turns red.
SURVIVORS = MACHINE_SURVIVORS | {
    "barrier: attribute_not_exists(reservas.#pedido) always true": (
        "a reserve has to land between two writes of one release: tests/unit/test_estoque.py, "
        "test_reserve_that_lands_between_the_two_writes_of_a_release_is_released"
    ),
    "maps: attribute_exists(sku) always true": (
        "a product has to be deleted between two writes of one release: tests/unit/test_estoque.py, "
        "test_product_deleted_between_the_two_writes_of_a_release_stays_deleted"
    ),
    "write-off: reservas.#pedido = :qtd always true": (
        "every order that a saga confirms holds exactly its units: tests/unit/test_baixar_reserva.py, "
        "test_without_a_reservation_there_is_no_mark_and_somebody_is_told"
    ),
}


@dataclass(frozen=True)
class Hunt:
    """One mutant, and what to send after it."""

    mutant: str
    cases: tuple[tuple[str, bool], ...]  # the schedule, and whether the reconciler is needed even so
    scenarios: tuple[int, ...]


@dataclass(frozen=True)
class Verdict:
    """Who killed a mutant, with what; ``by`` is empty for one that nobody killed by running."""

    mutant: str
    by: str
    how: str = ""


def walk_scenario(laboratory: Laboratory, position: int) -> tuple[str, ...]:
    """States a scenario goes through on the real machine."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            outcome, _ = SCENARIOS[position].run(laboratory.world)
    finally:
        laboratory.forget()
    return tuple(outcome.path)


def hunt(laboratory: Laboratory, hunted: Hunt) -> Verdict:
    """Send the hunters until one kills."""
    mutant = BY_NAME[hunted.mutant]
    machine = isinstance(mutant, Mutant)
    asl = mutant.of(laboratory.world.asl) if isinstance(mutant, Mutant) else laboratory.world.asl
    with ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        if isinstance(mutant, ConditionMutant):
            for operation in ("UpdateItem", "PutItem", "TransactWriteItems"):
                stack.enter_context(laboratory.world.bench.every_call(operation, mutant.apply))
        for by, hunter in _hunters(laboratory, hunted, mutant, asl):
            try:
                found = hunter()
            except Exception as error:  # noqa: BLE001 - a machine that cannot be run keeps no promise
                found = [f"does not run: {type(error).__name__} {error}"]
            finally:
                laboratory.forget()
            if found:
                verdict = Verdict(hunted.mutant, by, str(found[0])[:200])
                break
        else:
            verdict = Verdict(hunted.mutant, "")
    if machine:
        laboratory.world.bench.forget_machine(asl)
    return verdict


def _hunters(
    laboratory: Laboratory, hunted: Hunt, mutant: Mutant | ConditionMutant, asl: Mapping[str, Any]
) -> Iterator[tuple[str, Callable[[], Sequence[str]]]]:
    world = laboratory.world

    def broken_promises(case: str, healed: bool) -> list[str]:
        played = laboratory.play(Schedule.parse(case), asl)
        left = ["left to the reconciler"] if played.reconciled and not healed else []
        return [f"{case}  {problem}" for problem in played.problems + left]

    def wrong_status(found: Any) -> list[str]:
        wrong = wrong_write(world.bench, asl, mutant.state, found)
        return [wrong] if wrong else []

    def wrong_end(position: int) -> list[str]:
        return [f"{SCENARIOS[position].name}: {wrong}" for wrong in SCENARIOS[position].run(world, asl)[1]]

    # Who was made for this kind of mutant goes first: it takes one execution where the others take dozens.
    kind = mutant.kind if isinstance(mutant, Mutant) else ""
    if kind.startswith("retry"):
        for row in ROWS:
            if row.state == mutant.state:
                yield "retries", partial(row.broken, world, asl)
    if kind.startswith("condition") and mutant.state in (*WRITES, ONLY_CHECKS):
        for found in FOUND:
            yield "statuses", partial(wrong_status, found)
    for case in hunted.cases:
        yield "promises", partial(broken_promises, *case)
    for position in hunted.scenarios:
        yield "ends", partial(wrong_end, position)


def _cases(mutant: Mutant | ConditionMutant, singles: Sequence[Played]) -> tuple[tuple[str, bool], ...]:
    """Schedules that pass by the broken place, the likeliest to notice first, one of each kind of passing by."""
    error = getattr(mutant, "error", None)
    wanted = treatment(mutant.state, error)[:2] if error and mutant.state in STATES else None

    def felt(played: Played) -> frozenset[Any]:
        return frozenset(treatment(state, seen)[:2] for state, seen in played.caught if state == mutant.state)

    chosen: dict[Any, Played] = {}
    for played in singles:
        if mutant.state in played.path:
            land = sum(not choice.is_fault for choice in played.schedule.choices)
            about = any(choice.state == mutant.state for choice in played.schedule.choices)
            landed = played.schedule.choices if isinstance(mutant, ConditionMutant) and (about or land) else land
            chosen.setdefault((played.path, felt(played), played.redriven, landed, played.reconciled), played)
    # A condition stands against what comes late or twice: the runs that leave something to the reconciler.
    ordered = sorted(
        chosen.values(),
        key=lambda played: (
            wanted not in felt(played) if wanted else False,
            isinstance(mutant, ConditionMutant) and not played.reconciled,
        ),
    )
    return tuple((str(played.schedule), played.reconciled) for played in ordered[:CASES])


def _scenarios(mutant: Mutant | ConditionMutant, paths: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    """Scenarios that pass by the broken place: those that break the very state first, then one of each path."""
    seen: Counter[tuple[str, ...]] = Counter()
    ranked = []
    for n, path in enumerate(paths):
        if mutant.state in path:
            elsewhere = all(fault.state != mutant.state for fault in SCENARIOS[n].faults)
            ranked.append((elsewhere, seen[path], n))
            seen[path] += 1
    return tuple(n for *_, n in sorted(ranked)[:ENDS])


def score(each: Each, played: Sequence[Played], progress: Callable[[str], None] = lambda _: None) -> list[Verdict]:
    """Hunt every mutant with the schedules of at most one fault among those played."""
    singles = [one for one in played if len(one.schedule.faults) <= 1]
    paths = list(each(walk_scenario, range(len(SCENARIOS))))
    hunts = [Hunt(name, _cases(mutant, singles), _scenarios(mutant, paths)) for name, mutant in BY_NAME.items()]
    verdicts = []
    for verdict in each(hunt, hunts):
        verdicts.append(verdict)
        if len(verdicts) % 100 == 0:
            progress(f"{len(verdicts)} of {len(hunts)} mutants hunted")
    return verdicts


def read(name: str) -> bool:
    """Whether reading the machine is enough to kill a mutant."""
    mutant = BY_NAME[name]
    return isinstance(mutant, Mutant) and bool(checks.problems(mutant.of(load_asl())))


def remaining(verdicts: Sequence[Verdict]) -> tuple[list[str], list[str], list[str]]:
    """(killed by reading only, survivors without a reason, reasons nobody needs)."""
    alive = [verdict.mutant for verdict in verdicts if not verdict.by]
    by_reading = [name for name in alive if read(name)]
    survivors = [name for name in alive if name not in by_reading]
    return (
        by_reading,
        [name for name in survivors if name not in SURVIVORS],
        [name for name in SURVIVORS if name not in survivors],
    )
