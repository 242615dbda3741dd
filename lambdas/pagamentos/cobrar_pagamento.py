"""Step CobrarPagamento: one charge per order, whatever is repeated."""

from typing import Any

from pydantic import Field

from comum.contrato import CartaoToken, InstanteIso, ModeloDeEntrada, PedidoId, ValorCentavos, ler
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from comum.relogio import agora, agora_iso
from pagamentos import fabrica, logica
from pagamentos.configuracao import ConfiguracaoPagamentos
from pagamentos.erros import CartaoRecusadoError
from pagamentos.porta import Gateway


class EntradaCobranca(ModeloDeEntrada):
    """What the step reads of the saga's state; ``valorCentavos`` in centavos."""

    pedidoId: PedidoId
    valorCentavos: ValorCentavos
    cartaoToken: CartaoToken = Field(repr=False)
    criadoEm: InstanteIso


@uma_vez
def _configuracao() -> ConfiguracaoPagamentos:
    return ConfiguracaoPagamentos.do_ambiente()


@uma_vez
def _gateway() -> Gateway:
    return fabrica.gateway(_configuracao())


@observado
def handler(evento: Any, contexto: Any) -> dict[str, Any]:
    """Charge the order.

    Duplicate: same token, same charge; past the gateway's 24 h it asks before it charges. Undo before do, and do
    after undo: the refund made the token unusable, so the late charge is refused (CobrancaCanceladaError) and no
    money moves.

    Parameters
    ----------
    evento : dict
        The saga's state: ``pedidoId``, ``valorCentavos`` (centavos), ``cartaoToken``, ``criadoEm``; the rest is
        ignored.
    contexto : LambdaContext

    Returns
    -------
    dict
        ``{"resultado": "APROVADA", "idTransacao": str, "em": ISO instant}``.

    Raises
    ------
    CartaoRecusadoError
        Nothing was charged.
    GatewayIndisponivelError
        Retry with the same token; when retries end the charge may exist.
    PedidoInvalidoError, CobrancaCanceladaError, CobrancaDivergenteError, RespostaInesperadaGatewayError
        The saga must compensate (States.ALL).
    """
    entrada = ler(EntradaCobranca, evento)
    identificar(entrada.pedidoId)
    prazo = fabrica.prazo(_configuracao(), contexto)
    try:
        cobranca = logica.cobrar(
            _gateway(),
            prazo,
            pedido_id=entrada.pedidoId,
            valor_centavos=entrada.valorCentavos,
            cartao_token=entrada.cartaoToken,
            criado_em=entrada.criadoEm,
            agora=agora(),
        )
    except CartaoRecusadoError:
        contar("CartoesRecusados")
        raise
    logger.info("payment charged", extra={"idTransacao": cobranca.id_transacao})
    return {"resultado": cobranca.situacao.value, "idTransacao": cobranca.id_transacao, "em": agora_iso()}
