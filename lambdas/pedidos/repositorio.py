"""The table ``cesta-pedidos``: the writes made by functions (the state machine makes its own, under the same status
table).

Item: ``pedidoId`` (S, hash), ``status``, ``sku``, ``quantidade`` (units), ``valorCentavos``, ``criadoEm``,
``atualizadoEm``, ``historico`` (list of {status, em, passo}), ``motivo`` ({erro, causa}) on failure. Never the card's
token. An order that a person ended carries ``encerramento`` ({motivo, por, estoque, em}); one whose units were decided
on later keeps the first decision in ``encerramentoAdiado``.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from comum.contrato import EntradaSaga
from pedidos.erros import ConfirmacaoRecusadaError, PedidoDivergenteError
from pedidos.situacao import Status, condicao_de_escrita, pode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mypy_boto3_dynamodb import DynamoDBClient

CAMPOS_COMPARADOS = ("sku", "quantidade", "valorCentavos", "criadoEm")


@dataclass(frozen=True, slots=True)
class Passo:
    """One entry of the order's history."""

    status: str
    em: str
    passo: str


@dataclass(frozen=True, slots=True)
class Encerramento:
    """How a person ended an order: why and who (no customer's data), and what was done with its units (``liberar``,
    ``baixar`` or ``nada``)."""

    motivo: str
    por: str
    estoque: str


@dataclass(frozen=True, slots=True)
class Pedido:
    """An order as stored; ``erro`` is the name of the failure, empty when there is none."""

    pedido_id: str
    status: str
    sku: str
    quantidade: int
    valor_centavos: int
    criado_em: str
    atualizado_em: str
    historico: tuple[Passo, ...]
    erro: str
    encerramento: Encerramento | None = None
    encerramento_adiado: Encerramento | None = None


