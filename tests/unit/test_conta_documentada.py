"""README's block for an account, typed as it says without one, leaves what the engine and the proofs look for."""

import inspect
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from engine import deploy, state_backend, terraform
from engine.settings import EngineError, EngineSettings
from engine.terraform import Terraform
from provas.registro import SISTEMAS, provas_de

RAIZ = Path(__file__).resolve().parents[2]
README = (RAIZ / "README.md").read_text()
SECAO = README.split("## In an account", 1)[1].split("\n## ", 1)[0]
BLOCO = re.findall(r"^```\n(.*?)^```", SECAO, flags=re.MULTILINE | re.DOTALL)[0].splitlines()
IMPLANTAR = (RAIZ / "docs" / "deploy.md").read_text()


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone's variables and examples, where the engine looks; nothing of this machine's account."""
    ambientes = tmp_path / "terraform" / "ambientes"
    ambientes.mkdir(parents=True)
    for arquivo in ("exemplo-conta.tfvars", "conta.backend.hcl.exemplo", "local.tfvars", "localstack.tfvars"):
        shutil.copy(RAIZ / "terraform" / "ambientes" / arquivo, ambientes)
    for modulo in (state_backend, terraform):
        monkeypatch.setattr(modulo, "CONFIGURATION", tmp_path / "terraform")
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path / "build"))
    for nome in ("AMBIENTE", "ESTADO_LOCAL"):
        monkeypatch.delenv(nome, raising=False)
    return tmp_path


def procurados() -> set[Path]:
    """Files that a deploy to an account reads.

    Raises
    ------
    EngineError
        One of them is missing.
    """
    ajustes = state_backend.choose("aws").settings
    variaveis = Terraform("aws", EngineSettings.from_env()).variables_file
    return {variaveis, *({ajustes} if ajustes else ())}


def digitar(clone: Path, linhas: list[str]) -> set[Path]:
    """Files that the ``cp`` among these lines made."""
    ambientes = clone / "terraform" / "ambientes"
    antes = set(ambientes.iterdir())
    for linha in linhas:
        if linha.startswith("cp "):
            subprocess.run(["bash", "-c", linha], cwd=clone, check=True, timeout=30)
    return set(ambientes.iterdir()) - antes


def test_the_block_makes_the_files_a_deploy_reads_and_no_other(clone: Path) -> None:
    with pytest.raises(EngineError):
        procurados()

    feitos = digitar(clone, BLOCO)

    assert len(feitos) == 2
    assert feitos == procurados()


def test_with_the_state_on_this_machine_the_second_line_is_not_needed(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "`export ESTADO_LOCAL=sim` replaces the second line" in SECAO
    monkeypatch.setenv("ESTADO_LOCAL", "sim")

    assert digitar(clone, BLOCO[:1]) == procurados()


def test_a_name_nobody_reads_is_caught(clone: Path) -> None:
    digitar(clone, [linha.replace("/conta.tfvars", "/minha-conta.tfvars") for linha in BLOCO])

    with pytest.raises(EngineError):
        procurados()


def test_every_target_of_the_block_exists() -> None:
    makefiles = "\n".join(p.read_text() for p in (RAIZ / "Makefile", *(RAIZ / "mk").glob("*.mk")))
    alvos = set(re.findall(r"^([a-z][a-z-]*):", makefiles, flags=re.MULTILINE))
    citados = [linha.split()[1] for linha in BLOCO if linha.startswith("make ")]

    assert citados == ["deploy", "provas", "limpar"]
    assert set(citados) <= alvos


def precisam() -> dict[str, set[tuple[str, int]]]:
    """By variable, the proofs (system, number) that ask for it to be on, from what they ask of a target."""
    pedidas: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for sistema in SISTEMAS:
        for numero, prova in provas_de(sistema).items():
            motivos = " ".join(motivo for _, motivo in prova.exige)
            if "self.exigir_injecao(" in inspect.getsource(prova):
                motivos += " ligue permitir_injecao_falhas"
            for variavel in re.findall(r"ligue (\w+)", motivos):
                pedidas[variavel].add((sistema, numero))
    return pedidas


def test_the_proofs_variables_are_named_exist_and_are_in_the_example() -> None:
    declaradas = "\n".join(arquivo.read_text() for arquivo in (RAIZ / "terraform").glob("*.tf"))
    exemplo = (RAIZ / "terraform/ambientes/exemplo-conta.tfvars").read_text()
    [frase] = re.findall(r"The proofs need\s(.*?)\strue", SECAO, flags=re.DOTALL)

    assert set(re.findall(r"`(\w+)`", frase)) == set(precisam())
    for variavel in precisam():
        assert f'variable "{variavel}" {{' in declaradas
        assert re.search(rf"^{variavel}\s*=", exemplo, flags=re.MULTILINE), variavel
        assert f"`{variavel}`" in IMPLANTAR


def test_which_proofs_need_what_is_what_they_ask_for() -> None:
    assert "`permitir_injecao_falhas` (saga 3, 5 and 6)" in " ".join(IMPLANTAR.split())
    assert precisam()["permitir_injecao_falhas"] == {("saga", 3), ("saga", 5), ("saga", 6)}
    assert "`habilitar_desenho_minimo` (saga 6, panel 6)" in " ".join(IMPLANTAR.split())
    assert precisam()["habilitar_desenho_minimo"] == {("saga", 6), ("painel", 6)}
    entram = [n for n, p in provas_de("painel").items() if "self.na_api(" in inspect.getsource(p)]
    assert "The panel's 1 also reads its API" in IMPLANTAR
    assert entram == [1]


def test_the_other_variables_it_names_exist() -> None:
    declaradas = "\n".join(arquivo.read_text() for arquivo in (RAIZ / "terraform").glob("*.tf"))
    for variavel in ("url_gateway", "chave_gateway", "destinos_alertas", "painel"):
        assert variavel in SECAO
        assert f'variable "{variavel}" {{' in declaradas


def test_demo_runs_the_proofs_that_readme_says() -> None:
    [rodam] = re.findall(r"^for sistema in ([a-z ]+);", (RAIZ / "scripts/demo.sh").read_text(), flags=re.MULTILINE)
    [dito] = re.findall(r"^make demo +# (.*)$", README, flags=re.MULTILINE)
    nomes = {"saga": "saga's", "painel": "panel's", "fila": "queue's"}

    assert {sistema for sistema in SISTEMAS if nomes[sistema] in dito} == set(rodam.split())
    assert "every proof" not in dito


def test_without_credentials_it_says_so_before_it_builds(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digitar(clone, BLOCO)
    for nome in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(nome, raising=False)
    for nome in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(nome, str(clone / "nenhum"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    feitos: list[object] = []
    monkeypatch.setattr(deploy, "build", feitos.append)

    with pytest.raises(EngineError, match="não há credenciais da AWS"):
        deploy._arguments(Terraform("aws", EngineSettings.from_env()))
    assert feitos == []

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "uma")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "outra")
    deploy._arguments(Terraform("aws", EngineSettings.from_env()))
    assert len(feitos) == 1
