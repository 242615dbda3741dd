"""Single changes to the state machine, each of which would be a defect: a check that lets one through is not one."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.asl.bench import tasks

# A mutant of the machine that nothing can kill needs its reason here.
SURVIVORS = {
    "RegistrarRequerIntervencaoHumana refuses an absent order": (
        "DynamoDB holds <> true of an attribute that is not there, so the words only say it to the reader"
    ),
}

Asl = dict[str, Any]


@dataclass(frozen=True)
class Mutant:
    """One change: ``name`` says where and what, ``state`` is where, ``error`` the caught error it is about, if any."""

    name: str
    state: str
    kind: str
    apply: Callable[[Asl], None]
    error: str | None = None

    def of(self, asl: Mapping[str, Any]) -> Asl:
        changed = copy.deepcopy(dict(asl))
        self.apply(changed)
        return changed


def _state(asl: Asl, name: str) -> dict[str, Any]:
    return dict(tasks(asl))[name]


def mutants(asl: Mapping[str, Any]) -> Iterator[Mutant]:
    """Every mutant of this machine, one change each."""
    for name, state in tasks(asl):
        yield from _catches(asl, name, state)
        yield from _nexts(asl, name, state)
        yield from _results(name, state)
        yield from _conditions(name, state)
        yield from _choices(asl, name, state)


def _catches(asl: Mapping[str, Any], name: str, state: Mapping[str, Any]) -> Iterator[Mutant]:
    for position, catcher in enumerate(state.get("Catch", [])):
        errors = catcher["ErrorEquals"]
        label = f"{name}.Catch[{','.join(errors)}]"

        def drop(asl: Asl, name: str = name, position: int = position) -> None:
            catchers = _state(asl, name)["Catch"]
            del catchers[position]
            if not catchers:
                del _state(asl, name)["Catch"]

        yield Mutant(f"{label} dropped", name, "catch-dropped", drop, errors[0])
        for error in errors if len(errors) > 1 else ():

            def forget(asl: Asl, name: str = name, position: int = position, error: str = error) -> None:
                _state(asl, name)["Catch"][position]["ErrorEquals"].remove(error)

            yield Mutant(f"{label} without {error}", name, "error-dropped", forget, error)
        for target in asl["States"]:
            if target in (name, catcher["Next"]):
                continue

            def point(asl: Asl, name: str = name, position: int = position, target: str = target) -> None:
                _state(asl, name)["Catch"][position]["Next"] = target

            yield Mutant(f"{label} to {target}", name, "catch-retargeted", point, errors[0])

        def replace_input(asl: Asl, name: str = name, position: int = position) -> None:
            del _state(asl, name)["Catch"][position]["ResultPath"]

        yield Mutant(f"{label} without ResultPath", name, "catch-result-dropped", replace_input, errors[0])


def _nexts(asl: Mapping[str, Any], name: str, state: Mapping[str, Any]) -> Iterator[Mutant]:
    if name not in asl["States"]:
        siblings = next(
            branch["States"]
            for outer in asl["States"].values()
            for branch in outer.get("Branches", ())
            if name in branch["States"]
        )
    else:
        siblings = asl["States"]
    if "Next" not in state:
        return
    for target in siblings:
        if target in (name, state["Next"]):
            continue

        def point(asl: Asl, name: str = name, target: str = target) -> None:
            _state(asl, name)["Next"] = target

        yield Mutant(f"{name}.Next to {target}", name, "next-retargeted", point)

    def stop(asl: Asl, name: str = name) -> None:
        state = _state(asl, name)
        del state["Next"]
        state["End"] = True

    yield Mutant(f"{name} ends", name, "next-dropped", stop)


def _results(name: str, state: Mapping[str, Any]) -> Iterator[Mutant]:
    if "ResultPath" not in state:
        return

    def replace_input(asl: Asl, name: str = name) -> None:
        del _state(asl, name)["ResultPath"]

    yield Mutant(f"{name} without ResultPath", name, "result-dropped", replace_input)


def _conditions(name: str, state: Mapping[str, Any]) -> Iterator[Mutant]:
    condition = state.get("Parameters", {}).get("ConditionExpression")
    if condition is None:
        return

    def change(asl: Asl, to: str | None, drop: tuple[str, ...] = ()) -> None:
        parameters = _state(asl, name)["Parameters"]
        if to is None:
            del parameters["ConditionExpression"]
        else:
            parameters["ConditionExpression"] = to
        text = str(parameters)
        for value in drop:
            if not re.search(re.escape(value) + r"\b", text.replace(f"'{value}':", "")):
                del parameters["ExpressionAttributeValues"][value]

    values = re.findall(r":\w+", condition)
    unused = tuple(value for value in values if value != ":novo")
    yield Mutant(f"{name} without condition", name, "condition-dropped", lambda asl: change(asl, None, unused))
    for value in values if " IN (" in condition else ():
        left = [other for other in values if other != value]
        if not left:
            continue
        narrowed = re.sub(r"IN \([^)]*\)", f"IN ({', '.join(left)})", condition)
        yield Mutant(
            f"{name} refuses {value}",
            name,
            "condition-narrowed",
            lambda asl, narrowed=narrowed, value=value: change(asl, narrowed, (value,)),
        )
    if condition.startswith("attribute_not_exists(#status) OR "):
        present = condition.removeprefix("attribute_not_exists(#status) OR ")
        yield Mutant(f"{name} refuses an absent order", name, "condition-narrowed", lambda asl: change(asl, present))
    for status in ("CONFIRMADO", "COMPENSANDO", "FALHOU_SEM_RESERVA", "ENCERRADO_MANUALMENTE"):
        if f":{status.lower()}" in condition or status == state["Parameters"]["ExpressionAttributeValues"].get(
            ":novo", {}
        ).get("S"):
            continue

        def widen(asl: Asl, status: str = status) -> None:
            parameters = _state(asl, name)["Parameters"]
            parameters["ConditionExpression"] = f"({condition}) OR #status = :mutante"
            parameters["ExpressionAttributeValues"][":mutante"] = {"S": status}

        if "#status <> :confirmado" in condition:
            continue
        yield Mutant(f"{name} accepts {status}", name, "condition-widened", widen)


def _choices(asl: Mapping[str, Any], name: str, state: Mapping[str, Any]) -> Iterator[Mutant]:
    for position, rule in enumerate(state.get("Choices", [])):

        def drop(asl: Asl, position: int = position) -> None:
            del _state(asl, name)["Choices"][position]

        yield Mutant(f"{name}.Choices[{position}] to {rule['Next']} dropped", name, "choice-dropped", drop)
