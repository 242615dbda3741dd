"""Terraform's own tests, file by file, and what the repository promises about its lock."""

import re
from collections.abc import Callable

import pytest

from .conftest import CONFIGURACAO, Estado

ARQUIVOS = sorted(arquivo.name for arquivo in (CONFIGURACAO / "tests").glob("*.tftest.hcl"))
# Played once, for their states.
LIDOS = ("aplicacao.tftest.hcl", "conta.tftest.hcl")


@pytest.mark.parametrize("arquivo", [arquivo for arquivo in ARQUIVOS if arquivo not in LIDOS])
def test_terraform_tests_pass(terraform: Callable[..., str], arquivo: str) -> None:
    saida = terraform("test", "-no-color", f"-filter=tests/{arquivo}")

    passaram = re.search(r"Success! (\d+) passed, 0 failed", saida)
    assert passaram and int(passaram[1]) > 0, saida


def test_the_files_whose_states_are_read_pass(aplicados: dict[str, Estado], conta: Estado) -> None:
    """Terraform fails when an assertion does, and so does whoever asked; here, that every run was played."""
    escritos = re.findall(r'^run "(\w+)"', (CONFIGURACAO / "tests" / LIDOS[0]).read_text(), re.MULTILINE)

    assert list(aplicados) == escritos
    assert conta.recursos


def test_the_lock_serves_every_kind_of_installation() -> None:
    """``h1:`` of each platform (mirrors hold unpacked providers), ``zh:`` of each package (registries)."""
    trava = (CONFIGURACAO / ".terraform.lock.hcl").read_text()

    assert re.search(r'version\s*=\s*"5\.100\.0"', trava)
    assert len(re.findall(r'"h1:', trava)) >= 3
    assert len(re.findall(r'"zh:', trava)) >= 14


def test_every_resource_that_can_is_tagged(estado: Estado) -> None:
    """The provider tags everything (default_tags); a resource with tags of its own must not take Projeto away."""
    sem_projeto = [
        endereco
        for endereco, valores in estado.recursos.items()
        if valores.get("tags") and not valores["tags"].get("Projeto", "cesta")
    ]

    assert sem_projeto == []
