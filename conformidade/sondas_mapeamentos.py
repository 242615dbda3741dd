"""Probes of event source mappings: what SQS and DynamoDB Streams send to a function, what comes back when it fails."""

from __future__ import annotations

import json
import time
from typing import Any

from conformidade.alvo import Alvo, NaoAconteceuError, esperar
from conformidade.registro import sonda

LER_FILA = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ChangeMessageVisibility")
LER_STREAM = ("dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams")


def consumidor(
    alvo: Alvo, nome: str, relato: str, ler: tuple[str, ...], *, mais: tuple[str, ...] = ()
) -> tuple[str, str]:
    """(function, diary table): a consumer that notes deliveries under ``nome`` and reports failures by ``relato``."""
    diario, arn_diario = alvo.tabela()
    acoes: dict[str, Any] = {"dynamodb:PutItem": arn_diario, **dict.fromkeys((*ler, *mais), "*")}
    variaveis = {"SONDA": nome, "DIARIO": diario, "RELATO": relato}
    return alvo.funcao(acoes, timeout_s=5, variaveis=variaveis), diario


def enviar(alvo: Alvo, url: str, *corpos: dict[str, Any]) -> None:
    entradas = [{"Id": str(i), "MessageBody": json.dumps(corpo)} for i, corpo in enumerate(corpos)]
    alvo.cliente("sqs").send_message_batch(QueueUrl=url, Entries=entradas)


def escrever(alvo: Alvo, tabela: str, chave: str, nome: str, ruim: bool = False) -> None:
    item = {"pk": {"S": chave}, "sk": {"S": "x"}, "nome": {"S": nome}, "ruim": {"BOOL": ruim}}
    alvo.cliente("dynamodb").put_item(TableName=tabela, Item=item)


def sossegar(alvo: Alvo, diario: str, nome: str, quieto_s: float = 6, limite_s: float = 90) -> list[list[str]]:
    """The deliveries once there is at least one and no other came for ``quieto_s`` seconds."""
    vistas: list[list[str]] = []
    mudou = time.monotonic()

    def parou() -> bool:
        nonlocal vistas, mudou
        atuais = alvo.diario(diario, nome)
        if len(atuais) != len(vistas):
            vistas, mudou = atuais, time.monotonic()
        return bool(vistas) and time.monotonic() - mudou > quieto_s

    esperar(parou, limite_s, 1)
    return vistas


# --- SQS -----------------------------------------------------------------------------------------------------------
@sonda("sqs_mapping.partial_batch")
def sqs_parcial(alvo: Alvo) -> str:
    url, arn = alvo.fila(VisibilityTimeout="6")
    funcao, diario = consumidor(alvo, "sqs", "parcial", LER_FILA)
    enviar(alvo, url, {"nome": "a"}, {"nome": "b", "ruim": True}, {"nome": "c"})
    alvo.mapeamento(
        arn, funcao, BatchSize=10, MaximumBatchingWindowInSeconds=1, FunctionResponseTypes=["ReportBatchItemFailures"]
    )
    esperar(lambda: sum(n.count("b") for n in alvo.diario(diario, "sqs")) >= 2, 90, 1)
    nomes = [nome for entrega in alvo.diario(diario, "sqs") for nome in entrega]
    return "only the failed message returns" if nomes.count("a") == nomes.count("c") == 1 else "all messages return"


@sonda("sqs_mapping.redrive_to_dlq")
def sqs_dlq(alvo: Alvo) -> str:
    url_dlq, arn_dlq = alvo.fila()
    redrive = json.dumps({"deadLetterTargetArn": arn_dlq, "maxReceiveCount": 2})
    url, arn = alvo.fila(VisibilityTimeout="5", RedrivePolicy=redrive)
    funcao, diario = consumidor(alvo, "dlq", "parcial", LER_FILA)
    enviar(alvo, url, {"nome": "a"}, {"nome": "b", "ruim": True})
    alvo.mapeamento(arn, funcao, BatchSize=10, FunctionResponseTypes=["ReportBatchItemFailures"])
    mensagem = alvo.receber(url_dlq, 90)
    vezes = sum(n.count("b") for n in alvo.diario(diario, "dlq"))
    return f"in the DLQ after {vezes} receives" if mensagem["nome"] == "b" else "another message in the DLQ"


