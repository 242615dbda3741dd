"""Probes of Step Functions: idempotent start, error names, ResultPath, retries, limits, the machine's role."""

from __future__ import annotations

import json
from typing import Any

from botocore.exceptions import ClientError

from conformidade.alvo import Alvo, NaoAconteceuError, esperar
from conformidade.registro import sonda

Estados = dict[str, Any]


def maquina(alvo: Alvo, estados: Estados, papel: str | None = None, **opcoes: Any) -> str:
    """A state machine that starts at the first of ``estados``; returns its ARN."""
    sfn = alvo.cliente("stepfunctions")
    definicao = json.dumps({"StartAt": next(iter(estados)), "States": estados})
    arn = sfn.create_state_machine(
        name=alvo.nome_novo(), definition=definicao, roleArn=papel or alvo.papel_maquina, type="STANDARD", **opcoes
    )["stateMachineArn"]
    alvo.depois(sfn.delete_state_machine, stateMachineArn=arn)
    return str(arn)


def terminar(alvo: Alvo, execucao: str, limite_s: float = 90) -> dict[str, Any]:
    """The execution's description once it is closed."""
    sfn = alvo.cliente("stepfunctions")

    def fechada() -> dict[str, Any] | None:
        descricao: dict[str, Any] = sfn.describe_execution(executionArn=execucao)
        return descricao if descricao["status"] != "RUNNING" else None

    return esperar(fechada, limite_s)


def executar(alvo: Alvo, estados: Estados, entrada: Any = None, papel: str | None = None) -> dict[str, Any]:
    """Run a new machine once; the closed execution, with ``output`` decoded and its history as ``eventos``."""
    sfn = alvo.cliente("stepfunctions")
    arn = maquina(alvo, estados, papel)
    iniciada = sfn.start_execution(stateMachineArn=arn, name="uma", input=json.dumps(entrada or {}))["executionArn"]
    execucao = terminar(alvo, iniciada)
    execucao["output"] = json.loads(execucao.get("output") or "null")
    execucao["eventos"] = sfn.get_execution_history(executionArn=iniciada, maxResults=500)["events"]
    return execucao


def tarefa(alvo: Alvo, entrada: dict[str, Any], **mais: Any) -> Estados:
    """A Task that calls the probe function by its ARN with ``entrada``."""
    return {
        "Type": "Task",
        "Resource": alvo.arn_funcao(alvo.funcao_comum),
        "Parameters": entrada,
        "ResultPath": "$.resultado",
        "End": True,
        **mais,
    }


def captura(*erros: str, proximo: str = "Pego") -> dict[str, Any]:
    return {"ErrorEquals": list(erros), "ResultPath": "$.erro", "Next": proximo}


PEGO: Estados = {"Pego": {"Type": "Succeed"}}
OUTRO: Estados = {"Outro": {"Type": "Pass", "Result": True, "ResultPath": "$.outro", "End": True}}


def erro_visto(alvo: Alvo, entrada: dict[str, Any], **mais: Any) -> str:
    """Name of the error that a Task with ``entrada`` ends with, as a Catch of everything sees it."""
    execucao = executar(alvo, {"T": tarefa(alvo, entrada, Catch=[captura("States.ALL")], **mais), **PEGO})
    if execucao["status"] != "SUCCEEDED":
        return f"not caught by States.ALL ({execucao['status']})"
    if "erro" not in (execucao["output"] or {}):
        return "no error"
    return str(execucao["output"]["erro"]["Error"])


# --- StartExecution ------------------------------------------------------------------------------------------------
def _iniciar_de_novo(alvo: Alvo, segunda: str, terminada: bool) -> str:
    sfn = alvo.cliente("stepfunctions")
    if terminada:
        arn = maquina(alvo, {"P": {"Type": "Pass", "End": True}})
    else:
        arn = maquina(alvo, {"W": {"Type": "Wait", "Seconds": 300, "End": True}})
    primeira = sfn.start_execution(stateMachineArn=arn, name="pedido", input='{"a":1}')["executionArn"]
    if terminada:
        terminar(alvo, primeira)
    try:
        outra = sfn.start_execution(stateMachineArn=arn, name="pedido", input=segunda)["executionArn"]
    except ClientError as erro:
        return str(erro.response["Error"]["Code"])
    finally:
        if not terminada:
            sfn.stop_execution(executionArn=primeira)
            terminar(alvo, primeira)
    return "200, same ARN" if outra == primeira else "200, another ARN"


