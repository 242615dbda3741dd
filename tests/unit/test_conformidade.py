"""The fidelity table: what is committed is what is generated, and it names nothing that does not exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from conformidade import sondas_mapeamentos, sondas_servicos, sondas_sfn
from conformidade.__main__ import main as principal
from conformidade.alvo import Alvo
from conformidade.linhas import LINHAS, Linha
from conformidade.registro import SONDAS, sonda
from conformidade.tabela import NO_MOTOR, PAGINA, Visto, pagina, vistos
from tests.asl.checks import CHECKS

ROOT = Path(__file__).resolve().parents[2]
MODULES = (sondas_sfn, sondas_mapeamentos, sondas_servicos)


def exists(node: str) -> bool:
    """Whether a pytest node id names a file and the classes and functions in it."""
    path, *names = re.sub(r"\[.*\]$", "", node).split("::")
    if not names or not (ROOT / path).is_file():
        return False
    scope: list[ast.stmt] = ast.parse((ROOT / path).read_text()).body
    for name in names:
        kinds = (ast.FunctionDef, ast.ClassDef)
        found = next((s for s in scope if isinstance(s, kinds) and s.name == name), None)
        if found is None:
            return False
        scope = found.body
    return True


def test_the_page_is_what_is_generated() -> None:
    assert PAGINA.read_text(encoding="utf-8") == pagina(vistos()), "run make conformance ACEITAR=1"


def test_each_behaviour_has_one_probe_and_each_probe_a_row() -> None:
    assert sorted(SONDAS) == sorted(linha.sonda for linha in LINHAS)


@pytest.mark.parametrize("linha", LINHAS, ids=lambda linha: linha.sonda)
def test_each_row_has_tests_that_exist(linha: Linha) -> None:
    tests = (NO_MOTOR, *linha.modelo, *linha.estatico)
    assert [test for test in tests if not exists(test)] == []


def test_the_checks_named_by_id_exist() -> None:
    named = {m[1] for linha in LINHAS for t in linha.estatico if (m := re.search(r"test_check\[(\w+)\]", t))}
    assert named <= {check.__name__ for check in CHECKS}


@pytest.mark.parametrize("target", ["local", "localstack"])
def test_both_engines_were_seen_whole(target: str) -> None:
    assert sorted(vistos()[target].respostas) == sorted(SONDAS)


@pytest.mark.parametrize("row", LINHAS, ids=lambda row: row.sonda)
def test_a_departure_is_written_where_it_is_read(row: Linha) -> None:
    made_up = pagina({"aws": Visto("x", {row.sonda: "something else"})})
    line = next(x for x in made_up.splitlines() if x.startswith(f"| {row.comportamento} |"))
    assert "✘ something else" in line


def test_two_probes_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two probes"):
        sonda(LINHAS[0].sonda)(lambda alvo: "")


@pytest.mark.parametrize(
    "node",
    ["tests/unit/test_conformidade.py::test_absent", "tests/absent.py::test_x", "tests/unit/test_conformidade.py"],
)
def test_a_reference_to_nothing_is_noticed(node: str) -> None:
    assert not exists(node)


def test_a_target_that_is_not_there_could_not_be_probed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CESTA_PORTA_MOTOR", "1")  # nobody listens there
    assert principal([]) == 2
    dito = capsys.readouterr().err
    assert "local não pôde ser sondado" in dito
    assert "make local-up" in dito


def test_a_refused_probe_could_not_be_probed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def recusar(*_: object) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "não pode"}}, "CreateRole")

    monkeypatch.setattr("conformidade.__main__.sondar", recusar)
    monkeypatch.setattr(Alvo, "versao", lambda _: "AWS")
    assert principal(["--alvo", "aws"]) == 2
    assert "AccessDenied" in capsys.readouterr().err
