"""The effect of an order on stock, and the record that makes it happen once.

Tables: ``ffv-lab-fila-efeitos`` (hash ``pedidoId``, one item per order, kept) and ``ffv-lab-fila-estoque`` (hash
``itemId``, ``saldo`` N). The effect's item is the order's own memory: it outlives the idempotency record (30 days) as
long as a DLQ message can still be redriven, and each redrive starts its 14 days again.

    absent ──debit──> ESTOQUE_DEBITADO ──charged──> CONCLUIDO
       └─no stock──> RECUSADO <──charge refused, debit undone──┘

``criadoEm``, ``atualizadoEm`` (ISO-8601, UTC), the order's own fields, ``idTransacao`` of the charge and ``motivo``
of a refusal are on the item.

Every arrow is one conditional write (a transaction where stock moves), so a crash leaves the order on one side of an
arrow, never in the middle, and a second walker finds the arrow already taken.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from comum.aws import codigo_do_erro
from fila.erros import EfeitoAusenteError, EstoqueEmDisputaError, PedidoConflitanteError
from fila.modelos import MensagemDePedido

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TENTATIVAS_EM_DISPUTA = 6
_TRANSITORIOS = {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}


class Situacao(StrEnum):
    """Where an order's effect stands."""

    ESTOQUE_DEBITADO = "ESTOQUE_DEBITADO"
    CONCLUIDO = "CONCLUIDO"
    RECUSADO = "RECUSADO"


class Motivo(StrEnum):
    """Why an order was refused; recorded, counted and shown."""

    ITEM_INEXISTENTE = "ITEM_INEXISTENTE"
    ESTOQUE_INSUFICIENTE = "ESTOQUE_INSUFICIENTE"
    PAGAMENTO_RECUSADO = "PAGAMENTO_RECUSADO"
    ENCERRADO_MANUALMENTE = "ENCERRADO_MANUALMENTE"


@dataclass(frozen=True)
class Efeito:
    """The effect as stored; ``de_outra_entrega`` when it was there before this delivery asked for it."""

    pedido_id: str
    situacao: Situacao
    motivo: Motivo | None = None
    de_outra_entrega: bool = False

    @property
    def definitivo(self) -> bool:
        """Whether nothing more will happen to this order."""
        return self.situacao is not Situacao.ESTOQUE_DEBITADO


class LeitorDeEfeitos:
    """Reads effects; all the API may do.

    Parameters
    ----------
    cliente : DynamoDBClient
        Low-level client.
    tabela_efeitos : str
        Table name.
    """

    def __init__(self, cliente: "DynamoDBClient", tabela_efeitos: str) -> None:
        self._cliente = cliente
        self._efeitos = tabela_efeitos

    def obter(self, pedido_id: str) -> Efeito | None:
        """The order's effect (consistent read), or None when nothing happened yet."""
        item = self._cliente.get_item(
            TableName=self._efeitos, Key={"pedidoId": {"S": pedido_id}}, ConsistentRead=True
        ).get("Item")
        return _efeito(item) if item else None


