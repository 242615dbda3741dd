"""What is typed in a variable of ``make`` reaches the command as one word, and the shell runs nothing of it."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

RAIZ = Path(__file__).resolve().parents[2]
DIGITADO = """L001,a b'c"d $(touch x) `touch y`; touch z"""
# Words of a command line on purpose: their quotes are the shell's.
LINHAS = {"PROVAS", "TESTES", "FALHAS", "CARGA", "DLQ", "INTERVENCAO", "SONDAS"}
# Only asked whether they are there.
CHAVES = {"ACEITAR"}
PALAVRAS = [
    ("invoke", "FN"),
    ("invoke", "EVENTO"),
    ("sam-invoke", "FN"),
    ("sam-invoke", "EVENTO"),
    ("deploy", "ALVO"),
    ("varredura", "ALVO"),
    ("conformance", "ALVO"),
    ("onde", "PEDIDO"),
    ("gateway", "MODO"),
    ("fault", "CASE"),
    ("custo", "PEDIDOS_DIA"),
    ("custo", "FRANQUIA"),
    ("bench", "RODADAS"),
    ("bench", "PEDIDOS"),
    ("medir-estoque", "PEDIDOS"),
    ("painel-carga", "PEDIDOS"),
    ("painel-carga", "TRANSICOES"),
    ("movimento", "DURACAO"),
    ("movimento", "RITMO"),
    ("movimento", "LOJAS"),
    ("reconciliar", "LOJA"),
]


def impresso(alvo: str, variavel: str, valor: str) -> list[str]:
    """The words of the recipe that would run, as a shell splits them."""
    feito = subprocess.run(
        ["make", "-n", alvo, f"{variavel}={valor.replace('$', '$$')}"],
        cwd=RAIZ,
        capture_output=True,
        text=True,
        check=True,
    )
    return shlex.split(feito.stdout.splitlines()[-1])


@pytest.mark.parametrize(("alvo", "variavel"), PALAVRAS)
def test_it_is_one_word_as_it_was_typed(alvo: str, variavel: str) -> None:
    assert DIGITADO in impresso(alvo, variavel, DIGITADO)


def test_each_resource_to_keep_is_a_word() -> None:
    assert impresso("limpar", "MANTER", "arn:a$(x) arn:b")[-4:] == ["--manter", "arn:a$(x)", "--manter", "arn:b"]


def test_no_variable_of_a_recipe_is_forgotten() -> None:
    receitas = "\n".join(p.read_text() for p in (RAIZ / "Makefile", *(RAIZ / "mk").glob("*.mk")))
    proprias = {"PY", "ENGINE", "MAKEFILE_LIST"}
    usadas = set(re.findall(r"\$\(([A-Z_]+)\)", receitas)) - proprias
    assert usadas - LINHAS - CHAVES == {variavel for _, variavel in PALAVRAS} | {"MANTER"}
    fora_de_palavra = re.sub(r"\$\((?:call palavra,|if |or )\$\(([A-Z_]+)\)", "", receitas)
    soltas = set(re.findall(r"\$\(([A-Z_]+)\)", fora_de_palavra)) - proprias
    assert soltas - LINHAS == {"MANTER"}  # split in words first
