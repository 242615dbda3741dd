"""Probes of the queue's API, its consumer and the synchronous design measured beside it."""

from __future__ import annotations

import hashlib
import json
import uuid

from permissoes import Desfecho, esfriar, invocar, mapeamento, sonda

from provas.base import Contexto
from provas.fila._apoio import ProvaDaFila

DA_FILA = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")


class _Fila(ProvaDaFila):
    """The queue's own helpers, cleaned up with the saga's."""

    numero = 0

    def executar(self):
        """Nothing: a probe drives it."""


def _da(b):
    fila = _Fila(Contexto(b.alvo))
    b.ao_limpar("fila", lambda: _limpar(fila))
    return fila


def _limpar(fila):
    problemas = fila.limpar()
    assert problemas == [], problemas


def _consumir(fila, pedido_id, **campos):
    """One message straight into the consumer: it works when nothing comes back."""
    registro = {
        "messageId": "m1",
        "receiptHandle": "r1",
        "body": fila.corpo(pedido_id, fila.criar_estoque(), **campos),
        "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "0", "SenderId": "s"},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:sa-east-1:000000000000:ffv-lab-fila-pedidos",
        "awsRegion": "sa-east-1",
    }
    falhou, resposta = invocar(fila.alvo, "ConsumidorFila", {"Records": [registro]})
    return Desfecho(not falhou and resposta == {"batchItemFailures": []}, str(resposta)[:200])


@sonda("ConsumidorFila", *DA_FILA)
def consumir_a_fila(b):
    return mapeamento(b.alvo, "ConsumidorFila", *DA_FILA)


@sonda("ConsumidorFila", "dynamodb:PutItem", recurso="pedidos-processados")
def marcar_em_andamento(b):
    fila = _da(b)
    return _consumir(fila, fila.novo_pedido_id())


@sonda("ConsumidorFila", "dynamodb:UpdateItem", recurso="pedidos-processados")
def marcar_concluido(b):
    fila = _da(b)
    return _consumir(fila, fila.novo_pedido_id())


@sonda("ConsumidorFila", "dynamodb:DeleteItem", recurso="pedidos-processados")
def soltar_depois_da_falha(b):
    """A message that fails leaves no IN_PROGRESS behind."""
    fila = _da(b)
    pedido_id = fila.novo_pedido_id()
    assert not _consumir(fila, pedido_id, lojaId="indisponivel").funcionou
    return Desfecho(fila.processado(pedido_id) == "ausente", fila.processado(pedido_id))


@sonda("ConsumidorFila", "dynamodb:PutItem", recurso="efeitos")
def registrar_efeito(b):
    fila = _da(b)
    return _consumir(fila, fila.novo_pedido_id())


@sonda("ConsumidorFila", "dynamodb:UpdateItem", recurso="efeitos")
def concluir_efeito(b):
    fila = _da(b)
    return _consumir(fila, fila.novo_pedido_id())


@sonda("ConsumidorFila", "dynamodb:UpdateItem", recurso="fila-estoque")
def debitar(b):
    fila = _da(b)
    return _consumir(fila, fila.novo_pedido_id())


@sonda("ConsumidorFila", "ssm:GetParameter")
def ler_a_chave_do_gateway(b):
    esfriar(b.alvo, "ConsumidorFila")
    fila = _da(b)
    return _consumir(fila, fila.novo_pedido_id())


def _postar(fila, chave=None):
    """POST an order of an item that does not exist: accepted, and refused later without a charge."""
    status, corpo = fila.postar("SONDA-INEXISTENTE", **({"Idempotency-Key": chave} if chave else {}))
    if status == 202:
        fila.adotar_pedido(corpo["pedidoId"])
    if chave:
        item = {"chave": {"S": f"POST /api/pedidos#{hashlib.sha256(chave.encode()).hexdigest()}"}}
        tabela = fila.alvo.saida("tabelas_fila")["idempotencia_api"]
        fila.ao_limpar("chave", lambda: fila.alvo.cliente("dynamodb").delete_item(TableName=tabela, Key=item))
    return Desfecho(status == 202, str(status))


@sonda("ApiPedidosFila", "sqs:SendMessage")
def publicar(b):
    return _postar(_da(b))


@sonda("ApiPedidosFila", "dynamodb:PutItem")
def reivindicar_chave(b):
    return _postar(_da(b), uuid.uuid4().hex)


@sonda("ApiPedidosFila", "dynamodb:UpdateItem")
def guardar_a_resposta(b):
    """Without the stored answer, a repeat finds the claim still held (409)."""
    fila, chave = _da(b), uuid.uuid4().hex
    assert _postar(fila, chave).funcionou
    return _postar(fila, chave)


@sonda("ApiPedidosFila", "dynamodb:GetItem")
def ler_efeito(b):
    resposta = b.alvo.http.request("GET", f"{b.alvo.saida('url_api_fila')}/{uuid.uuid4()}")
    return Desfecho(resposta.status == 404, str(resposta.status))


def _sincrono(b):
    fila = _da(b)
    corpo = {"itemId": fila.criar_estoque(), "quantidade": 1, "valorCentavos": 100, "lojaId": "loja-sonda"}
    resposta = b.alvo.http.request("POST", str(b.alvo.saida("url_sincrono_fila")), json=corpo)
    if resposta.status == 201:
        fila.adotar_pedido(json.loads(resposta.data)["pedidoId"])
    return Desfecho(resposta.status == 201, str(resposta.status))


@sonda("PedidoSincronoFila", "dynamodb:PutItem")
def sincrono_gravar(b):
    return _sincrono(b)


@sonda("PedidoSincronoFila", "dynamodb:UpdateItem", recurso="efeitos")
def sincrono_concluir(b):
    return _sincrono(b)


@sonda("PedidoSincronoFila", "dynamodb:UpdateItem", recurso="fila-estoque")
def sincrono_debitar(b):
    return _sincrono(b)


@sonda("PedidoSincronoFila", "ssm:GetParameter")
def sincrono_ler_chave(b):
    esfriar(b.alvo, "PedidoSincronoFila")
    return _sincrono(b)