@sonda("sfn.start.same_input_running")
def start_igual(alvo: Alvo) -> str:
    return _iniciar_de_novo(alvo, '{"a":1}', terminada=False)


@sonda("sfn.start.other_input_running")
def start_outro(alvo: Alvo) -> str:
    return _iniciar_de_novo(alvo, '{"a":2}', terminada=False)


@sonda("sfn.start.after_closed")
def start_fechada(alvo: Alvo) -> str:
    return _iniciar_de_novo(alvo, '{"a":1}', terminada=True)


# --- error names ---------------------------------------------------------------------------------------------------
@sonda("sfn.error.class_name")
def erro_nomeado(alvo: Alvo) -> str:
    return erro_visto(alvo, {"do": "raise", "name": "CartaoRecusadoError"})


@sonda("sfn.error.subclass")
def erro_subclasse(alvo: Alvo) -> str:
    entrada = {"do": "raise", "name": "FilhoError", "base": "PaiError"}
    task = tarefa(alvo, entrada, Catch=[captura("PaiError"), captura("States.ALL", proximo="Outro")])
    saida = executar(alvo, {"T": task, **PEGO, **OUTRO})["output"]
    return "does not match its parent's name" if saida and saida.get("outro") else "matches its parent's name"


@sonda("sfn.error.function_timeout")
def erro_timeout_funcao(alvo: Alvo) -> str:
    return erro_visto(alvo, {"do": "hang", "seconds": 6})


@sonda("sfn.error.function_exit")
def erro_morte(alvo: Alvo) -> str:
    return erro_visto(alvo, {"do": "exit", "code": 3})


@sonda("sfn.error.task_timeout")
def erro_timeout_tarefa(alvo: Alvo) -> str:
    entrada = {"do": "hang", "seconds": 1.8}
    pegas = [captura("States.TaskFailed"), captura("States.Timeout", proximo="Outro")]
    saida = executar(alvo, {"T": tarefa(alvo, entrada, TimeoutSeconds=1, Catch=pegas), **PEGO, **OUTRO})["output"]
    if not saida or "erro" not in saida:
        return "no timeout"
    matched = "only by its own name" if saida.get("outro") else "also by States.TaskFailed"
    return f"{saida['erro']['Error']}, caught {matched}"


@sonda("sfn.error.condition")
def erro_condicao(alvo: Alvo) -> str:
    tabela, _ = alvo.tabela()
    atualizar = {
        "Type": "Task",
        "Resource": "arn:aws:states:::dynamodb:updateItem",
        "Parameters": {
            "TableName": tabela,
            "Key": {"pk": {"S": "a"}, "sk": {"S": "a"}},
            "UpdateExpression": "SET x = :x",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeValues": {":x": {"S": "1"}},
        },
        "Catch": [captura("States.ALL")],
        "End": True,
    }
    saida = executar(alvo, {"U": atualizar, **PEGO})["output"]
    return str(saida["erro"]["Error"]) if saida and "erro" in saida else "no error"


# --- data ----------------------------------------------------------------------------------------------------------
@sonda("sfn.resultpath.task_and_catch")
def result_path(alvo: Alvo) -> str:
    url, _ = alvo.fila()
    enviar = {
        "Type": "Task",
        "Resource": "arn:aws:states:::sqs:sendMessage",
        "Parameters": {"QueueUrl": url, "MessageBody.$": "States.JsonToString($.erro)"},
        "ResultPath": "$.fila",
        "End": True,
    }
    falha = tarefa(alvo, {"do": "raise", "name": "XError"}, Catch=[captura("XError", proximo="Enviar")])
    saida = executar(alvo, {"T": falha, "Enviar": enviar}, {"pedidoId": "p"})["output"] or {}
    inteira = saida.get("pedidoId") == "p" and saida.get("erro", {}).get("Error") == "XError" and "fila" in saida
    return "input kept, error and result added" if inteira else "input lost"


@sonda("sfn.limit.payload_256k")
def limite_dados(alvo: Alvo) -> str:
    try:
        return erro_visto(alvo, {"do": "big", "bytes": 300_000})
    except ClientError as erro:
        return str(erro.response["Error"]["Code"])


