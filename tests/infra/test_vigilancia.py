"""What watches the system: every queue nobody drains by itself, every function and every failure has an alarm that
tells people."""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

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


# When each alarm fires: statistic, comparison, threshold, period (s), periods in a row, and what silence means.
Regra = tuple[str, str, float, int, int, str]
QUIETO, SUSPEITO = "notBreaching", "breaching"
ALGUM: Regra = ("Sum", ">", 0, 300, 1, QUIETO)  # one is too many
ALGUM_EM_15_MIN: Regra = ("Sum", ">", 0, 900, 1, QUIETO)
VISIVEIS, MAIS_VELHA = "AWS/SQS ApproximateNumberOfMessagesVisible", "AWS/SQS ApproximateAgeOfOldestMessage"
MENSAGEM: Regra = ("Maximum", ">", 0, 300, 1, QUIETO)  # one message in a queue that nobody drains
INSISTENTES: Regra = ("Sum", ">", 0, 300, 2, QUIETO)  # a stream's batch is tried again: once is not yet a failure
MUITOS: Regra = ("Sum", ">", 50, 300, 2, QUIETO)  # errors: declined cards and sold-out products are errors of these

ALARMES: dict[str, tuple[str, Regra]] = {
    "cesta-baixar-reserva-atraso": ("AWS/Lambda IteratorAge", ("Maximum", ">", 300_000, 60, 3, QUIETO)),  # ms: 5 min
    "cesta-baixar-reserva-dlq-nao-vazia": (VISIVEIS, MENSAGEM),
    "cesta-baixar-reserva-erros": ("AWS/Lambda Errors", INSISTENTES),
    "cesta-baixas-sem-reserva": ("Cesta BaixasSemReserva", ALGUM),
    "cesta-baixas-tardias": ("Cesta BaixasTardias", ALGUM_EM_15_MIN),
    "cesta-cobrancas-orfas": ("Cesta CobrancasOrfas", ALGUM_EM_15_MIN),
    "cesta-cobrar-pagamento-erros": ("AWS/Lambda Errors", MUITOS),
    "cesta-compensacao-manual-abortadas": ("AWS/States ExecutionsAborted", ALGUM),
    "cesta-compensacao-manual-falhas": ("AWS/States ExecutionsFailed", ALGUM),
    "cesta-conferencias-com-falha": ("Cesta ConferenciasComFalha", ("Sum", ">", 0, 900, 2, QUIETO)),
    "cesta-conferencias-interrompidas": ("Cesta ConferenciasInterrompidas", ("Sum", ">", 0, 900, 3, QUIETO)),
    "cesta-conferir-cobrancas-erros": ("AWS/Lambda Errors", ALGUM),
    "cesta-conferir-cobrancas-parada": ("AWS/Lambda Invocations", ("Sum", "<", 1, 900, 3, SUSPEITO)),
    "cesta-conferir-reservas-erros": ("AWS/Lambda Errors", ALGUM),
    "cesta-conferir-reservas-parada": ("AWS/Lambda Invocations", ("Sum", "<", 1, 300, 3, SUSPEITO)),
    "cesta-confirmar-pedido-erros": ("AWS/Lambda Errors", ALGUM),
    "cesta-consultar-pedido-erros": ("AWS/Lambda Errors", ALGUM),
    "cesta-criar-pedido-erros": ("AWS/Lambda Errors", ALGUM),
    "cesta-criar-pedido-sincrono-erros": ("AWS/Lambda Errors", ALGUM),
    "cesta-estornar-pagamento-erros": ("AWS/Lambda Errors", ALGUM),
    "cesta-gateway-disjuntor-cobrar": ("Cesta DisjuntorAberto", ALGUM),
    "cesta-gateway-disjuntor-consultar": ("Cesta DisjuntorAberto", ALGUM),
    "cesta-gateway-disjuntor-estornar": ("Cesta DisjuntorAberto", ALGUM),
    "cesta-gateway-simulado-erros": ("AWS/Lambda Errors", ALGUM),
    "cesta-iniciar-saga-erros": ("AWS/Lambda Errors", ALGUM),
    "cesta-liberar-estoque-erros": ("AWS/Lambda Errors", ALGUM),
    "cesta-pedidos-criados-atrasada": (MAIS_VELHA, ("Maximum", ">", 600, 300, 2, QUIETO)),  # s: 10 min
    "cesta-pedidos-criados-dlq-nao-vazia": (VISIVEIS, MENSAGEM),
    "cesta-reservar-estoque-erros": ("AWS/Lambda Errors", MUITOS),
    "cesta-reservas-orfas-liberadas": ("Cesta OrfasLiberadas", ALGUM),
    "cesta-reservas-presas": ("Cesta ReservasPresas", ALGUM_EM_15_MIN),
    "cesta-reservas-sem-decisao": ("Cesta ReservasSemDecisao", ALGUM_EM_15_MIN),
    "cesta-saga-compensacao-pendente": (VISIVEIS, MENSAGEM),
    "cesta-saga-execucoes-abortadas": ("AWS/States ExecutionsAborted", ALGUM),
    "cesta-saga-execucoes-expiradas": ("AWS/States ExecutionsTimedOut", ALGUM),
    "cesta-saga-execucoes-falhas": ("AWS/States ExecutionsFailed", ALGUM),
    "cesta-saga-lenta": ("AWS/States ExecutionTime", ("p99 evaluate", ">", 30_000, 300, 3, QUIETO)),  # ms: 30 s
    "ffv-lab-consumidor-pedidos-dlq-nao-vazia": (VISIVEIS, MENSAGEM),
    "ffv-lab-consumidor-pedidos-erros": ("AWS/Lambda Errors", INSISTENTES),
    "ffv-lab-consumidor-pedidos-iterator-age": (
        "AWS/Lambda IteratorAge", ("Maximum", ">", 60_000, 60, 3, QUIETO),  # ms: 1 min
    ),
    "ffv-lab-consumidor-pedidos-parado": ("AWS/Lambda Invocations", ("Sum", "<", 1, 3600, 6, SUSPEITO)),
    "ffv-lab-consumidor-pedidos-perda-possivel": (
        "AWS/Lambda IteratorAge", ("Maximum", ">", 75_600_000, 60, 1, QUIETO),  # ms: 21 h
    ),
    "ffv-lab-consumidor-pedidos-salto": ("Cadencia TransicoesComSalto", ALGUM),
    "ffv-lab-fila-api-pedidos-erros": ("AWS/Lambda Errors", ALGUM),
    "ffv-lab-fila-consumidor-pedidos-erros": ("AWS/Lambda Errors", ALGUM),
    "ffv-lab-fila-pedido-sincrono-erros": ("AWS/Lambda Errors", ALGUM),
    "ffv-lab-fila-pedidos-atrasada": (MAIS_VELHA, ("Maximum", ">", 900, 300, 2, QUIETO)),  # s: 15 min
    "ffv-lab-fila-pedidos-dlq-nao-vazia": (VISIVEIS, MENSAGEM),
    "ffv-lab-painel-api-erros": ("AWS/Lambda Errors", ALGUM),
    "ffv-lab-polling-pedidos-erros": ("AWS/Lambda Errors", ALGUM),
    "ffv-lab-reconciliar-painel-erros": ("AWS/Lambda Errors", ALGUM),
    "ffv-lab-reprocessar-dlq-erros": ("AWS/Lambda Errors", ALGUM),
}  # fmt: skip


