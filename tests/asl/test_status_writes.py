"""Every status the machine writes obeys the order's status table, the one in pedidos.situacao."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError

from pedidos.situacao import Status
from tests.asl.bench import Bench, load_asl
from tests.asl.status_writes import FOUND, ONLY_CHECKS, WRITES, wrong_write


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench({}) as bench:
        yield bench


@pytest.mark.parametrize("found", FOUND, ids=str)
@pytest.mark.parametrize("name", (*WRITES, ONLY_CHECKS))
def test_write(bench: Bench, name: str, found: Status | None) -> None:
    """It lands exactly where the table says it may, and says who wrote it and when."""
    assert wrong_write(bench, load_asl(), name, found) is None


def test_every_status_write_of_the_machine_is_here() -> None:
    written = {
        name: state["Parameters"]["ExpressionAttributeValues"][":novo"]["S"]
        for name, state in load_asl()["States"].items()
        if ":dynamodb:" in state.get("Resource", "") and name != ONLY_CHECKS
    }
    assert written == WRITES


def test_the_mock_refuses_a_false_condition(bench: Bench) -> None:
    """The tests above would pass on a table that ignores conditions only if this one did not fail there."""
    with pytest.raises(ClientError, match="ConditionalCheckFailed"):
        bench.dynamodb.update_item(
            TableName="cesta-pedidos",
            Key={"pedidoId": {"S": "ninguem"}},
            UpdateExpression="SET sku = :x",
            ConditionExpression="attribute_exists(pedidoId)",
            ExpressionAttributeValues={":x": {"S": "x"}},
        )
