"""The engine's metric alarms, kept whole and described whole in the query protocol.

ministack answers DescribeAlarms in full to clients that speak JSON or CBOR, but leaves most fields out of the XML of
the query protocol, which is what Terraform's AWS provider speaks: every alarm would be planned for change on every
run. It also gives an alarm on a percentile a Statistic, and forgets what such an alarm does with few samples.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from xml.sax.saxutils import escape

_PARTS_USED = ("_describe_alarms", "_put_metric_alarm", "_alarms", "_p", "_xml")
_LISTS = ("AlarmNames", "AlarmTypes")
_SCALARS = ("AlarmNamePrefix", "StateValue", "MaxRecords", "NextToken")


def to_query_xml(value: Any, name: str = "") -> str:
    """Write a JSON answer the way the query protocol does.

    Parameters
    ----------
    value : Any
        A decoded JSON value. Numbers of fields that end in ``Timestamp`` are epoch seconds.
    name : str
        Name of the field that holds the value.

    Returns
    -------
    str
        Inner XML: lists as ``<member>`` elements, booleans in lower case, timestamps as ISO 8601.
    """
    if isinstance(value, Mapping):
        return "".join(f"<{k}>{to_query_xml(v, k)}</{k}>" for k, v in value.items() if v is not None)
    if isinstance(value, list):
        return "".join(f"<member>{to_query_xml(v, name)}</member>" for v in value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float) and name.endswith("Timestamp"):
        return datetime.fromtimestamp(value, UTC).isoformat().replace("+00:00", "Z")
    return escape(str(value))


def keep_alarms_whole(cloudwatch: Any) -> None:
    """Make ministack store every field of an alarm, and answer every field in the query protocol too.

    Parameters
    ----------
    cloudwatch : module
        ``ministack.services.cloudwatch``.

    Raises
    ------
    AttributeError
        If the installed ministack no longer has one of the parts this builds on.
    """
    for part in _PARTS_USED:
        getattr(cloudwatch, part)
    original = cloudwatch._describe_alarms
    original_put = cloudwatch._put_metric_alarm

    def put(params: Any, cbor_data: Any, is_cbor: bool, is_json: bool = False) -> Any:
        answer = original_put(params, cbor_data, is_cbor, is_json)

        def sent(field: str) -> Any:
            return cbor_data.get(field) if is_cbor or is_json else cloudwatch._p(params, field)

        alarm = cloudwatch._alarms.get(sent("AlarmName"))
        if answer[0] == 200 and alarm is not None and alarm.get("ExtendedStatistic"):
            alarm["Statistic"] = None
            alarm["EvaluateLowSampleCountPercentile"] = sent("EvaluateLowSampleCountPercentile") or None
        return answer

    def describe(params: Any, cbor_data: Any, is_cbor: bool, is_json: bool = False) -> Any:
        if is_cbor or is_json:
            return original(params, cbor_data, is_cbor, is_json)
        request: dict[str, Any] = {name: cloudwatch._p(params, name) for name in _SCALARS}
        for name in _LISTS:
            request[name] = [m for i in range(1, 101) if (m := cloudwatch._p(params, f"{name}.member.{i}"))]
        asked = {name: value for name, value in request.items() if value}
        status, _headers, body = original(params, asked, False, True)
        if status != 200:
            return original(params, cbor_data, is_cbor, is_json)
        inner = to_query_xml(json.loads(body))
        return cloudwatch._xml(
            status, "DescribeAlarmsResponse", f"<DescribeAlarmsResult>{inner}</DescribeAlarmsResult>"
        )

    cloudwatch._describe_alarms = describe
    cloudwatch._put_metric_alarm = put