def _quando_dispara(alarme: dict[str, Any]) -> tuple[str, Regra]:
    """What the alarm watches and its rule; one on several metrics, or on M periods in N, is none of the table."""
    estatistica = alarme["statistic"]
    if alarme["extended_statistic"]:
        estatistica = f"{alarme['extended_statistic']} {alarme['evaluate_low_sample_count_percentiles']}"
    comparacao = {"GreaterThanThreshold": ">", "LessThanThreshold": "<"}.get(alarme["comparison_operator"], "?")
    if alarme["datapoints_to_alarm"] not in (None, alarme["evaluation_periods"]):
        comparacao = "?"
    regra = (alarme["threshold"], alarme["period"], alarme["evaluation_periods"], alarme["treat_missing_data"])
    return f"{alarme['namespace']} {alarme['metric_name']}", (estatistica, comparacao, *regra)


def conferir_quando_disparam(estado: Estado) -> None:
    """Every alarm of the system, and no other, fires when the table says."""
    alarmes = estado.do_tipo("aws_cloudwatch_metric_alarm").values()
    assert {alarme["alarm_name"]: _quando_dispara(alarme) for alarme in alarmes} == ALARMES


# Of a queue that people read, the alarm is named by what waits there.
NOMEADO_POR_OUTRA_COISA = {"cesta-saga-compensacao-pendente"}


def conferir_o_que_vigiam(estado: Estado) -> None:
    """An alarm on a queue or function watches one that exists, the one that it is named after."""
    filas = {f["name"] for f in estado.do_tipo("aws_sqs_queue").values()}
    for alarme in estado.do_tipo("aws_cloudwatch_metric_alarm").values():
        nome, dimensoes = alarme["alarm_name"], alarme["dimensions"]
        for dimensao, existem in (("QueueName", filas), ("FunctionName", set(estado.funcoes()))):
            if dimensao in dimensoes:
                assert dimensoes[dimensao] in existem, nome
                assert nome.startswith(f"{dimensoes[dimensao]}-") or nome in NOMEADO_POR_OUTRA_COISA


