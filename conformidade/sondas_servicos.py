"""Probes of IAM, metrics and alarms, queues, tables, topics and the services the design starts from."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from conformidade.alvo import Alvo, NaoAconteceuError, esperar
from conformidade.registro import sonda

ESPACO = "Conformidade"


def codigo(erro: ClientError) -> str:
    return str(erro.response["Error"]["Code"])


# --- Lambda --------------------------------------------------------------------------------------------------------
@sonda("iam.function_role")
def papel_da_funcao(alvo: Alvo) -> str:
    tabela, _ = alvo.tabela()
    pedido = json.dumps({"do": "put", "table": tabela}).encode()
    resposta = alvo.cliente("lambda").invoke(FunctionName=alvo.funcao_comum, Payload=pedido)
    corpo = json.loads(resposta["Payload"].read())
    if not resposta.get("FunctionError"):
        return "not enforced"
    return "enforced" if "AccessDenied" in json.dumps(corpo) else f"failed with {corpo.get('errorType')}"


@sonda("lambda.error_metric")
def metrica_de_erro(alvo: Alvo) -> str:
    alvo.cliente("lambda").invoke(FunctionName=alvo.funcao_comum, Payload=b'{"do": "raise", "name": "XError"}')
    return _publicada(alvo, "AWS/Lambda", "Errors", {"FunctionName": alvo.funcao_comum})


@sonda("lambda.emf")
def emf(alvo: Alvo) -> str:
    diretiva = {"Namespace": ESPACO, "Dimensions": [["Sonda"]], "Metrics": [{"Name": "Emf", "Unit": "Count"}]}
    agora = int(time.time() * 1000)
    nome = alvo.nome_novo()
    linha = {"_aws": {"Timestamp": agora, "CloudWatchMetrics": [diretiva]}, "Sonda": nome, "Emf": 1}
    pedido = {"do": "emf", "line": json.dumps(linha)}
    alvo.cliente("lambda").invoke(FunctionName=alvo.funcao_comum, Payload=json.dumps(pedido).encode())
    return _publicada(alvo, ESPACO, "Emf", {"Sonda": nome})


# --- metrics and alarms --------------------------------------------------------------------------------------------
def _publicada(alvo: Alvo, espaco: str, metrica: str, dimensoes: dict[str, str], limite_s: float | None = None) -> str:
    cloudwatch = alvo.cliente("cloudwatch")

    def ler() -> list[Any]:
        agora = datetime.now(UTC)
        dados: list[Any] = cloudwatch.get_metric_statistics(
            Namespace=espaco,
            MetricName=metrica,
            Dimensions=[{"Name": n, "Value": v} for n, v in dimensoes.items()],
            StartTime=agora - timedelta(minutes=10),
            EndTime=agora + timedelta(minutes=1),
            Period=60,
            Statistics=["Maximum"],
        )["Datapoints"]
        return dados

    try:
        esperar(ler, limite_s or (25 if alvo.endpoint else 300), 2)
    except NaoAconteceuError:
        return "not published"
    return "published"


def alarme(alvo: Alvo, **definicao: Any) -> str:
    """An alarm that goes to ALARM above 0, over one period of 60 s; returns its name."""
    cloudwatch = alvo.cliente("cloudwatch")
    nome = alvo.nome_novo()
    comum = {"Period": 60, "Statistic": "Maximum", "EvaluationPeriods": 1, "Threshold": 0.0}
    comum |= {"ComparisonOperator": "GreaterThanThreshold", "TreatMissingData": "notBreaching"}
    argumentos = {k: v for k, v in (comum | definicao).items() if v is not None}
    cloudwatch.put_metric_alarm(AlarmName=nome, **argumentos)
    alvo.depois(cloudwatch.delete_alarms, AlarmNames=[nome])
    return nome


def estado(alvo: Alvo, nome: str) -> str:
    resposta = alvo.cliente("cloudwatch").describe_alarms(
        AlarmNames=[nome], AlarmTypes=["MetricAlarm", "CompositeAlarm"]
    )
    alarmes = resposta["MetricAlarms"] + resposta["CompositeAlarms"]
    return str(alarmes[0]["StateValue"]) if alarmes else "absent"


def dispara(alvo: Alvo, nome: str, limite_s: float | None = None) -> bool:
    try:
        esperar(lambda: estado(alvo, nome) == "ALARM", limite_s or (90 if alvo.endpoint else 400), 2)
    except NaoAconteceuError:
        return False
    return True


def publicar(alvo: Alvo, metrica: str, valor: float, **dimensoes: str) -> None:
    dados = {
        "MetricName": metrica,
        "Value": valor,
        "Dimensions": [{"Name": n, "Value": v} for n, v in dimensoes.items()],
    }
    alvo.cliente("cloudwatch").put_metric_data(Namespace=ESPACO, MetricData=[dados])


@sonda("alarm.on_queue_metric")
def alarme_fila(alvo: Alvo) -> str:
    url, _ = alvo.fila()
    nome = alarme(
        alvo,
        Namespace="AWS/SQS",
        MetricName="ApproximateNumberOfMessagesVisible",
        Dimensions=[{"Name": "QueueName", "Value": url.rsplit("/", 1)[1]}],
    )
    alvo.cliente("sqs").send_message(QueueUrl=url, MessageBody="x")
    return "ALARM" if dispara(alvo, nome, None if alvo.endpoint else 1200) else "never fires"


@sonda("alarm.dimensions")
def alarme_dimensoes(alvo: Alvo) -> str:
    metrica = alvo.nome_novo()
    certo, outro = (
        alarme(alvo, Namespace=ESPACO, MetricName=metrica, Dimensions=[{"Name": "Fila", "Value": v}])
        for v in ("a", "b")
    )
    publicar(alvo, metrica, 5, Fila="a")
    publicar(alvo, metrica, 0, Fila="b")
    if not dispara(alvo, certo):
        return "never fires"
    time.sleep(20)
    return "fires for its own dimensions only" if estado(alvo, outro) != "ALARM" else "fires for another's data"


@sonda("alarm.action_to_topic")
def alarme_topico(alvo: Alvo) -> str:
    sns = alvo.cliente("sns")
    topico = sns.create_topic(Name=alvo.nome_novo())["TopicArn"]
    alvo.depois(sns.delete_topic, TopicArn=topico)
    url, arn = alvo.fila()
    _permitir(alvo, url, arn, topico)
    sns.subscribe(TopicArn=topico, Protocol="sqs", Endpoint=arn)
    metrica = alvo.nome_novo()
    nome = alarme(alvo, Namespace=ESPACO, MetricName=metrica, AlarmActions=[topico])
    publicar(alvo, metrica, 1)
    try:
        aviso = json.loads(alvo.receber(url, 90 if alvo.endpoint else 400)["Message"])
    except NaoAconteceuError:
        return "nothing arrives"
    certo = aviso["AlarmName"] == nome and aviso["NewStateValue"] == "ALARM"
    return "the notification arrives" if certo else "another notification arrives"


@sonda("alarm.percentile")
def alarme_percentil(alvo: Alvo) -> str:
    metrica = alvo.nome_novo()
    nome = alarme(alvo, Namespace=ESPACO, MetricName=metrica, Statistic=None, ExtendedStatistic="p99")
    for _ in range(3):
        publicar(alvo, metrica, 5)
    return "ALARM" if dispara(alvo, nome) else "never fires"


@sonda("alarm.metric_math")
def alarme_expressao(alvo: Alvo) -> str:
    metrica = alvo.nome_novo()
    serie = {"Metric": {"Namespace": ESPACO, "MetricName": metrica}, "Period": 60, "Stat": "Maximum"}
    consultas = [
        {"Id": "m1", "MetricStat": serie, "ReturnData": False},
        {"Id": "e1", "Expression": "m1 * 2", "ReturnData": True},
    ]
    try:
        nome = alarme(alvo, Metrics=consultas, Period=None, Statistic=None)
        publicar(alvo, metrica, 5)
    except ClientError as erro:
        return f"refused ({codigo(erro)})"
    return "ALARM" if dispara(alvo, nome) else "never fires"


@sonda("sfn.metrics")
def metricas_da_maquina(alvo: Alvo) -> str:
    from conformidade.sondas_sfn import maquina, terminar

    sfn = alvo.cliente("stepfunctions")
    arn = maquina(alvo, {"F": {"Type": "Fail", "Error": "X"}})
    terminar(alvo, sfn.start_execution(stateMachineArn=arn, name="uma")["executionArn"])
    return _publicada(alvo, "AWS/States", "ExecutionsFailed", {"StateMachineArn": arn})


# --- queues and topics ---------------------------------------------------------------------------------------------
def _permitir(alvo: Alvo, url: str, arn: str, topico: str) -> None:
    declaracao = {"Effect": "Allow", "Principal": {"Service": "sns.amazonaws.com"}, "Action": "sqs:SendMessage"}
    declaracao |= {"Resource": arn, "Condition": {"ArnEquals": {"aws:SourceArn": topico}}}
    politica = json.dumps({"Version": "2012-10-17", "Statement": [declaracao]})
    alvo.cliente("sqs").set_queue_attributes(QueueUrl=url, Attributes={"Policy": politica})


@sonda("sns.queue_policy")
def politica_da_fila(alvo: Alvo) -> str:
    sns = alvo.cliente("sns")
    topico = sns.create_topic(Name=alvo.nome_novo())["TopicArn"]
    alvo.depois(sns.delete_topic, TopicArn=topico)
    (aberta, arn_aberta), (fechada, arn_fechada) = alvo.fila(), alvo.fila()
    _permitir(alvo, aberta, arn_aberta, topico)
    for arn in (arn_aberta, arn_fechada):
        sns.subscribe(TopicArn=topico, Protocol="sqs", Endpoint=arn)
    sns.publish(TopicArn=topico, Message="{}")
    try:
        alvo.receber(aberta, 60)
    except NaoAconteceuError:
        return "not delivered even with the policy"
    try:
        alvo.receber(fechada, 5)
    except NaoAconteceuError:
        return "delivered only where the policy allows"
    return "delivered without a policy"


@sonda("sqs.limit.message_1mib")
def limite_mensagem(alvo: Alvo) -> str:
    url, _ = alvo.fila()
    sqs = alvo.cliente("sqs")
    try:
        sqs.send_message(QueueUrl=url, MessageBody="x" * 1_000_000)
    except ClientError as erro:
        return f"1,000,000 bytes refused ({codigo(erro)})"
    try:
        sqs.send_message(QueueUrl=url, MessageBody="x" * 1_048_577)
    except ClientError as erro:
        return "1 MiB accepted, more refused" if "InvalidParameter" in codigo(erro) else codigo(erro)
    return "more than 1 MiB accepted"


@sonda("sqs.redrive_allow_policy")
def permissao_de_dlq(alvo: Alvo) -> str:
    permite = json.dumps({"redrivePermission": "denyAll"})
    _, arn_dlq = alvo.fila(RedriveAllowPolicy=permite)
    redrive = json.dumps({"deadLetterTargetArn": arn_dlq, "maxReceiveCount": 2})
    try:
        alvo.fila(RedrivePolicy=redrive)
    except ClientError:
        return "another source is refused"
    return "not enforced"


# --- tables --------------------------------------------------------------------------------------------------------
@sonda("dynamodb.all_old_on_condition")
def item_na_condicao(alvo: Alvo) -> str:
    tabela, _ = alvo.tabela()
    ddb = alvo.cliente("dynamodb")
    item = {"pk": {"S": "a"}, "sk": {"S": "a"}, "saldo": {"N": "3"}}
    ddb.put_item(TableName=tabela, Item=item)
    try:
        ddb.update_item(
            TableName=tabela,
            Key={"pk": {"S": "a"}, "sk": {"S": "a"}},
            UpdateExpression="SET saldo = saldo - :q",
            ConditionExpression="saldo >= :q",
            ExpressionAttributeValues={":q": {"N": "5"}},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except ClientError as erro:
        return "the item comes with the error" if erro.response.get("Item") == item else f"{codigo(erro)} without item"
    return "no error"


@sonda("dynamodb.update_absent_map")
def mapa_ausente(alvo: Alvo) -> str:
    tabela, _ = alvo.tabela()
    ddb = alvo.cliente("dynamodb")
    chave = {"pk": {"S": "a"}, "sk": {"S": "a"}}
    ddb.put_item(TableName=tabela, Item=chave)
    try:
        ddb.update_item(
            TableName=tabela,
            Key=chave,
            UpdateExpression="SET reservas.#p = :q",
            ExpressionAttributeNames={"#p": "pedido"},
            ExpressionAttributeValues={":q": {"N": "1"}},
        )
    except ClientError as erro:
        return codigo(erro)
    return "accepted"


@sonda("dynamodb.limit.item_400k")
def limite_item(alvo: Alvo) -> str:
    tabela, _ = alvo.tabela()
    try:
        alvo.cliente("dynamodb").put_item(
            TableName=tabela, Item={"pk": {"S": "a"}, "sk": {"S": "a"}, "x": {"S": "x" * 410_000}}
        )
    except ClientError as erro:
        return codigo(erro)
    return "accepted"


@sonda("dynamodb.ttl")
def ttl(alvo: Alvo) -> str:
    """That it can be switched on. When items go is up to AWS (days): nothing may depend on it."""
    tabela, _ = alvo.tabela()
    ddb = alvo.cliente("dynamodb")
    ddb.update_time_to_live(TableName=tabela, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expiraEm"})
    situacao = ddb.describe_time_to_live(TableName=tabela)["TimeToLiveDescription"]
    ligado = situacao["TimeToLiveStatus"] in ("ENABLED", "ENABLING") and situacao["AttributeName"] == "expiraEm"
    return "can be switched on" if ligado else str(situacao["TimeToLiveStatus"])


# --- what the design starts from -----------------------------------------------------------------------------------
@sonda("ssm.secure_string")
def parametro(alvo: Alvo) -> str:
    ssm = alvo.cliente("ssm")
    nome = f"/{alvo.nome_novo()}"
    ssm.put_parameter(Name=nome, Value="valor", Type="SecureString")
    alvo.depois(ssm.delete_parameter, Name=nome)
    cifrado = ssm.get_parameter(Name=nome)["Parameter"]["Value"]
    claro = ssm.get_parameter(Name=nome, WithDecryption=True)["Parameter"]["Value"]
    if claro != "valor":
        return "not readable"
    return "readable only with decryption" if cifrado != "valor" else "readable without decryption"


@sonda("http_api.exists")
def http_api(alvo: Alvo) -> str:
    api = alvo.cliente("apigatewayv2")
    try:
        criada = api.create_api(Name=alvo.nome_novo(), ProtocolType="HTTP")["ApiId"]
    except (ClientError, BotoCoreError):
        return "absent"
    alvo.depois(api.delete_api, ApiId=criada)
    return "present"


@sonda("scheduler.invokes")
def agenda(alvo: Alvo) -> str:
    url, arn = alvo.fila()
    agendador = alvo.cliente("scheduler")
    papel = alvo.papel("scheduler", {"sqs:SendMessage": arn})
    nome = alvo.nome_novo()
    em = datetime.now(UTC) + timedelta(seconds=30 if alvo.endpoint else 90)
    try:
        agendador.create_schedule(
            Name=nome,
            ScheduleExpression=f"at({em:%Y-%m-%dT%H:%M:%S})",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={"Arn": arn, "RoleArn": papel, "Input": '{"veio": true}'},
        )
    except (ClientError, BotoCoreError):
        return "absent"
    alvo.depois(agendador.delete_schedule, Name=nome)
    try:
        alvo.receber(url, 75 if alvo.endpoint else 240)
    except NaoAconteceuError:
        return "accepted, never invokes"
    return "invokes its target"
