"""The lab's five functions as its text describes them, defects included. Fixtures only: nothing deploys them.

What is wrong here on purpose is listed in docs/departures.md; tests/asl/test_departures.py shows each defect at work.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError


class EstoqueInsuficienteError(Exception):
    """Not enough balance."""


class CartaoRecusadoError(Exception):
    """The gateway refused the card."""


class GatewayIndisponivelError(Exception):
    """Network, timeout or gateway down."""


@dataclass
class Gateway:
    """The gateway the lab declares: the same key always gives the same result. Keeps a ledger of movements."""

    ledger: list[tuple[str, str, int]] = field(default_factory=list)
    charged: dict[str, int] = field(default_factory=dict)
    refunded: set[str] = field(default_factory=set)

    def charge(self, key: str, cents: int, token: str) -> str:
        if token == "tok-forcar-recusa":
            raise CartaoRecusadoError("recusado")
        if key not in self.charged:
            self.charged[key] = cents
            self.ledger.append(("COBRANCA", key, cents))
        return f"tx-{key}"

    def refund(self, key: str) -> None:
        if key in self.charged and key not in self.refunded:
            self.refunded.add(key)
            self.ledger.append(("ESTORNO", key, self.charged[key]))

    def net(self, pedido_id: str) -> int:
        """Centavos the customer is out of pocket for one order."""
        key = f"cesta-cobranca-{pedido_id}"
        return self.charged.get(key, 0) - (self.charged[key] if key in self.refunded else 0)


def lab_handlers(dynamodb: Any, gateway: Gateway) -> dict[str, Any]:
    """The lab's handlers by function name, over these clients."""

    def reservar(event: dict[str, Any], _: Any) -> dict[str, Any]:
        try:
            dynamodb().update_item(
                TableName="cesta-estoque",
                Key={"sku": {"S": event["sku"]}},
                UpdateExpression="SET saldo = saldo - :qtd, reservas.#pedido = :qtd",
                ConditionExpression="saldo >= :qtd AND attribute_not_exists(reservas.#pedido)",
                ExpressionAttributeNames={"#pedido": event["pedidoId"]},
                ExpressionAttributeValues={":qtd": {"N": str(event["quantidade"])}},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            item = dynamodb().get_item(TableName="cesta-estoque", Key={"sku": {"S": event["sku"]}})["Item"]
            if event["pedidoId"] not in item["reservas"]["M"]:
                raise EstoqueInsuficienteError(event["sku"]) from error
        return {"reservado": True}

    def liberar(event: dict[str, Any], _: Any) -> dict[str, Any]:
        try:
            dynamodb().update_item(
                TableName="cesta-estoque",
                Key={"sku": {"S": event["sku"]}},
                UpdateExpression="SET saldo = saldo + :qtd REMOVE reservas.#pedido",
                ConditionExpression="attribute_exists(reservas.#pedido)",
                ExpressionAttributeNames={"#pedido": event["pedidoId"]},
                ExpressionAttributeValues={":qtd": {"N": str(event["quantidade"])}},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
        return {"liberado": True}

    def cobrar(event: dict[str, Any], _: Any) -> dict[str, Any]:
        key = f"cesta-cobranca-{event['pedidoId']}"
        charge = gateway.charge(key, event["valorCentavos"], event["cartaoToken"])
        return {"pedidoId": event["pedidoId"], "idTransacao": charge}

    def estornar(event: dict[str, Any], _: Any) -> dict[str, Any]:
        if event.get("forcarFalhaEstorno"):
            raise GatewayIndisponivelError("forçado")
        gateway.refund(f"cesta-cobranca-{event['pedidoId']}")
        return {"estornado": True}

    def confirmar(event: dict[str, Any], _: Any) -> dict[str, Any]:
        if event.get("forcarFalhaConfirmar"):
            raise RuntimeError("forçado")
        dynamodb().update_item(
            TableName="cesta-pedidos",
            Key={"pedidoId": {"S": event["pedidoId"]}},
            UpdateExpression="SET #status = :confirmado",
            ExpressionAttributeNames={"#status": "status"},
            ExpressionAttributeValues={":confirmado": {"S": "CONFIRMADO"}},
        )
        return {"status": "CONFIRMADO"}

    return {
        "cesta-reservar-estoque": reservar,
        "cesta-liberar-estoque": liberar,
        "cesta-cobrar-pagamento": cobrar,
        "cesta-estornar-pagamento": estornar,
        "cesta-confirmar-pedido": confirmar,
    }
