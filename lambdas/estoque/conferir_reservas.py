"""Scheduled: finds reservations whose order has ended, never existed or does not move, and heals the safe ones."""

from typing import Any

from comum import aws
from comum.conferencias import RepositorioConferencias
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from estoque.baixas import RepositorioBaixas
from estoque.conferencia import ConferenciaDeReservas
from estoque.configuracao import ConfiguracaoConferencia
from estoque.leituras import LeituraEstoque, LeituraPedidos
from estoque.repositorio import RepositorioEstoque

MARGEM_MS = 10_000
"""A full batch of reservations to write ends well within it."""


@uma_vez
def _configuracao() -> ConfiguracaoConferencia:
    return ConfiguracaoConferencia.do_ambiente()


@observado
def handler(evento: Any, contexto: Any) -> dict[str, Any]:
    """Check reservations from where the last run stopped, as far as this run goes.

    Duplicate: two runs at once do each thing once, every write is conditional on the reservation. Undo before do: the
    release of an orphan leaves the barrier that refuses a late reserve. Do after undo: this is who finds it, a reserve
    that landed after its release or its write-off, and gives the units back.

    Parameters
    ----------
    evento : Any
        Ignored: the schedule's.
    contexto : LambdaContext

    Returns
    -------
    dict
        ``{"completa": bool, "contagem": {metric: how many}}``; the metrics are the ones published: ItensConferidos,
        OrfasLiberadas, BaixasTardias, ReservasBaixadas, ReservasPresas, ReservasComPessoa, ReservasSemDecisao (units of
        an order that a person ended long ago), ConferenciasComFalha.

    Raises
    ------
    LeituraIncompletaError
        Reads were throttled; the next run goes on from the last page.
    """
    configuracao, dynamodb = _configuracao(), aws.dynamodb()
    conferencia = ConferenciaDeReservas(
        LeituraEstoque(dynamodb, configuracao.tabela_estoque),
        LeituraPedidos(dynamodb, configuracao.tabela_pedidos),
        RepositorioEstoque(dynamodb, configuracao.tabela_estoque),
        RepositorioBaixas(dynamodb, configuracao.tabela_estoque, configuracao.tabela_estoque_baixas),
        RepositorioConferencias(dynamodb, configuracao.tabela_conferencias),
        configuracao.limite_reserva_s,
        configuracao.limite_decisao_s,
    )

    def ha_tempo() -> bool:
        return contexto is None or contexto.get_remaining_time_in_millis() > MARGEM_MS

    try:
        completa = conferencia.executar(configuracao.maximo_itens_conferidos, ha_tempo)
    finally:
        for metrica, quantas in conferencia.contagem.items():
            contar(metrica, quantas)
    identificar(None)
    logger.info("reservations checked", extra={"completa": completa, **conferencia.contagem})
    return {"completa": completa, "contagem": dict(conferencia.contagem)}
