"""Whatever is left out of a static check says why, in place."""

import os
import re
from pathlib import Path

import pytest

from engine.settings import ROOT

# What leaves something out, and what a reason in the same line looks like after it: two words at least.
RAZAO = r"\s*[-#:]\s*(?!noqa|type:)\S+ \S+"
CODIGOS = r"[A-Z]+\d+(?:, ?[A-Z]+\d+)*"
DIRETIVAS = {
    ".py": [
        (r"#\s*noqa\b", rf"#\s*noqa: {CODIGOS}{RAZAO}"),
        (r"#\s*ruff:\s*noqa", r"(?!)"),
        (r"#\s*type:\s*ignore", rf"#\s*type: ignore\[[\w-]+(?:, ?[\w-]+)*\]{RAZAO}"),
        (r"#\s*(?:nosec|pragma: no cover)", rf"#\s*(?:nosec|pragma: no cover){RAZAO}"),
    ],
    ".tf": [(r"checkov:skip|tflint-ignore", rf"#checkov:skip=CKV2?_AWS_\d+{RAZAO}")],
    ".yaml": [(r"checkov:skip|cfn-lint", rf"checkov:skip=CKV2?_AWS_\d+{RAZAO}")],
    ".sh": [(r"shellcheck disable", rf"# shellcheck disable=SC\d+(?:,SC\d+)*{RAZAO}")],
}


def sem_razao(nome: str, texto: str) -> list[str]:
    """``file:line`` of each directive of a file without its codes and its reason; this file only talks about them."""
    if nome == str(Path(__file__).relative_to(ROOT)):
        return []
    sufixo = "." + nome.rpartition(".")[2] if nome != ".ci/run" else ".sh"
    return [
        f"{nome}:{numero}"
        for numero, linha in enumerate(texto.splitlines(), 1)
        for diretiva, explicada in DIRETIVAS.get(sufixo, [])
        if len(re.findall(diretiva, linha)) != len(re.findall(explicada, linha))
    ]


def test_every_directive_says_why() -> None:
    lidos = {}
    for pasta, subpastas, nomes in os.walk(ROOT):
        subpastas[:] = [s for s in subpastas if s == ".ci" or not s.startswith((".", "build"))]
        arquivos = [Path(pasta, nome) for nome in nomes if f".{nome.rpartition('.')[2]}" in DIRETIVAS or nome == "run"]
        lidos |= {str(arquivo.relative_to(ROOT)): arquivo.read_text() for arquivo in arquivos}

    assert len(lidos) > 300 and ".ci/run" in lidos
    assert [achado for nome, texto in lidos.items() for achado in sem_razao(nome, texto)] == []


@pytest.mark.parametrize(
    ("nome", "linha"),
    [
        ("a.py", "x = 1  # noqa"),
        ("a.py", "x = 1  # noqa: S101"),
        ("a.py", "x = 1  # noqa: S101 - why"),
        ("a.py", "# ruff: noqa: S101 - all of it"),
        ("a.py", "x = 1  # type: ignore"),
        ("a.py", "x = 1  # type: ignore[misc]"),
        ("a.py", "x = 1  # type: ignore  # any of them"),
        ("a.py", "x = 1  # type: ignore[misc]  # noqa: S101 - only of the second"),
        ("a.tf", "  #checkov:skip=CKV_AWS_1"),
        ("a.tf", "  #checkov:skip=CKV_AWS_1:"),
        ("template.yaml", "  cfn-lint:"),
        ("a.sh", "# shellcheck disable=SC2034"),
        (".ci/run", "# shellcheck disable=SC2034"),
    ],
)
def test_one_without_a_reason_is_caught(nome: str, linha: str) -> None:
    assert sem_razao(nome, f"\n{linha}\n") == [f"{nome}:2"]


@pytest.mark.parametrize("lista", ["ignore", '"tests/**"'])
def test_every_rule_left_out_says_why(lista: str) -> None:
    [regras] = re.findall(rf"^{re.escape(lista)} = \[\n(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.M | re.S)

    assert [linha for linha in regras.splitlines() if not re.fullmatch(r'  "\w+", +# \S+ \S+.*', linha)] == []


def test_no_rule_is_left_out_elsewhere() -> None:
    """Each table of exceptions is one of those the test above reads."""
    tabelas = (ROOT / "pyproject.toml").read_text()
    [por_arquivo] = re.findall(r"^\[tool\.ruff\.lint\.per-file-ignores\]\n(.*?)^\[", tabelas, re.M | re.S)

    assert re.findall(r"^(\S+) = \[", por_arquivo, re.M) == ['"tests/**"']
    assert not re.search(r"^extend-(ignore|per-file-ignores)|^disable_error_code|^ignore_errors", tabelas, re.M)
