"""How an alarm of the local engine decides its state.

The engine's own evaluator reads every data point of a metric name whatever its dimensions, so the depth of any
queue would fire the alarm of the human queue, and it knows neither periods, M of N, nor missing data. This
one follows CloudWatch: only points with exactly the alarm's dimensions, ``EvaluationPeriods`` windows of which
``DatapointsToAlarm`` must breach, and ``TreatMissingData`` for windows without points. Two simplifications:
windows slide with the clock instead of being aligned to it, and a metric-math alarm is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Point = Mapping[str, Any]
Measure = Callable[[Sequence[Point]], "float | None"]

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "GreaterThanOrEqualToThreshold": lambda value, limit: value >= limit,
    "GreaterThanThreshold": lambda value, limit: value > limit,
    "LessThanThreshold": lambda value, limit: value < limit,
    "LessThanOrEqualToThreshold": lambda value, limit: value <= limit,
}


_STRAGGLERS = 20
"""Points are kept in order of arrival; this many old ones in a row mean that only older ones follow."""


def recent(points: Sequence[Point], since: float) -> list[Point]:
    """Points not older than ``since`` (epoch seconds), newest arrival first, without reading the whole history."""
    found: list[Point] = []
    old = 0
    for point in reversed(points):
        if point["Timestamp"] >= since:
            found.append(point)
            old = 0
        else:
            old += 1
            if old >= _STRAGGLERS:
                break
    return found


@dataclass(frozen=True)
class Verdict:
    """The state an alarm should be in (``OK``, ``ALARM`` or ``INSUFFICIENT_DATA``) and why."""

    state: str
    reason: str


def decide(
    alarm: Mapping[str, Any], points: Sequence[Point], measure: Measure, now: float, *, scale: float, floor_s: float
) -> Verdict | None:
    """Decide the state of a single-metric alarm.

    Parameters
    ----------
    alarm : Mapping
        The alarm as CloudWatch describes it: Statistic or ExtendedStatistic, Period (seconds), EvaluationPeriods,
        DatapointsToAlarm, Threshold, ComparisonOperator, TreatMissingData.
    points : Sequence[Point]
        Data points of the alarm's metric **with exactly its dimensions**, each with ``Timestamp`` (epoch seconds).
    measure : Measure
        Computes the alarm's statistic over the points of one window; None when it has no value.
    now : float
        Epoch seconds.
    scale : float
        Factor on the period.
    floor_s : float
        A scaled period is never shorter than this (seconds), so that every window holds a reading.

    Returns
    -------
    Verdict or None
        None when the state must not change (``ignore``, an operator this module does not know, no period).
    """
    compare = _COMPARE.get(str(alarm.get("ComparisonOperator", "")))
    period = float(alarm.get("Period") or 0)
    if compare is None or period <= 0:
        return None
    period = min(period, max(period * scale, floor_s))
    windows = int(alarm.get("EvaluationPeriods") or 1)
    needed = int(alarm.get("DatapointsToAlarm") or windows)
    threshold = float(alarm.get("Threshold") or 0)
    missing = str(alarm.get("TreatMissingData") or "missing")

    points = recent(points, now - windows * period)
    measured: list[float] = []
    breaching = absent = 0
    for index in range(windows):
        end = now - index * period
        inside = [p for p in points if end - period < p["Timestamp"] <= end]
        value = measure(inside) if inside else None
        if value is None:
            absent += 1
            continue
        measured.append(value)
        breaching += compare(value, threshold)

    if not measured and missing == "missing":
        return Verdict("INSUFFICIENT_DATA", "Insufficient Data: no datapoints were received.")
    if absent and missing == "ignore" and breaching < needed:
        return None
    if missing == "breaching":
        breaching += absent
    state = "ALARM" if breaching >= needed else "OK"
    stat = alarm.get("ExtendedStatistic") or alarm.get("Statistic")
    shown = ", ".join(f"{value:g}" for value in measured) or "none"
    return Verdict(
        state,
        f"Threshold Crossed: {breaching} of {windows} datapoints breaching ({stat}: {shown}; "
        f"{alarm.get('ComparisonOperator')} {threshold:g}; {absent} missing, treated as {missing}).",
    )
