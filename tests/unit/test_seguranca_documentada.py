"""Every test and setting that SECURITY.md leans on exists, and every row leans on one."""

import re
from pathlib import Path

RAIZ = Path(__file__).resolve().parents[2]
_LINHAS = [
    linha
    for linha in (RAIZ / "SECURITY.md").read_text().splitlines()
    if linha.startswith("| ") and "held by" not in linha
]


def _faltas(linhas: list[str]) -> list[str]:
    testes = set(re.findall(r"def (test_\w+)", "\n".join(p.read_text() for p in (RAIZ / "tests").rglob("test_*.py"))))
    faltas = []
    for linha in linhas:
        nomes = re.findall(r"test `(\w+)`", linha)
        ajustes = re.findall(r"setting `([^`]+)`(?: and setting `([^`]+)`)? in `([^`]+)`", linha)
        if not nomes and not ajustes:
            faltas.append(f"nothing holds: {linha[:60]}")
        faltas += [nome for nome in nomes if nome not in testes]
        for um, outro, arquivo in ajustes:
            caminho = RAIZ / arquivo
            texto = caminho.read_text() if caminho.is_file() else ""
            faltas += [f"{ajuste} in {arquivo}" for ajuste in (um, outro) if ajuste and ajuste not in texto]
    return faltas


def test_each_threat_names_what_holds_it() -> None:
    assert len(_LINHAS) >= 10
    assert _faltas(_LINHAS) == []


def test_a_name_that_is_gone_is_caught() -> None:
    assert _faltas(["| x | test `test_that_was_deleted` |"]) == ["test_that_was_deleted"]
    assert _faltas(["| x | setting `nada_disso` in `terraform/variables.tf` |"]) == [
        "nada_disso in terraform/variables.tf"
    ]
    assert len(_faltas(["| x | good will |"])) == 1
