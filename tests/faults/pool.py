"""Plays schedules in several processes, each with a world of its own, and hands the answers back in order."""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.faults.laboratory import Laboratory, Played, laboratory
from tests.faults.schedules import Schedule

QUIET = {"LOG_LEVEL": "CRITICAL", "POWERTOOLS_METRICS_DISABLED": "true", "POWERTOOLS_SERVICE_NAME": "cesta"}

_mine: list[Laboratory] = []


def _open(world: ExitStack) -> None:
    _mine.append(world.enter_context(laboratory()))
    # What is there now stays to the end: the collector need not look at it again and again.
    gc.collect()
    gc.freeze()


def _call(work: tuple[Callable[[Laboratory, Any], Any], Any]) -> Any:
    function, given = work
    return function(_mine[0], given)


def play(laboratory: Laboratory, schedule: Schedule) -> Played:
    """One schedule, in whichever process."""
    return laboratory.play(schedule)


@contextmanager
def players(processes: int) -> Iterator[Callable[[Callable[[Laboratory, Any], Any], Iterable[Any]], Iterator[Any]]]:
    """``each(function, givens)`` calls ``function(laboratory, given)`` for each, in ``processes`` processes.

    Parameters
    ----------
    processes : int
        How many; with 1 everything happens in this process.
    """
    # The functions' loggers read their level when they are imported.
    os.environ.update(QUIET)
    if processes == 1:
        with laboratory() as mine:
            yield lambda function, givens: (function(mine, given) for given in givens)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(processes, _open, (ExitStack(),)) as pool:
        yield lambda function, givens: pool.imap(_call, ((function, given) for given in givens), chunksize=8)
        pool.close()
        pool.join()


def cpu_seconds() -> float:
    """Processor time of this process and of those that ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
