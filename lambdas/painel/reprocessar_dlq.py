"""``ffv-lab-reprocessar-dlq``: takes on-failure messages of the consumer and brings their records back."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from comum import aws
from comum.observabilidade import contar, logger, observado
from comum.processo import uma_vez
from painel.alertas import PublicadorAlertas
from painel.configuracao import ConfiguracaoReprocesso
from painel.gravacao import Gravador
from painel.repositorio import RepositorioPainel
from painel.reprocesso import LeitorDoStream, LeitorS3, Relato, Reprocessador

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient

MAXIMO_DE_MENSAGENS = 100
_RESERVA_MS = 15_000


@uma_vez
def _configuracao() -> ConfiguracaoReprocesso:
    return ConfiguracaoReprocesso.do_ambiente()


def _reprocessador() -> tuple[Reprocessador, Gravador]:
    configuracao = _configuracao()
    gravador = Gravador(
        RepositorioPainel(aws.dynamodb(), configuracao.tabela_painel),
        PublicadorAlertas(cast("SNSClient", aws.cliente("sns")), configuracao.arn_topico_reposicao),
    )
    stream = LeitorDoStream(cast("DynamoDBStreamsClient", aws.cliente("dynamodbstreams")))
    s3 = LeitorS3(cast("S3Client", aws.cliente("s3")))
    return Reprocessador(gravador, stream, s3.ler), gravador


@observado
def handler(evento: dict[str, Any], contexto: Any) -> dict[str, Any]:
    """Reprocess up to ``maximo`` messages (default 10) of ``ffv-lab-consumidor-pedidos-dlq``.

    Meets duplicate (the message, or part of its range, was processed before): same keys as the consumer, so repeating
    adds nothing. Meets do after undo (the order has moved on since): ATUAL stays. Undo before do does not arise.

    A message is deleted only after all its records went through, so a crash anywhere leaves it in the queue. One whose
    records the stream has dropped (24 h) stays there and is reported as ``vencida``, until ``encerrarVencidas`` is
    true: to be used after reconciling, which is what makes the gap visible in the panel.

    Returns
    -------
    dict[str, Any]
        ``{"resumo": {outcome: count}, "mensagens": [{id, desfecho, registros, transicoes, falhas, motivo}]}``.
    """
    maximo = min(max(int(evento.get("maximo", 10)), 1), MAXIMO_DE_MENSAGENS)
    encerrar_vencidas = evento.get("encerrarVencidas") is True
    url, sqs = _configuracao().url_dlq_consumidor, aws.sqs()
    reprocessador, gravador = _reprocessador()
    relatos: list[dict[str, Any]] = []
    while len(relatos) < maximo and _ha_tempo(contexto):
        recebidas = sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=min(10, maximo - len(relatos)), WaitTimeSeconds=0
        )
        mensagens = recebidas.get("Messages", [])
        if not mensagens:
            break
        for mensagem in mensagens:
            relato = reprocessador.reprocessar(mensagem["Body"])
            if relato.desfecho == "reprocessada" or (relato.desfecho == "vencida" and encerrar_vencidas):
                sqs.delete_message(QueueUrl=url, ReceiptHandle=mensagem["ReceiptHandle"])
            relatos.append({"id": mensagem["MessageId"], **_registrar(relato)})
    for nome, quantidade in sorted(gravador.contagem.items()):
        contar(nome, quantidade)
    return {"resumo": dict(Counter(relato["desfecho"] for relato in relatos)), "mensagens": relatos}


def _registrar(relato: Relato) -> dict[str, Any]:
    logger.info("mensagem da fila de falhas", extra=asdict(relato))
    return asdict(relato)


def _ha_tempo(contexto: Any) -> bool:
    restante = getattr(contexto, "get_remaining_time_in_millis", None)
    return not callable(restante) or restante() > _RESERVA_MS
