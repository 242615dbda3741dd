"""Probes of the saga's functions, its gateway stand-in and the synchronous design."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager

from permissoes import Desfecho, esfriar, invocar, mapeamento, passo, sonda
from ulid import ULID

DA_FILA = ("sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")


def _postar(b, chave=None):
    """POST an order nobody can fulfil (its product does not exist: a short saga)."""
    corpo = {"sku": f"SONDA-{ULID()}", "quantidade": 1, "valorCentavos": 100, "cartaoToken": "tok-ok"}
    return _enviar(b, corpo, chave)


def _enviar(b, corpo, chave):
    url = str(b.alvo.saida("url_api")).rstrip("/")
    r = b.alvo.http.request("POST", f"{url}/pedidos", json=corpo, headers={"Idempotency-Key": chave} if chave else {})
    if r.status == 202:
        pedido_id = json.loads(r.data)["pedidoId"]
        if pedido_id not in b.pedidos_desenhados:
            b.adotar_pedido(pedido_id)
    if chave:
        item = {"chave": {"S": f"POST /pedidos#{hashlib.sha256(chave.encode()).hexdigest()}"}}
        tabela = b.alvo.variavel("CriarPedido", "TABELA_IDEMPOTENCIA")
        b.ao_limpar("chave", lambda: b.alvo.cliente("dynamodb").delete_item(TableName=tabela, Key=item))
    return r


def _mensagem(b, pedido_id):
    return {
        "Records": [
            {
                "messageId": "m1",
                "receiptHandle": "r1",
                "body": b.entrada(pedido_id, f"SONDA-{ULID()}"),
                "attributes": {},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:sa-east-1:000000000000:cesta-pedidos-criados",
                "awsRegion": "sa-east-1",
            }
        ]
    }


def _iniciar(b, mensagem):
    falhou, resposta = invocar(b.alvo, "IniciarSaga", mensagem)
    return Desfecho(not falhou and resposta == {"batchItemFailures": []}, str(resposta)[:200])


def _gateway(b, metodo, caminho, **mais):
    url = str(b.alvo.saida("url_gateway_simulado")).rstrip("/")
    cabecalhos = {"X-Api-Key": b.livro.chave_de_api(), **mais.pop("headers", {})}
    return b.alvo.http.request(metodo, f"{url}{caminho}", headers=cabecalhos, **mais)


def _cobrar(b, cartao="tok-ok"):
    pedido_id = b.novo_pedido_id()
    return _gateway(
        b,
        "POST",
        "/cobrancas",
        headers={"Idempotency-Key": f"cesta-cobranca-{pedido_id}"},
        json={"valorCentavos": 100, "cartaoToken": cartao, "referencia": pedido_id},
    )


def _estado(b, **mais):
    return {**json.loads(b.entrada(b.novo_pedido_id(), b.criar_estoque())), **mais}


# --- pedidos ---------------------------------------------------------------------


@sonda("CriarPedido", "sqs:SendMessage")
def publicar(b):
    r = _postar(b)
    return Desfecho(r.status == 202, str(r.status))


@sonda("CriarPedido", "dynamodb:PutItem")
def reivindicar_chave(b):
    r = _postar(b, str(ULID()))
    return Desfecho(r.status == 202, str(r.status))


@sonda("CriarPedido", "dynamodb:UpdateItem")
def repetir_a_resposta(b):
    """The stored answer is what a repeat gets; without it the repeat is told that the first is still in flight."""
    chave = str(ULID())
    corpo = {"sku": f"SONDA-{ULID()}", "quantidade": 1, "valorCentavos": 100, "cartaoToken": "tok-ok"}
    primeira, segunda = _enviar(b, corpo, chave), _enviar(b, corpo, chave)
    return Desfecho((primeira.status, segunda.status) == (202, 202), f"{primeira.status}, {segunda.status}")


@sonda("ConsultarPedido", "dynamodb:GetItem")
def consultar(b):
    """An order that does not exist is a 404 only when the table could be read."""
    url = str(b.alvo.saida("url_api")).rstrip("/")
    r = b.alvo.http.request("GET", f"{url}/pedidos/{ULID()}")
    return Desfecho(r.status == 404, str(r.status))


@sonda("IniciarSaga", *DA_FILA)
def consumir_a_fila(b):
    return mapeamento(b.alvo, "IniciarSaga", *DA_FILA)


@sonda("IniciarSaga", "dynamodb:PutItem")
def registrar_recebido(b):
    return _iniciar(b, _mensagem(b, b.novo_pedido_id()))


@sonda("IniciarSaga", "states:StartExecution")
def iniciar_execucao(b):
    return _iniciar(b, _mensagem(b, b.novo_pedido_id()))


@sonda("IniciarSaga", "states:DescribeExecution")
def comparar_com_a_execucao(b):
    """The second time, the execution of that name is read and compared."""
    pedido_id = b.novo_pedido_id()
    mensagem = _mensagem(b, pedido_id)
    primeira = _iniciar(b, mensagem)
    assert primeira.funcionou, primeira
    b.esperar_execucao(pedido_id)
    return _iniciar(b, mensagem)


@sonda("ConfirmarPedido", "dynamodb:UpdateItem")
def confirmar(b):
    estado = _estado(b)
    b.alvo.cliente("dynamodb").put_item(
        TableName=b.alvo.saida("tabela_pedidos"),
        Item={
            "pedidoId": {"S": estado["pedidoId"]},
            "status": {"S": "RESERVADO"},
            "sku": {"S": estado["sku"]},
            "quantidade": {"N": str(estado["quantidade"])},
            "valorCentavos": {"N": str(estado["valorCentavos"])},
            "criadoEm": {"S": estado["criadoEm"]},
            "historico": {"L": []},
        },
    )
    return passo(b.alvo, "ConfirmarPedido", estado)


# --- estoque ---------------------------------------------------------------------


@sonda("ReservarEstoque", "dynamodb:UpdateItem")
def reservar(b):
    return passo(b.alvo, "ReservarEstoque", _estado(b))


@sonda("LiberarEstoque", "dynamodb:UpdateItem")
def liberar(b):
    return passo(b.alvo, "LiberarEstoque", _estado(b))


# --- pagamentos ------------------------------------------------------------------


@sonda("CobrarPagamento", "ssm:GetParameter")
def cobrar(b):
    esfriar(b.alvo, "CobrarPagamento")
    return passo(b.alvo, "CobrarPagamento", _estado(b))


@sonda("EstornarPagamento", "ssm:GetParameter")
def estornar(b):
    esfriar(b.alvo, "EstornarPagamento")
    return passo(b.alvo, "EstornarPagamento", _estado(b))


@contextmanager
def circuito_em(b, operacao, **atributos):
    """Put a circuit in a state for one call, and close it: a circuit without an item is closed."""
    tabela = b.alvo.variavel("CobrarPagamento", "TABELA_DISJUNTOR")
    dynamodb, chave = b.alvo.cliente("dynamodb"), {"operacao": {"S": operacao}}
    dynamodb.put_item(TableName=tabela, Item={**chave, **atributos})
    try:
        yield
    finally:
        dynamodb.delete_item(TableName=tabela, Key=chave)


ABERTO_PARA_SEMPRE = {"estado": {"S": "ABERTO"}, "tentarEm": {"N": "99999999999999"}}
ABERTO_ATE_AGORA = {"estado": {"S": "ABERTO"}, "tentarEm": {"N": "0"}}


def _barrada(b, funcao, operacao):
    """The call is refused by an open circuit only if the circuit could be read: without the table, calls go on."""
    with circuito_em(b, operacao, **ABERTO_PARA_SEMPRE):
        falhou, resposta = invocar(b.alvo, funcao, _estado(b))
    return Desfecho(falhou and "circuit open" in resposta.get("errorMessage", ""), str(resposta)[:200])


def _fechado(b, funcao, operacao):
    """An answered probe closes the circuit only if it could be written."""
    with circuito_em(b, operacao, **ABERTO_ATE_AGORA):
        invocar(b.alvo, funcao, _estado(b))
        visto = b.circuito(operacao)
    return Desfecho(visto == "FECHADO", visto)


@sonda("CobrarPagamento", "dynamodb:GetItem")
def cobranca_barrada(b):
    return _barrada(b, "CobrarPagamento", "cobrar")


@sonda("EstornarPagamento", "dynamodb:GetItem")
def estorno_barrado(b):
    return _barrada(b, "EstornarPagamento", "estornar")


@sonda("CobrarPagamento", "dynamodb:UpdateItem")
def cobranca_fecha(b):
    return _fechado(b, "CobrarPagamento", "cobrar")


@sonda("EstornarPagamento", "dynamodb:UpdateItem")
def estorno_fecha(b):
    return _fechado(b, "EstornarPagamento", "estornar")


# --- gateway stand-in ------------------------------------------------------------


@sonda("GatewaySimulado", "ssm:GetParameter")
def autenticar(b):
    esfriar(b.alvo, "GatewaySimulado")
    r = _gateway(b, "GET", "/modo")
    return Desfecho(r.status == 200, str(r.status))


@sonda("GatewaySimulado", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem")
def aprovar(b):
    r = _cobrar(b)
    return Desfecho(r.status == 201, str(r.status))


@sonda("GatewaySimulado", "dynamodb:DeleteItem")
def soltar(b):
    """Unavailable on purpose says so by its code; a key it could not release is another failure."""
    r = _cobrar(b, "tok-indisponivel")
    codigo = json.loads(r.data).get("codigo")
    return Desfecho((r.status, codigo) == (503, "INDISPONIVEL"), f"{r.status} {codigo}")


@sonda("GatewaySimulado", "dynamodb:Query")
def ler_movimentos(b):
    r = _gateway(b, "GET", "/movimentos", fields={"pedidoId": "sonda"})
    return Desfecho(r.status == 200, str(r.status))


# --- synchronous design ----------------------------------------------------------


@sonda("CriarPedidoSincrono", "dynamodb:UpdateItem", "dynamodb:PutItem", "ssm:GetParameter")
def criar_sincrono(b):
    falhou, resposta = invocar(b.alvo, "CriarPedidoSincrono", _estado(b))
    return Desfecho(not falhou and resposta.get("status") == "CONFIRMADO", str(resposta)[:200])
