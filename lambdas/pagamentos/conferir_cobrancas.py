"""Scheduled: finds orders that are not CONFIRMADO and hold an approved charge, puts each in a person's hands, and sends
people's messages again before they expire."""

from typing import Any

from comum import aws
from comum.conferencias import RepositorioConferencias
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from pagamentos import fabrica
from pagamentos.conferencia import ConferenciaDeCobrancas
from pagamentos.configuracao import ConfiguracaoConferenciaCobrancas
from pagamentos.fila_humana import FilaHumana
from pagamentos.pedidos_por_status import PedidosPorStatus
from pagamentos.porta import Gateway

MARGEM_S = 15
"""What one order may still take besides its question: reads, a message and its mark, each with a repeated call."""


@uma_vez
def _configuracao() -> ConfiguracaoConferenciaCobrancas:
    return ConfiguracaoConferenciaCobrancas.do_ambiente()


@uma_vez
def _gateway() -> Gateway:
    return fabrica.gateway(_configuracao())


@observado
def handler(evento: Any, contexto: Any) -> dict[str, Any]:
    """Check charges from where the last run stopped, as far as this run goes.

    Duplicate: an order is told once in ``reaviso_s`` (two runs at the same instant may tell it twice). Undo before
    do, and do after undo: the charge that lands after its refund is refused by the gateway; one that lands where no
    refund was tried is what this finds.

    Parameters
    ----------
    evento : Any
        Ignored: the schedule's.
    contexto : LambdaContext

    Returns
    -------
    dict
        ``{"completa": bool, "contagem": {metric: how many}}``; the metrics are the ones published:
        CobrancasConferidas, CobrancasOrfas, AvisosRepetidos (messages sent again), ConferenciasInterrompidas (the
        gateway was out of reach), ConferenciasComFalha (an answer outside the contract).
    """
    configuracao = _configuracao()
    conferencia = ConferenciaDeCobrancas(
        PedidosPorStatus(aws.dynamodb(), configuracao.tabela_pedidos),
        _gateway(),
        FilaHumana(aws.sqs(), configuracao.url_fila_compensacao_falhou, configuracao.arn_maquina_saga),
        RepositorioConferencias(aws.dynamodb(), configuracao.tabela_conferencias),
        configuracao.limite_cobranca_s,
        configuracao.janela_cobranca_s,
        configuracao.reaviso_s,
    )

    def ha_tempo() -> bool:
        precisos = configuracao.timeout_total_gateway_s + MARGEM_S
        return contexto is None or contexto.get_remaining_time_in_millis() / 1000 > precisos

    try:
        completa = conferencia.executar(
            configuracao.maximo_consultas, lambda: fabrica.prazo(configuracao, contexto), ha_tempo
        )
    finally:
        for metrica, quantas in conferencia.contagem.items():
            contar(metrica, quantas)
    identificar(None)
    logger.info("charges checked", extra={"completa": completa, **conferencia.contagem})
    return {"completa": completa, "contagem": dict(conferencia.contagem)}
