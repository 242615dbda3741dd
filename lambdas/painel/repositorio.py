"""The table ``painel_operacao``: current state, transition log, gaps, and what the store still has to put back.

Items of one order (partition ``PEDIDO#<id>``):

``ATUAL``
    Latest known state. Indexed by store in GSI1 (``LOJA#<loja>``, ``<gravadoEm>#<id>``): the order of *writing*, not of
    happening, so that a browser which asks "what changed since T" never misses a change that arrived late.
``TRANSICAO#<sequence padded to 40>``
    One change; its facts are never rewritten. When a packed order was cancelled it also carries ``alerta`` (PENDENTE →
    PUBLICADO) and, until the store acknowledges, a place in GSI2 (``REPOSICAO#LOJA#<loja>``).
``LACUNA#<instant>``
    Written by reconciliation only: the stream lost changes here; the states in between are not known and not invented.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from painel.transicao import Transicao

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = dict[str, Any]
EstadoAlerta = Literal["PENDENTE", "PUBLICADO"]

ATUAL = "ATUAL"
PREFIXO_TRANSICAO = "TRANSICAO#"
PREFIXO_LACUNA = "LACUNA#"
INDICE_LOJA, INDICE_REPOSICAO = "GSI1", "GSI2"


@dataclass(frozen=True)
class Registro:
    """Outcome of writing a transition: whether it is new, and the alert's state if it asks for one."""

    novo: bool
    alerta: EstadoAlerta | None


def chave_pedido(pedido_id: str) -> str:
    """Partition key of an order."""
    return f"PEDIDO#{pedido_id}"


class RepositorioPainel:
    """Every read and write of ``painel_operacao``."""

    def __init__(self, cliente: "DynamoDBClient", tabela: str) -> None:
        self._cliente = cliente
        self._tabela = tabela

    # --- writing: the consumer ---------------------------------------------------------------------------------------

    def registrar_transicao(self, transicao: Transicao, gravado_em: str) -> Registro:
        """Append the transition and, in the same write, claim its alert and its place in the store's restock list.

        Duplicate: the key is the stream's sequence number, so the condition refuses the second write and answers with
        the item already there, whose ``alerta`` tells a retry whether the alert still has to go out.
        """
        item: Item = {
            "PK": _s(chave_pedido(transicao.pedido_id)),
            "SK": _s(PREFIXO_TRANSICAO + transicao.sequencia),
            "pedidoId": _s(transicao.pedido_id),
            "loja": _s(transicao.loja),
            "de": _s(transicao.de),
            "para": _s(transicao.para),
            "em": _s(transicao.em),
            "sequencia": _s(transicao.sequencia),
            "gravadoEm": _s(gravado_em),
        }
        if transicao.pede_reposicao:
            item["alerta"] = _s("PENDENTE")
            item |= _lugar_na_reposicao(transicao.loja, transicao.em, transicao.pedido_id)
        existente = self._criar(item)
        if existente is None:
            return Registro(novo=True, alerta=_alerta(item))
        return Registro(novo=False, alerta=_alerta(existente))

    def atualizar_atual(self, transicao: Transicao, gravado_em: str) -> bool:
        """Move ATUAL forward to this transition; False when it already shows something later.

        Do after undo: a record re-sent from an earlier checkpoint, or brought back from the on-failure queue, has a
        lower sequence than the one stored and cannot move the panel backwards. A state rebuilt by reconciliation has no
        sequence, so it is compared by instant instead.
        """
        try:
            self._cliente.update_item(
                TableName=self._tabela,
                Key={"PK": _s(chave_pedido(transicao.pedido_id)), "SK": _s(ATUAL)},
                UpdateExpression=(
                    "SET pedidoId = :id, loja = :loja, #status = :para, statusAnterior = :de, em = :em,"
                    " sequencia = :seq, gravadoEm = :gravado, GSI1PK = :gsi1pk, GSI1SK = :gsi1sk"
                    " REMOVE reconstruidoAte"
                ),
                ConditionExpression=(
                    "(attribute_not_exists(sequencia) OR sequencia < :seq)"
                    " AND (attribute_not_exists(reconstruidoAte) OR reconstruidoAte <= :em)"
                ),
                ExpressionAttributeNames={"#status": "status"},
                ExpressionAttributeValues={
                    ":id": _s(transicao.pedido_id),
                    ":loja": _s(transicao.loja),
                    ":para": _s(transicao.para),
                    ":de": _s(transicao.de),
                    ":em": _s(transicao.em),
                    ":seq": _s(transicao.sequencia),
                    ":gravado": _s(gravado_em),
                    ":gsi1pk": _s(f"LOJA#{transicao.loja}"),
                    ":gsi1sk": _s(f"{gravado_em}#{transicao.pedido_id}"),
                },
            )
        except self._cliente.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def marcar_alerta_publicado(self, pedido_id: str, sk: str, publicado_em: str) -> None:
        """PENDENTE → PUBLICADO on the item that claimed the alert; already published is success."""
        try:
            self._cliente.update_item(
                TableName=self._tabela,
                Key={"PK": _s(chave_pedido(pedido_id)), "SK": _s(sk)},
                UpdateExpression="SET alerta = :publicado, publicadoEm = :em",
                ConditionExpression="alerta = :pendente",
                ExpressionAttributeValues={
                    ":publicado": _s("PUBLICADO"),
                    ":pendente": _s("PENDENTE"),
                    ":em": _s(publicado_em),
                },
            )
        except self._cliente.exceptions.ConditionalCheckFailedException:
            return

    # --- helpers -----------------------------------------------------------------------------------------------------

    def _criar(self, item: Item) -> Item | None:
        """Put an item that must not exist; the existing item when it does."""
        try:
            self._cliente.put_item(
                TableName=self._tabela,
                Item=item,
                ConditionExpression="attribute_not_exists(PK)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._cliente.exceptions.ConditionalCheckFailedException as erro:
            return cast(Item, cast(Mapping[str, Any], erro.response).get("Item") or self._ler(item["PK"], item["SK"]))
        return None

    def _ler(self, pk: Any, sk: Any) -> Item:
        # Only where the engine does not answer a failed condition with the item.
        resposta = self._cliente.get_item(TableName=self._tabela, Key={"PK": pk, "SK": sk}, ConsistentRead=True)
        return cast(Item, resposta.get("Item", {}))


def _s(valor: str) -> Any:
    return {"S": valor}


def _lugar_na_reposicao(loja: str, em: str, pedido_id: str) -> Item:
    return {"GSI2PK": _s(f"REPOSICAO#LOJA#{loja}"), "GSI2SK": _s(f"{em}#{pedido_id}")}


def _alerta(item: Item) -> EstadoAlerta | None:
    return cast(EstadoAlerta | None, item.get("alerta", {}).get("S"))
