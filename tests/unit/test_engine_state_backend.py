"""Where each target's state goes, and what is said when nobody decided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine import deploy, state_backend
from engine.settings import ROOT, EngineError, EngineSettings
from engine.state_backend import choose
from engine.terraform import Terraform

STATE = json.dumps({"version": 4, "resources": [{"type": "aws_sqs_queue"}]})


@pytest.fixture(autouse=True)
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the account's files, with nothing decided yet; ``build/`` is a temporary one too."""
    configuration = tmp_path / "configuration"
    (configuration / "ambientes").mkdir(parents=True)
    for entry in (ROOT / "terraform").iterdir():
        if entry.name != "ambientes":
            (configuration / entry.name).symlink_to(entry)
    monkeypatch.setattr(state_backend, "CONFIGURATION", configuration)
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path / "build"))
    for name in ("AMBIENTE", "ESTADO_LOCAL"):
        monkeypatch.delenv(name, raising=False)
    return configuration / "ambientes"


@pytest.mark.parametrize("target", ["local", "localstack"])
def test_a_target_without_an_account_keeps_its_state_in_build(tmp_path: Path, target: str) -> None:
    backend = choose(target)

    assert backend.file == tmp_path / "build" / target / "terraform.tfstate"
    assert backend.arguments == [f"-state={backend.file}"]
    assert backend.init_arguments == []


def test_an_account_with_backend_settings_keeps_its_state_there(account: Path) -> None:
    settings = account / "conta.backend.hcl"
    settings.write_text('bucket = "b"\n')

    backend = choose("aws")

    assert backend.init_arguments == [f"-backend-config={settings}"]
    assert backend.arguments == []
    assert backend.folder == account.parent


def test_each_environment_of_an_account_has_its_own_settings_and_folder(
    account: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (account / "conta.backend.hcl").touch()
    (account / "producao.backend.hcl").touch()
    conta = Terraform("aws", EngineSettings.from_env()).data_dir
    monkeypatch.setenv("AMBIENTE", "producao")

    assert choose("aws").init_arguments == [f"-backend-config={account / 'producao.backend.hcl'}"]
    assert Terraform("aws", EngineSettings.from_env()).data_dir != conta


def test_an_account_nobody_decided_for_is_told_both_ways_out() -> None:
    with pytest.raises(EngineError) as told:
        choose("aws")

    assert "conta.backend.hcl.exemplo" in str(told.value)
    assert "ESTADO_LOCAL=sim" in str(told.value)
    assert (ROOT / "terraform/ambientes/conta.backend.hcl.exemplo").is_file()


def test_local_state_of_an_account_is_a_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESTADO_LOCAL", "sim")
    assert choose("aws").file == tmp_path / "build/aws/conta.tfstate"
    monkeypatch.setenv("AMBIENTE", "producao")
    assert choose("aws").file == tmp_path / "build/aws/producao.tfstate"


@pytest.mark.parametrize("value", ["", "nao", "1", "Sim"])
def test_nothing_but_sim_is_a_choice(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("ESTADO_LOCAL", value)
    with pytest.raises(EngineError, match=r"backend\.hcl"):
        choose("aws")


def test_two_states_of_one_account_are_refused(account: Path, tmp_path: Path) -> None:
    """Else a deploy would start from an empty remote state and make everything a second time."""
    (account / "conta.backend.hcl").touch()
    file = tmp_path / "build/aws/conta.tfstate"
    file.parent.mkdir(parents=True)
    file.write_text(STATE)
    with pytest.raises(EngineError, match="make migrar-estado"):
        choose("aws")
    file.write_text(json.dumps({"version": 4, "resources": []}))  # what a destroy leaves
    assert choose("aws").file is None


@pytest.mark.parametrize("name", ["../outra", "a/b", "-x", "Prod"])
def test_an_environment_is_a_plain_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("AMBIENTE", name)
    with pytest.raises(EngineError, match="AMBIENTE"):
        choose("aws")


def test_a_broken_state_is_named(tmp_path: Path) -> None:
    file = tmp_path / "build/aws/conta.tfstate"
    file.parent.mkdir(parents=True)
    file.write_text("{")
    with pytest.raises(EngineError, match=r"conta\.tfstate"):
        state_backend.has_resources(file)


def test_the_folder_of_a_local_state_follows_the_configuration(account: Path) -> None:
    backend = choose("local")
    backend.prepare()
    root = backend.folder

    assert (root / "main.tf").samefile(ROOT / "terraform/main.tf")
    assert (root / "../template.yaml").samefile(ROOT / "template.yaml")
    assert (root / "../asl/saga-pedido.asl.json").is_file()
    assert 'backend "local"' in (root / "backend_override.tf").read_text()

    (account.parent / "novo.tf").touch()
    (account.parent / "fila.tf").unlink()
    before = (root / "main.tf").lstat().st_mtime_ns
    backend.prepare()

    assert (root / "novo.tf").is_symlink()
    assert not (root / "fila.tf").is_symlink()
    assert (root / "main.tf").lstat().st_mtime_ns == before  # another Terraform may be reading it


def test_the_root_declares_the_locked_backend_and_nothing_of_an_account() -> None:
    text = (ROOT / "terraform/backend.tf").read_text()

    assert 'backend "s3"' in text
    assert "use_lockfile = true" in text
    assert "encrypt      = true" in text
    assert not any(f"{name} =" in text.replace("  ", " ") for name in ("bucket", "key", "region", "endpoint"))


def test_migrating_needs_a_state_and_a_place_for_it(account: Path, tmp_path: Path) -> None:
    settings = EngineSettings.from_env()
    with pytest.raises(EngineError, match="não há estado"):
        deploy.migrate_state(settings)
    file = tmp_path / "build/aws/conta.tfstate"
    file.parent.mkdir(parents=True)
    file.write_text(STATE)
    with pytest.raises(EngineError, match=r"conta\.backend\.hcl"):
        deploy.migrate_state(settings)


def test_what_an_account_left_undecided_is_said_before_anything_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deploy, "build", lambda _: pytest.fail("built"))
    for action in (deploy.deploy, deploy.plan, deploy.destroy, deploy.outputs):
        with pytest.raises(EngineError, match=r"backend\.hcl"):
            action("aws", EngineSettings.from_env())
