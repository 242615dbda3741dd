"""The table ``cesta-estoque-baixas``: what the stream of orders was already acted on for.

It says which confirmed orders took their units out of the stock for good, and which orders the saga left to a person
(``pessoa#`` and the id, no product), so that each is counted once.

Item: ``pedidoId`` (S, hash), ``sku``, ``quantidade`` (N, units), ``em`` (ISO instant), ``expiraEm`` (N, epoch seconds,
TTL). It lives 90 days, as long as the name of an execution: until then no second saga can exist for the order.

The mark is a row of its own, and not an entry of the stock item as the barrier of a release is, because confirmed
orders are most of them and the item must stay small. Mark and removal are one transaction: so a reservation found
together with a mark is known to be a late duplicate, and never units whose removal was about to happen.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from comum.leitura_em_lote import ler_em_lote
from comum.observabilidade import logger
from comum.relogio import agora, para_iso
from estoque.conflito import ESPERAS_S, dormir
from estoque.erros import ReservaEmDisputaError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

VALIDADE_S = 90 * 24 * 3600


class ResultadoBaixa(StrEnum):
    """What a write-off found."""

    BAIXADA = "BAIXADA"
    JA_BAIXADA = "JA_BAIXADA"
    SEM_RESERVA = "SEM_RESERVA"


@dataclass(frozen=True, slots=True)
class Baixa:
    """Result of a write-off and how many units left."""

    resultado: ResultadoBaixa
    quantidade: int


class RepositorioBaixas:
    """Writes off reservations: the only writer of ``cesta-estoque-baixas``.

    Parameters
    ----------
    dynamodb : DynamoDBClient
        Low-level client.
    tabela_estoque, tabela_baixas : str
        Table names.
    relogio : Callable[[], datetime]
        Current instant, aware.
    """

    def __init__(
        self,
        dynamodb: "DynamoDBClient",
        tabela_estoque: str,
        tabela_baixas: str,
        relogio: Callable[[], datetime] = agora,
    ) -> None:
        self._dynamodb = dynamodb
        self._tabela_estoque = tabela_estoque
        self._tabela_baixas = tabela_baixas
        self._relogio = relogio

    def baixar(self, sku: str, pedido_id: str, quantidade: int) -> Baixa:
        """Write off the reservation of a confirmed order, once: the goods left, so the balance does not change.

        Parameters
        ----------
        sku, pedido_id : str
        quantidade : int
            Units the order says; what leaves is what the item holds.

        Returns
        -------
        Baixa
            SEM_RESERVA leaves no mark: should the reservation appear later, it is still to be written off.

        Raises
        ------
        ReservaEmDisputaError
            Other writes on the product kept getting in the way.
        """
        for espera in ESPERAS_S:
            try:
                self._dynamodb.transact_write_items(TransactItems=self._transacao(sku, pedido_id, quantidade))
            except self._dynamodb.exceptions.TransactionCanceledException as recusa:
                motivos: Any = recusa.response["CancellationReasons"]
                marca, estoque = motivos
            else:
                return Baixa(ResultadoBaixa.BAIXADA, quantidade)
            if marca["Code"] == "ConditionalCheckFailed":
                return Baixa(ResultadoBaixa.JA_BAIXADA, 0)
            if estoque["Code"] in ("ConditionalCheckFailed", "ValidationError"):
                # ALL_OLD tells "nothing is held" from "another quantity is held" without a second read.
                presa = estoque.get("Item", {}).get("reservas", {}).get("M", {}).get(pedido_id)
                if presa is None:
                    return Baixa(ResultadoBaixa.SEM_RESERVA, 0)
                logger.warning("held quantity differs from the order's", extra={"sku": sku, "pedida": quantidade})
                quantidade = int(presa["N"])
                continue
            dormir(espera)  # TransactionConflict, or throttling: nothing happened
        raise ReservaEmDisputaError("other writes on the product kept getting in the way", pedidoId=pedido_id)

    def registradas(self, pedidos: Iterable[str]) -> set[str]:
        """Which of these orders (at most 100) have their mark, read consistently."""
        itens = ler_em_lote(self._dynamodb, self._tabela_baixas, "pedidoId", pedidos, ("pedidoId",))
        return {item["pedidoId"]["S"] for item in itens}

    def anotar_intervencao(self, pedido_id: str) -> bool:
        """Note that the saga left the order to a person; False when it was noted already."""
        try:
            self._dynamodb.put_item(**self._marca(f"pessoa#{pedido_id}"))
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def _marca(self, chave: str, **mais: Any) -> Any:
        """What puts a mark, once: a duplicate finds it and takes nothing."""
        momento = self._relogio()
        return {
            "TableName": self._tabela_baixas,
            "Item": {
                "pedidoId": {"S": chave},
                **mais,
                "em": {"S": para_iso(momento)},
                "expiraEm": {"N": str(int(momento.timestamp()) + VALIDADE_S)},
            },
            "ConditionExpression": "attribute_not_exists(pedidoId)",
        }

    def _transacao(self, sku: str, pedido_id: str, quantidade: int) -> "list[TransactWriteItemTypeDef]":
        unidades: Any = {"N": str(quantidade)}
        return [
            {"Put": self._marca(pedido_id, sku={"S": sku}, quantidade=unidades)},
            {
                "Update": {
                    "TableName": self._tabela_estoque,
                    "Key": {"sku": {"S": sku}},
                    "UpdateExpression": "REMOVE reservas.#pedido",
                    # The mark says exactly what left.
                    "ConditionExpression": "reservas.#pedido = :qtd",
                    "ExpressionAttributeNames": {"#pedido": pedido_id},
                    "ExpressionAttributeValues": {":qtd": unidades},
                    "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
                }
            },
        ]
