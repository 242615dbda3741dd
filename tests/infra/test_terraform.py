"""Terraform's own tests, file by file, and what the repository promises about its lock."""

import re
from collections.abc import Callable

import hcl2
import pytest

from operacao.limpar import PROJETOS

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


def sem_projeto(estado: Estado) -> list[str]:
    """Resources that would not have a known Projeto: those default_tags does not reach, those that say another."""
    return [
        endereco
        for endereco, valores in estado.recursos.items()
        if "tags" in valores
        # What the provider tags by default has tags_all; a mocked one does not compute it.
        and (valores["tags"] or {}).get("Projeto", "cesta" if "tags_all" in valores else None) not in PROJETOS
    ]


def test_every_resource_that_can_is_tagged(estado: Estado) -> None:
    assert sem_projeto(estado) == []

    endereco = "module.saga.aws_sqs_queue.pedidos_criados"
    fila = estado.recursos[endereco]
    fora_do_padrao = {campo: valor for campo, valor in fila.items() if campo != "tags_all"}
    for quebrada in ({**fila, "tags": {"Projeto": ""}}, {**fila, "tags": {"Projeto": "outro"}}, fora_do_padrao):
        assert sem_projeto(Estado({**estado.recursos, endereco: quebrada}, estado.saidas)) == [endereco]


def test_the_only_provider_tags_what_it_makes() -> None:
    """With one configuration, no resource and no module can choose another."""
    lidos = [hcl2.loads(arquivo.read_text()) for arquivo in CONFIGURACAO.rglob("*.tf")]
    [provedor] = [bloco for lido in lidos for bloco in lido.get("provider", [])]
    [padrao] = provedor['"aws"']["default_tags"]

    assert padrao["tags"] == {"Projeto": '"cesta"'}
