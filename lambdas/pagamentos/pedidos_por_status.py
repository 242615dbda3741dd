"""Orders by status, oldest first: the index ``por-status`` of ``cesta-pedidos``, which this context only reads.

The gateway's contract lists no charges, so who looks for orphan ones walks the orders instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

INDICE = "por-status"
PAGINA = 25

Posicao = dict[str, str]
"""Where a walk stopped: pedidoId, status and atualizadoEm of the last order seen."""


@dataclass(frozen=True, slots=True)
class PedidoAntigo:
    """An order as the index has it (it may lag behind the table)."""

    pedido_id: str
    posicao: Posicao


@dataclass(frozen=True, slots=True)
class PedidoAtual:
    """An order as the table has it; ``erro`` is the name of the failure, empty when there is none."""

    status: str
    atualizado_em: str
    erro: str


class PedidosPorStatus:
    """Walks orders by status.

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

    def pagina(
        self, status: str, desde: str, ate: str, depois_de: Posicao | None
    ) -> tuple[list[PedidoAntigo], Posicao | None]:
        """A page of orders that came to ``status`` between two instants (ISO, both included), oldest first.

        Returns
        -------
        tuple[list[PedidoAntigo], Posicao | None]
            The orders, and where the next page starts; None at the end.
        """
        inicio: dict[str, Any] = {} if depois_de is None else {"ExclusiveStartKey": _tipada(depois_de)}
        resposta = self._dynamodb.query(
            TableName=self._tabela,
            IndexName=INDICE,
            KeyConditionExpression="#status = :status AND atualizadoEm BETWEEN :desde AND :ate",
            ProjectionExpression="pedidoId, #status, atualizadoEm",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":status": {"S": status}, ":desde": {"S": desde}, ":ate": {"S": ate}},
            Limit=PAGINA,
            **inicio,
        )
        pedidos = [
            PedidoAntigo(item["pedidoId"]["S"], {campo: valor["S"] for campo, valor in item.items()})
            for item in resposta["Items"]
        ]
        ultima = resposta.get("LastEvaluatedKey")
        return pedidos, None if not ultima else {campo: str(valor["S"]) for campo, valor in ultima.items()}

    def atual(self, pedido_id: str) -> PedidoAtual:
        """The order from the table itself, read consistently; empty texts when there is none."""
        item = self._dynamodb.get_item(
            TableName=self._tabela,
            Key={"pedidoId": {"S": pedido_id}},
            ConsistentRead=True,
            ProjectionExpression="#status, atualizadoEm, motivo.erro",
            ExpressionAttributeNames={"#status": "status"},
        ).get("Item", {})
        motivo = item.get("motivo", {}).get("M", {})
        return PedidoAtual(_texto(item, "status"), _texto(item, "atualizadoEm"), _texto(motivo, "erro"))


def _texto(item: Mapping[str, Any], campo: str) -> str:
    return str(item.get(campo, {}).get("S", ""))


def _tipada(posicao: Posicao) -> dict[str, Any]:
    return {campo: {"S": valor} for campo, valor in posicao.items()}
