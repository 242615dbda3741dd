"""The minimal architecture the saga replaces: reserve, charge and write inside one invocation, with nothing to undo
them.

Deployed by variable only. It keeps the defect on purpose: whatever stops it between two steps leaves them disagreeing.
"""

import json
import os
from typing import Any

import urllib3
from pydantic import Field

from comum import aws
from comum.contrato import CartaoToken, Marca, ModeloDeEntrada, PedidoId, Quantidade, Sku, ValorCentavos, ler
from comum.observabilidade import identificar, logger, observado
from comum.processo import uma_vez
from comum.relogio import agora_iso
from comum.segredos import SegredoSsm
from desenhos_minimos.configuracao import ConfiguracaoSincrono

CODIGO_DE_MORTE = 137


class PedidoSincrono(ModeloDeEntrada):
    """The order, as the invocation's payload; ``quantidade`` in units, ``valorCentavos`` in centavos."""

    pedidoId: PedidoId
    sku: Sku
    quantidade: Quantidade
    valorCentavos: ValorCentavos
    cartaoToken: CartaoToken = Field(repr=False)
    forcarInterrupcaoAposReserva: Marca = False


@uma_vez
def _configuracao() -> ConfiguracaoSincrono:
    return ConfiguracaoSincrono.do_ambiente()


@observado
def handler(evento: Any, contexto: Any) -> dict[str, Any]:
    """Create an order in one go.

    Duplicate, undo before do, do after undo: none is handled, there is no undo. That is the defect the saga removes.

    Parameters
    ----------
    evento : dict
        ``{pedidoId, sku, quantidade, valorCentavos, cartaoToken[, forcarInterrupcaoAposReserva]}``; the mark kills
        the process after the reserve, only where injection is on.
    contexto : LambdaContext

    Returns
    -------
    dict
        ``{"pedidoId": str, "status": "CONFIRMADO" | "FALHOU_SEM_RESERVA" | "FALHOU_COMPENSADO"}``.

    Raises
    ------
    PedidoInvalidoError
        The payload breaks the contract; nothing was done.
    """
    pedido = ler(PedidoSincrono, evento)
    identificar(pedido.pedidoId)
    if not _reservar(pedido):
        return _gravar(pedido, "FALHOU_SEM_RESERVA")
    if pedido.forcarInterrupcaoAposReserva and _configuracao().permitir_injecao_falhas:
        logger.critical("process killed between reserve and write")
        os._exit(CODIGO_DE_MORTE)
    if _cobrar(pedido):
        return _gravar(pedido, "CONFIRMADO")
    _devolver(pedido)
    return _gravar(pedido, "FALHOU_COMPENSADO")


def _reservar(pedido: PedidoSincrono) -> bool:
    dynamodb = aws.dynamodb()
    try:
        dynamodb.update_item(
            TableName=_configuracao().tabela_estoque,
            Key={"sku": {"S": pedido.sku}},
            UpdateExpression="SET saldo = saldo - :qtd, reservas.#pedido = :qtd",
            ConditionExpression="saldo >= :qtd AND attribute_not_exists(reservas.#pedido)",
            ExpressionAttributeNames={"#pedido": pedido.pedidoId},
            ExpressionAttributeValues={":qtd": {"N": str(pedido.quantidade)}},
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return False
    return True


def _devolver(pedido: PedidoSincrono) -> None:
    aws.dynamodb().update_item(
        TableName=_configuracao().tabela_estoque,
        Key={"sku": {"S": pedido.sku}},
        UpdateExpression="SET saldo = saldo + :qtd REMOVE reservas.#pedido",
        ConditionExpression="attribute_exists(reservas.#pedido)",
        ExpressionAttributeNames={"#pedido": pedido.pedidoId},
        ExpressionAttributeValues={":qtd": {"N": str(pedido.quantidade)}},
    )


def _cobrar(pedido: PedidoSincrono) -> bool:
    configuracao = _configuracao()
    resposta = urllib3.request(
        "POST",
        f"{configuracao.url_gateway.rstrip('/')}/cobrancas",
        body=json.dumps(
            {
                "valorCentavos": pedido.valorCentavos,
                "cartaoToken": pedido.cartaoToken,
                "referencia": pedido.pedidoId,
            }
        ),
        headers={
            "Content-Type": "application/json",
            "Idempotency-Key": f"cesta-cobranca-{pedido.pedidoId}",
            "X-Api-Key": SegredoSsm(aws.ssm, configuracao.parametro_chave_gateway).obter(),
        },
        timeout=urllib3.Timeout(
            connect=configuracao.timeout_conexao_gateway_s, total=configuracao.timeout_total_gateway_s
        ),
        retries=False,
    )
    return resposta.status == 201


def _gravar(pedido: PedidoSincrono, status: str) -> dict[str, Any]:
    agora = agora_iso()
    aws.dynamodb().put_item(
        TableName=_configuracao().tabela_pedidos,
        Item={
            "pedidoId": {"S": pedido.pedidoId},
            "status": {"S": status},
            "sku": {"S": pedido.sku},
            "quantidade": {"N": str(pedido.quantidade)},
            "valorCentavos": {"N": str(pedido.valorCentavos)},
            "criadoEm": {"S": agora},
            "atualizadoEm": {"S": agora},
            "historico": {
                "L": [{"M": {"status": {"S": status}, "em": {"S": agora}, "passo": {"S": "CriarPedidoSincrono"}}}]
            },
        },
    )
    return {"pedidoId": pedido.pedidoId, "status": status}