# The saga's lab fixes how many days the machines' execution logs are kept; the variable says it of all others.
DIAS_DAS_MAQUINAS = 30
MAQUINAS = "/aws/vendedlogs/states/"


def conferir_logs_declarados(estado: Estado, dias: int = 30) -> None:
    """Every function's log group is declared (Lambda's own is eternal and outlives destroy), and all have their days.

    ``dias`` is what the variable ``retencao_logs_dias`` asks for.
    """
    guardados = {g["name"]: g["retention_in_days"] for g in estado.do_tipo("aws_cloudwatch_log_group").values()}
    assert {f"/aws/lambda/{nome}" for nome in estado.funcoes()} - guardados.keys() == set()
    assert guardados == {nome: DIAS_DAS_MAQUINAS if nome.startswith(MAQUINAS) else dias for nome in guardados}


CONFERENCIAS: list[tuple[Callable[[Estado], None], str]] = [
    (conferir_filas_paradas, "aws_cloudwatch_metric_alarm.compensacao_pendente"),
    (conferir_alarmes_de_funcoes, "module.estornar_pagamento.aws_cloudwatch_metric_alarm.erros"),
    (conferir_alarmes_da_maquina, 'aws_cloudwatch_metric_alarm.maquina["cesta-saga-execucoes-falhas"]'),
    (conferir_alarmes_da_maquina, 'alarm.compensacao_manual["cesta-compensacao-manual-falhas"]'),
    (conferir_quando_disparam, "module.fila.aws_cloudwatch_metric_alarm.atrasada"),
    (conferir_logs_declarados, "module.reservar_estoque.aws_cloudwatch_log_group.esta"),
]


@pytest.mark.parametrize("conferir", [*dict(CONFERENCIAS), conferir_o_que_vigiam], ids=lambda c: c.__name__)
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


def test_an_alarm_that_would_fire_at_another_time_is_caught(estado: Estado) -> None:
    """Each alarm, each thing that says when."""
    outros = {
        "statistic": "Minimum",
        "extended_statistic": "p50",
        "comparison_operator": "LessThanOrEqualToThreshold",
        "threshold": 99_999,
        "period": 86_400,
        "evaluation_periods": 99,
        "datapoints_to_alarm": 99,
        "treat_missing_data": "ignore",
        "metric_name": "Outra",
        "namespace": "Outro",
    }
    inversa = {"GreaterThanThreshold": "LessThanThreshold", "LessThanThreshold": "GreaterThanThreshold"}
    for endereco, alarme in estado.do_tipo("aws_cloudwatch_metric_alarm").items():
        mudancas = [*outros.items(), ("comparison_operator", inversa[alarme["comparison_operator"]])]
        for campo, valor in mudancas:
            if campo == "statistic" and alarme["extended_statistic"]:
                continue  # it has the other kind
            mudado = Estado({**estado.recursos, endereco: {**alarme, campo: valor}}, estado.saidas)
            with pytest.raises(AssertionError):
                conferir_quando_disparam(mudado)


def test_an_account_has_every_alarm_but_the_stand_ins(conta: Estado) -> None:
    simulados = {
        f"{nome}-erros"
        for nome in (
            "cesta-criar-pedido-sincrono",
            "cesta-gateway-simulado",
            "ffv-lab-fila-pedido-sincrono",
            "ffv-lab-polling-pedidos",
        )
    }
    alarmes = conta.do_tipo("aws_cloudwatch_metric_alarm").values()

    assert {alarme["alarm_name"]: _quando_dispara(alarme) for alarme in alarmes} == {
        nome: regra for nome, regra in ALARMES.items() if nome not in simulados
    }


def test_an_alarm_on_another_queue_is_caught(estado: Estado) -> None:
    endereco = "module.observabilidade.aws_cloudwatch_metric_alarm.entrada_atrasada"
    for outra in ("cesta-nao-existe", "ffv-lab-fila-pedidos"):
        alarme = {**estado.recursos[endereco], "dimensions": {"QueueName": outra}}
        with pytest.raises(AssertionError):
            conferir_o_que_vigiam(Estado({**estado.recursos, endereco: alarme}, estado.saidas))


def test_logs_are_kept_as_long_as_the_variable_says(estado: Estado, aplicados: dict[str, Estado]) -> None:
    conferir_logs_declarados(aplicados["com_escolhas"], dias=14)

    for endereco, grupo in estado.do_tipo("aws_cloudwatch_log_group").items():
        for dias in (0, None, 3653):
            mudado = Estado({**estado.recursos, endereco: {**grupo, "retention_in_days": dias}}, estado.saidas)
            with pytest.raises(AssertionError):
                conferir_logs_declarados(mudado)


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
