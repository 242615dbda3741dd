"""docs/primeira-hora.md only asks a newcomer to type what exists, and to look for what is really said."""

import re
import subprocess
from pathlib import Path

import pytest

RAIZ = Path(__file__).resolve().parents[2]
DOCUMENTO = RAIZ / "docs" / "primeira-hora.md"


def blocos(texto: str) -> str:
    return "\n".join(re.findall(r"^```\n(.*?)^```", texto, flags=re.MULTILINE | re.DOTALL))


def faltas(texto: str) -> set[str]:
    """Make targets and scripts that the document names and the repository does not have."""
    makefiles = "\n".join(p.read_text() for p in (RAIZ / "Makefile", *(RAIZ / "mk").glob("*.mk")))
    alvos = set(re.findall(r"^([a-z][a-z-]*):", makefiles, flags=re.MULTILINE))
    citados = [
        palavra
        for linha in re.findall(r"(?:^|`)make ((?:[a-z-]+ ?)+)", texto, flags=re.MULTILINE)
        for palavra in linha.split()
    ]
    scripts = set(re.findall(r"scripts/[\w-]+\.sh", texto))
    return (set(citados) - alvos) | {script for script in scripts if not (RAIZ / script).is_file()}


def test_every_command_it_names_exists() -> None:
    assert faltas(DOCUMENTO.read_text()) == set()
    for comando in ("make local-up deploy semear", "make alarmes", "make onde PEDIDO=", "make local-down"):
        assert comando in blocos(DOCUMENTO.read_text())


@pytest.mark.parametrize("frase", ["make alarmes", "scripts/intervencao.sh"])
def test_a_command_that_is_gone_is_caught(frase: str) -> None:
    assert faltas(DOCUMENTO.read_text().replace(frase, f"{frase[:-2]}xx" if "sh" not in frase else "scripts/nada.sh"))


@pytest.mark.parametrize(
    "dito",
    [
        "Nenhum alarme está tocando.",
        "A fila humana está vazia",
        "reservado no estoque agora:",
        "o que fazer: docs/runbook.md, seção ",
        "pedido(s) resolvidos",
    ],
)
def test_what_it_says_is_printed_is_what_the_tools_print(dito: str) -> None:
    assert dito in DOCUMENTO.read_text()
    assert [p for p in (RAIZ / "operacao").glob("*.py") if dito in p.read_text()]


def test_links_lead_somewhere() -> None:
    ligacoes = re.findall(r"\]\(([\w.-]+\.md)\)", DOCUMENTO.read_text())
    assert ligacoes
    assert [nome for nome in ligacoes if not (RAIZ / "docs" / nome).is_file()] == []


def test_readme_links_it() -> None:
    assert "docs/primeira-hora.md" in (RAIZ / "README.md").read_text()


@pytest.mark.parametrize(
    ("alvo", "diz"), [("onde", "diga qual pedido"), ("gateway", "diga o modo"), ("fault", "diga a falha")]
)
def test_a_forgotten_argument_is_named(alvo: str, diz: str) -> None:
    feito = subprocess.run(["make", "-n", alvo], cwd=RAIZ, capture_output=True, text=True, check=False, timeout=30)
    assert feito.returncode != 0
    assert diz in feito.stderr
