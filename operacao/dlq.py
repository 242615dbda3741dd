"""The queue's DLQ in a person's hands: ``scripts/dlq.sh listar | mostrar | devolver | descartar``.

Nothing leaves the DLQ without a trace: what is sent back is in the main queue before it is deleted here, and what is
discarded is in ``ffv-lab-fila-descartes`` with who and why before it is deleted. A crash in between repeats a message,
which the consumer drops, or a record, which is written once.
"""

from __future__ import annotations

import argparse
import getpass
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError
from rich.console import Console
from rich.table import Table

from comum.relogio import agora_iso
from fila.efeitos import Efeito, LeitorDeEfeitos, Motivo, RepositorioDeEfeitos
from fila.erros import MensagemInvalidaError
from fila.modelos import MensagemDePedido, ler_mensagem
from operacao.alvos import alvo_em_operacao, dizendo_o_que_falhou
from operacao.filas import enviada_ms, segurar
from provas.alvo import Alvo
from provas.erros import ErroDasProvas

LIMITE_MOVIMENTO_S = 600
_SEM_MOVE_TASK = {
    "InvalidAction",
    "AWS.SimpleQueueService.UnsupportedOperation",
    "UnsupportedOperation",
    "UnknownOperation",
}


class DlqError(ErroDasProvas):
    """The command cannot be done; the message is Portuguese and says what to do instead."""


@dataclass(frozen=True)
class Parada:
    """A message in the DLQ, held by this process: ``pedido`` when it can be read, else ``defeito`` names the fields."""

    id: str
    recibo: str
    corpo: str
    atributos: dict[str, Any]
    recebimentos: int
    enviada_ms: int
    pedido: MensagemDePedido | None
    defeito: str

    @property
    def idade_s(self) -> int:
        """Seconds since it was first sent."""
        return max(0, int(time.time() - self.enviada_ms / 1000))


