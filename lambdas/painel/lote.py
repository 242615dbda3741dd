"""A batch of one shard, processed up to the first failure.

On streams the platform takes the lowest failed sequence number as its checkpoint and sends again everything from it
(https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html): work done past the first
failure is work done twice. So the batch stops there.
"""

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType

from comum.aws import codigo_do_erro
from comum.erros import ErroDeNegocio, ErroTransitorio
from comum.observabilidade import logger
from painel.erros import PrazoEsgotadoError

MARGEM_MS = 4_000


class LoteFalhouError(ErroTransitorio):
    """The first record of the batch failed: nothing to checkpoint, so the whole invocation fails.

    Answering "failed from the first" would be bisected *at* that record, that is, not at all, and after the last
    attempt the good records behind it would be discarded with it. A failed invocation is bisected in halves, which
    isolates the bad record (same page, "Bisecting a batch").
    """


class LoteDoStream(BatchProcessor):
    """Powertools' batch processor for streams that stops at the first failure.

    Parameters
    ----------
    tempo_restante_ms : Callable[[], int]
        Milliseconds left for this invocation; with less than ``MARGEM_MS`` no record is started, so that what was
        done is checkpointed instead of being thrown away with a timeout.
    """

    def __init__(self, tempo_restante_ms: Callable[[], int]) -> None:
        super().__init__(event_type=EventType.DynamoDBStreams)
        self._tempo_restante_ms = tempo_restante_ms
        self._primeiro_que_falhou: int | None = None

    def process(self) -> list[tuple[Any, ...]]:
        """Call the record handler in order until one fails."""
        resultados: list[tuple[Any, ...]] = []
        for posicao, registro in enumerate(self.records):
            resultado = self._com_prazo(registro)
            resultados.append(resultado)
            if resultado[0] != "success":
                self._primeiro_que_falhou = posicao
                self._registrar_falha(registro)
                break
        return resultados

    def _com_prazo(self, registro: dict[str, Any]) -> tuple[Any, ...]:
        if self._tempo_restante_ms() >= MARGEM_MS:
            return self._process_record(registro)
        erro = PrazoEsgotadoError("too little time left for another record")
        return self.failure_handler(record=registro, exception=(type(erro), erro, None))

    def _clean(self) -> None:
        posicao, self._primeiro_que_falhou = self._primeiro_que_falhou, None
        if posicao is None:
            return
        if posicao == 0:
            raise LoteFalhouError(f"first record failed with {self._nome_do_erro()}; see the previous log line")
        self.batch_response = {"batchItemFailures": [{"itemIdentifier": _sequencia(self.records[posicao])}]}

    def _registrar_falha(self, registro: dict[str, Any]) -> None:
        # The message of an error that is not ours may quote an item (botocore's parameter validation does): left out.
        erro = self.exceptions[-1][1]
        logger.error(
            "registro do stream falhou",
            erro=self._nome_do_erro(),
            codigo=codigo_do_erro(erro) if isinstance(erro, Exception) else "",
            motivo=erro.mensagem if isinstance(erro, ErroDeNegocio) else "",
            sequencia=_sequencia(registro),
            posicao=self._primeiro_que_falhou,
            registros=len(self.records),
        )

    def _nome_do_erro(self) -> str:
        classe = self.exceptions[-1][0]
        return classe.__name__ if classe else "erro"


def _sequencia(registro: Any) -> str:
    mudanca = registro.get("dynamodb") if isinstance(registro, dict) else None
    return str(mudanca.get("SequenceNumber", "")) if isinstance(mudanca, dict) else ""
