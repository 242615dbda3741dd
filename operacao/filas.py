"""Reading a queue that people read, without consuming it: hold what is there, give back what was not dealt with."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from comum.contrato import json_canonico

SEGURAR_S = 120
"""How long a message stays hidden if this process is killed: short, because the alarm only counts visible ones."""
RENOVAR_S = 40
RENOVACOES = 45
"""Half an hour: a terminal left open does not hide the queue from the alarm for ever."""
LIMITE_MENSAGENS = 10_000
"""More than a person deals with at once: ``segurar`` stops there and says so. ``exportar`` does not."""
LIMITE_EM_VOO = 100_000
"""Messages of one queue hidden at once: under the "approximately 120,000" at which SQS, asked with a wait, gives none.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-queues.html
"""
_VISIBILIDADE_MAXIMA_S = 12 * 3600
_POR_CHAMADA = 10


class Seguradas:
    """Messages held by this process, by MessageId, as SQS gave them (``Attributes`` and ``MessageAttributes`` too)."""

    def __init__(self, sqs: Any, url: str) -> None:
        self._sqs = sqs
        self._url = url
        self._mensagens: dict[str, dict[str, Any]] = {}
        self._trava = threading.Lock()

    @property
    def mensagens(self) -> list[dict[str, Any]]:
        """What is still held, oldest first."""
        with self._trava:
            return sorted(self._mensagens.values(), key=enviada_ms)

    def receber(self) -> None:
        """Hold everything there is: until two answers in a row are empty, or ``LIMITE_MENSAGENS`` are held."""
        vazias = 0
        while vazias < 2 and len(self._mensagens) < LIMITE_MENSAGENS:
            lote = _receber(self._sqs, self._url, SEGURAR_S)
            vazias = 0 if lote else vazias + 1
            with self._trava:
                self._mensagens.update((mensagem["MessageId"], mensagem) for mensagem in lote)
        if len(self._mensagens) >= LIMITE_MENSAGENS:
            print(
                f"aviso: só as primeiras {len(self._mensagens)} mensagens de {nome(self._url)} foram "
                "lidas; trate destas e repita para ver as outras.",
                file=sys.stderr,
            )

    def apagar(self, id_mensagem: str) -> None:
        """Delete a held message; nobody sees it again."""
        with self._trava:
            recibo = self._mensagens[id_mensagem]["ReceiptHandle"]
        self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=recibo)
        with self._trava:
            del self._mensagens[id_mensagem]

    def soltar(self) -> None:
        """Make everything still held visible again; what cannot be reached becomes visible by itself."""
        self._mudar_visibilidade(0)

    def renovar(self) -> None:
        """Keep everything held for another ``SEGURAR_S`` seconds."""
        self._mudar_visibilidade(SEGURAR_S)

    def _mudar_visibilidade(self, segundos: int) -> None:
        _mudar_visibilidade(self._sqs, self._url, [m["ReceiptHandle"] for m in self.mensagens], segundos)


def _receber(sqs: Any, url: str, segundos: int) -> list[dict[str, Any]]:
    lote: list[dict[str, Any]] = sqs.receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=_POR_CHAMADA,
        VisibilityTimeout=segundos,
        WaitTimeSeconds=1,
        AttributeNames=["All"],
        MessageAttributeNames=["All"],
    ).get("Messages", [])
    return lote


def _mudar_visibilidade(sqs: Any, url: str, recibos: Sequence[str], segundos: int) -> None:
    for inicio in range(0, len(recibos), _POR_CHAMADA):
        entradas = [
            {"Id": str(n), "ReceiptHandle": recibo, "VisibilityTimeout": segundos}
            for n, recibo in enumerate(recibos[inicio : inicio + _POR_CHAMADA])
        ]
        try:
            sqs.change_message_visibility_batch(QueueUrl=url, Entries=entradas)
        except (ClientError, BotoCoreError):
            continue  # its time is over, or it is out of reach: visible either way


@contextmanager
def segurar(sqs: Any, url: str) -> Iterator[Seguradas]:
    """Every message there is now, hidden from others meanwhile and visible again afterwards.

    While held, messages are renewed in the background, for half an hour at most; when the process is killed they are
    visible again within ``SEGURAR_S`` seconds.
    """
    seguradas = Seguradas(sqs, url)
    parar = threading.Event()

    def manter() -> None:
        for _ in range(RENOVACOES):
            if parar.wait(RENOVAR_S):
                return
            seguradas.renovar()

    renovador = threading.Thread(target=manter, daemon=True)
    try:
        seguradas.receber()
        renovador.start()
        yield seguradas
    finally:
        parar.set()
        if renovador.ident is not None:
            renovador.join(timeout=RENOVAR_S)
        seguradas.soltar()


def enviada_ms(mensagem: dict[str, Any]) -> int:
    """When it was first sent, in epoch milliseconds."""
    return int(mensagem.get("Attributes", {}).get("SentTimestamp", 0))


def nome(url: str) -> str:
    """A queue's name, from its URL."""
    return url.rpartition("/")[2]


