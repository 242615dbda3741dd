"""Every status the machine writes obeys the order's status table, the one in pedidos.situacao.

Each conditional write of the machine is executed against an order in every status: it must land exactly where the table
says it may, and where it lands it must say who wrote it and when.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from pedidos.situacao import AUSENTE, ORIGENS, Status
from tests.asl.bench import Bench, load_asl

WRITES = {
    "RegistrarReservado": Status.RESERVADO,
    "MarcarCompensando": Status.COMPENSANDO,
    "RegistrarFalhaSemCompensacao": Status.FALHOU_SEM_RESERVA,
    "RegistrarFalhaComEstoqueLiberado": Status.FALHOU_COMPENSADO,
    "RegistrarRequerIntervencaoHumana": Status.REQUER_INTERVENCAO_HUMANA,
}
STATE = {
    "pedidoId": "pedido-1",
    "sku": "SKU-1",
    "quantidade": 2,
    "erro": {"Error": "CartaoRecusadoError", "Cause": "{}"},
    "erroCompensacao": {"Error": "States.Timeout", "Cause": ""},
}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench({}) as bench:
        yield bench


def alone(name: str) -> dict[str, Any]:
    """A machine of one state, without its Catch."""
    state = {key: value for key, value in load_asl()["States"][name].items() if key not in ("Next", "Catch")}
    return {"StartAt": name, "States": {name: state | {"End": True}}}


def put(bench: Bench, pedido_id: str, status: Status | None) -> dict[str, Any] | None:
    if status is AUSENTE:
        return None
    entry = {"M": {"status": {"S": status.value}, "em": {"S": "antes"}, "passo": {"S": "antes"}}}
    bench.dynamodb.put_item(
        TableName="cesta-pedidos",
        Item={
            "pedidoId": {"S": pedido_id},
            "status": {"S": status.value},
            "sku": {"S": "SKU-ORIGINAL"},
            "historico": {"L": [entry]},
        },
    )
    return bench.item("cesta-pedidos", {"pedidoId": pedido_id})


@pytest.mark.parametrize("found", [AUSENTE, *Status], ids=str)
@pytest.mark.parametrize(("name", "status"), WRITES.items())
def test_write(bench: Bench, name: str, status: Status, found: Status | None) -> None:
    pedido_id = f"{name}-{found}"
    before = put(bench, pedido_id, found)
    outcome = bench.run(alone(name), STATE | {"pedidoId": pedido_id})
    if found in ORIGENS[status] or found is status:
        assert outcome.status == "SUCCEEDED", outcome.cause
        assert outcome.order is not None
        assert outcome.order["status"] == status
        assert outcome.order["historico"][-1]["passo"] == name
        assert outcome.order["historico"][-1]["status"] == status
        assert outcome.order["historico"][-1]["em"] == outcome.order["atualizadoEm"]
        assert outcome.order["sku"] == "SKU-ORIGINAL" if before else True
        assert len(outcome.order["historico"]) == (1 if before is None else 2)
    else:
        assert outcome.error == "DynamoDB.ConditionalCheckFailedException"
        assert outcome.order == before


@pytest.mark.parametrize("found", [AUSENTE, *Status], ids=str)
def test_already_confirmed_changes_nothing(bench: Bench, found: Status | None) -> None:
    """PedidoJaConfirmado passes on a CONFIRMADO order only, and leaves it as it was (so no stream record either)."""
    pedido_id = f"confirmado-{found}"
    before = put(bench, pedido_id, found)
    outcome = bench.run(alone("PedidoJaConfirmado"), STATE | {"pedidoId": pedido_id})
    assert (outcome.status == "SUCCEEDED") == (found is Status.CONFIRMADO)
    assert outcome.order == before


def test_every_status_write_of_the_machine_is_here() -> None:
    written = {
        name: state["Parameters"]["ExpressionAttributeValues"][":novo"]["S"]
        for name, state in load_asl()["States"].items()
        if ":dynamodb:" in state.get("Resource", "") and name != "PedidoJaConfirmado"
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
