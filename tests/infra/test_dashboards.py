"""docs/dashboards.md speaks of every widget Terraform makes and of no other, and answers three questions of each."""

from __future__ import annotations

import json
import re

import pytest

from engine.settings import ROOT

from .conftest import Estado

DOCUMENTO = ROOT / "docs" / "dashboards.md"
PERGUNTAS = ("O que mostra", "O que uma mudança significa", "Onde olhar depois")


def explicados(texto: str) -> dict[tuple[str, str], str]:
    """Text of each widget by (dashboard, title)."""
    achados: dict[tuple[str, str], str] = {}
    for parte in re.split(r"^(?=## )", texto, flags=re.MULTILINE)[1:]:
        painel = re.match(r"## `([^`]+)`", parte)
        assert painel, parte.splitlines()[0]
        for secao in re.split(r"^### ", parte, flags=re.MULTILINE)[1:]:
            titulo, _, corpo = secao.partition("\n")
            assert (painel[1], titulo) not in achados
            achados[painel[1], titulo] = corpo
    return achados


def existentes(estado: Estado) -> set[tuple[str, str]]:
    return {
        (painel["dashboard_name"], widget["properties"]["title"])
        for painel in estado.do_tipo("aws_cloudwatch_dashboard").values()
        for widget in json.loads(painel["dashboard_body"])["widgets"]
    }


def divergencias(estado: Estado, texto: str) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """(widgets without a text, texts without a widget)."""
    return existentes(estado) - set(explicados(texto)), set(explicados(texto)) - existentes(estado)


def test_every_widget_is_explained_and_every_explanation_has_a_widget(estado: Estado) -> None:
    assert len({painel for painel, _ in existentes(estado)}) == 3
    assert divergencias(estado, DOCUMENTO.read_text()) == (set(), set())


def test_each_explanation_answers_the_three_questions() -> None:
    textos = explicados(DOCUMENTO.read_text())
    faltam = {k: [p for p in PERGUNTAS if f"**{p}.**" not in corpo] for k, corpo in textos.items()}
    assert faltam
    assert {k: perguntas for k, perguntas in faltam.items() if perguntas} == {}


@pytest.mark.parametrize(
    ("painel", "titulo"),
    [
        ("cesta-saga", "Quantos pedidos foram recusados, e por quê?"),
        ("cadencia-painel", "Algum lote está falhando? (erros acima de 0, sustentado)"),
        ("ffv-lab-fila", "O que aconteceu com os pedidos?"),
    ],
)
def test_a_missing_or_a_left_over_explanation_is_caught(estado: Estado, painel: str, titulo: str) -> None:
    texto = DOCUMENTO.read_text().replace(f"### {titulo}\n", "### Outra coisa?\n")
    assert divergencias(estado, texto) == ({(painel, titulo)}, {(painel, "Outra coisa?")})


def test_what_it_sends_people_to_exists(estado: Estado) -> None:
    texto = DOCUMENTO.read_text()
    alarmes = {a["alarm_name"] for a in estado.do_tipo("aws_cloudwatch_metric_alarm").values()}
    filas = {f["name"] for f in estado.do_tipo("aws_sqs_queue").values()}
    conhecidos = alarmes | filas | set(estado.funcoes()) | {painel for painel, _ in existentes(estado)}
    citados = set(re.findall(r"`((?:cesta|ffv-lab|cadencia)-[\w-]+)`", texto))
    assert len(citados) > 15
    assert citados - conhecidos == set()
    assert {s for s in re.findall(r"scripts/[\w-]+\.sh", texto) if not (ROOT / s).is_file()} == set()