# --- retries -------------------------------------------------------------------------------------------------------
def _esperas(execucao: dict[str, Any]) -> list[float]:
    """Seconds between each failed attempt and the next one, from the history."""
    esperas, falhou = [], None
    for evento in execucao["eventos"]:
        if evento["type"] in ("LambdaFunctionFailed", "TaskFailed"):
            falhou = evento["timestamp"]
        elif evento["type"] in ("LambdaFunctionScheduled", "TaskScheduled") and falhou is not None:
            esperas.append((evento["timestamp"] - falhou).total_seconds())
            falhou = None
    return esperas


def _repetir(alvo: Alvo, **regra: Any) -> list[float]:
    retry = [{"ErrorEquals": ["States.TaskFailed"], **regra}]
    return _esperas(executar(alvo, {"T": tarefa(alvo, {"do": "raise", "name": "XError"}, Retry=retry)}))


@sonda("sfn.retry.max_attempts")
def tentativas(alvo: Alvo) -> str:
    return f"{len(_repetir(alvo, IntervalSeconds=1, MaxAttempts=2, BackoffRate=1.0)) + 1} attempts for MaxAttempts 2"


@sonda("sfn.retry.max_delay")
def atraso_maximo(alvo: Alvo) -> str:
    esperas = _repetir(alvo, IntervalSeconds=1, MaxAttempts=3, BackoffRate=4.0, MaxDelaySeconds=2)
    if len(esperas) != 3:
        return f"{len(esperas)} retries instead of 3"
    # Without the ceiling the third wait is 4 times the second; with it they are equal.
    return "respected" if esperas[2] < 2 * esperas[1] else "ignored"


@sonda("sfn.retry.jitter_full")
def jitter(alvo: Alvo) -> str:
    esperas = _repetir(alvo, IntervalSeconds=2, MaxAttempts=6, BackoffRate=1.0, JitterStrategy="FULL")
    if len(esperas) != 6:
        return f"{len(esperas)} retries instead of 6"
    # Six waits drawn from [0, 2]: that they stay within 15 % of the largest has a chance of about 5e-5.
    return "waits vary" if min(esperas) < 0.85 * max(esperas) else "waits do not vary"


# --- operations ----------------------------------------------------------------------------------------------------
@sonda("sfn.redrive")
def redrive(alvo: Alvo) -> str:
    sfn = alvo.cliente("stepfunctions")
    arn = maquina(alvo, {"F": {"Type": "Fail", "Error": "X"}})
    execucao = sfn.start_execution(stateMachineArn=arn, name="uma")["executionArn"]
    terminar(alvo, execucao)
    try:
        sfn.redrive_execution(executionArn=execucao)
    except ClientError as erro:
        return f"refused ({erro.response['Error']['Code']})"
    terminar(alvo, execucao)
    return "accepted"


@sonda("sfn.iam.machine_role")
def papel_da_maquina(alvo: Alvo) -> str:
    papel = alvo.papel("states", {"sqs:SendMessage": "*"})
    task = tarefa(alvo, {"do": "echo"}, Catch=[captura("States.ALL")])
    saida = executar(alvo, {"T": task, **PEGO}, papel=papel)["output"] or {}
    return "enforced" if "erro" in saida else "not enforced"


@sonda("sfn.logs.delivered")
def log_da_maquina(alvo: Alvo) -> str:
    logs, sfn = alvo.cliente("logs"), alvo.cliente("stepfunctions")
    grupo = f"/aws/vendedlogs/states/{alvo.nome_novo()}"
    logs.create_log_group(logGroupName=grupo)
    alvo.depois(logs.delete_log_group, logGroupName=grupo)
    entregas = [f"{verbo}LogDelivery" for verbo in ("Create", "Get", "Update", "Delete")]
    entregas += ["ListLogDeliveries", "PutResourcePolicy", "DescribeResourcePolicies", "DescribeLogGroups"]
    papel = alvo.papel("states", {f"logs:{acao}": "*" for acao in entregas})
    arn = f"arn:aws:logs:{alvo.regiao}:{alvo.conta}:log-group:{grupo}:*"
    destino: dict[str, Any] = {"destinations": [{"cloudWatchLogsLogGroup": {"logGroupArn": arn}}], "level": "ALL"}
    destino["includeExecutionData"] = True
    registro = maquina(alvo, {"P": {"Type": "Pass", "End": True}}, papel, loggingConfiguration=destino)
    terminar(alvo, sfn.start_execution(stateMachineArn=registro, name="uma")["executionArn"])
    try:
        esperar(lambda: logs.filter_log_events(logGroupName=grupo)["events"], 90 if alvo.endpoint is None else 15)
    except NaoAconteceuError:
        return "not delivered"
    return "delivered"
