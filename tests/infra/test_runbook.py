"""docs/runbook.md speaks of every alarm that Terraform makes and of no other, and answers four questions of each."""

from __future__ import annotations

import re

import pytest

from engine.settings import ROOT

from .conftest import Estado

RUNBOOK = ROOT / "docs" / "runbook.md"
PERGUNTAS = ("O que significa", "Como olhar", "O que fazer", "Como saber que acabou")


def secoes(texto: str) -> dict[str, str]:
    """Text of each section by alarm name; a heading (``### `a`, `b```) may name several alarms."""
    achadas: dict[str, str] = {}
    for parte in re.split(r"^(?=#{2,3} )", texto, flags=re.MULTILINE):
        titulo, _, corpo = parte.partition("\n")
        if not titulo.startswith("### "):
            continue
        for nome in re.findall(r"`([^`]+)`", titulo):
            assert nome not in achadas, f"{nome} has two sections"
            achadas[nome] = corpo
    return achadas


def nomes(estado: Estado) -> set[str]:
    return {alarme["alarm_name"] for alarme in estado.do_tipo("aws_cloudwatch_metric_alarm").values()}


def divergencias(estado: Estado, texto: str) -> dict[str, set[str]]:
    explicados = set(secoes(texto))
    return {"sem secao": nomes(estado) - explicados, "sem alarme": explicados - nomes(estado)}


def test_every_alarm_has_a_section_and_every_section_an_alarm(estado: Estado) -> None:
    assert divergencias(estado, RUNBOOK.read_text()) == {"sem secao": set(), "sem alarme": set()}


def test_each_section_answers_the_four_questions() -> None:
    faltam = {
        nome: [pergunta for pergunta in PERGUNTAS if f"**{pergunta}.**" not in corpo]
        for nome, corpo in secoes(RUNBOOK.read_text()).items()
    }
    assert faltam
    assert {nome: perguntas for nome, perguntas in faltam.items() if perguntas} == {}


def test_each_section_has_a_command_to_look_with() -> None:
    assert [nome for nome, corpo in secoes(RUNBOOK.read_text()).items() if "```" not in corpo] == []


def test_scripts_named_exist() -> None:
    citados = set(re.findall(r"scripts/[\w-]+\.sh", RUNBOOK.read_text()))
    assert citados
    assert {script for script in citados if not (ROOT / script).is_file()} == set()


@pytest.mark.parametrize("nome", ["cesta-saga-compensacao-pendente", "ffv-lab-fila-pedidos-atrasada"])
def test_a_missing_or_a_left_over_section_is_caught(estado: Estado, nome: str) -> None:
    texto = RUNBOOK.read_text()
    assert divergencias(estado, texto.replace(f"`{nome}`", "`outro-alarme`")) == {
        "sem secao": {nome},
        "sem alarme": {"outro-alarme"},
    }
