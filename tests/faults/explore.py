"""Every schedule of up to two faults, by walking the tree of what can go wrong at each attempt that really happens.

The tree grows from the runs themselves: a schedule is played, and at each later attempt of that very run one more thing
is made to go wrong. So a pair whose second fault never comes up is not a schedule (it is the single fault), and none is
missed because nobody thought of the path that leads to it. Landing a late call is free: it is the end of a fault that
was counted already, and every place where it can land is tried.

Three things keep the tree finite and small, both by argument and not by chance:

* two kinds of failure with the same effect and the same Retry and Catch are one in pairs (alone, each is played);
* in a row of attempts that all fail the same way, a second fault comes at the first, the second or the last: in
  between it leaves the row with the same world and the same Retry used up;
* two runs that reach the same :class:`~tests.faults.laboratory.Point` have the same future, so only one goes on.

The last argument is checked: :func:`shadowed` gives schedules that were left to another one, to be played all the
same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from tests.faults.laboratory import Played, Point
from tests.faults.schedules import ROUTES, Choice, Schedule, distinct_kinds, kinds

FAULTS = 2
Player = Callable[[Iterable[Schedule]], Iterable[Played]]


@dataclass
class Report:
    """What was explored.

    Attributes
    ----------
    played : list[Played]
        Every run, in the order in which it was found.
    singles, pairs : int
        Named faults alone, and named pairs of faults, that these runs stand for (a late one counts once, however many
        places it lands in).
    shadows : list[tuple[Schedule, Schedule]]
        (left out, played in its place), a few of them.
    """

    played: list[Played] = field(default_factory=list)
    singles: int = 0
    pairs: int = 0
    shadows: list[tuple[Schedule, Schedule]] = field(default_factory=list)

    @property
    def broken(self) -> list[Played]:
        return [played for played in self.played if played.problems]


def _position(played: Played) -> int | None:
    """Where the last choice was made; -1 before anything; None if the run never got there."""
    if not played.schedule.choices:
        return -1
    last = played.schedule.choices[-1]
    places = ((n, point) for n, point in enumerate(played.points))
    return next((n for n, point in places if (point.state, point.attempt) == (last.state, last.attempt)), None)


def _in_the_middle(played: Played, point: Point) -> bool:
    """Whether an attempt is neither the second nor the last of a row that one choice makes fail."""
    last = max(other.attempt for other in played.points if other.state == point.state)
    return any(
        choice.onwards and choice.state == point.state and choice.attempt + 1 < point.attempt < last
        for choice in played.schedule.choices
    )


def _landings(point: Point) -> tuple[str, ...]:
    return ("land", "land-newest", "land-all")[: 1 if point.waiting == 1 else 3] if point.waiting else ()


def _next(played: Played, point: Point, budget: int) -> Iterator[Schedule]:
    """Everything that can be chosen at one point of a run."""
    schedule = played.schedule
    alone = not schedule.faults
    faults = [
        Choice(point.state, point.attempt, kind.name, onwards)
        for kind, onwards in (kinds if alone else distinct_kinds)(point.state)
    ]
    for landing in ((), *((Choice(point.state, point.attempt, name),) for name in _landings(point))):
        if landing:
            yield schedule.and_then(*landing)
        if budget:
            for fault in faults:
                yield schedule.and_then(*landing, fault)


def explore(
    play: Player,
    routes: Iterable[str] = tuple(ROUTES),
    faults: int = FAULTS,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Play every schedule of up to ``faults`` faults; the report is the same each time."""
    report = Report()
    went_on: dict[int, tuple[int, Played, int]] = {}
    level = [Schedule(route) for route in routes]
    while level:
        progress(f"{len(report.played)} played, {len(level)} to go on from")
        following: list[Schedule] = []
        for played in play(level):
            report.played.append(played)
            start = _position(played)
            if start is None:
                continue
            spent = len(played.schedule.faults)
            budget = faults - spent
            rest = played.points[start + 1 :]
            if not played.schedule.choices:
                report.singles += sum(len(kinds(point.state)) for point in rest)
            if spent == 1 and len(played.schedule.choices) == 1:
                report.pairs += sum(len(kinds(point.state)) for point in rest)
            for n, point in enumerate(rest, start + 1):
                before = went_on.get(point.same_as)
                if before is not None and before[0] >= budget:
                    if budget:
                        _, other, place = before
                        report.shadows.append((_other_way(played, n), _other_way(other, place)))
                    break
                if spent and _in_the_middle(played, point):
                    continue
                went_on[point.same_as] = (budget, played, n)
                following += _next(played, point, budget)
        level = following
    return report


def _other_way(played: Played, place: int) -> Schedule:
    """The run, marked with the point where two runs meet: a choice made there belongs to both."""
    point = played.points[place]
    return played.schedule.and_then(Choice(point.state, point.attempt, "twice"))


def shadowed(report: Report, how_many: int, seed: int) -> Iterator[tuple[Schedule, Schedule]]:
    """Pairs of schedules said to have the same end: the one left out, and the one played in its place."""
    rng = random.Random(seed)
    for left_out, instead in rng.sample(report.shadows, min(how_many, len(report.shadows))):
        state = left_out.choices[-1].state
        kind, onwards = rng.choice(distinct_kinds(state))
        yield tuple(
            Schedule(s.route, (*s.choices[:-1], Choice(state, s.choices[-1].attempt, kind.name, onwards)))
            for s in (left_out, instead)
        )


def sample(play: Callable[[Schedule], Played], how_many: int, seed: int) -> Iterator[Played]:
    """Schedules of one or two faults, drawn at random; the same ones for the same seed."""
    rng = random.Random(seed)
    bare = {route: play(Schedule(route)) for route in ROUTES}
    for _ in range(how_many):
        played = bare[rng.choice(list(bare))]
        for _ in range(rng.randint(1, FAULTS)):
            start = _position(played)
            later = played.points[start + 1 :] if start is not None else []
            if not later:
                break
            played = play(rng.choice(list(_next(played, rng.choice(later), budget=1))))
        yield played
