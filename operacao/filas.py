"""Reading a queue that people read, without consuming it: hold what is there, give back what was not dealt with."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
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
            lote = self._sqs.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=_POR_CHAMADA,
                VisibilityTimeout=SEGURAR_S,
                WaitTimeSeconds=1,
                AttributeNames=["All"],
                MessageAttributeNames=["All"],
            ).get("Messages", [])
            vazias = 0 if lote else vazias + 1
            with self._trava:
                self._mensagens.update((mensagem["MessageId"], mensagem) for mensagem in lote)

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
        mensagens = self.mensagens
        for inicio in range(0, len(mensagens), _POR_CHAMADA):
            entradas = [
                {"Id": str(n), "ReceiptHandle": mensagem["ReceiptHandle"], "VisibilityTimeout": segundos}
                for n, mensagem in enumerate(mensagens[inicio : inicio + _POR_CHAMADA])
            ]
            try:
                self._sqs.change_message_visibility_batch(QueueUrl=self._url, Entries=entradas)
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


def gravar(mensagens: Sequence[dict[str, Any]], arquivo: Path) -> int:
    """Write messages as JSON lines; how many. The file appears whole or not at all, readable by its owner only."""
    arquivo.parent.mkdir(parents=True, exist_ok=True)
    fd, provisorio = tempfile.mkstemp(dir=arquivo.parent, prefix=f".{arquivo.name}.")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as saida:
            for mensagem in mensagens:
                saida.write(json_canonico(_exportada(mensagem)) + "\n")
        Path(provisorio).replace(arquivo)
    finally:
        Path(provisorio).unlink(missing_ok=True)
    return len(mensagens)


def _exportada(mensagem: dict[str, Any]) -> dict[str, Any]:
    atributos = {nome: valor.get("StringValue") for nome, valor in mensagem.get("MessageAttributes", {}).items()}
    return {
        "messageId": mensagem["MessageId"],
        "enviadaEmMs": enviada_ms(mensagem),
        "recebimentos": int(mensagem.get("Attributes", {}).get("ApproximateReceiveCount", 0)),
        "corpo": mensagem["Body"],
        **({"atributos": atributos} if atributos else {}),
    }
