"""``GET /pedidos/{pedidoId}``: where the order is, in words a customer understands."""

import re
from typing import Any

from comum import aws
from comum.cartao import texto_parece_cartao
from comum.http_borda import ProblemaHttp, RequisicaoHttp, RespostaHttp, borda, pedido_malformado, resposta_json
from comum.observabilidade import identificar, observado
from comum.processo import uma_vez
from pedidos.configuracao import ConfiguracaoConsultar
from pedidos.mensagens import descrever, motivo
from pedidos.repositorio import Passo, Pedido, RepositorioPedidos

_PEDIDO_ID = re.compile(r"[0-9A-Za-z_-]{1,48}\Z")


@uma_vez
def _repositorio() -> RepositorioPedidos:
    return RepositorioPedidos(aws.dynamodb(), ConfiguracaoConsultar.do_ambiente().tabela_pedidos)


@observado
@borda
def handler(requisicao: RequisicaoHttp) -> RespostaHttp:
    """Show an order.

    Duplicate, undo before do, do after undo: not met, it only reads.

    Returns
    -------
    RespostaHttp
        200 ``{pedidoId, status, descricao, sku, quantidade, valorCentavos, criadoEm, atualizadoEm, historico,
        motivo?}``; 400 for an id that cannot be one; 404 when unknown (also in the instant between the 202 and the
        first record).
    """
    pedido_id = requisicao.parametros.get("pedidoId", "")
    if not _PEDIDO_ID.match(pedido_id) or texto_parece_cartao(pedido_id):
        raise pedido_malformado("O identificador do pedido não é válido.")
    identificar(pedido_id)
    pedido = _repositorio().obter(pedido_id)
    if pedido is None:
        raise ProblemaHttp(
            404,
            "pedido-desconhecido",
            "Pedido não encontrado",
            "Não encontramos este pedido. Se ele acabou de ser enviado, consulte de novo em instantes.",
            cabecalhos={"Retry-After": "1"},
        )
    return resposta_json(200, apresentar(pedido))


def apresentar(pedido: Pedido) -> dict[str, Any]:
    """The order as the customer reads it; a history entry repeated by a lost answer appears once."""
    corpo: dict[str, Any] = {
        "pedidoId": pedido.pedido_id,
        "status": pedido.status,
        "descricao": descrever(pedido.status),
        "sku": pedido.sku,
        "quantidade": pedido.quantidade,
        "valorCentavos": pedido.valor_centavos,
        "criadoEm": pedido.criado_em,
        "atualizadoEm": pedido.atualizado_em,
        "historico": [
            {"status": passo.status, "em": passo.em, "passo": passo.passo, "descricao": descrever(passo.status)}
            for passo in _sem_repetidos(pedido.historico)
        ],
    }
    porque = motivo(pedido.status, pedido.erro)
    if porque is not None:
        corpo["motivo"] = porque
    return corpo


def _sem_repetidos(historico: tuple[Passo, ...]) -> list[Passo]:
    vistos: list[Passo] = []
    for passo in historico:
        if not vistos or vistos[-1].status != passo.status:
            vistos.append(passo)
    return vistos
