"""One batch of the queue: each message on its own, several at a time, none able to fail another."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import datetime
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.utilities.batch import AsyncBatchProcessor, EventType
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.idempotency import idempotent_function

from comum.erros import ErroDeNegocio
from comum.observabilidade import contar, identificar, logger
from comum.relogio import agora as agora_do_sistema
from fila.efeitos import RepositorioDeEfeitos, Situacao
from fila.erros import MensagemInvalidaError, TempoInsuficienteError
from fila.gateway import ContaDaLoja
from fila.modelos import MensagemDePedido, ler_mensagem
from fila.processados import REPETIDO, TabelaDeProcessados, configuracao_de_idempotencia
from fila.processamento import processar

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse


class ProcessadorDeLotes:
    """Turns an SQS event into effects and into the list of messages to deliver again.

    Parameters
    ----------
    processados : TabelaDeProcessados
        Idempotency records.
    efeitos : RepositorioDeEfeitos
        Stock and order outcomes.
    conta : ContaDaLoja
        The store's account at the gateway.
    executor : Executor
        Threads that work on the messages. With one per message of a batch, a slow gateway costs the batch one wait
        and not ten, so ten slow charges never add up to the function's timeout.
    minimo_ms : int
        A message is not started with less than this left of the invocation (milliseconds).
    agora : Callable[[], datetime]
        Clock (aware UTC).
    """

    def __init__(
        self,
        processados: TabelaDeProcessados,
        efeitos: RepositorioDeEfeitos,
        conta: ContaDaLoja,
        executor: Executor,
        minimo_ms: int,
        agora: Callable[[], datetime] = agora_do_sistema,
    ) -> None:
        self._efeitos = efeitos
        self._conta = conta
        self._executor = executor
        self._minimo_ms = minimo_ms
        self._agora = agora
        self._idempotencia = configuracao_de_idempotencia()
        self._uma_vez = idempotent_function(
            self._efeito, data_keyword_argument="pedido", persistence_store=processados, config=self._idempotencia
        )

    def processar(self, evento: dict[str, Any], contexto: Any) -> "PartialItemFailureResponse":
        """Work on every record and answer ``{"batchItemFailures": [{"itemIdentifier": messageId}, ...]}``.

        An exception never leaves here because of a message: a batch in which all failed is reported like any other.
        """
        self._idempotencia.register_lambda_context(contexto)
        lote = AsyncBatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)

        async def tratar(record: SQSRecord) -> dict[str, Any]:
            return await asyncio.get_running_loop().run_in_executor(self._executor, self._tratar, record, contexto)

        with lote(records=evento["Records"], handler=tratar):
            resultados = lote.async_process()
        _medir(resultados)
        return lote.response()

    def _tratar(self, registro: SQSRecord, contexto: Any) -> dict[str, Any]:
        """One message, in a worker thread (its other log keys travel in ``extra``: the logger's are shared)."""
        identificar(None)
        extra: dict[str, Any] = {
            "messageId": registro.message_id,
            "recebimentos": registro.attributes.approximate_receive_count,
        }
        try:
            if contexto.get_remaining_time_in_millis() < self._minimo_ms:
                raise TempoInsuficienteError("too little time left in this invocation")
            atributo = registro.message_attributes["PedidoId"]
            mensagem = ler_mensagem(registro.body, atributo.string_value if atributo else None)
            identificar(mensagem.pedidoId)
            resultado: dict[str, Any] = self._uma_vez(pedido=mensagem.model_dump())
        except MensagemInvalidaError as erro:
            campos = erro.detalhes["campos"]
            logger.warning("message refused: it breaks the contract", extra={**extra, "campos": campos})
            raise
        except ErroDeNegocio as erro:
            extra |= {"erro": type(erro).__name__, **erro.detalhes}
            logger.warning("message returned to the queue", extra=extra)
            raise
        except Exception as erro:
            # Powertools' own (already in progress, another content under the same id), AWS's, or a defect.
            logger.warning("message returned to the queue", extra={**extra, "erro": type(erro).__name__}, exc_info=True)
            raise
        logger.info("message processed", extra={**extra, **resultado})
        return resultado

    def _efeito(self, pedido: dict[str, Any]) -> dict[str, Any]:
        efeito = processar(MensagemDePedido.model_validate(pedido), self._efeitos, self._conta, self._agora)
        return {"situacao": str(efeito.situacao), "motivo": str(efeito.motivo) if efeito.motivo else None}


def _medir(resultados: list[tuple[Any, ...]]) -> None:
    """Business counters of a batch (in the main thread: Powertools' metrics are not made for several)."""
    for desfecho, resultado, _registro in resultados:
        if desfecho != "success":
            contar("MensagensDevolvidas")
        elif resultado.get(REPETIDO):
            contar("DuplicatasDescartadas")
        elif resultado["situacao"] == Situacao.CONCLUIDO:
            contar("PedidosConcluidos")
        else:
            contar("PedidosRecusados")
