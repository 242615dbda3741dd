"""The shortcuts of the laboratory change what a run costs and nothing else."""

from __future__ import annotations

from tests.faults.explore import sample
from tests.faults.laboratory import laboratory

SAMPLE = 8
SEED = 21


def test_shortcuts_change_nothing() -> None:
    # One after the other: a process holds one world at a time.
    with laboratory() as short_way:
        short = list(sample(short_way.play, SAMPLE, SEED))
    with laboratory(short=False) as long_way:
        long = [long_way.play(one.schedule) for one in short]
    for mine, other in zip(short, long, strict=True):
        assert (mine.end, mine.log, mine.path, mine.problems) == (other.end, other.log, other.path, other.problems)
