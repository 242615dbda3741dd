"""What must be true of an order when its execution is over, whatever went wrong on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.asl.bench import Outcome
from tests.asl.checks import QUEUE
from tests.asl.worlds import INITIAL_BALANCE, World

FINAL = ("CONFIRMADO", "FALHOU_SEM_RESERVA", "FALHOU_COMPENSADO", "REQUER_INTERVENCAO_HUMANA")
MESSAGE_FIELDS = {
    "pedidoId",
    "executionArn",
    "passo",
    "passoCompensacao",
    "erroOriginal",
    "erroDaCompensacao",
    "compensacoesPendentes",
}
HISTORY_LIMIT = 12


def violations(world: World, order: Mapping[str, Any], outcome: Outcome, sold: int = 0) -> list[str]:
    """Everything wrong with how one order ended, in words; empty when the saga kept its promises.

    An execution that FAILED is not wrong in itself (an alarm watches for it), but then somebody must be able to see it:
    what is only true of a finished saga is not asked of it. ``sold`` is how many units of the order left the item for
    good.
    """
    wrong: list[str] = []
    value, quantity = order["valorCentavos"], order["quantidade"]
    paid, reserved, balance = world.paid(order), world.reserved(order), world.balance(order)
    movements = [kind for kind, _ in world.movements(order["pedidoId"])]
    status = outcome.order_status

    if balance + reserved + sold != INITIAL_BALANCE:
        wrong.append(f"units lost: balance {balance} + reserved {reserved} + sold {sold} != {INITIAL_BALANCE}")
    if balance < 0:
        wrong.append(f"sold what is not there: balance {balance}")
    if movements.count("COBRANCA") > 1 or movements.count("ESTORNO") > 1:
        wrong.append(f"money moved more than once: {movements}")
    if movements not in ([], ["COBRANCA"], ["COBRANCA", "ESTORNO"]):
        wrong.append(f"money moved out of order: {movements}")
    if paid not in (0, value):
        wrong.append(f"paid {paid} of {value}")

    entries = (outcome.order or {}).get("historico", [])
    if len(entries) > HISTORY_LIMIT:
        wrong.append(f"history has {len(entries)} entries")
    if entries and status and entries[-1]["status"] != status:
        wrong.append(f"status {status} but history ends in {entries[-1]['status']}")
    wrong += _order_of_undoing(outcome)
    wrong += _message(order, outcome)

    if outcome.status != "SUCCEEDED":
        return wrong
    if status not in FINAL:
        wrong.append(f"execution over and order is {status}")
    if status == "CONFIRMADO" and (paid, reserved + sold) != (value, quantity):
        wrong.append(f"confirmed with {paid} paid, {reserved} reserved and {sold} sold")
    if status in ("FALHOU_SEM_RESERVA", "FALHOU_COMPENSADO") and (paid, reserved) != (0, 0):
        wrong.append(f"{status} with {paid} paid and {reserved} reserved")
    if status in FINAL[1:] and "motivo" not in (outcome.order or {}):
        wrong.append(f"{status} without motivo")
    if (status == "REQUER_INTERVENCAO_HUMANA") != bool(outcome.messages):
        wrong.append(f"{status} with {len(outcome.messages)} message(s)")
    if status == "REQUER_INTERVENCAO_HUMANA" and paid and not reserved:
        wrong.append("a person is asked about money without goods")
    return wrong


def _order_of_undoing(outcome: Outcome) -> list[str]:
    """The refund is over before the stock is given back."""
    landed = [call.state for call in outcome.calls if call.ran and not call.error and not call.late]
    if "EstornarPagamento" in landed and "LiberarEstoque" in landed:
        last_refund = len(landed) - 1 - landed[::-1].index("EstornarPagamento")
        if landed.index("LiberarEstoque") < last_refund:
            return [f"stock released before the refund: {landed}"]
    return []


def _message(order: Mapping[str, Any], outcome: Outcome) -> list[str]:
    """A person gets one readable message if and only if a compensation (or its mark) gave up."""
    wrong = []
    gave_up = QUEUE in outcome.path
    sent = [call for call in outcome.calls if call.state == "EnviarParaFilaHumana" and call.ran]
    if bool(outcome.messages) != bool(gave_up and sent):
        wrong.append(f"{len(outcome.messages)} message(s), compensation gave up: {gave_up}")
    for message in outcome.messages:
        if message.keys() != MESSAGE_FIELDS:
            wrong.append(f"message carries {sorted(message)}")
            continue
        if (message["pedidoId"], message["executionArn"]) != (order["pedidoId"], outcome.execution_arn):
            wrong.append("message speaks of another order")
        failed = [name for name in outcome.path[: outcome.path.index(QUEUE)] if name != "PedidoJaConfirmado"][-1]
        if message["passoCompensacao"] != failed:
            wrong.append(f"message blames {message['passoCompensacao']}, {failed} gave up")
        forward = [name for name in outcome.path if name in _FORWARD][-1]
        if message["passo"] != forward:
            wrong.append(f"message says it stopped at {message['passo']}, it stopped at {forward}")
        pending = _PENDING[message["passoCompensacao"]]
        if message["compensacoesPendentes"] != pending:
            wrong.append(f"message lists {message['compensacoesPendentes']} as pending")
        if not message["erroOriginal"].get("Error") or not message["erroDaCompensacao"].get("Error"):
            wrong.append("message without both errors")
        if order["cartaoToken"] in str(message):
            wrong.append("message carries the card's token")
    return wrong


_FORWARD = ("ReservarEstoque", "RegistrarReservado", "CobrarPagamento", "ConfirmarPedido")
_PENDING = {
    "MarcarCompensando": ["EstornarPagamento", "LiberarEstoque"],
    "EstornarPagamento": ["EstornarPagamento", "LiberarEstoque"],
    "LiberarEstoque": ["LiberarEstoque"],
}
