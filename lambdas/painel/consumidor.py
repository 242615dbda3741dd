"""``ffv-lab-consumidor-pedidos``: the stream of ``pedidos_cadencia`` into ``painel_operacao`` and the restock topic."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord

from comum import aws
from comum.observabilidade import contar, identificar, metricas, observado
from comum.processo import uma_vez
from painel.alertas import PublicadorAlertas
from painel.configuracao import ConfiguracaoConsumidor
from painel.erros import RegistroInvalidoError
from painel.gravacao import Gravador
from painel.lote import LoteDoStream
from painel.repositorio import RepositorioPainel
from painel.transicao import ler_transicao

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient

_SEM_LIMITE_MS = 3_600_000


@uma_vez
def _dependencias() -> tuple[RepositorioPainel, PublicadorAlertas]:
    configuracao = ConfiguracaoConsumidor.do_ambiente()
    return (
        RepositorioPainel(aws.dynamodb(), configuracao.tabela_painel),
        PublicadorAlertas(cast("SNSClient", aws.cliente("sns")), configuracao.arn_topico_reposicao),
    )


@observado
def handler(evento: dict[str, Any], contexto: Any) -> dict[str, Any]:
    """Write each status change of a batch of stream records, in order, up to the first that fails.

    Meets duplicate (the platform re-sends everything from the lowest failed record, and sends at least once anyway):
    the log is keyed by sequence number, and an alert already published is not published again. Meets do after undo (a
    record that arrives after a later one of the same order, brought back from the on-failure queue): ATUAL only moves
    forward. Undo before do does not arise: a transition depends on no other.

    Returns
    -------
    dict[str, Any]
        ``{"batchItemFailures": [{"itemIdentifier": <sequence number>}]}``, with the first record that failed, or none.

    Raises
    ------
    LoteFalhouError
        The first record failed: the whole invocation fails, so that the mapping bisects the batch in halves.
    """
    registros = evento.get("Records")
    if not isinstance(registros, list):
        raise RegistroInvalidoError("event without Records")
    gravador = Gravador(*_dependencias())
    lote = LoteDoStream(_tempo_restante(contexto))

    def aplicar(record: DynamoDBRecord) -> None:
        identificar(None)
        transicao = ler_transicao(record.raw_event)
        if transicao is not None:
            identificar(transicao.pedido_id)
            gravador.aplicar(transicao)

    try:
        with lote(records=registros, handler=aplicar):
            lote.process()
    finally:
        _medir(gravador, falhas=len(lote.fail_messages))
    return cast(dict[str, Any], lote.response())


def _tempo_restante(contexto: Any) -> Callable[[], int]:
    restante = getattr(contexto, "get_remaining_time_in_millis", None)
    return cast(Callable[[], int], restante) if callable(restante) else lambda: _SEM_LIMITE_MS


def _medir(gravador: Gravador, falhas: int) -> None:
    for nome, quantidade in sorted(gravador.contagem.items()):
        contar(nome, quantidade)
    if gravador.contagem["TransicoesGravadas"]:
        metricas.add_metric(name="AtrasoDoPainel", unit=MetricUnit.Milliseconds, value=gravador.maior_atraso_ms)
    if falhas:
        contar("RegistrosComFalha", falhas)