class RepositorioDeEfeitos:
    """Moves effects; the only place that writes either table.

    Parameters
    ----------
    cliente : DynamoDBClient
        Low-level client.
    tabela_efeitos, tabela_estoque : str
        Table names.
    dormir : Callable[[float], None]
        Sleeps between attempts on a disputed stock item (seconds).
    """

    def __init__(
        self,
        cliente: "DynamoDBClient",
        tabela_efeitos: str,
        tabela_estoque: str,
        dormir: Callable[[float], None] = time.sleep,
    ) -> None:
        self._cliente = cliente
        self._efeitos = tabela_efeitos
        self._estoque = tabela_estoque
        self._dormir = dormir

    def debitar(self, mensagem: MensagemDePedido, agora: str) -> Efeito:
        """Debit stock for this order, once for ever, or record that there is not enough.

        Meets the *duplicate*: the marker and the debit are one transaction and the marker's condition refuses the
        second.

        Returns
        -------
        Efeito
            What is stored now: this debit, a refusal for lack of stock, or whatever an earlier delivery left.

        Raises
        ------
        PedidoConflitanteError
            The id was used before by an order with another content.
        EstoqueEmDisputaError
            The stock item was being written by others at each attempt; nothing was written.
        """
        marcador = {
            "Put": {
                "TableName": self._efeitos,
                "Item": _item(mensagem, Situacao.ESTOQUE_DEBITADO, agora),
                "ConditionExpression": "attribute_not_exists(pedidoId)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }
        debito = {
            "Update": {
                "TableName": self._estoque,
                "Key": {"itemId": {"S": mensagem.itemId}},
                "UpdateExpression": "SET saldo = saldo - :q",
                # An absent item fails it too: an absent attribute compares false.
                "ConditionExpression": "saldo >= :q",
                "ExpressionAttributeValues": {":q": {"N": str(mensagem.quantidade)}},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }
        razoes = self._transacionar([marcador, debito])
        if razoes is None:
            return Efeito(mensagem.pedidoId, Situacao.ESTOQUE_DEBITADO)
        if razoes[0].get("Code") == "ConditionalCheckFailed":
            return self._anterior(mensagem, razoes[0].get("Item"))
        motivo = Motivo.ESTOQUE_INSUFICIENTE if razoes[1].get("Item") else Motivo.ITEM_INEXISTENTE
        return self._recusar_sem_debito(mensagem, motivo, agora)

    def concluir(self, mensagem: MensagemDePedido, id_transacao: str, agora: str) -> Efeito:
        """Record that the charge was approved.

        A late walker (the same order finished by another delivery) finds the condition false and returns what is
        stored.
        """
        try:
            item = self._cliente.update_item(
                TableName=self._efeitos,
                Key={"pedidoId": {"S": mensagem.pedidoId}},
                UpdateExpression="SET situacao = :nova, idTransacao = :id, atualizadoEm = :em",
                ConditionExpression="situacao = :debitado",
                ExpressionAttributeValues={
                    ":nova": {"S": Situacao.CONCLUIDO},
                    ":debitado": {"S": Situacao.ESTOQUE_DEBITADO},
                    ":id": {"S": id_transacao},
                    ":em": {"S": agora},
                },
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )["Attributes"]
        except self._cliente.exceptions.ConditionalCheckFailedException as erro:
            return self._anterior(mensagem, _resposta(erro).get("Item"))
        return _efeito(item)

    def desfazer_debito(self, mensagem: MensagemDePedido, motivo: Motivo, agora: str) -> Efeito:
        """Give the stock back and record the refusal, together and once.

        Meets *undo before do* and the duplicate undo: only an order in ESTOQUE_DEBITADO gives anything back.

        Raises
        ------
        EstoqueEmDisputaError
            The stock item was being written by others at each attempt; nothing was written.
        """
        recusa = {
            "Update": {
                "TableName": self._efeitos,
                "Key": {"pedidoId": {"S": mensagem.pedidoId}},
                "UpdateExpression": "SET situacao = :nova, motivo = :motivo, atualizadoEm = :em",
                "ConditionExpression": "situacao = :debitado",
                "ExpressionAttributeValues": {
                    ":nova": {"S": Situacao.RECUSADO},
                    ":debitado": {"S": Situacao.ESTOQUE_DEBITADO},
                    ":motivo": {"S": motivo},
                    ":em": {"S": agora},
                },
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }
        devolucao = {
            "Update": {
                "TableName": self._estoque,
                "Key": {"itemId": {"S": mensagem.itemId}},
                "UpdateExpression": "ADD saldo :q",
                "ExpressionAttributeValues": {":q": {"N": str(mensagem.quantidade)}},
            }
        }
        razoes = self._transacionar([recusa, devolucao])
        if razoes is not None:
            return self._anterior(mensagem, razoes[0].get("Item"))
        return Efeito(mensagem.pedidoId, Situacao.RECUSADO, motivo=motivo)

    def _recusar_sem_debito(self, mensagem: MensagemDePedido, motivo: Motivo, agora: str) -> Efeito:
        try:
            self._cliente.put_item(
                TableName=self._efeitos,
                Item=_item(mensagem, Situacao.RECUSADO, agora, motivo={"S": motivo}),
                ConditionExpression="attribute_not_exists(pedidoId)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._cliente.exceptions.ConditionalCheckFailedException as erro:
            return self._anterior(mensagem, _resposta(erro).get("Item"))
        return Efeito(mensagem.pedidoId, Situacao.RECUSADO, motivo=motivo)

    def _anterior(self, mensagem: MensagemDePedido, item: dict[str, Any] | None) -> Efeito:
        """What an earlier delivery left, after checking that it was about this very order."""
        if not item:
            raise EfeitoAusenteError("the effect vanished between two writes", pedidoId=mensagem.pedidoId)
        if _conteudo(item) != _conteudo(_campos(mensagem)):
            raise PedidoConflitanteError("pedidoId already used with another content", pedidoId=mensagem.pedidoId)
        return _efeito(item)

    def _transacionar(self, operacoes: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """Write all or nothing; None when written, else the reason of each operation whose condition failed.

        Transactions on one item reject each other (TransactionConflict) instead of queueing, and the SDK does not
        retry a cancelled transaction:
        https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
        """
        for tentativa in range(TENTATIVAS_EM_DISPUTA):
            try:
                self._cliente.transact_write_items(TransactItems=operacoes)  # type: ignore[arg-type]  # TypedDicts in the stub
            except self._cliente.exceptions.TransactionCanceledException as erro:
                razoes: list[dict[str, Any]] = list(_resposta(erro).get("CancellationReasons", []))
                codigos = {razao.get("Code") for razao in razoes}
                if "ConditionalCheckFailed" in codigos:
                    return razoes
                if not codigos & _TRANSITORIOS:
                    raise
            except self._cliente.exceptions.ClientError as erro:
                if codigo_do_erro(erro) != "TransactionInProgressException":
                    raise
            else:
                return None
            self._dormir(random.uniform(0, 0.05 * 2**tentativa))
        raise EstoqueEmDisputaError("stock item disputed by other orders", tentativas=TENTATIVAS_EM_DISPUTA)


def _resposta(erro: Any) -> dict[str, Any]:
    """The whole answer of a refused write; botocore types only its error part."""
    return cast(dict[str, Any], erro.response)


def _campos(mensagem: MensagemDePedido) -> dict[str, Any]:
    return {
        "itemId": {"S": mensagem.itemId},
        "quantidade": {"N": str(mensagem.quantidade)},
        "valorCentavos": {"N": str(mensagem.valorCentavos)},
        "lojaId": {"S": mensagem.lojaId},
    }


def _conteudo(item: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(item.get(campo) for campo in ("itemId", "quantidade", "valorCentavos", "lojaId"))


def _item(mensagem: MensagemDePedido, situacao: Situacao, agora: str, **extras: dict[str, str]) -> dict[str, Any]:
    return {
        "pedidoId": {"S": mensagem.pedidoId},
        "situacao": {"S": situacao},
        **_campos(mensagem),
        "recebidoEm": {"S": mensagem.recebidoEm},
        "criadoEm": {"S": agora},
        "atualizadoEm": {"S": agora},
        **extras,
    }


def _efeito(item: dict[str, Any]) -> Efeito:
    return Efeito(
        pedido_id=str(item["pedidoId"]["S"]),
        situacao=Situacao(item["situacao"]["S"]),
        motivo=Motivo(item["motivo"]["S"]) if "motivo" in item else None,
        de_outra_entrega=True,
    )
