"""Step EstornarPagamento: refunds if charged, and makes the token unusable if not."""

from typing import Any

from comum.contrato import InstanteIso, Marca, ModeloDeEntrada, PedidoId, ler
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from comum.relogio import agora, agora_iso
from pagamentos import fabrica, logica
from pagamentos.configuracao import ConfiguracaoEstorno
from pagamentos.erros import GatewayIndisponivelError
from pagamentos.porta import Gateway, ResultadoEstorno


class EntradaEstorno(ModeloDeEntrada):
    """What the step reads of the saga's state; nothing from the charge's result, which may have been lost."""

    pedidoId: PedidoId
    criadoEm: InstanteIso
    forcarFalhaEstorno: Marca = False


@uma_vez
def _configuracao() -> ConfiguracaoEstorno:
    return ConfiguracaoEstorno.do_ambiente()


@uma_vez
def _gateway() -> Gateway:
    return fabrica.gateway(_configuracao())


@observado
def handler(evento: Any, contexto: Any) -> dict[str, Any]:
    """Refund the order's charge.

    Duplicate: same refund token, same verdict, one movement. Undo before do: NADA_A_ESTORNAR, and the charge's token
    becomes unusable. Do after undo: the late charge meets that unusable token and is refused by the gateway.

    Parameters
    ----------
    evento : dict
        The saga's state: ``pedidoId``, ``criadoEm``; the rest is ignored. ``forcarFalhaEstorno`` counts only where
        injection is on.
    contexto : LambdaContext

    Returns
    -------
    dict
        ``{"resultado": "ESTORNADA" | "NADA_A_ESTORNAR", "em": ISO instant}``.

    Raises
    ------
    GatewayIndisponivelError
        Retry with the same token.
    PedidoInvalidoError, CobrancaDivergenteError, RespostaInesperadaGatewayError
        A person must decide (States.ALL).
    """
    entrada = ler(EntradaEstorno, evento)
    identificar(entrada.pedidoId)
    configuracao = _configuracao()
    if entrada.forcarFalhaEstorno and configuracao.permitir_injecao_falhas:
        raise GatewayIndisponivelError("refund failure injected, nothing was sent", motivo="INJECAO")
    prazo = fabrica.prazo(configuracao, contexto)
    resultado = logica.estornar(
        _gateway(), prazo, pedido_id=entrada.pedidoId, criado_em=entrada.criadoEm, agora=agora()
    )
    if resultado is ResultadoEstorno.ESTORNADA:
        contar("EstornosFeitos")
    logger.info("refund answered", extra={"resultado": resultado})
    return {"resultado": resultado.value, "em": agora_iso()}
