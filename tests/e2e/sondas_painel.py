"""Probes of the panel's functions: the smallest use of each permission, on the deployed system."""

from __future__ import annotations

import json
import time

from permissoes import Desfecho, invocar, sonda
from ulid import ULID

from provas.base import Contexto
from provas.painel._apoio import ProvaDoPainel


class Bancada(ProvaDoPainel):
    """The panel proofs' own helpers, for tests."""

    numero = 0

    def executar(self) -> None:
        """Nothing: a test drives it."""


def bancada_do_painel(b) -> Bancada:
    """Helpers of the panel over another bench's target, cleaned up with it."""
    painel = Bancada(Contexto(b.alvo))
    b.ao_limpar("painel", painel.limpar)
    return painel


def registro_sintetico(pedido: str, loja: str) -> dict:
    """A SEPARADO → CANCELADO record of an order that only this test knows."""

    def imagem(status):
        return {"PK": {"S": f"PEDIDO#{pedido}"}, "status": {"S": status}, "loja_id": {"S": loja}}

    return {
        "eventName": "MODIFY",
        "dynamodb": {
            "ApproximateCreationDateTime": int(time.time()),
            "Keys": {"PK": {"S": f"PEDIDO#{pedido}"}, "SK": {"S": "METADADOS"}},
            "OldImage": imagem("SEPARADO"),
            "NewImage": imagem("CANCELADO"),
            "SequenceNumber": str(time.time_ns()),
        },
    }


@sonda("ConsumidorPedidos", "dynamodb:PutItem", "dynamodb:UpdateItem", "sns:Publish")
def consumir(b) -> Desfecho:
    painel = bancada_do_painel(b)
    pedido = f"sonda-{ULID()}"
    painel.ao_limpar("pedido", lambda: painel._apagar(pedido))
    falhou, resposta = invocar(b.alvo, "ConsumidorPedidos", {"Records": [registro_sintetico(pedido, painel.loja)]})
    return Desfecho(not falhou and resposta == {"batchItemFailures": []}, str(resposta)[:200])


@sonda(
    "ReprocessarDlq",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
    "sns:Publish",
    "sqs:DeleteMessage",
    "sqs:ReceiveMessage",
)
def reprocessar(b) -> Desfecho:
    painel = bancada_do_painel(b)
    pedido = cancelado_apos_separado(painel)
    registros = registros_do_stream(painel, pedido)
    esquecer_no_painel(painel, pedido)
    sqs, fila = b.alvo.cliente("sqs"), b.alvo.saida("dlq_url")
    painel.ao_limpar("fila de falhas", lambda: sqs.purge_queue(QueueUrl=fila))
    sqs.send_message(QueueUrl=fila, MessageBody=json.dumps(mensagem_de_falha(painel, registros)))
    falhou, resposta = invocar(b.alvo, "ReprocessarDlq", {})
    voltou = not falhou and resposta["resumo"].get("reprocessada", 0) >= 1 and len(painel.itens(pedido)) == 2
    return Desfecho(voltou, str(resposta)[:200])


@sonda(
    "ReconciliarPainel",
    "dynamodb:BatchGetItem",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Scan",
    "dynamodb:UpdateItem",
    "sns:Publish",
)
def reconciliar(b) -> Desfecho:
    painel = bancada_do_painel(b)
    pedido = com_lacuna(painel)
    falhou, resposta = invocar(b.alvo, "ReconciliarPainel", {"loja": painel.loja, "carenciaSegundos": 0})
    return Desfecho(not falhou and resposta.get("exemplos") == [pedido], str(resposta)[:200])


@sonda("PainelApi", "dynamodb:Query")
def listar(b) -> Desfecho:
    """The store's list asks both indexes, an order (here one that does not exist) the table."""
    url = f"{b.alvo.saida('url_api_painel')}/painel/lojas/SONDA/pedidos"
    vistos = [b.alvo.http.request("GET", endereco).status for endereco in (url, f"{url}/inexistente")]
    return Desfecho(vistos == [200, 404], str(vistos))


@sonda("PainelApi", "dynamodb:UpdateItem")
def reconhecer(b) -> Desfecho:
    painel = bancada_do_painel(b)
    pedido = cancelado_apos_separado(painel)
    base = f"{b.alvo.saida('url_api_painel')}/painel/lojas/{painel.loja}"
    ordem = "T" + painel.itens(pedido)[-1]["sequencia"]
    resposta = b.alvo.http.request("PUT", f"{base}/pedidos/{pedido}/reposicoes/{ordem}")
    return Desfecho(resposta.status == 200, str(resposta.status))


