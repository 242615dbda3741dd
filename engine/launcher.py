"""Process of the local engine: ministack with this project's alarm rules, and the metrics bridge as its child.

Runs under .venvs/motor, started by :mod:`engine.motor`, which also sets its environment. Everything it starts (the
bridge, each function's process) stays in its process group, so that stopping the group leaves nothing behind.
"""

from __future__ import annotations

import logging
import os
import socketserver
import subprocess
import threading
import time
from typing import Any

from engine.alarms import decide
from engine.query_protocol import keep_alarms_whole

_METRIC_RETENTION_S = 3600
"""Two weeks of one-second readings would fill the memory."""
_EVICTION_INTERVAL_S = 30
"""The engine drops old points on each CloudWatch call, reading every point it has; the bridge calls each second."""

_PARTS_USED = (
    "_metrics",
    "_dims_key",
    "_dims_from_list",
    "_calc_stats",
    "_stat_value",
    "_record_history",
    "_dispatch_alarm_actions",
    "_evaluate_parent_alarms",
    "_evaluate_alarm",
    "_evict_old_metrics",
    "TWO_WEEKS_SECONDS",
)


def use_own_alarm_rules(cloudwatch: Any, *, scale: float, floor_s: float) -> None:
    """Replace the evaluator of ministack's CloudWatch module.

    Parameters
    ----------
    cloudwatch : module
        ``ministack.services.cloudwatch``.
    scale, floor_s : float
        See :func:`engine.alarms.decide`.

    Raises
    ------
    AttributeError
        If the installed ministack no longer has one of the parts this builds on.
    """
    for part in _PARTS_USED:
        getattr(cloudwatch, part)

    def evaluate(alarm: dict[str, Any]) -> None:
        namespace, name = alarm.get("Namespace"), alarm.get("MetricName")
        if not namespace or not name:
            return
        dimensions = cloudwatch._dims_key(cloudwatch._dims_from_list(alarm.get("Dimensions") or []))
        points = cloudwatch._metrics.get((namespace, name, dimensions)) or []
        stat = alarm.get("ExtendedStatistic") or alarm.get("Statistic", "Average")

        def measure(inside: Any) -> float | None:
            value = cloudwatch._stat_value(cloudwatch._calc_stats(inside), stat, inside)
            return None if value is None else float(value)

        verdict = decide(alarm, points, measure, time.time(), scale=scale, floor_s=floor_s)
        if verdict is None or verdict.state == alarm["StateValue"]:
            return
        before, alarm["StateValue"] = alarm["StateValue"], verdict.state
        alarm["StateReason"] = verdict.reason
        alarm["StateUpdatedTimestamp"] = int(time.time())
        cloudwatch._record_history(alarm["AlarmName"], before, verdict.state, verdict.reason)
        cloudwatch._dispatch_alarm_actions(alarm, before, verdict.state, verdict.reason)
        cloudwatch._evaluate_parent_alarms(alarm)

    evict, evicted_at = cloudwatch._evict_old_metrics, 0.0

    def evict_now_and_then() -> None:
        nonlocal evicted_at
        if time.monotonic() - evicted_at >= _EVICTION_INTERVAL_S:
            evict()
            evicted_at = time.monotonic()

    cloudwatch._evaluate_alarm = evaluate
    cloudwatch._evict_old_metrics = evict_now_and_then
    cloudwatch.TWO_WEEKS_SECONDS = _METRIC_RETENTION_S


def answer_functions_at_once() -> None:
    """Send what the Runtime API answers without waiting for an acknowledgement.

    ministack writes headers and body apart, so Nagle's algorithm and the client's delayed acknowledgement make every
    invocation wait 40 ms, most of what a short one takes.
    """
    socketserver.StreamRequestHandler.disable_nagle_algorithm = True


def answer_in_one_piece() -> None:
    """Write the head of an HTTP answer together with the first bytes of its body.

    Hypercorn writes the two apart. The AWS SDK for Go closes a request's body as soon as it has the answer's head; when
    the transport has written that body but not yet met its end, it takes this for a failed request and closes the
    connection. A body of the answer that comes after that is lost, the SDK asks again, and what the first request
    created "already exists". Seen in ``terraform apply`` on a busy machine. An answer that came whole is read whole.
    """
    import h11  # lives in .venvs/motor
    from hypercorn.events import RawData
    from hypercorn.protocol.h11 import H11Protocol

    async def send_h11_event(self: Any, event: Any) -> None:
        try:
            data = self.connection.send(event)
        except h11.LocalProtocolError:
            if self.connection.their_state != h11.ERROR:
                raise
            return
        if isinstance(event, h11.Response):
            self.head_to_send = data
            return
        head, self.head_to_send = getattr(self, "head_to_send", b""), b""
        await self.send(RawData(data=head + data))

    H11Protocol._send_h11_event  # noqa: B018 - an engine without the part this replaces must not start
    H11Protocol._send_h11_event = send_h11_event


def keep_bridge_running(python: str) -> None:
    """Start the bridge and start it again whenever it ends, for as long as this process lives."""
    log = logging.getLogger("engine.launcher")

    def loop() -> None:
        while True:
            bridge = subprocess.Popen([python, "-m", "engine.bridge"], stdin=subprocess.DEVNULL)
            log.warning("metrics bridge ended with status %s; starting it again", bridge.wait())
            time.sleep(2)

    threading.Thread(target=loop, name="metrics-bridge", daemon=True).start()


def main() -> None:
    """Serve until told to stop."""
    from ministack.app import main as serve  # lives in .venvs/motor
    from ministack.services import cloudwatch

    interval = float(os.environ["CESTA_INTERVALO_PONTE_S"])
    use_own_alarm_rules(cloudwatch, scale=float(os.environ["CESTA_ESCALA_ALARMES"]), floor_s=max(3.0, 3 * interval))
    keep_alarms_whole(cloudwatch)
    answer_functions_at_once()
    answer_in_one_piece()
    keep_bridge_running(os.environ["CESTA_PYTHON_PONTE"])
    serve()


if __name__ == "__main__":
    main()
