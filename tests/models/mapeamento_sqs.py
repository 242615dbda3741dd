"""A standard SQS queue and its Lambda event source mapping, reduced to the rules that can lose or double an effect.

It drives a real handler in simulated time. Every freedom AWS has and an emulator hides is a choice of the caller: which
messages come in which order, which are delivered twice, where an invocation dies, where another one runs in its middle.

Rules and where they come from
------------------------------
- *At least once*: "Lambda event source mappings process each event at least once, and duplicate processing of batches
  can occur." https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
- *No order; a copy may come back even after a delete*:
  https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues.html
- *Visibility*: a received message stays in the queue, hidden until the timeout ends; if the function fails or does
  not finish, it becomes visible again and every message of the failed batch returns.
  https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
- *Partial batch* (ReportBatchItemFailures): success when the list of failures is empty or null, or the answer is
  empty or null; complete failure when the handler raises, or an ``itemIdentifier`` is empty, null, under a wrong key,
  or not in the batch; else only the listed messages return.
  https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html#services-sqs-batchfailurereporting
- *maxReceiveCount*: when a message's ReceiveCount exceeds it, SQS moves the message to the DLQ instead of delivering
  it.
  https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
- *Redrive*: moved messages are new ones (new id, receive count from zero).
  https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-configure-dead-letter-queue-redrive.html
- A receipt handle is good until the next receive of the same message; deleting with an older one may do nothing (here
  it does nothing, the harsher reading).
  https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html

Not modelled: retention, delays, long polling, FIFO, the mapping's scaling.
"""

import hashlib
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

NUNCA = datetime.min.replace(tzinfo=UTC)
Handler = Callable[[dict[str, Any], Any], Any]


class Interrompido(BaseException):
    """The process died here: not an ``Exception``, so no handler of the program's can clean up after it."""


@dataclass
class RelogioSimulado:
    """Time that only moves when told to."""

    instante: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.instante

    def avancar(self, segundos: float) -> None:
        """Move ``segundos`` forward."""
        self.instante += timedelta(seconds=segundos)


@dataclass
class Mensagem:
    """One message as SQS keeps it."""

    id: str
    corpo: str
    atributos: dict[str, str]
    recebimentos: int = 0
    visivel_em: datetime = NUNCA
    recibo: str | None = None
    enviada_em: datetime = NUNCA


class FilaSQS:
    """A standard queue.

    Parameters
    ----------
    nome : str
        Last part of its ARN.
    relogio : RelogioSimulado
        Time.
    visibilidade_s : int
        Visibility timeout, seconds.
    max_recebimentos : int | None
        maxReceiveCount of the redrive policy; None without one.
    dlq : FilaSQS | None
        Where messages go past it.
    """

    def __init__(
        self,
        nome: str,
        relogio: RelogioSimulado,
        visibilidade_s: int = 60,
        max_recebimentos: int | None = None,
        dlq: "FilaSQS | None" = None,
    ) -> None:
        self.nome = nome
        self.relogio = relogio
        self.visibilidade_s = visibilidade_s
        self.max_recebimentos = max_recebimentos
        self.dlq = dlq
        self.mensagens: list[Mensagem] = []
        self.apagadas: list[Mensagem] = []
        self._numeros = itertools.count(1)

    def enviar(self, corpo: str, atributos: dict[str, str] | None = None) -> str:
        """Add a message; returns its id."""
        mensagem = Mensagem(f"{self.nome}-{next(self._numeros)}", corpo, atributos or {}, enviada_em=self.relogio())
        self.mensagens.append(mensagem)
        return mensagem.id

    def receber(self, maximo: int, sorte: random.Random) -> list[Mensagem]:
        """Up to ``maximo`` visible messages in any order; the ones received too often go to the DLQ instead."""
        visiveis = [m for m in self.mensagens if m.visivel_em <= self.relogio()]
        sorte.shuffle(visiveis)
        recebidas = []
        for mensagem in visiveis:
            if self.max_recebimentos is not None and mensagem.recebimentos >= self.max_recebimentos:
                self.mensagens.remove(mensagem)
                assert self.dlq is not None
                self.dlq.mensagens.append(mensagem)
                mensagem.recibo = None
            elif len(recebidas) < maximo:
                recebidas.append(self._entregar(mensagem))
        return recebidas

    def _entregar(self, mensagem: Mensagem) -> Mensagem:
        mensagem.recebimentos += 1
        mensagem.recibo = f"{mensagem.id}/{mensagem.recebimentos}/{next(self._numeros)}"
        mensagem.visivel_em = self.relogio() + timedelta(seconds=self.visibilidade_s)
        return mensagem

    def apagar(self, recibo: str) -> None:
        """Delete by receipt handle; an old one does nothing."""
        for mensagem in [m for m in self.mensagens if m.recibo == recibo]:
            self.mensagens.remove(mensagem)
            self.apagadas.append(mensagem)

    def ressuscitar(self, sorte: random.Random) -> bool:
        """A deleted message comes back (a replica that missed the delete); whether there was one."""
        if not self.apagadas:
            return False
        mensagem = sorte.choice(self.apagadas)
        self.apagadas.remove(mensagem)
        mensagem.visivel_em = self.relogio()
        mensagem.recibo = None
        self.mensagens.append(mensagem)
        return True

    def redirecionar(self, destino: "FilaSQS") -> int:
        """StartMessageMoveTask: every message goes to ``destino`` as a new one; how many."""
        movidas, self.mensagens = self.mensagens, []
        for mensagem in movidas:
            destino.enviar(mensagem.corpo, mensagem.atributos)
        return len(movidas)

    @property
    def proxima_visivel(self) -> datetime | None:
        """When the first message becomes visible, or None on an empty queue."""
        return min((m.visivel_em for m in self.mensagens), default=None)