def quantas(sqs: Any, url: str) -> int:
    """How many messages the queue holds, hidden ones included; SQS only knows it approximately."""
    contagens = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    atributos = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=contagens)["Attributes"]
    return sum(int(atributos.get(contagem, 0)) for contagem in contagens)


def exportar(sqs: Any, url: str, arquivo: Path) -> int:
    """Write every message there is, in the order SQS gives them, and make all visible again; how many.

    Each goes to the file as it arrives: only ids and receipts stay in memory. Nothing is consumed. Stops at
    ``LIMITE_EM_VOO`` messages. If the process is killed, messages stay hidden for ``SEGURAR_S`` plus a second for each
    ten of them, which is what reading them all may take.
    """
    recibos: dict[str, str] = {}
    segundos = min(SEGURAR_S + quantas(sqs, url) // _POR_CHAMADA, _VISIBILIDADE_MAXIMA_S)

    def chegando() -> Iterator[dict[str, Any]]:
        sem_novas = 0
        while sem_novas < 2 and len(recibos) < LIMITE_EM_VOO:
            lote = _receber(sqs, url, segundos)
            novas = [mensagem for mensagem in lote if mensagem["MessageId"] not in recibos]
            recibos.update((mensagem["MessageId"], mensagem["ReceiptHandle"]) for mensagem in lote)
            sem_novas = 0 if novas else sem_novas + 1
            yield from novas

    try:
        return gravar(chegando(), arquivo)
    finally:
        _mudar_visibilidade(sqs, url, list(recibos.values()), 0)


def gravar(mensagens: Iterable[dict[str, Any]], arquivo: Path) -> int:
    """Write messages as JSON lines; how many. The file appears whole or not at all, readable by its owner only."""
    escritas = 0
    arquivo.parent.mkdir(parents=True, exist_ok=True)
    fd, provisorio = tempfile.mkstemp(dir=arquivo.parent, prefix=f".{arquivo.name}.")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as saida:
            for mensagem in mensagens:
                saida.write(json_canonico(_exportada(mensagem)) + "\n")
                escritas += 1
        Path(provisorio).replace(arquivo)
    finally:
        Path(provisorio).unlink(missing_ok=True)
    return escritas


def _exportada(mensagem: dict[str, Any]) -> dict[str, Any]:
    atributos = {nome: valor.get("StringValue") for nome, valor in mensagem.get("MessageAttributes", {}).items()}
    return {
        "messageId": mensagem["MessageId"],
        "enviadaEmMs": enviada_ms(mensagem),
        "recebimentos": int(mensagem.get("Attributes", {}).get("ApproximateReceiveCount", 0)),
        "corpo": mensagem["Body"],
        **({"atributos": atributos} if atributos else {}),
    }
