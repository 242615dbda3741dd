"""Step LiberarEstoque: gives back what the order holds. Reached after a refused card and after a refund."""

from typing import Any

from comum import aws
from comum.contrato import ModeloDeEntrada, PedidoId, Sku, ler
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from comum.relogio import agora_iso
from estoque.configuracao import ConfiguracaoEstoque
from estoque.repositorio import RepositorioEstoque, ResultadoLiberacao


class EntradaLiberacao(ModeloDeEntrada):
    """What the step reads of the saga's state; the quantity comes from the reservation itself, never from here."""

    pedidoId: PedidoId
    sku: Sku


@uma_vez
def _repositorio() -> RepositorioEstoque:
    return RepositorioEstoque(aws.dynamodb(), ConfiguracaoEstoque.do_ambiente().tabela_estoque)


@observado
def handler(evento: Any, contexto: Any) -> dict[str, Any]:
    """Release the order's units.

    Duplicate: already released is silent success and moves nothing. Undo before do: success that reports
    NADA_A_LIBERAR and leaves a barrier. Do after undo: that barrier makes the late reserve fail.

    Parameters
    ----------
    evento : dict
        The saga's state: ``pedidoId``, ``sku``; the rest is ignored.
    contexto : LambdaContext

    Returns
    -------
    dict
        ``{"resultado": "LIBERADA" | "JA_ENCERRADA" | "NADA_A_LIBERAR", "quantidade": units given back, "em": ISO
        instant}``.

    Raises
    ------
    PedidoInvalidoError
        The state carries no readable order.
    ReservaEmDisputaError
        Transient: reserve and release of this order keep overtaking each other.
    """
    entrada = ler(EntradaLiberacao, evento)
    identificar(entrada.pedidoId)
    liberacao = _repositorio().liberar(entrada.sku, entrada.pedidoId)
    if liberacao.resultado is ResultadoLiberacao.LIBERADA:
        contar("ReservasLiberadas")
    if liberacao.resultado is ResultadoLiberacao.JA_ENCERRADA:
        contar("DuplicatasDescartadas")
    logger.info("stock released", extra={"resultado": liberacao.resultado, "quantidade": liberacao.quantidade})
    return {"resultado": liberacao.resultado.value, "quantidade": liberacao.quantidade, "em": agora_iso()}
