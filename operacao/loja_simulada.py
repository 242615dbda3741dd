"""Orders of a store as the existing system writes them to ``pedidos_cadencia``: for demonstrations and proofs only."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

INICIAL = "PENDENTE"


class LojaSimulada:
    """Creates orders and changes their status, one write each, the way the panel's source does.

    Parameters
    ----------
    dynamodb : Any
        boto3 DynamoDB client.
    tabela : str
        The source table.
    """

    def __init__(self, dynamodb: Any, tabela: str) -> None:
        self._dynamodb = dynamodb
        self._tabela = tabela

    def criar(self, pedido: str, loja: str) -> str:
        """Create an order, PENDENTE and in its store's pending queue; returns ``updated_at``."""
        agora = _agora()
        self._dynamodb.put_item(
            TableName=self._tabela,
            Item={
                **_chave(pedido),
                "status": {"S": INICIAL},
                "updated_at": {"S": agora},
                "loja_id": {"S": loja},
                "GSI2PK": {"S": "PEDIDOS"},
                "GSI3PK": {"S": f"LOJA#{loja}"},
                "GSI3SK": {"S": agora},
            },
            ConditionExpression="attribute_not_exists(PK)",
        )
        return agora

    def mudar(self, pedido: str, status: str) -> str:
        """Change the status; leaving PENDENTE takes the order out of the pending queue. Returns ``updated_at``."""
        agora = _agora()
        self._dynamodb.update_item(
            TableName=self._tabela,
            Key=_chave(pedido),
            UpdateExpression="SET #status = :status, updated_at = :agora"
            + ("" if status == INICIAL else " REMOVE GSI3PK, GSI3SK"),
            ConditionExpression="attribute_exists(PK)",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":status": {"S": status}, ":agora": {"S": agora}},
        )
        return agora

    def apagar(self, pedido: str) -> None:
        """Remove the order from the source."""
        self._dynamodb.delete_item(TableName=self._tabela, Key=_chave(pedido))


def _chave(pedido: str) -> dict[str, Any]:
    return {"PK": {"S": f"PEDIDO#{pedido}"}, "SK": {"S": "METADADOS"}}


def _agora() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
