"""The table ``cesta-estoque`` and every condition written on it.

Item: ``sku`` (S, hash), ``saldo`` (N, units), ``reservas`` (M, pedidoId -> units held) and ``encerradas`` (M,
pedidoId -> epoch seconds at which its reservation was released). ``saldo + sum(reservas)`` only changes when goods come
or go; a confirmed order's units go by :mod:`estoque.baixas`.

``encerradas`` is the barrier against a reserve that arrives after its undo. Such a reserve can only be late by the
life of a function (5 s) plus a call in flight, so an entry older than ``JANELA_ENCERRADAS_S`` has done its work and
is pruned: the item stays small, which matters because an update costs by the size of the whole item.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from comum.aws import codigo_do_erro
from comum.observabilidade import logger
from comum.relogio import agora
from estoque.conflito import insistir
from estoque.erros import (
    EstoqueInsuficienteError,
    ProdutoInexistenteError,
    ReservaDivergenteError,
    ReservaEmDisputaError,
    ReservaEncerradaError,
)

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

JANELA_ENCERRADAS_S = 120
LOTE_DE_PODA = 20
TENTATIVAS = 3


class ResultadoReserva(StrEnum):
    """What a reserve found."""

    RESERVADA = "RESERVADA"
    JA_RESERVADA = "JA_RESERVADA"


class ResultadoLiberacao(StrEnum):
    """What a release found."""

    LIBERADA = "LIBERADA"
    JA_ENCERRADA = "JA_ENCERRADA"
    NADA_A_LIBERAR = "NADA_A_LIBERAR"


@dataclass(frozen=True, slots=True)
class Liberacao:
    """Result of a release and how many units it moved."""

    resultado: ResultadoLiberacao
    quantidade: int


class RepositorioEstoque:
    """Reads and writes ``cesta-estoque``.

    Parameters
    ----------
    dynamodb : DynamoDBClient
        Low-level client.
    tabela : str
        Table name.
    relogio : Callable[[], datetime]
        Current instant, aware.
    """

    def __init__(self, dynamodb: "DynamoDBClient", tabela: str, relogio: Callable[[], datetime] = agora) -> None:
        self._dynamodb = dynamodb
        self._tabela = tabela
        self._relogio = relogio

    def reservar(self, sku: str, pedido_id: str, quantidade: int) -> ResultadoReserva:
        """Move ``quantidade`` units from the balance to the order's reservation, once.

        Raises
        ------
        EstoqueInsuficienteError, ProdutoInexistenteError, ReservaEncerradaError, ReservaDivergenteError
        """
        try:
            self._com_mapas(
                sku,
                lambda: self._dynamodb.update_item(
                    TableName=self._tabela,
                    Key={"sku": {"S": sku}},
                    UpdateExpression="SET saldo = saldo - :qtd, reservas.#pedido = :qtd",
                    # Balance: never negative. reservas: a duplicate takes nothing twice. encerradas: a reserve that
                    # arrives after its undo is refused.
                    ConditionExpression=(
                        "saldo >= :qtd AND attribute_not_exists(reservas.#pedido)"
                        " AND attribute_not_exists(encerradas.#pedido)"
                    ),
                    ExpressionAttributeNames={"#pedido": pedido_id},
                    ExpressionAttributeValues={":qtd": {"N": str(quantidade)}},
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                ),
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as recusa:
            return self._reserva_recusada(_item(recusa), pedido_id, quantidade)
        return ResultadoReserva.RESERVADA

    def liberar(self, sku: str, pedido_id: str) -> Liberacao:
        """Give back to the balance exactly what the order holds, once; a reserve arriving later is refused.

        Raises
        ------
        ReservaEmDisputaError
            If reserves and releases of this order keep overtaking each other.
        """
        for _ in range(TENTATIVAS):
            try:
                resposta = self._com_mapas(
                    sku,
                    lambda: self._dynamodb.update_item(
                        TableName=self._tabela,
                        Key={"sku": {"S": sku}},
                        UpdateExpression=(
                            "SET saldo = saldo + reservas.#pedido, encerradas.#pedido = :agora REMOVE reservas.#pedido"
                        ),
                        # A duplicate, or an undo before its do, finds no reservation and moves nothing.
                        ConditionExpression="attribute_exists(reservas.#pedido)",
                        ExpressionAttributeNames={"#pedido": pedido_id},
                        ExpressionAttributeValues={":agora": self._agora_s()},
                        ReturnValues="ALL_OLD",
                        ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    ),
                )
            except self._dynamodb.exceptions.ConditionalCheckFailedException as recusa:
                antes = _item(recusa)
                if not antes:
                    return Liberacao(ResultadoLiberacao.NADA_A_LIBERAR, 0)
                if pedido_id in _mapa(antes, "encerradas"):
                    return Liberacao(ResultadoLiberacao.JA_ENCERRADA, 0)
                if self._barrar(sku, pedido_id):
                    return Liberacao(ResultadoLiberacao.NADA_A_LIBERAR, 0)
                continue  # the reserve landed between the two writes: release it
            antes = resposta["Attributes"]
            self._podar(sku, antes)
            return Liberacao(ResultadoLiberacao.LIBERADA, int(_mapa(antes, "reservas")[pedido_id]["N"]))
        raise ReservaEmDisputaError("reserve and release keep overtaking each other", pedidoId=pedido_id)

    def _barrar(self, sku: str, pedido_id: str) -> bool:
        """Undo before do: leave the barrier that refuses the late reserve. False if the reserve has just landed."""
        try:
            self._com_mapas(
                sku,
                lambda: self._dynamodb.update_item(
                    TableName=self._tabela,
                    Key={"sku": {"S": sku}},
                    UpdateExpression="SET encerradas.#pedido = :agora",
                    ConditionExpression="attribute_not_exists(reservas.#pedido)",
                    ExpressionAttributeNames={"#pedido": pedido_id},
                    ExpressionAttributeValues={":agora": self._agora_s()},
                ),
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def _podar(self, sku: str, item: "Mapping[str, AttributeValueTypeDef]") -> None:
        """Drop barriers whose window has passed, many at a time; losing this write only leaves them for the next
        release."""
        limite = int(self._relogio().timestamp()) - JANELA_ENCERRADAS_S
        velhas = [pedido for pedido, em in _mapa(item, "encerradas").items() if int(em["N"]) < limite]
        if len(velhas) < LOTE_DE_PODA:
            return
        nomes = {f"#p{posicao}": pedido for posicao, pedido in enumerate(velhas[:100])}
        try:
            self._dynamodb.update_item(
                TableName=self._tabela,
                Key={"sku": {"S": sku}},
                UpdateExpression="REMOVE " + ", ".join(f"encerradas.{nome}" for nome in nomes),
                ConditionExpression="attribute_exists(encerradas)",
                ExpressionAttributeNames=nomes,
            )
        except self._dynamodb.exceptions.ClientError as erro:
            logger.warning("old barriers not pruned", extra={"codigo": codigo_do_erro(erro)})

    def _com_mapas(self, sku: str, escrever: Callable[[], Any]) -> Any:
        """Write; if the item has no maps yet (a path inside an absent map is a ValidationException), make them and
        write again.

        ``if_not_exists`` never overwrites a map that another call has just made.
        """
        try:
            return insistir(escrever)
        except self._dynamodb.exceptions.ClientError as erro:
            if codigo_do_erro(erro) != "ValidationException":
                raise
        insistir(
            lambda: self._dynamodb.update_item(
                TableName=self._tabela,
                Key={"sku": {"S": sku}},
                UpdateExpression=(
                    "SET reservas = if_not_exists(reservas, :reservas),"
                    " encerradas = if_not_exists(encerradas, :encerradas)"
                ),
                ConditionExpression="attribute_exists(sku)",  # never a product that only exists to be barred
                # One value each: ministack keeps the map it was given, and one value for both would tie them together.
                ExpressionAttributeValues={":reservas": {"M": {}}, ":encerradas": {"M": {}}},
            )
        )
        return insistir(escrever)

    def _reserva_recusada(self, item: Mapping[str, Any], pedido_id: str, quantidade: int) -> ResultadoReserva:
        if not item:
            raise ProdutoInexistenteError("no such sku", pedidoId=pedido_id)
        atual = _mapa(item, "reservas").get(pedido_id)
        if atual is not None and int(atual["N"]) == quantidade:
            return ResultadoReserva.JA_RESERVADA
        if atual is not None:
            raise ReservaDivergenteError("already reserved with another quantity", pedidoId=pedido_id)
        if pedido_id in _mapa(item, "encerradas"):
            raise ReservaEncerradaError("reservation already released", pedidoId=pedido_id)
        raise EstoqueInsuficienteError(
            "not enough units", pedidoId=pedido_id, pedida=quantidade, saldo=item.get("saldo", {}).get("N", "0")
        )

    def _agora_s(self) -> "AttributeValueTypeDef":
        return {"N": str(int(self._relogio().timestamp()))}


def _item(recusa: Exception) -> Mapping[str, Any]:
    """Item returned with a failed condition (ALL_OLD): tells "already mine" from "no balance" without a second read."""
    return cast(Mapping[str, Any], getattr(recusa, "response", {}).get("Item") or {})


def _mapa(item: Mapping[str, Any], nome: str) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], item.get(nome, {}).get("M", {}))
