"""Finding the function to run, and its sample event."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from engine.invoke import find_function, sample_event
from engine.settings import ROOT, EngineError


@pytest.mark.parametrize("name", ["criar_pedido", "CriarPedido", "cesta-criar-pedido"])
def test_a_function_answers_to_three_names(name: str) -> None:
    logical_id, properties = find_function(name)
    assert (logical_id, properties["Handler"]) == ("CriarPedido", "pedidos.criar_pedido.handler")


def test_an_unknown_name_lists_what_exists() -> None:
    with pytest.raises(EngineError, match="CriarPedido"):
        find_function("inexistente")


def test_a_name_two_functions_share_is_refused() -> None:
    resources = yaml.safe_load((ROOT / "template.yaml").read_text())["Resources"]
    modules = [r["Properties"]["Handler"].split(".")[-2] for r in resources.values()]
    shared = {module for module in modules if modules.count(module) > 1}
    assert shared, "nothing to check: choose another way to make a name ambiguous"
    for module in shared:
        with pytest.raises(EngineError, match="ambíguo"):
            find_function(module)


def test_every_function_has_a_sample_event() -> None:
    resources = yaml.safe_load((ROOT / "template.yaml").read_text())["Resources"]
    for logical_id in resources:
        assert sample_event(logical_id, None) is not None


def test_a_broken_event_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "evento.json"
    broken.write_text("{")
    with pytest.raises(EngineError, match=r"evento\.json não é JSON"):
        sample_event("CriarPedido", str(broken))
    with pytest.raises(EngineError, match="falta o evento"):
        sample_event("CriarPedido", str(tmp_path / "outro.json"))
