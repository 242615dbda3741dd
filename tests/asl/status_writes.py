"""Executes each conditional write of the machine, alone, against an order in every status."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from itertools import count
from typing import Any

from pedidos.situacao import AUSENTE, ORIGENS, Status
from tests.asl.bench import Bench, Outcome

WRITES = {
    "RegistrarReservado": Status.RESERVADO,
    "MarcarCompensando": Status.COMPENSANDO,
    "RegistrarFalhaSemCompensacao": Status.FALHOU_SEM_RESERVA,
    "RegistrarFalhaComEstoqueLiberado": Status.FALHOU_COMPENSADO,
    "RegistrarRequerIntervencaoHumana": Status.REQUER_INTERVENCAO_HUMANA,
}
ONLY_CHECKS = "PedidoJaConfirmado"
FOUND = (AUSENTE, *Status)
STATE = {
    "sku": "SKU-1",
    "quantidade": 2,
    "erro": {"Error": "CartaoRecusadoError", "Cause": "{}"},
    "erroCompensacao": {"Error": "States.Timeout", "Cause": ""},
}

_numbers = count(1)


def _alone(asl: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A machine of one state, without its Catch."""
    state = {key: value for key, value in copy.deepcopy(asl["States"][name]).items() if key not in ("Next", "Catch")}
    return {"StartAt": name, "States": {name: state | {"End": True}}}


def _put(bench: Bench, pedido_id: str, status: Status | None) -> dict[str, Any] | None:
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


def wrong_write(bench: Bench, asl: Mapping[str, Any], name: str, found: Status | None) -> str | None:
    """What is wrong with one state's write over an order in one status, by the status table; None when nothing is."""
    pedido_id = f"escrita-{next(_numbers):06d}"
    before = _put(bench, pedido_id, found)
    outcome = bench.run(_alone(asl, name), STATE | {"pedidoId": pedido_id})
    if name == ONLY_CHECKS:
        allowed = found is Status.CONFIRMADO
    else:
        allowed = found in ORIGENS[WRITES[name]] or found is WRITES[name]
    if allowed != (outcome.status == "SUCCEEDED"):
        return f"{name} over {found}: {outcome.status} {outcome.error}"
    if not allowed and outcome.error != "DynamoDB.ConditionalCheckFailedException":
        return f"{name} over {found}: {outcome.error}"
    if (not allowed or name == ONLY_CHECKS) and outcome.order != before:
        return f"{name} over {found} changed the order"
    if allowed and name != ONLY_CHECKS:
        return _wrong_content(outcome, name, before)
    return None


def _wrong_content(outcome: Outcome, name: str, before: dict[str, Any] | None) -> str | None:
    after = outcome.order or {}
    last = (after.get("historico") or [{}])[-1]
    expected = {"status": WRITES[name].value, "em": after.get("atualizadoEm"), "passo": name}
    if after.get("status") != WRITES[name] or last != expected or not last["em"]:
        return f"{name} wrote {after.get('status')} and {last}"
    if len(after["historico"]) != (1 if before is None else 2):
        return f"{name} left {len(after['historico'])} entries"
    if before and after.get("sku") != before["sku"]:
        return f"{name} replaced the order"
    return None
