"""What watches the system: every queue nobody drains by itself, every function and every failure has an alarm that
tells people."""

import copy
import json
import re
from collections.abc import Callable

import pytest

from .conftest import Estado


def conferir_filas_paradas(estado: Estado) -> None:
    """A DLQ or a queue people read has an alarm on any visible message, and the alarm tells somebody."""
    vigiadas = {
        alarme["dimensions"]["QueueName"]
        for alarme in estado.do_tipo("aws_cloudwatch_metric_alarm").values()
        if alarme["metric_name"] == "ApproximateNumberOfMessagesVisible"
        and alarme["threshold"] == 0
        and alarme["comparison_operator"] == "GreaterThanThreshold"
        and alarme["alarm_actions"]
        and alarme["actions_enabled"] is not False
    }
    consumidas = {m["event_source_arn"] for m in estado.do_tipo("aws_lambda_event_source_mapping").values()}
    paradas = {f["name"] for f in estado.do_tipo("aws_sqs_queue").values() if f["arn"] not in consumidas}
    assert paradas - vigiadas == set()


def conferir_alarmes_de_funcoes(estado: Estado) -> None:
    """Every function has an alarm on its errors that tells somebody."""
    vigiadas = {
        alarme["dimensions"]["FunctionName"]
        for alarme in estado.do_tipo("aws_cloudwatch_metric_alarm").values()
        if alarme["metric_name"] == "Errors" and alarme["alarm_actions"]
    }
    assert set(estado.funcoes()) - vigiadas == set()


VIGIADO_EM_CADA_MAQUINA = {
    "cesta-saga-pedido": {"ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted", "ExecutionTime"},
    # Without a TimeoutSeconds of its own it never times out, and a slow one has a person looking at it.
    "cesta-compensacao-manual": {"ExecutionsFailed", "ExecutionsAborted"},
}


def conferir_alarmes_da_maquina(estado: Estado) -> None:
    """Of each machine, what must not end badly in silence has an alarm of its own."""
    arns = {m["name"]: m["arn"] for m in estado.do_tipo("aws_sfn_state_machine").values()}
    assert arns.keys() == VIGIADO_EM_CADA_MAQUINA.keys()
    assert len(set(arns.values())) == len(arns)
    for nome, metricas in VIGIADO_EM_CADA_MAQUINA.items():
        vigiadas = {
            alarme["metric_name"]
            for alarme in estado.do_tipo("aws_cloudwatch_metric_alarm").values()
            if alarme["namespace"] == "AWS/States"
            and alarme["alarm_actions"]
            and alarme["dimensions"] == {"StateMachineArn": arns[nome]}
        }
        assert metricas - vigiadas == set()


def conferir_logs_declarados(estado: Estado) -> None:
    """Every function's log group is declared with a retention: Lambda's own is eternal and outlives destroy."""
    declarados = {
        grupo["name"]
        for grupo in estado.do_tipo("aws_cloudwatch_log_group").values()
        if (grupo["retention_in_days"] or 0) > 0
    }
    assert {f"/aws/lambda/{nome}" for nome in estado.funcoes()} - declarados == set()


CONFERENCIAS: list[tuple[Callable[[Estado], None], str]] = [
    (conferir_filas_paradas, "aws_cloudwatch_metric_alarm.compensacao_pendente"),
    (conferir_alarmes_de_funcoes, "module.estornar_pagamento.aws_cloudwatch_metric_alarm.erros"),
    (conferir_alarmes_da_maquina, 'aws_cloudwatch_metric_alarm.maquina["cesta-saga-execucoes-falhas"]'),
    (conferir_alarmes_da_maquina, 'alarm.compensacao_manual["cesta-compensacao-manual-falhas"]'),
    (conferir_logs_declarados, "module.reservar_estoque.aws_cloudwatch_log_group.esta"),
]


@pytest.mark.parametrize("conferir", dict(CONFERENCIAS), ids=lambda c: c.__name__)
def test_nothing_goes_unwatched(estado: Estado, conferir: Callable[[Estado], None]) -> None:
    conferir(estado)


@pytest.mark.parametrize(("conferir", "recurso"), CONFERENCIAS, ids=lambda v: getattr(v, "__name__", ""))
def test_its_absence_is_caught(estado: Estado, conferir: Callable[[Estado], None], recurso: str) -> None:
    ficam = {endereco: v for endereco, v in estado.recursos.items() if not endereco.endswith(recurso)}
    assert len(ficam) == len(estado.recursos) - 1

    with pytest.raises(AssertionError):
        conferir(Estado(ficam, estado.saidas))


def test_an_alarm_that_tells_nobody_is_caught(estado: Estado) -> None:
    recursos = copy.deepcopy(estado.recursos)
    recursos["module.observabilidade.aws_cloudwatch_metric_alarm.compensacao_pendente"]["alarm_actions"] = []

    with pytest.raises(AssertionError):
        conferir_filas_paradas(Estado(recursos, estado.saidas))


def test_the_stock_waiting_question_reads_states_that_exist(estado: Estado) -> None:
    [painel] = [p for p in estado.do_tipo("aws_cloudwatch_dashboard").values() if p["dashboard_name"] == "cesta-saga"]
    [consulta] = [
        w["properties"]["query"] for w in json.loads(painel["dashboard_body"])["widgets"] if w["type"] == "log"
    ]
    [maquina] = [m for m in estado.do_tipo("aws_sfn_state_machine").values() if m["name"] == "cesta-saga-pedido"]
    [passos] = re.findall(r"details\.name in \[([^]]+)\]", consulta)

    assert set(re.findall(r"'(\w+)'", passos)) <= set(json.loads(maquina["definition"])["States"])


def test_people_are_told_again_before_a_message_expires(estado: Estado) -> None:
    ambiente = estado.funcoes()["cesta-conferir-cobrancas"]["environment"][0]["variables"]
    [fila] = [f for f in estado.do_tipo("aws_sqs_queue").values() if f["name"] == "cesta-compensacao-falhou"]

    assert fila["message_retention_seconds"] - int(ambiente["REAVISO_S"]) == 24 * 3600
