"""From the queue ``cesta-pedidos-criados`` to the saga: records the order and starts its execution."""

import json
from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from comum import aws
from comum.contrato import EntradaSaga, ler
from comum.erros import ErroDeNegocio, PedidoInvalidoError
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from pedidos.configuracao import ConfiguracaoIniciar
from pedidos.maquina_saga import MaquinaSaga
from pedidos.repositorio import RepositorioPedidos

_processador = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


@uma_vez
def _configuracao() -> ConfiguracaoIniciar:
    return ConfiguracaoIniciar.do_ambiente()


@uma_vez
def _repositorio() -> RepositorioPedidos:
    return RepositorioPedidos(aws.dynamodb(), _configuracao().tabela_pedidos)


@uma_vez
def _maquina() -> MaquinaSaga:
    return MaquinaSaga(aws.stepfunctions(), _configuracao().arn_maquina_saga)


@observado
def handler(evento: Any, contexto: Any) -> dict[str, Any]:
    """Start one saga per message, failing only the messages that fail.

    Duplicate: the order is recorded once and the execution's name stops a second saga; a same id with other content
    is a conflict, and its message goes to the dead-letter queue. Undo before do, do after undo: a late message finds
    the order ahead of RECEBIDO and does not take it back.

    Parameters
    ----------
    evento : dict
        SQS event; each body is the canonical JSON of ``EntradaSaga``.
    contexto : LambdaContext

    Returns
    -------
    dict
        ``{"batchItemFailures": [{"itemIdentifier": messageId}]}``: each failed message comes back, then goes to the
        DLQ.
    """
    resposta = process_partial_response(event=evento, record_handler=_atender, processor=_processador, context=contexto)
    return dict(resposta)


def _atender(record: SQSRecord) -> None:
    """One message; Powertools passes it by the name ``record``. Every failure is logged here, then comes back."""
    logger.append_keys(messageId=record.message_id)
    identificar(None)
    try:
        entrada = _ler_mensagem(record.body)
        identificar(entrada.pedidoId)
        novo = _repositorio().registrar_recebido(entrada, "IniciarSaga")
        iniciada = _maquina().iniciar(entrada)
    except ErroDeNegocio as erro:
        contar("MensagensRecusadas")
        logger.error("message refused", extra={"erro": type(erro).__name__, "mensagem": erro.mensagem, **erro.detalhes})
        raise
    except Exception as erro:
        # Name or AWS code only: the text of an error nobody foresaw may quote the message.
        logger.error("message will come back", extra={"erro": aws.codigo_do_erro(erro)})
        raise
    if not iniciada:
        contar("ExecucoesJaExistentes")
    logger.info("saga started", extra={"pedidoNovo": novo, "duplicata": not iniciada})


def _ler_mensagem(corpo: str) -> EntradaSaga:
    try:
        conteudo = json.loads(corpo)
    except ValueError:
        conteudo = None
    entrada = ler(EntradaSaga, conteudo)
    if entrada.pede_injecao() and not _configuracao().permitir_injecao_falhas:
        raise PedidoInvalidoError(
            "fault injection is off in this environment", campos="forcarFalhaConfirmar,forcarFalhaEstorno"
        )
    return entrada