class Dlq:
    """The DLQ of one target.

    Parameters
    ----------
    alvo : Alvo
        Where the system is deployed.
    """

    def __init__(self, alvo: Alvo) -> None:
        self._sqs = alvo.cliente("sqs")
        self._ddb = alvo.cliente("dynamodb")
        self.url = str(alvo.saida("fila_pedidos_dlq_url"))
        self.destino = str(alvo.saida("fila_pedidos_url"))
        self.tabelas = alvo.saida("tabelas_fila")
        self._efeitos = LeitorDeEfeitos(self._ddb, self.tabelas["efeitos"])
        self._repositorio = RepositorioDeEfeitos(self._ddb, self.tabelas["efeitos"], self.tabelas["estoque"])

    @contextmanager
    def segurar(self) -> Iterator[list[Parada]]:
        """Every message there is now, hidden from others meanwhile and visible again afterwards."""
        with segurar(self._sqs, self.url) as seguradas:
            yield [_parada(mensagem) for mensagem in seguradas.mensagens]

    def efeito(self, parada: Parada) -> Efeito | None:
        """What already happened to the message's order; None when nothing, or when it cannot be read."""
        return self._efeitos.obter(parada.pedido.pedidoId) if parada.pedido else None

    def devolver_todas(self) -> tuple[int, str]:
        """Send everything back to the main queue; how many, and by which means (``tarefa`` or ``uma a uma``)."""
        arn = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        try:
            self._sqs.start_message_move_task(SourceArn=arn)
        except ClientError as erro:
            if erro.response["Error"]["Code"] not in _SEM_MOVE_TASK:
                raise
        else:
            return self._esperar_movimento(arn), "tarefa"
        with self.segurar() as paradas:
            for parada in paradas:
                self._devolver(parada)
            return len(paradas), "uma a uma"

    def devolver(self, ids: Sequence[str]) -> int:
        """Send these messages back, one by one; how many.

        Raises
        ------
        DlqError
            An id is not in the DLQ; nothing is sent back.
        """
        with self.segurar() as paradas:
            escolhidas = _escolher(paradas, ids)
            for parada in escolhidas:
                self._devolver(parada)
            return len(escolhidas)

    def descartar(self, id_mensagem: str, motivo: str, por: str, cobranca_conferida: bool) -> Efeito | None:
        """Record the message with who and why, give its stock back if it still holds any, and delete it.

        Parameters
        ----------
        cobranca_conferida : bool
            The person has seen at the gateway that this order was not charged (or was refunded).

        Raises
        ------
        DlqError
            Unknown id, empty reason, or an order that debited stock and may have been charged.
        """
        if len(motivo.strip()) < 5:
            raise DlqError("Escreva o motivo do descarte em --motivo (ao menos 5 letras).")
        with self.segurar() as paradas:
            parada = _escolher(paradas, [id_mensagem])[0]
            efeito = self.efeito(parada)
            if efeito is not None and not efeito.definitivo:
                if not cobranca_conferida:
                    raise DlqError(
                        f"O pedido {efeito.pedido_id} já debitou estoque e pode ter sido cobrado. Devolva-o à fila; "
                        "ou, se conferiu no gateway que não há cobrança, descarte com --cobranca-conferida."
                    )
                assert parada.pedido is not None  # noqa: S101 - an effect was found by its id
                efeito = self._repositorio.desfazer_debito(parada.pedido, Motivo.ENCERRADO_MANUALMENTE, agora_iso())
            self._registrar(parada, motivo.strip(), por, efeito)
            self._sqs.delete_message(QueueUrl=self.url, ReceiptHandle=parada.recibo)
            return efeito

    def _registrar(self, parada: Parada, motivo: str, por: str, efeito: Efeito | None) -> None:
        item = {
            "messageId": {"S": parada.id},
            "corpo": {"S": parada.corpo},
            "motivo": {"S": motivo},
            "por": {"S": por},
            "em": {"S": agora_iso()},
            "defeito": {"S": parada.defeito},
        }
        if parada.pedido is not None:
            item["pedidoId"] = {"S": parada.pedido.pedidoId}
        if efeito is not None:
            item["situacao"] = {"S": str(efeito.situacao)}
        try:
            self._ddb.put_item(
                TableName=self.tabelas["descartes"], Item=item, ConditionExpression="attribute_not_exists(messageId)"
            )
        except self._ddb.exceptions.ConditionalCheckFailedException:
            return  # recorded before, and stopped before the delete

    def _devolver(self, parada: Parada) -> None:
        self._sqs.send_message(QueueUrl=self.destino, MessageBody=parada.corpo, MessageAttributes=parada.atributos)
        self._sqs.delete_message(QueueUrl=self.url, ReceiptHandle=parada.recibo)

    def _esperar_movimento(self, arn: str) -> int:
        limite = time.monotonic() + LIMITE_MOVIMENTO_S
        while time.monotonic() < limite:
            tarefa = self._sqs.list_message_move_tasks(SourceArn=arn, MaxResults=1)["Results"][0]
            if tarefa["Status"] == "COMPLETED":
                return int(tarefa.get("ApproximateNumberOfMessagesMoved", 0))
            if tarefa["Status"] in ("FAILED", "CANCELLED"):
                raise DlqError(f"A devolução parou: {tarefa.get('FailureReason') or tarefa['Status']}.")
            time.sleep(1)
        raise DlqError("A devolução ainda não terminou; acompanhe pelo console do SQS.")


def _parada(mensagem: dict[str, Any]) -> Parada:
    atributos = {
        nome: {campo: valor[campo] for campo in ("DataType", "StringValue", "BinaryValue") if campo in valor}
        for nome, valor in mensagem.get("MessageAttributes", {}).items()
    }
    pedido, defeito = None, ""
    try:
        pedido = ler_mensagem(mensagem["Body"], atributos.get("PedidoId", {}).get("StringValue"))
    except MensagemInvalidaError as erro:
        defeito = str(erro.detalhes["campos"])
    sistema = mensagem.get("Attributes", {})
    return Parada(
        id=mensagem["MessageId"],
        recibo=mensagem["ReceiptHandle"],
        corpo=mensagem["Body"],
        atributos=atributos,
        recebimentos=int(sistema.get("ApproximateReceiveCount", 0)),
        enviada_ms=enviada_ms(mensagem),
        pedido=pedido,
        defeito=defeito,
    )


