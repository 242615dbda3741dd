"""Step ConfirmarPedido: the order is the customer's."""

from typing import Any

from comum import aws
from comum.contrato import Marca, ModeloDeEntrada, PedidoId, ler
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from comum.relogio import agora_iso
from pedidos.configuracao import ConfiguracaoConfirmar
from pedidos.erros import ConfirmacaoForcadaAFalharError
from pedidos.repositorio import RepositorioPedidos


class EntradaConfirmacao(ModeloDeEntrada):
    """What the step reads of the saga's state."""

    pedidoId: PedidoId
    forcarFalhaConfirmar: Marca = False


@uma_vez
def _configuracao() -> ConfiguracaoConfirmar:
    return ConfiguracaoConfirmar.do_ambiente()


@uma_vez
def _repositorio() -> RepositorioPedidos:
    return RepositorioPedidos(aws.dynamodb(), _configuracao().tabela_pedidos)


@observado
def handler(evento: Any, contexto: Any) -> dict[str, Any]:
    """Confirm the order.

    Duplicate: already CONFIRMADO is success and the history does not grow. Undo before do, and do after undo: an order
    marked COMPENSANDO (or ended) refuses the confirmation, for good.

    Parameters
    ----------
    evento : dict
        The saga's state: ``pedidoId``; the rest is ignored. ``forcarFalhaConfirmar`` counts only where injection is on.
    contexto : LambdaContext

    Returns
    -------
    dict
        ``{"resultado": "CONFIRMADO" | "JA_CONFIRMADO", "em": ISO instant}``.

    Raises
    ------
    PedidoInvalidoError, ConfirmacaoRecusadaError, ConfirmacaoForcadaAFalharError
        The saga must compensate (States.ALL).
    """
    entrada = ler(EntradaConfirmacao, evento)
    identificar(entrada.pedidoId)
    if entrada.forcarFalhaConfirmar and _configuracao().permitir_injecao_falhas:
        raise ConfirmacaoForcadaAFalharError("confirmation failure injected", pedidoId=entrada.pedidoId)
    em = agora_iso()
    agora_confirmado = _repositorio().confirmar(entrada.pedidoId, em, "ConfirmarPedido")
    contar("PedidosConfirmados" if agora_confirmado else "DuplicatasDescartadas")
    logger.info("order confirmed", extra={"duplicata": not agora_confirmado})
    return {"resultado": "CONFIRMADO" if agora_confirmado else "JA_CONFIRMADO", "em": em}
