"""Charge and refund: tokens made once from pedidoId, and what to do once the gateway may have forgotten them."""

from datetime import datetime, timedelta

from comum.http_saida import Prazo
from comum.relogio import de_iso
from pagamentos.erros import CartaoRecusadoError, CobrancaCanceladaError, GatewayIndisponivelError
from pagamentos.porta import Cobranca, Gateway, ResultadoEstorno, SituacaoCobranca

# The gateway keeps a key for 24 h from its first use, which is never before criadoEm: past 24 h from criadoEm it may be
# forgotten (a redrive and a dead-letter queue live 14 days), and the same key could charge again.
JANELA_IDEMPOTENCIA = timedelta(hours=24)


def token_cobranca(pedido_id: str) -> str:
    """Idempotency key of the order's charge."""
    return f"cesta-cobranca-{pedido_id}"


def token_estorno(pedido_id: str) -> str:
    """Idempotency key of the order's refund."""
    return f"cesta-estorno-{pedido_id}"


def cobrar(
    gateway: Gateway,
    prazo: Prazo,
    *,
    pedido_id: str,
    valor_centavos: int,
    cartao_token: str,
    criado_em: str,
    agora: datetime,
) -> Cobranca:
    """Charge the order once, asking first when the key may have been forgotten.

    Raises
    ------
    CartaoRecusadoError, CobrancaCanceladaError
        Nothing is charged.
    GatewayIndisponivelError, CobrancaDivergenteError, RespostaInesperadaGatewayError
        The charge may exist.
    """
    token = token_cobranca(pedido_id)
    if _janela_passou(criado_em, agora):
        anterior = gateway.consultar(token, prazo)
        if anterior is not None:
            return _ja_decidida(anterior, pedido_id)
    return gateway.cobrar(token, valor_centavos, cartao_token, pedido_id, prazo)


def estornar(gateway: Gateway, prazo: Prazo, *, pedido_id: str, criado_em: str, agora: datetime) -> ResultadoEstorno:
    """Refund the order's charge if there is one, and make its token unusable if there is not.

    Raises
    ------
    GatewayIndisponivelError, CobrancaDivergenteError, RespostaInesperadaGatewayError
        The refund may have happened.
    """
    token = token_cobranca(pedido_id)
    if _janela_passou(criado_em, agora):
        anterior = gateway.consultar(token, prazo)
        if anterior is not None and anterior.situacao is SituacaoCobranca.ESTORNADA:
            return ResultadoEstorno.ESTORNADA
    return gateway.estornar(token_estorno(pedido_id), token, prazo)


def _janela_passou(criado_em: str, agora: datetime) -> bool:
    return agora - de_iso(criado_em) >= JANELA_IDEMPOTENCIA


def _ja_decidida(anterior: Cobranca, pedido_id: str) -> Cobranca:
    match anterior.situacao:
        case SituacaoCobranca.APROVADA:
            return anterior
        case SituacaoCobranca.RECUSADA:
            raise CartaoRecusadoError("card refused by the gateway", pedidoId=pedido_id)
        case SituacaoCobranca.ESTORNADA:
            raise CobrancaCanceladaError("the charge was already refunded", pedidoId=pedido_id)
        case SituacaoCobranca.EM_ANDAMENTO:
            raise GatewayIndisponivelError("the same charge is still in flight", motivo="EM_ANDAMENTO")