def _escolher(paradas: Sequence[Parada], ids: Sequence[str]) -> list[Parada]:
    achadas = {parada.id: parada for parada in paradas}
    faltam = [i for i in ids if i not in achadas]
    if faltam:
        raise DlqError(f"Não está na DLQ: {', '.join(faltam)}. Veja os ids com: scripts/dlq.sh listar")
    return [achadas[i] for i in dict.fromkeys(ids)]


def _listar(dlq: Dlq, console: Console) -> None:
    with dlq.segurar() as paradas:
        if not paradas:
            console.print("A DLQ está vazia.")
            return
        quadro = Table(title=f"{len(paradas)} mensagem(ns) na DLQ")
        for coluna in ("id", "pedido", "há", "defeito", "o que já aconteceu"):
            quadro.add_column(coluna, overflow="fold")
        for parada in paradas:
            efeito = dlq.efeito(parada)
            quadro.add_row(
                parada.id,
                parada.pedido.pedidoId if parada.pedido else "—",
                f"{parada.idade_s // 60} min",
                parada.defeito or "nenhum na mensagem: veja o log do consumidor",
                str(efeito.situacao) if efeito else "nada",
            )
        console.print(quadro)


def _mostrar(dlq: Dlq, id_mensagem: str, console: Console) -> None:
    with dlq.segurar() as paradas:
        parada = _escolher(paradas, [id_mensagem])[0]
        efeito = dlq.efeito(parada)
        console.print(f"id: {parada.id}\nrecebimentos: {parada.recebimentos}\nidade: {parada.idade_s} s")
        console.print(f"defeito: {parada.defeito or 'nenhum'}")
        console.print(f"efeito: {efeito.situacao if efeito else 'nada aconteceu'}")
        console.print("corpo:")
        console.print(parada.corpo, markup=False, highlight=False)


def analisador() -> argparse.ArgumentParser:
    """The command line; its help is what operators read."""
    p = argparse.ArgumentParser(prog="scripts/dlq.sh", description="Pedidos que falharam 5 vezes e pararam na DLQ.")
    p.add_argument("--alvo", default=os.environ.get("ALVO") or "local", help="local (padrão), localstack ou aws")
    acoes = p.add_subparsers(dest="acao", required=True)
    acoes.add_parser("listar", help="o que está parado e por quê")
    mostrar = acoes.add_parser("mostrar", help="o conteúdo de uma mensagem")
    mostrar.add_argument("id")
    devolver = acoes.add_parser("devolver", help="manda de volta à fila, depois de corrigida a causa")
    devolver.add_argument("ids", nargs="*")
    devolver.add_argument("--todas", action="store_true")
    descartar = acoes.add_parser("descartar", help="tira da DLQ, guardando conteúdo, motivo e autor")
    descartar.add_argument("id")
    descartar.add_argument("--motivo", required=True)
    descartar.add_argument("--por", default=getpass.getuser(), help="quem decidiu (padrão: o usuário desta máquina)")
    descartar.add_argument("--cobranca-conferida", action="store_true", help="conferi no gateway: não há cobrança")
    return p


@dizendo_o_que_falhou
def principal(argumentos: Sequence[str] | None = None) -> int:
    """Run the command line; 0 when it was done, 1 when it was refused, 2 when the target stopped answering."""
    lidos = analisador().parse_args(argumentos)
    console = Console()
    try:
        dlq = Dlq(alvo_em_operacao(lidos.alvo))
        if lidos.acao == "listar":
            _listar(dlq, console)
        elif lidos.acao == "mostrar":
            _mostrar(dlq, lidos.id, console)
        elif lidos.acao == "devolver":
            if lidos.todas == bool(lidos.ids):
                raise DlqError("Diga quais: ids das mensagens, ou --todas.")
            quantas, meio = dlq.devolver_todas() if lidos.todas else (dlq.devolver(lidos.ids), "uma a uma")
            console.print(f"{quantas} mensagem(ns) de volta à fila ({meio}).")
        else:
            efeito = dlq.descartar(lidos.id, lidos.motivo, lidos.por, lidos.cobranca_conferida)
            console.print(f"Descartada e registrada em {dlq.tabelas['descartes']}.")
            if efeito is not None:
                console.print(f"O pedido {efeito.pedido_id} está {efeito.situacao}.")
    except ErroDasProvas as erro:
        console.print(f"[red]erro:[/red] {erro}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(principal())