@sonda("sqs_mapping.filter")
def sqs_filtro(alvo: Alvo) -> str:
    url, arn = alvo.fila(VisibilityTimeout="6")
    funcao, diario = consumidor(alvo, "filtro", "parcial", LER_FILA)
    filtro = {"Filters": [{"Pattern": json.dumps({"body": {"nome": ["sim"]}})}]}
    alvo.mapeamento(arn, funcao, BatchSize=10, FilterCriteria=filtro)
    enviar(alvo, url, {"nome": "nao"})
    time.sleep(1)
    enviar(alvo, url, {"nome": "sim"})
    nomes = [nome for entrega in sossegar(alvo, diario, "filtro", 8) for nome in entrega]
    return "drops what does not match" if nomes == ["sim"] else f"delivered {sorted(set(nomes))}"


# --- DynamoDB Streams ----------------------------------------------------------------------------------------------
def _stream(alvo: Alvo, nome: str, relato: str, registros: str = "", **opcoes: Any) -> tuple[str, str, str]:
    """(source table, diary, DLQ URL) of a mapping from the stream's beginning, whose on-failure destination is a queue.

    ``registros`` are written before the mapping exists, one item a letter and in capitals when bad: they come together.
    """
    tabela, stream = alvo.tabela(stream=True)
    for letra in registros:
        escrever(alvo, tabela, "k", letra.lower(), letra.isupper())
    url_dlq, arn_dlq = alvo.fila()
    funcao, diario = consumidor(alvo, nome, relato, LER_STREAM, mais=("sqs:SendMessage",))
    if relato == "parcial":
        opcoes["FunctionResponseTypes"] = ["ReportBatchItemFailures"]
    opcoes.setdefault("DestinationConfig", {"OnFailure": {"Destination": arn_dlq}})
    alvo.mapeamento(stream, funcao, StartingPosition="TRIM_HORIZON", BatchSize=100, **opcoes)
    return tabela, diario, url_dlq


@sonda("stream_mapping.partial_batch")
def stream_parcial(alvo: Alvo) -> str:
    _, diario, _ = _stream(alvo, "s", "parcial", "aBc", MaximumRetryAttempts=1)
    entregas = sossegar(alvo, diario, "s")
    if entregas[0] != ["a", "b", "c"]:
        return f"first delivery was {entregas[0]}"
    if len(entregas) == 1:
        return "the failed record does not come back"
    return "comes back from the lowest failed record" if entregas[1][0] == "b" else f"comes back as {entregas[1]}"


@sonda("stream_mapping.attempts_then_destination")
def stream_tentativas(alvo: Alvo) -> str:
    tabela, diario, dlq = _stream(alvo, "t", "parcial", MaximumRetryAttempts=2)
    escrever(alvo, tabela, "k", "b", True)
    try:
        alvo.receber(dlq, 60)
    except NaoAconteceuError:
        return "nothing at the destination"
    return (
        f"destination after {sum(n.count('b') for n in alvo.diario(diario, 't'))} attempts for MaximumRetryAttempts 2"
    )


@sonda("stream_mapping.destination_is_metadata")
def stream_metadados(alvo: Alvo) -> str:
    tabela, _, dlq = _stream(alvo, "m", "parcial", MaximumRetryAttempts=0)
    escrever(alvo, tabela, "k", "segredo", True)
    try:
        mensagem = alvo.receber(dlq, 60)
    except NaoAconteceuError:
        return "nothing at the destination"
    lote = mensagem.get("DDBStreamBatchInfo", {})
    if "segredo" in json.dumps(mensagem):
        return "carries the records"
    campos = {"shardId", "startSequenceNumber", "endSequenceNumber", "streamArn", "batchSize"}
    return "shard and sequence range only" if campos <= lote.keys() else f"fields {sorted(lote)}"


