"""Step ReservarEstoque: holds the order's units before any money moves (undoing it is local and free)."""

from typing import Any

from comum import aws
from comum.contrato import ModeloDeEntrada, PedidoId, Quantidade, Sku, ler
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from comum.relogio import agora_iso
from estoque.configuracao import ConfiguracaoEstoque
from estoque.erros import EstoqueInsuficienteError
from estoque.repositorio import RepositorioEstoque, ResultadoReserva


class EntradaReserva(ModeloDeEntrada):
    """What the step reads of the saga's state; ``quantidade`` in units, at least 1 (zero or less would raise the
    balance)."""

    pedidoId: PedidoId
    sku: Sku
    quantidade: Quantidade


@uma_vez
def _repositorio() -> RepositorioEstoque:
    return RepositorioEstoque(aws.dynamodb(), ConfiguracaoEstoque.do_ambiente().tabela_estoque)


@observado
def handler(evento: Any, contexto: Any) -> dict[str, Any]:
    """Reserve the order's units.

    Duplicate: already reserved with the same quantity is success. Undo before do: nothing special here, the release
    leaves a barrier. Do after undo: the barrier refuses this reserve (ReservaEncerradaError) and the balance stays
    whole.

    Parameters
    ----------
    evento : dict
        The saga's state: ``pedidoId``, ``sku``, ``quantidade`` (units); the rest is ignored.
    contexto : LambdaContext

    Returns
    -------
    dict
        ``{"resultado": "RESERVADA" | "JA_RESERVADA", "quantidade": int, "em": ISO instant}``.

    Raises
    ------
    PedidoInvalidoError, EstoqueInsuficienteError, ProdutoInexistenteError
        Nothing was reserved.
    ReservaEncerradaError, ReservaDivergenteError
        The saga must compensate (States.ALL).
    """
    entrada = ler(EntradaReserva, evento)
    identificar(entrada.pedidoId)
    try:
        resultado = _repositorio().reservar(entrada.sku, entrada.pedidoId, entrada.quantidade)
    except EstoqueInsuficienteError:
        contar("EstoqueInsuficiente")
        raise
    if resultado is ResultadoReserva.JA_RESERVADA:
        contar("DuplicatasDescartadas")
    logger.info("stock reserved", extra={"resultado": resultado, "quantidade": entrada.quantidade})
    return {"resultado": resultado.value, "quantidade": entrada.quantidade, "em": agora_iso()}
