"""Probes of the write-off and of the two checks, on the deployed system."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from permissoes import Desfecho, esfriar, invocar, sonda
from sondas_saga import ABERTO_ATE_AGORA, ABERTO_PARA_SEMPRE, circuito_em

from provas.saga._apoio import QUANTIDADE, SALDO_INICIAL

MUITO_ANTES = timedelta(hours=2)


def por_pedido(b, pedido_id, status, sku, ha=timedelta(0)) -> None:
    """An order in a status it came to this long ago, as the saga leaves it."""
    em = (datetime.now(UTC) - ha).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    b.alvo.cliente("dynamodb").put_item(
        TableName=b.alvo.saida("tabela_pedidos"),
        Item={
            "pedidoId": {"S": pedido_id},
            "status": {"S": status},
            "sku": {"S": sku},
            "quantidade": {"N": str(QUANTIDADE)},
            "valorCentavos": {"N": "100"},
            "criadoEm": {"S": em},
            "atualizadoEm": {"S": em},
            "historico": {"L": []},
        },
    )


def reservar(b, sku, pedido_id) -> None:
    """Hold units for an order, by the function itself."""
    falhou, resposta = invocar(b.alvo, "ReservarEstoque", json.loads(b.entrada(pedido_id, sku)))
    assert not falhou, resposta


def esquecer(b, *pedidos, sku="") -> None:
    """Take away, at the end, what the checks remember of these orders."""
    cliente = b.alvo.cliente("dynamodb")

    def apagar() -> None:
        for pedido_id in pedidos:
            for nome in (f"avistada#{sku}#{pedido_id}", f"avisado#pessoa#{pedido_id}"):
                cliente.delete_item(TableName=b.alvo.saida("tabela_conferencias"), Key={"nome": {"S": nome}})

    b.ao_limpar("memória das conferências", apagar)


def registro(pedido_id, sku, status="CONFIRMADO") -> dict:
    """A stream record of an order that became CONFIRMADO."""
    imagem = {
        "pedidoId": {"S": pedido_id},
        "status": {"S": status},
        "sku": {"S": sku},
        "quantidade": {"N": str(QUANTIDADE)},
    }
    return {
        "eventName": "MODIFY",
        "eventSource": "aws:dynamodb",
        "dynamodb": {"NewImage": imagem, "SequenceNumber": "1"},
    }


def marca(b, pedido_id) -> dict | None:
    """The mark of the order's write-off."""
    return b._item("tabela_estoque_baixas", "pedidoId", pedido_id)


def conferir_ate(b, funcao, pronto, vezes=4) -> Desfecho:
    """Run a check until ``pronto()``: a run may start in the middle of the table. It ends at the first failure."""
    for _ in range(vezes):
        falhou, resposta = invocar(b.alvo, funcao, {})
        if falhou or resposta["contagem"].get("ConferenciasInterrompidas"):
            return Desfecho(False, str(resposta)[:200])
        if pronto():
            return Desfecho(True, str(resposta)[:200])
    return Desfecho(False, f"after {vezes} runs: {str(resposta)[:200]}")


@sonda("BaixarReserva", "dynamodb:PutItem", "dynamodb:UpdateItem")
def baixar(b) -> Desfecho:
    sku, pedido_id = b.criar_estoque(), b.novo_pedido_id()
    por_pedido(b, pedido_id, "RESERVADO", sku)
    reservar(b, sku, pedido_id)
    falhou, resposta = invocar(b.alvo, "BaixarReserva", {"Records": [registro(pedido_id, sku)]})
    baixada = b.estoque(sku) == (SALDO_INICIAL - QUANTIDADE, {}) and marca(b, pedido_id) is not None
    return Desfecho(not falhou and baixada, str(resposta)[:200])


