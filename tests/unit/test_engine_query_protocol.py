"""The XML the engine answers is read back by botocore's own parser of the query protocol."""

import json
from types import SimpleNamespace
from xml.sax.saxutils import escape

import botocore.session
import pytest
from botocore.parsers import QueryParser

from engine.query_protocol import keep_alarms_whole, to_query_xml

ALARM = {
    "AlarmName": "cesta-saga-compensacao-pendente",
    "AlarmDescription": 'p99 < 30 s & fila "humana"',
    "ActionsEnabled": True,
    "AlarmActions": ["arn:aws:sns:sa-east-1:000000000000:cesta-saga-alertas"],
    "Dimensions": [{"Name": "QueueName", "Value": "cesta-compensacao-falhou"}],
    "Statistic": "Maximum",
    "Period": 300,
    "Threshold": 0.0,
    "StateUpdatedTimestamp": 1_790_000_000,
    "TreatMissingData": "notBreaching",
}


def _fake_cloudwatch(alarms, status=200):
    asked = []

    def describe(params, cbor_data, is_cbor, is_json=False):
        if not is_json:
            return status, {}, b"<query/>"
        asked.append(cbor_data)
        return status, {}, json.dumps({"MetricAlarms": alarms, "CompositeAlarms": []}).encode()

    def xml(status, root, inner):
        body = f"<{root}>{inner}<ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></{root}>"
        return status, {}, body.encode()

    def put(params, cbor_data, is_cbor, is_json=False):
        module._alarms[params["AlarmName"]] = {
            "Statistic": "Average",
            "ExtendedStatistic": params.get("ExtendedStatistic"),
        }
        return status, {}, b""

    module = SimpleNamespace(
        _alarms={},
        _describe_alarms=describe,
        _put_metric_alarm=put,
        _p=lambda params, name: params.get(name, ""),
        _xml=xml,
    )
    return module, asked


def _parse(body):
    model = botocore.session.get_session().get_service_model("cloudwatch").operation_model("DescribeAlarms")
    return QueryParser().parse({"status_code": 200, "headers": {}, "body": body}, model.output_shape)


def test_every_field_of_an_alarm_reaches_a_client_of_the_query_protocol():
    cloudwatch, asked = _fake_cloudwatch([ALARM])
    keep_alarms_whole(cloudwatch)

    _, _, body = cloudwatch._describe_alarms({"AlarmNames.member.1": ALARM["AlarmName"]}, {}, False)

    [read] = _parse(body)["MetricAlarms"]
    assert {**read, "StateUpdatedTimestamp": read["StateUpdatedTimestamp"].timestamp()} == ALARM
    assert asked == [{"AlarmNames": [ALARM["AlarmName"]]}]


def test_a_refused_request_keeps_the_engine_s_own_answer():
    cloudwatch, _ = _fake_cloudwatch([], status=400)
    keep_alarms_whole(cloudwatch)

    assert cloudwatch._describe_alarms({}, {}, False) == (400, {}, b"<query/>")


def test_an_engine_without_the_replaced_part_is_refused():
    with pytest.raises(AttributeError):
        keep_alarms_whole(SimpleNamespace(_p=None, _xml=None))


def test_a_percentile_alarm_has_no_statistic_and_keeps_what_it_does_with_few_samples():
    cloudwatch, _ = _fake_cloudwatch([])
    keep_alarms_whole(cloudwatch)

    cloudwatch._put_metric_alarm(
        {"AlarmName": "p99", "ExtendedStatistic": "p99", "EvaluateLowSampleCountPercentile": "ignore"}, {}, False
    )
    cloudwatch._put_metric_alarm({"AlarmName": "soma"}, {}, False)

    assert cloudwatch._alarms["p99"]["Statistic"] is None
    assert cloudwatch._alarms["p99"]["EvaluateLowSampleCountPercentile"] == "ignore"
    assert cloudwatch._alarms["soma"]["Statistic"] == "Average"


def test_text_is_escaped():
    assert to_query_xml({"A": "<&>"}) == f"<A>{escape('<&>')}</A>"
