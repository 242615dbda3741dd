"""The state machine as text: what it must say before it is worth running."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.asl import checks
from tests.asl.bench import ASL_FILE, load_asl, render


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_check(check: object) -> None:
    assert check(load_asl()) == []


def _lint(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "statelint", str(path)], capture_output=True, text=True, check=False)


def test_the_template_itself_passes_the_linter() -> None:
    linted = _lint(ASL_FILE)
    assert linted.returncode == 0, linted.stdout


def test_the_rendered_machine_passes_the_linter(tmp_path: Path) -> None:
    rendered = tmp_path / "saga.asl.json"
    rendered.write_text(render(load_asl(), url_fila_compensacao_falhou="https://sqs.example/fila"))
    linted = _lint(rendered)
    assert linted.returncode == 0, linted.stdout


def test_the_linter_sees_a_broken_machine(tmp_path: Path) -> None:
    broken = copy.deepcopy(load_asl())
    broken["States"]["ReservarEstoque"]["Next"] = "NaoExiste"
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(broken))
    assert _lint(path).returncode != 0


def test_every_named_error_is_a_class_somebody_raises() -> None:
    assert checks.names_without_a_class(load_asl()) == []


def test_every_concrete_class_is_named_or_meant_for_states_all() -> None:
    assert checks.classes_without_a_name(load_asl()) == []


def test_a_longer_function_timeout_is_noticed() -> None:
    asl = load_asl()
    asl["States"]["EstornarPagamento"]["TimeoutSeconds"] = 20
    assert checks.timeouts_too_short(asl) == ["EstornarPagamento: 20 s, function 10 s + 10 s to start"]
