"""The fault matrix from the command line.

``python -m tests.faults`` explores every schedule of up to two faults, checks a sample of those it left out, and
scores the mutants; ``python -m tests.faults CASE`` plays one and tells its story.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from tests.faults.explore import Report, explore, shadowed
from tests.faults.pool import cpu_seconds, play, players
from tests.faults.schedules import KINDS, ROUTES, Schedule
from tests.faults.scoring import SURVIVORS, Verdict, remaining, score

SHADOWS = 150
SHOWN = 40
RESULT = Path("build/faults.json")


def tell(case: str) -> int:
    """Play one schedule and print what happened. 0 when every promise was kept."""
    try:
        schedule = Schedule.parse(case)
    except ValueError as error:
        print(f"{error}", file=sys.stderr)
        return 2
    with players(1) as each:
        (played,) = each(play, [schedule])
    print(f"{played.schedule}\n")
    for point in played.points:
        chosen = [str(c) for c in schedule.choices if (c.state, c.attempt) == (point.state, point.attempt)]
        late = f"  ({point.waiting} late)" if point.waiting else ""
        print(f"  {point.state}#{point.attempt}{late}  {' '.join(chosen)}")
    print(f"\nstock and money: {' > '.join(played.log) or 'untouched'}")
    print(f"execution {played.execution}{', redriven' if played.redriven else ''}; order {played.status}")
    print(f"messages to people: {played.messages}; healed by the reconciler: {'yes' if played.reconciled else 'no'}")
    for problem in played.problems:
        print(f"BROKEN: {problem}")
    return 1 if played.problems else 0


def say(progress: str) -> None:
    """How far it is."""
    print(f"  {progress}", file=sys.stderr, flush=True)


def show(report: Report, seconds: float) -> None:
    """Print what was explored."""
    played = report.played
    ends = Counter((one.status, "redriven" if one.redriven else "") for one in played)
    print(f"{len(played)} schedules played in {seconds:.0f} s ({len(ROUTES)} routes, {len(KINDS)} kinds of fault)")
    print(f"they stand for {report.singles} single faults and {report.pairs} pairs")
    for (status, how), count in sorted(ends.items()):
        print(f"  {count:6d}  {status} {how}")
    for what, count in (
        ("healed only by the reconciler", sum(one.reconciled for one in played)),
        ("carried on until a person was done", sum(one.finished for one in played)),
        ("in which a person is told of an order that turns out confirmed", sum(one.told_in_vain for one in played)),
    ):
        print(f"  {count:6d}  {what}")


def tell_score(verdicts: list[Verdict]) -> list[str]:
    """Print the mutation score; returns what is wrong with it."""
    kinds = Counter(verdict.by for verdict in verdicts)
    by_reading, unexplained, unneeded = remaining(verdicts)
    killed = len(verdicts) - kinds[""]
    print(f"mutants: {killed + len(by_reading)} of {len(verdicts)} killed, {killed} of them by running")
    for by in ("promises", "statuses", "retries", "ends"):
        print(f"  {kinds[by]:6d}  by {by}")
    print(f"  {len(by_reading):6d}  by reading alone")
    for name in SURVIVORS:
        print(f"  survives: {name} ({SURVIVORS[name]})")
    return [f"nothing kills: {name}" for name in unexplained] + [f"a reason nobody needs: {name}" for name in unneeded]


def main() -> int:
    """Read the arguments and run; 0 when nothing is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("case", nargs="?", help="one schedule, as printed by a failure")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=2, choices=(1, 2))
    parser.add_argument("--routes", nargs="*", default=list(ROUTES), choices=list(ROUTES))
    parser.add_argument("--only", choices=("schedules", "mutants"))
    arguments = parser.parse_args()
    if arguments.case:
        return tell(arguments.case)

    with players(arguments.processes) as each:
        began = time.monotonic()
        faults = 1 if arguments.only == "mutants" else arguments.faults
        report = explore(lambda schedules: each(play, schedules), arguments.routes, faults, say)
        show(report, time.monotonic() - began)
        wrong = [f"{one.schedule}  {'; '.join(one.problems)}" for one in report.broken]
        left_out = list(shadowed(report, SHADOWS, arguments.seed))
        ends = list(each(play, [schedule for pair in left_out for schedule in pair]))
        for mine, other in zip(ends[::2], ends[1::2], strict=True):
            wrong += [f"{one.schedule}  {'; '.join(one.problems)}" for one in (mine, other) if one.problems]
            if mine.end != other.end:
                wrong.append(f"{mine.schedule}  ends in {mine.end}, but {other.schedule} in {other.end}")
        for line in wrong[:SHOWN]:
            print(f"BROKEN: {line}", flush=True)
        print(f"{len(left_out)} of the pairs left to another one played all the same (seed {arguments.seed})")
        say("hunting the mutants")
        verdicts = [] if arguments.only == "schedules" else score(each, report.played, say)
    if verdicts:
        wrong += (scored := tell_score(verdicts))
        for line in scored:
            print(f"BROKEN: {line}")
    print(f"{cpu_seconds():.0f} s of processor time")
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(
        json.dumps(
            {
                "played": len(report.played),
                "singles": report.singles,
                "pairs": report.pairs,
                "mutants": {verdict.mutant: [verdict.by, verdict.how] for verdict in verdicts},
                "broken": wrong,
            },
            indent=1,
        )
    )
    print(f"{len(wrong)} broken; replay one with: make fault CASE='...'" if wrong else "every promise kept")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