@sonda("stream_mapping.others_go_on")
def stream_outros(alvo: Alvo) -> str:
    tabela, diario, dlq = _stream(alvo, "o", "parcial", MaximumRetryAttempts=1)
    escrever(alvo, tabela, "k", "ruim", True)
    escrever(alvo, tabela, "k2", "boa")
    try:
        alvo.receber(dlq, 60)
        esperar(lambda: any("boa" in n for n in alvo.diario(diario, "o")), 60, 1)
    except NaoAconteceuError:
        return "blocked, or nothing at the destination"
    return "the shard goes on after the attempts"


@sonda("stream_mapping.bisect")
def stream_bisect(alvo: Alvo) -> str:
    opcoes: dict[str, Any] = {"MaximumRetryAttempts": 6, "BisectBatchOnFunctionError": True}
    _, diario, dlq = _stream(alvo, "b", "excecao", "abCd", **opcoes)
    try:
        mensagem = alvo.receber(dlq, 90)
    except NaoAconteceuError:
        return "nothing at the destination"
    menor = min(len(entrega) for entrega in alvo.diario(diario, "b"))
    tamanho = mensagem.get("DDBStreamBatchInfo", {}).get("batchSize")
    return "the batch is split down to the bad record" if menor == tamanho == 1 else f"not split (sent {tamanho})"


@sonda("stream_mapping.filter")
def stream_filtro(alvo: Alvo) -> str:
    filtro = {"Filters": [{"Pattern": json.dumps({"eventName": ["MODIFY"]})}]}
    tabela, diario, _ = _stream(alvo, "f", "parcial", FilterCriteria=filtro)
    escrever(alvo, tabela, "k", "inserida")
    escrever(alvo, tabela, "k", "modificada")
    nomes = [nome for entrega in sossegar(alvo, diario, "f") for nome in entrega]
    return "drops what does not match" if nomes == ["modificada"] else f"delivered {nomes}"


@sonda("stream.no_record_for_no_change")
def stream_sem_mudanca(alvo: Alvo) -> str:
    tabela, diario, _ = _stream(alvo, "n", "parcial")
    for nome in ("a", "a", "b"):
        escrever(alvo, tabela, "k", nome)
    nomes = [nome for entrega in sossegar(alvo, diario, "n") for nome in entrega]
    return {"ab": "no record", "aab": "a record"}.get("".join(nomes), f"delivered {nomes}")


@sonda("stream.creation_time")
def stream_instante(alvo: Alvo) -> str:
    tabela, diario, _ = _stream(alvo, "i", "parcial")
    esperar(lambda: 10 < time.time() % 60 < 50, 30, 1)  # a minute's first seconds are also near its beginning
    escrito = time.time()
    escrever(alvo, tabela, "k", "a")
    sossegar(alvo, diario, "i", 1)
    (item,) = alvo.cliente("dynamodb").query(
        TableName=diario, KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": "i"}}
    )["Items"]
    erro_s = escrito - float(item["em"]["S"])
    return "within two seconds" if abs(erro_s) <= 2 else "rounded to the minute" if erro_s < 60 else "unrelated"


@sonda("stream.order_within_key")
def stream_ordem(alvo: Alvo) -> str:
    tabela, diario, _ = _stream(alvo, "q", "parcial")
    esperados = [str(n) for n in range(20)]
    for nome in esperados:
        escrever(alvo, tabela, "k", nome)
    nomes = [nome for entrega in sossegar(alvo, diario, "q") for nome in entrega]
    return "as written" if nomes == esperados else "not as written"
