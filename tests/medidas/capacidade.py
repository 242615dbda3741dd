"""DynamoDB request units of each call, by the service's rules, over any engine: moto does not charge by size.

Writes: per KB of the larger of the item before and after, twice in a transaction, plus each index entry that changes:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations.Writes
Reads: per 4 KB, half when eventually consistent. DynamoDB Local answers the same, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import Any
from unittest import mock

import hcl2
from botocore.client import BaseClient

from engine.settings import ROOT
from tests.medidas.estoque import tamanho

Item = Mapping[str, Any]
FREE = {"DescribeTable", "ListTables", "CreateTable"}


@dataclass(frozen=True)
class Index:
    """A global secondary index: its own key, and every attribute copied into it."""

    key: tuple[str, ...]
    projected: tuple[str, ...]

    def entry(self, item: Item) -> Item | None:
        """What the index holds of an item; None when it lacks a key."""
        if any(name not in item for name in self.key):
            return None
        return {name: item[name] for name in self.projected if name in item}

    def units(self, before: Item, after: Item) -> int:
        """Write units of a change: an entry whose key changes is one deleted and another put."""
        old, new = self.entry(before), self.entry(after)
        if old == new:
            return 0
        if old and new and all(old[name] == new[name] for name in self.key):
            return _kilobytes(old, new)
        return sum(_kilobytes(entry) for entry in (old, new) if entry)


def _kilobytes(*items: Item) -> int:
    return max(1, ceil(max(tamanho(item) for item in items) / 1024))


def deployed_indexes() -> dict[str, list[Index]]:
    """Indexes of cesta-pedidos, as Terraform writes them."""
    written = hcl2.loads((ROOT / "terraform" / "modules" / "saga" / "dados.tf").read_text())
    (table,) = [
        body
        for resource in written["resource"]
        for kind, named in resource.items()
        if kind.strip('"') == "aws_dynamodb_table"
        for name, body in named.items()
        if name.strip('"') == "pedidos"
    ]

    def text(value: Any) -> str:
        return str(value).strip('"')

    return {
        "cesta-pedidos": [
            Index(
                key=(text(index["hash_key"]), text(index["range_key"])),
                projected=(
                    "pedidoId",
                    text(index["hash_key"]),
                    text(index["range_key"]),
                    *(text(name) for name in index.get("non_key_attributes", [])),
                ),
            )
            for index in table["global_secondary_index"]
        ]
    }


@dataclass
class Meter:
    """Adds up what every DynamoDB call in this process consumes while :meth:`on`.

    Attributes
    ----------
    write, read : float
        Units so far, the gateway stand-in's table left out.
    """

    indexes: Mapping[str, Sequence[Index]]
    ignored: frozenset[str] = frozenset({"cesta-gateway-simulado"})
    write: float = 0
    read: float = 0
    running: bool = field(default=False, init=False)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Hook every botocore client of the process."""
        make = BaseClient._make_api_call

        def call(client: Any, operation: str, params: dict[str, Any]) -> Any:
            if client.meta.service_model.service_name != "dynamodb" or not self.running:
                return make(client, operation, params)
            if params.get("TableName") in self.ignored or operation in FREE:
                return make(client, operation, params)
            return self._count(lambda name, given: make(client, name, given), operation, params)

        with mock.patch.object(BaseClient, "_make_api_call", call):
            yield

    def _count(self, make: Any, operation: str, params: dict[str, Any]) -> Any:
        match operation:
            case "GetItem":
                answer = make(operation, params)
                blocks = max(1, ceil(tamanho(answer.get("Item", {})) / 4096))
                self.read += blocks if params.get("ConsistentRead") else blocks / 2
                return answer
            case "PutItem" | "UpdateItem" | "DeleteItem":
                writes, factor = [params], 1
            case "TransactWriteItems":
                writes, factor = [next(iter(part.values())) for part in params["TransactItems"]], 2
            case _:
                raise NotImplementedError(f"{operation} consumes units that are not counted")
        targets = [(write["TableName"], write.get("Key") or self._key(make, write)) for write in writes]
        before = [self._stored(make, *target) for target in targets]
        try:
            return make(operation, params)
        finally:  # a refused condition is charged as well
            for (table, key), old in zip(targets, before, strict=True):
                new = self._stored(make, table, key)
                self.write += factor * _kilobytes(old, new)
                self.write += factor * sum(index.units(old, new) for index in self.indexes.get(table, ()))

    @staticmethod
    def _key(make: Any, write: Mapping[str, Any]) -> dict[str, Any]:
        schema = make("DescribeTable", {"TableName": write["TableName"]})["Table"]["KeySchema"]
        return {part["AttributeName"]: write["Item"][part["AttributeName"]] for part in schema}

    @staticmethod
    def _stored(make: Any, table: str, key: Mapping[str, Any]) -> Item:
        found = make("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True})
        return dict(found.get("Item", {}))
