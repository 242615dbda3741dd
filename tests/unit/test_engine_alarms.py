"""The rules the local engine's alarms follow: windows, M of N, missing data, each operator."""

from __future__ import annotations

from typing import Any

import pytest

from engine.alarms import Verdict, decide, recent

NOW = 1_000_000.0


def alarm(**changes: Any) -> dict[str, Any]:
    return {
        "Statistic": "Maximum",
        "Period": 300,
        "EvaluationPeriods": 1,
        "Threshold": 0,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": "notBreaching",
        **changes,
    }


def points(*pairs: tuple[float, float]) -> list[dict[str, float]]:
    """(seconds ago, value) pairs."""
    return [{"Timestamp": NOW - ago, "Value": value} for ago, value in pairs]


def maximum(inside: Any) -> float | None:
    return max((p["Value"] for p in inside), default=None)


def verdict(changes: dict[str, Any], *pairs: tuple[float, float], scale: float = 1) -> Verdict | None:
    return decide(alarm(**changes), points(*pairs), maximum, NOW, scale=scale, floor_s=3)


def state(changes: dict[str, Any], *pairs: tuple[float, float], scale: float = 1) -> str | None:
    found = verdict(changes, *pairs, scale=scale)
    return found.state if found else None


def test_one_message_in_the_window_fires_and_the_reason_says_so() -> None:
    found = verdict({}, (200, 0), (100, 1), (1, 0))
    assert found is not None
    assert found.state == "ALARM"
    assert "1 of 1 datapoints breaching" in found.reason


def test_a_message_before_the_window_does_not_count() -> None:
    assert state({}, (301, 5), (1, 0)) == "OK"


def test_the_scale_shortens_the_window_but_not_below_the_floor() -> None:
    assert state({}, (7, 1), (1, 0), scale=0.02) == "OK"  # 300 s become 6 s
    assert state({}, (5, 1), (1, 0), scale=0.02) == "ALARM"
    assert state({}, (2, 1), (1, 0), scale=0.001) == "ALARM"  # 0.3 s would hold no reading


def test_m_of_n() -> None:
    readings = ((10, 1), (70, 0), (130, 1))
    three = {"Period": 60, "EvaluationPeriods": 3}
    assert state(three, *readings) == "OK"
    assert state(three | {"DatapointsToAlarm": 2}, *readings) == "ALARM"
    assert state(three | {"DatapointsToAlarm": 3}, (10, 1), (70, 1), (130, 1)) == "ALARM"


@pytest.mark.parametrize(
    ("treatment", "expected"),
    [("notBreaching", "OK"), ("breaching", "ALARM"), ("missing", "INSUFFICIENT_DATA"), ("ignore", None)],
)
def test_no_data_at_all(treatment: str, expected: str | None) -> None:
    assert state({"TreatMissingData": treatment}) == expected


def test_ignore_still_fires_on_the_data_there_is() -> None:
    two = {"Period": 60, "EvaluationPeriods": 2, "DatapointsToAlarm": 1, "TreatMissingData": "ignore"}
    assert state(two, (10, 1)) == "ALARM"
    assert state(two, (10, 0)) is None


@pytest.mark.parametrize(
    ("operator", "below", "equal", "above"),
    [
        ("GreaterThanThreshold", "OK", "OK", "ALARM"),
        ("GreaterThanOrEqualToThreshold", "OK", "ALARM", "ALARM"),
        ("LessThanThreshold", "ALARM", "OK", "OK"),
        ("LessThanOrEqualToThreshold", "ALARM", "ALARM", "OK"),
    ],
)
def test_operators(operator: str, below: str, equal: str, above: str) -> None:
    changes = {"ComparisonOperator": operator, "Threshold": 10}
    assert [state(changes, (1, value)) for value in (9, 10, 11)] == [below, equal, above]


def test_what_is_not_understood_changes_nothing() -> None:
    assert state({"ComparisonOperator": "GreaterThanUpperThreshold"}, (1, 5)) is None
    assert state({"Period": None}, (1, 5)) is None


def test_a_long_history_is_not_read_to_find_the_last_minute() -> None:
    class Counted(list[dict[str, float]]):
        reads = 0

        def __getitem__(self, index: Any) -> Any:
            Counted.reads += 1
            return super().__getitem__(index)

        def __reversed__(self) -> Any:
            return (self[index] for index in range(len(self) - 1, -1, -1))

    history = Counted(points(*((ago, 1) for ago in range(50_000, -1, -1))))
    assert len(recent(history, NOW - 60)) == 61
    assert Counted.reads < 100


def test_a_point_that_arrives_late_hides_no_newer_one() -> None:
    arrived = points((30, 1), (20, 1), (5_000, 1), (10, 1), (6_000, 1))
    assert sorted(NOW - p["Timestamp"] for p in recent(arrived, NOW - 60)) == [10, 20, 30]