@sonda("ConferirReservas", "dynamodb:Scan")
@sonda("ConferirReservas", "dynamodb:GetItem")
@sonda("ConferirReservas", "dynamodb:BatchGetItem", recurso="cesta-pedidos")
@sonda("ConferirReservas", "dynamodb:BatchGetItem", recurso="cesta-estoque-baixas")
@sonda("ConferirReservas", "dynamodb:PutItem", recurso="cesta-estoque-baixas")
@sonda("ConferirReservas", "dynamodb:PutItem", recurso="cesta-conferencias")
@sonda("ConferirReservas", "dynamodb:UpdateItem", recurso="cesta-estoque")
@sonda("ConferirReservas", "dynamodb:UpdateItem", recurso="cesta-conferencias")
def conferir_reservas(b) -> Desfecho:
    """One product with what takes every path: to write off, to release, and an order that does not exist."""
    sku = b.criar_estoque()
    confirmado, desfeito, ausente = (b.novo_pedido_id() for _ in range(3))
    por_pedido(b, confirmado, "CONFIRMADO", sku)
    por_pedido(b, desfeito, "FALHOU_COMPENSADO", sku)
    esquecer(b, ausente, sku=sku)
    for pedido_id in (confirmado, desfeito, ausente):
        reservar(b, sku, pedido_id)
    return conferir_ate(
        b,
        "ConferirReservas",
        lambda: b.estoque(sku) == (SALDO_INICIAL - 2 * QUANTIDADE, {ausente: QUANTIDADE}),
    )


@sonda("ConferirCobrancas", "ssm:GetParameter")
@sonda("ConferirCobrancas", "sqs:SendMessage")
@sonda("ConferirCobrancas", "dynamodb:Query")
@sonda("ConferirCobrancas", "dynamodb:GetItem", recurso="cesta-pedidos")
@sonda("ConferirCobrancas", "dynamodb:GetItem", recurso="cesta-conferencias")
@sonda("ConferirCobrancas", "dynamodb:Scan")
@sonda("ConferirCobrancas", "dynamodb:PutItem")
def conferir_cobrancas(b) -> Desfecho:
    sku = b.criar_estoque()
    pedido_id = b.novo_pedido_id()
    falhou, resposta = invocar(b.alvo, "CobrarPagamento", json.loads(b.entrada(pedido_id, sku)))
    assert not falhou, resposta
    por_pedido(b, pedido_id, "RESERVADO", sku, ha=MUITO_ANTES)
    esquecer(b, pedido_id)
    esfriar(b.alvo, "ConferirCobrancas")  # the gateway's key is kept in memory

    def avisada() -> bool:
        mensagem = b.mensagem_humana(pedido_id)
        if mensagem is not None:
            b.apagar_mensagem_humana(mensagem)
        return mensagem is not None

    visto = conferir_ate(b, "ConferirCobrancas", avisada)
    # The next probe's run must not meet this order, nor the next test its message.
    b.alvo.cliente("dynamodb").delete_item(TableName=b.alvo.saida("tabela_pedidos"), Key={"pedidoId": {"S": pedido_id}})
    while avisada():
        pass
    return visto


@sonda("ConferirCobrancas", "dynamodb:GetItem", recurso="cesta-disjuntor")
def conferencia_barrada(b) -> Desfecho:
    """The question is refused by an open circuit only if the circuit could be read."""
    return _com_circuito(b, ABERTO_PARA_SEMPRE, lambda contagem, _: contagem.get("ConferenciasInterrompidas") == 1)


@sonda("ConferirCobrancas", "dynamodb:UpdateItem")
def conferencia_fecha(b) -> Desfecho:
    """An answered question closes the circuit only if it could be written."""
    return _com_circuito(b, ABERTO_ATE_AGORA, lambda _, estado: estado == "FECHADO")


def _com_circuito(b, circuito, funcionou) -> Desfecho:
    sku, pedido_id = b.criar_estoque(), b.novo_pedido_id()
    por_pedido(b, pedido_id, "RESERVADO", sku, ha=MUITO_ANTES)
    esquecer(b, pedido_id)
    for _ in range(4):  # a run may start in the middle of the table, past the order
        with circuito_em(b, "consultar", **circuito):
            _, resposta = invocar(b.alvo, "ConferirCobrancas", {})
            contagem, visto = resposta.get("contagem", {}), b.circuito("consultar")
        if funcionou(contagem, visto):
            return Desfecho(True, f"{visto} {contagem}")
    return Desfecho(False, f"{visto} {contagem}")