class RepositorioPedidos:
    """Reads and writes ``cesta-pedidos``.

    Parameters
    ----------
    dynamodb : DynamoDBClient
        Low-level client.
    tabela : str
        Table name.
    """

    def __init__(self, dynamodb: "DynamoDBClient", tabela: str) -> None:
        self._dynamodb = dynamodb
        self._tabela = tabela

    def registrar_recebido(self, entrada: EntradaSaga, passo: str) -> bool:
        """Record a new order as RECEBIDO, once.

        Returns
        -------
        bool
            False if the order was already there with the same content (a duplicate): nothing was written.

        Raises
        ------
        PedidoDivergenteError
            The pedidoId is taken by another content.
        """
        condicao = condicao_de_escrita(Status.RECEBIDO, incluir_o_proprio=False)
        try:
            self._dynamodb.put_item(
                TableName=self._tabela,
                Item={
                    "pedidoId": {"S": entrada.pedidoId},
                    "status": {"S": Status.RECEBIDO},
                    "sku": {"S": entrada.sku},
                    "quantidade": {"N": str(entrada.quantidade)},
                    "valorCentavos": {"N": str(entrada.valorCentavos)},
                    "criadoEm": {"S": entrada.criadoEm},
                    "atualizadoEm": {"S": entrada.criadoEm},
                    "historico": {"L": [_entrada_historico(Status.RECEBIDO, entrada.criadoEm, passo)]},
                },
                # A duplicate, or a message that arrives after the saga moved on, never takes the order back to
                # RECEBIDO.
                ConditionExpression=condicao.expressao,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as recusa:
            _exigir_mesmo_conteudo(_item(recusa), entrada)
            return False
        return True

    def confirmar(self, pedido_id: str, em: str, passo: str) -> bool:
        """Move the order from RESERVADO to CONFIRMADO.

        Returns
        -------
        bool
            False if it was CONFIRMADO already (a duplicate): nothing was written, the history does not grow.

        Raises
        ------
        ConfirmacaoRecusadaError
            The order is in any other status, or absent.
        """
        condicao = condicao_de_escrita(Status.CONFIRMADO, incluir_o_proprio=False)
        try:
            self._dynamodb.update_item(
                TableName=self._tabela,
                Key={"pedidoId": {"S": pedido_id}},
                UpdateExpression=(
                    "SET #status = :para, atualizadoEm = :em,"
                    " historico = list_append(if_not_exists(historico, :vazia), :entrada)"
                ),
                # A confirmation that arrives after the undo began (COMPENSANDO or later) is refused.
                ConditionExpression=condicao.expressao,
                ExpressionAttributeNames=condicao.nomes,
                ExpressionAttributeValues={
                    **condicao.valores,
                    ":para": {"S": Status.CONFIRMADO},
                    ":em": {"S": em},
                    ":vazia": {"L": []},
                    ":entrada": {"L": [_entrada_historico(Status.CONFIRMADO, em, passo)]},
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as recusa:
            atual = _texto(_item(recusa), "status")
        else:
            return True
        if atual == Status.CONFIRMADO:
            return False
        raise ConfirmacaoRecusadaError("the order cannot be confirmed", pedidoId=pedido_id, status=atual or "AUSENTE")

    def assumir(self, pedido_id: str, lido: Status | None, em: str, passo: str) -> bool:
        """Make the order a person's (REQUER_INTERVENCAO_HUMANA): from then on it can no longer be confirmed.

        Parameters
        ----------
        lido : Status | None
            Status the person saw (None: no item); if it changed meanwhile, nothing is written.

        Returns
        -------
        bool
            False if the order is no longer in ``lido``, or may not go from there.
        """
        para = Status.REQUER_INTERVENCAO_HUMANA
        if lido is para or lido is Status.ENCERRADO_MANUALMENTE or not pode(para, lido):
            return False
        condicao = "attribute_not_exists(pedidoId)" if lido is None else "#status = :lido"
        return self._mudar(pedido_id, para, em, passo, condicao, {} if lido is None else {":lido": {"S": lido.value}})

    def encerrar(self, pedido_id: str, encerramento: Encerramento, em: str, passo: str) -> bool:
        """Record how a person ended the order: REQUER_INTERVENCAO_HUMANA to ENCERRADO_MANUALMENTE.

        Returns
        -------
        bool
            False if the order is in any other status, ENCERRADO_MANUALMENTE included: what was recorded first stays.
        """
        condicao = condicao_de_escrita(Status.ENCERRADO_MANUALMENTE, incluir_o_proprio=False)
        return self._mudar(
            pedido_id,
            Status.ENCERRADO_MANUALMENTE,
            em,
            passo,
            condicao.expressao,
            {**condicao.valores, ":encerramento": _registro(encerramento, em)},
            ", encerramento = :encerramento",
        )

    def decidir_estoque(self, pedido_id: str, encerramento: Encerramento, em: str, passo: str) -> bool:
        """Record what becomes of the units of an order that was ended with ``nada``, keeping that first decision.

        Returns
        -------
        bool
            False if the order was not ended, or its units were decided on already: what was recorded first stays.
        """
        return self._mudar(
            pedido_id,
            Status.ENCERRADO_MANUALMENTE,
            em,
            passo,
            "#status = :para AND encerramento.estoque = :nada",
            {":nada": {"S": "nada"}, ":encerramento": _registro(encerramento, em)},
            ", encerramentoAdiado = encerramento, encerramento = :encerramento",
        )

    def _mudar(
        self,
        pedido_id: str,
        para: Status,
        em: str,
        passo: str,
        condicao: str,
        valores: "Mapping[str, Any]",
        mais: str = "",
    ) -> bool:
        """Write a status under a condition, history appended; False if the condition does not hold."""
        try:
            self._dynamodb.update_item(
                TableName=self._tabela,
                Key={"pedidoId": {"S": pedido_id}},
                UpdateExpression=(
                    "SET #status = :para, atualizadoEm = :em,"
                    f" historico = list_append(if_not_exists(historico, :vazia), :entrada){mais}"
                ),
                ConditionExpression=condicao,
                ExpressionAttributeNames={"#status": "status"},
                ExpressionAttributeValues={
                    **valores,
                    ":para": {"S": para},
                    ":em": {"S": em},
                    ":vazia": {"L": []},
                    ":entrada": {"L": [_entrada_historico(para, em, passo)]},
                },
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def obter(self, pedido_id: str) -> Pedido | None:
        """The order, read consistently, or None."""
        item = self._dynamodb.get_item(
            TableName=self._tabela, Key={"pedidoId": {"S": pedido_id}}, ConsistentRead=True
        ).get("Item")
        return None if item is None else _pedido(item)


def _pedido(item: "Mapping[str, Any]") -> Pedido:
    historico = tuple(
        Passo(_texto(entrada["M"], "status"), _texto(entrada["M"], "em"), _texto(entrada["M"], "passo"))
        for entrada in item.get("historico", {}).get("L", [])
    )
    return Pedido(
        pedido_id=_texto(item, "pedidoId"),
        status=_texto(item, "status"),
        sku=_texto(item, "sku"),
        quantidade=_inteiro(item, "quantidade"),
        valor_centavos=_inteiro(item, "valorCentavos"),
        criado_em=_texto(item, "criadoEm"),
        atualizado_em=_texto(item, "atualizadoEm"),
        historico=historico,
        erro=_texto(item.get("motivo", {}).get("M", {}), "erro"),
        encerramento=_encerramento(item.get("encerramento", {}).get("M")),
        encerramento_adiado=_encerramento(item.get("encerramentoAdiado", {}).get("M")),
    )


def _registro(encerramento: Encerramento, em: str) -> dict[str, Any]:
    campos = {"motivo": encerramento.motivo, "por": encerramento.por, "estoque": encerramento.estoque, "em": em}
    return {"M": {campo: {"S": valor} for campo, valor in campos.items()}}


def _encerramento(guardado: "Mapping[str, Any] | None") -> Encerramento | None:
    if guardado is None:
        return None
    return Encerramento(_texto(guardado, "motivo"), _texto(guardado, "por"), _texto(guardado, "estoque"))


def _exigir_mesmo_conteudo(item: "Mapping[str, Any]", entrada: EntradaSaga) -> None:
    """Compare what the item has of the order; the state machine may have made it without these fields."""
    esperado = entrada.model_dump()
    for campo in CAMPOS_COMPARADOS:
        guardado = item.get(campo)
        if guardado is not None and (guardado.get("S") or guardado.get("N")) != str(esperado[campo]):
            raise PedidoDivergenteError(
                "pedidoId already used by another order", pedidoId=entrada.pedidoId, campo=campo
            )


def _entrada_historico(status: Status, em: str, passo: str) -> dict[str, Any]:
    return {"M": {"status": {"S": status.value}, "em": {"S": em}, "passo": {"S": passo}}}


def _item(recusa: Exception) -> "Mapping[str, Any]":
    """Item returned with a failed condition (ALL_OLD); empty when there was none."""
    return cast("Mapping[str, Any]", getattr(recusa, "response", {}).get("Item") or {})


def _texto(item: "Mapping[str, Any]", campo: str) -> str:
    return str(item.get(campo, {}).get("S", ""))


def _inteiro(item: "Mapping[str, Any]", campo: str) -> int:
    return int(item.get(campo, {}).get("N", 0))