@dataclass
class ContextoLambda:
    """What the runtime hands to the handler; the deadline is in simulated time."""

    relogio: RelogioSimulado
    prazo: datetime
    function_name: str = "ffv-lab-fila-consumidor-pedidos"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:sa-east-1:000000000000:function:ffv-lab-fila-consumidor-pedidos"
    aws_request_id: str = "00000000-0000-0000-0000-000000000000"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the function's timeout."""
        return max(0, int((self.prazo - self.relogio()).total_seconds() * 1000))


@dataclass
class Invocacao:
    """How one invocation ended: ``deleted`` and ``returned`` hold message ids; ``morreu`` when the process died."""

    apagadas: list[str] = field(default_factory=list)
    devolvidas: list[str] = field(default_factory=list)
    morreu: bool = False


class MapeamentoSQS:
    """The event source mapping between a queue and a handler.

    Parameters
    ----------
    fila : FilaSQS
        Source.
    handler : Handler
        The real handler.
    sorte : random.Random
        Decides order and batch sizes.
    lote : int
        Largest batch.
    timeout_s : int
        The function's timeout, seconds.
    """

    def __init__(
        self, fila: FilaSQS, handler: Handler, sorte: random.Random, lote: int = 10, timeout_s: int = 10
    ) -> None:
        self.fila = fila
        self.handler = handler
        self.sorte = sorte
        self.lote = lote
        self.timeout_s = timeout_s

    def passo(self) -> Invocacao | None:
        """One poll: receive, invoke, delete what succeeded. None when nothing is visible."""
        mensagens = self.fila.receber(self.sorte.randint(1, self.lote), self.sorte)
        return self.invocar(mensagens) if mensagens else None

    def invocar(self, mensagens: Sequence[Mensagem]) -> Invocacao:
        """Invoke with these messages (already received) and apply the answer."""
        recibos = {m.id: str(m.recibo) for m in mensagens}
        prazo = self.fila.relogio() + timedelta(seconds=self.timeout_s)
        try:
            resposta = self.handler(evento_sqs(mensagens, self.fila.nome), ContextoLambda(self.fila.relogio, prazo))
        except Interrompido:
            return Invocacao(devolvidas=list(recibos), morreu=True)
        except Exception:  # noqa: BLE001 - whatever the handler raises fails the whole batch
            return Invocacao(devolvidas=list(recibos))
        devolvidas = devolvidas_por(resposta, list(recibos))
        apagadas = [i for i in recibos if i not in devolvidas]
        for identificador in apagadas:
            self.fila.apagar(recibos[identificador])
        return Invocacao(apagadas, [i for i in recibos if i in devolvidas])

    def esvaziar(self, ao_passo: Callable[[], None] = lambda: None, limite: int = 500) -> None:
        """Poll until the queue is empty, letting time pass when everything is hidden.

        Raises
        ------
        AssertionError
            After ``limite`` polls: the queue does not drain.
        """
        for _ in range(limite):
            if not self.fila.mensagens:
                return
            ao_passo()
            if self.passo() is None and (proxima := self.fila.proxima_visivel) is not None:
                self.fila.relogio.instante = max(self.fila.relogio(), proxima)
        raise AssertionError(f"{len(self.fila.mensagens)} messages still in the queue after {limite} polls")


def devolvidas_por(resposta: Any, ids: Sequence[str]) -> set[str]:
    """Which of the batch's ids return to the queue, by the mapping's reading of the handler's answer."""
    if resposta is None or resposta == {}:
        return set()
    if not isinstance(resposta, dict) or "batchItemFailures" not in resposta:
        return set(ids) if not isinstance(resposta, dict) else set()
    falhas = resposta["batchItemFailures"]
    if falhas is None:
        return set()
    devolvidas = set()
    for falha in falhas:
        identificador = falha.get("itemIdentifier") if isinstance(falha, dict) else None
        if not identificador or identificador not in ids:
            return set(ids)
        devolvidas.add(identificador)
    return devolvidas


def evento_sqs(mensagens: Sequence[Mensagem], nome_fila: str) -> dict[str, Any]:
    """The event Lambda hands to the function for these messages."""
    return {
        "Records": [
            {
                "messageId": m.id,
                "receiptHandle": m.recibo,
                "body": m.corpo,
                "attributes": {
                    "ApproximateReceiveCount": str(m.recebimentos),
                    "SentTimestamp": str(int(m.enviada_em.timestamp() * 1000)),
                    "SenderId": "000000000000",
                    "ApproximateFirstReceiveTimestamp": str(int(m.enviada_em.timestamp() * 1000)),
                },
                "messageAttributes": {
                    nome: {"stringValue": valor, "stringListValues": [], "binaryListValues": [], "dataType": "String"}
                    for nome, valor in m.atributos.items()
                },
                "md5OfBody": hashlib.md5(m.corpo.encode(), usedforsecurity=False).hexdigest(),
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:sa-east-1:000000000000:{nome_fila}",
                "awsRegion": "sa-east-1",
            }
            for m in mensagens
        ]
    }