@sonda("PainelPolling", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query")
def consultar(b) -> Desfecho:
    falhou, resposta = invocar(b.alvo, "PainelPolling", {})
    return Desfecho(not falhou, str(resposta)[:200])


# --- what several tests need ----------------------------------------------------------------------------------------


def cancelado_apos_separado(painel: Bancada) -> str:
    """An order that went through SEPARADO → CANCELADO and is whole in the panel."""
    pedido = painel.criar_pedido()
    painel.mudar(pedido, "SEPARADO")
    painel.mudar(pedido, "CANCELADO")
    painel.esperar_ate(
        lambda: painel.itens(pedido),
        30,
        "alerta publicado",
        ate=lambda vistos: len(vistos) == 2 and "publicadoEm" in vistos[1],
    )
    return pedido


def esquecer_no_painel(painel: Bancada, pedido: str) -> None:
    """Take the order out of the panel, as if its records had been discarded."""
    tabela = painel.alvo.saida("tabela_painel_operacao")
    for item in (*painel.itens(pedido), *painel.itens(pedido, "ATUAL")):
        painel.alvo.cliente("dynamodb").delete_item(
            TableName=tabela, Key={"PK": {"S": item["PK"]}, "SK": {"S": item["SK"]}}
        )


def com_lacuna(painel: Bancada) -> str:
    """An order the panel last saw SEPARADO and the source shows CANCELADO."""
    pedido = cancelado_apos_separado(painel)
    separado, ultimo = painel.itens(pedido)
    cliente, tabela = painel.alvo.cliente("dynamodb"), painel.alvo.saida("tabela_painel_operacao")
    cliente.delete_item(TableName=tabela, Key={"PK": {"S": ultimo["PK"]}, "SK": {"S": ultimo["SK"]}})
    cliente.update_item(
        TableName=tabela,
        Key={"PK": {"S": ultimo["PK"]}, "SK": {"S": "ATUAL"}},
        UpdateExpression="SET #s = :separado, em = :em, sequencia = :sequencia",
        ExpressionAttributeNames={"#s": "status"},
        ExpressionAttributeValues={
            ":separado": {"S": "SEPARADO"},
            ":em": {"S": separado["em"]},
            ":sequencia": {"S": separado["sequencia"]},
        },
    )
    return pedido


def registros_do_stream(painel: Bancada, pedido: str) -> list[dict]:
    """The order's MODIFY records in the stream, oldest first."""
    streams, arn = painel.alvo.cliente("dynamodbstreams"), painel.alvo.saida("stream_arn")
    achados = []
    for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
        iterador = streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        for _ in range(60):
            pagina = streams.get_records(ShardIterator=iterador)
            achados += [
                {**r, "shard": shard["ShardId"]}
                for r in pagina["Records"]
                if r["eventName"] == "MODIFY" and r["dynamodb"]["Keys"]["PK"]["S"] == f"PEDIDO#{pedido}"
            ]
            iterador = pagina.get("NextShardIterator")
            if not iterador or len(achados) >= 2:
                break
    return achados


def mensagem_de_falha(painel: Bancada, registros: list[dict]) -> dict:
    """What the mapping sends to SQS about those records: metadata only."""
    em = registros[0]["dynamodb"]["ApproximateCreationDateTime"].strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "requestContext": {
            "requestId": "1",
            "functionArn": "arn:aws:lambda:sa-east-1:000000000000:function:ffv-lab-consumidor-pedidos",
            "condition": "RetryAttemptsExhausted",
            "approximateInvokeCount": 4,
        },
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "version": "1.0",
        "timestamp": em,
        "DDBStreamBatchInfo": {
            "shardId": registros[0]["shard"],
            "startSequenceNumber": registros[0]["dynamodb"]["SequenceNumber"],
            "endSequenceNumber": registros[-1]["dynamodb"]["SequenceNumber"],
            "approximateArrivalOfFirstRecord": em,
            "approximateArrivalOfLastRecord": em,
            "batchSize": len(registros),
            "streamArn": painel.alvo.saida("stream_arn"),
        },
    }
