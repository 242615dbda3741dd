"""The mutants that :mod:`tests.asl.mutants` does not make: each error of each Retry, and each condition that a function
of ours puts on a write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.asl.bench import tasks
from tests.asl.mutants import Mutant


def retry_mutants(asl: Mapping[str, Any]) -> Iterator[Mutant]:
    """Each error dropped from each Retry, and each Retry dropped whole."""
    for name, state in tasks(asl):
        for position, retrier in enumerate(state.get("Retry", ())):
            label = f"{name}.Retry[{','.join(retrier['ErrorEquals'])}]"

            def drop(asl: dict[str, Any], name: str = name, position: int = position) -> None:
                retriers = dict(tasks(asl))[name]["Retry"]
                del retriers[position]
                if not retriers:
                    del dict(tasks(asl))[name]["Retry"]

            yield Mutant(f"{label} dropped", name, "retry-dropped", drop, retrier["ErrorEquals"][0])
            for error in retrier["ErrorEquals"] if len(retrier["ErrorEquals"]) > 1 else ():

                def forget(asl: dict[str, Any], name: str = name, position: int = position, error: str = error) -> None:
                    dict(tasks(asl))[name]["Retry"][position]["ErrorEquals"].remove(error)

                yield Mutant(f"{label} without {error}", name, "retry-error-dropped", forget, error)


@dataclass(frozen=True)
class ConditionMutant:
    """One part of a condition a function puts on a write, made always true.

    Parameters
    ----------
    name : str
        Who writes, and which part.
    state : str
        State of the machine (or later act) in which that write is made.
    table : str
        Table it is made on.
    condition, part : str
        The whole condition, and what is made always true in it. The names and values it uses are still used, as an
        unused one would be refused.
    """

    name: str
    state: str
    table: str
    condition: str
    part: str

    def apply(self, parameters: dict[str, Any]) -> None:
        """Change one call's parameters, if it is this write."""
        for write in _writes(parameters):
            if write.get("TableName") == self.table and write.get("ConditionExpression") == self.condition:
                always = f"({self.part} OR (NOT {self.part}))"
                write["ConditionExpression"] = self.condition.replace(self.part, always, 1)


def _writes(parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "TransactItems" not in parameters:
        yield parameters
        return
    items = [{kind: dict(write) for kind, write in item.items()} for item in parameters["TransactItems"]]
    parameters["TransactItems"] = items
    for item in items:
        yield from item.values()


_RESERVE = "saldo >= :qtd AND attribute_not_exists(reservas.#pedido) AND attribute_not_exists(encerradas.#pedido)"
_CONDITIONS = (
    ("reserve", "ReservarEstoque", "cesta-estoque", _RESERVE),
    ("release", "LiberarEstoque", "cesta-estoque", "attribute_exists(reservas.#pedido)"),
    ("barrier", "LiberarEstoque", "cesta-estoque", "attribute_not_exists(reservas.#pedido)"),
    ("maps", "LiberarEstoque", "cesta-estoque", "attribute_exists(sku)"),
    ("confirm", "ConfirmarPedido", "cesta-pedidos", "#status IN (:de_RESERVADO)"),
    ("write-off", "ConfirmarPedido", "cesta-estoque-baixas", "attribute_not_exists(pedidoId)"),
    ("write-off", "ConfirmarPedido", "cesta-estoque", "reservas.#pedido = :qtd"),
)


def condition_mutants() -> Iterator[ConditionMutant]:
    """One for each part of each condition."""
    for who, state, table, condition in _CONDITIONS:
        for part in condition.split(" AND "):
            yield ConditionMutant(f"{who}: {part} always true", state, table, condition, part)


def conditions_in(parameters: Mapping[str, Any]) -> set[tuple[str, str]]:
    """(table, condition) of each conditional write in the parameters of one call."""
    return {
        (write["TableName"], write["ConditionExpression"])
        for write in _writes(dict(parameters))
        if "ConditionExpression" in write
    }


CONDITIONS_COVERED = {(table, condition) for _, _, table, condition in _CONDITIONS}
