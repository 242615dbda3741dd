"""A few products to order by hand. Existing ones are left alone: their reservations are live."""

from __future__ import annotations

from typing import Any

import boto3

from engine.deploy import require_reachable
from engine.settings import EngineError, EngineSettings

PRODUCTS = {"CAFE-500G": 100, "ARROZ-5KG": 50, "FEIJAO-1KG": 80, "LEITE-1L": 200}
"""SKU to balance, in units."""


def seed(settings: EngineSettings, table_name: str = "cesta-estoque") -> None:
    """Put the products that are missing in the stock table of the local engine and print every balance.

    Raises
    ------
    EngineError
        If the engine does not answer, or the table does not exist yet.
    """
    require_reachable("local", settings)
    session = boto3.Session("test", "test", region_name=settings.region)
    dynamodb: Any = session.client("dynamodb", endpoint_url=settings.endpoint)
    for sku, balance in PRODUCTS.items():
        try:
            dynamodb.put_item(
                TableName=table_name,
                Item={"sku": {"S": sku}, "saldo": {"N": str(balance)}, "reservas": {"M": {}}},
                ConditionExpression="attribute_not_exists(sku)",
            )
            print(f"  {sku}: saldo {balance} (novo)")
        except dynamodb.exceptions.ConditionalCheckFailedException:
            item = dynamodb.get_item(TableName=table_name, Key={"sku": {"S": sku}})["Item"]
            print(f"  {sku}: saldo {item['saldo']['N']}")
        except dynamodb.exceptions.ResourceNotFoundException:
            raise EngineError(f"a tabela {table_name} não existe; rode make deploy.") from None
