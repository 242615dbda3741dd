"""The backend an account uses, on the engine's S3: the repository's own block, with one resource of no provider."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import deploy, state_backend
from engine.settings import ROOT, EngineError, EngineSettings
from engine.terraform import Terraform
from provas.alvo import Alvo

pytestmark = pytest.mark.e2e

BUCKET = "cesta-estado-remoto-teste"
CHAVE = "cesta/conta.tfstate"


@pytest.fixture
def conta(alvo: Alvo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Backend settings of an "account" that is the engine, and a configuration with the repository's backend block."""
    if alvo.endpoint is None:
        pytest.skip("an account has its own bucket")
    raiz = tmp_path / "raiz"
    (raiz / "ambientes").mkdir(parents=True)
    shutil.copy(ROOT / "terraform/backend.tf", raiz)
    (raiz / "main.tf").write_text('resource "terraform_data" "um" {}\noutput "valor" { value = "lido" }\n')
    ajustes = raiz / "ambientes" / "conta.backend.hcl"
    ajustes.write_text(
        f'bucket = "{BUCKET}"\nkey = "{CHAVE}"\nregion = "sa-east-1"\nuse_path_style = true\n'
        "skip_credentials_validation = true\nskip_requesting_account_id = true\nskip_metadata_api_check = true\n"
    )
    monkeypatch.setattr(state_backend, "CONFIGURATION", raiz)
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path / "build"))
    monkeypatch.delenv("AMBIENTE", raising=False)
    for nome in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(nome, raising=False)
    for nome, valor in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_ENDPOINT_URL": alvo.endpoint,
        "AWS_REGION": alvo.regiao,
    }.items():
        monkeypatch.setenv(nome, valor)
    (tmp_path / "build/aws").mkdir(parents=True)
    s3 = alvo.cliente("s3")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": alvo.regiao})
    yield ajustes
    for objeto in s3.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        s3.delete_object(Bucket=BUCKET, Key=objeto["Key"])
    s3.delete_bucket(Bucket=BUCKET)


def _aplicado() -> Terraform:
    terraform = Terraform("aws", EngineSettings.from_env())
    terraform.init()
    assert not terraform.deployed()
    terraform.apply([])
    return terraform


def test_the_state_is_in_the_bucket_and_nowhere_else(alvo: Alvo, conta: Path, tmp_path: Path) -> None:
    terraform = _aplicado()

    estado = json.loads(alvo.cliente("s3").get_object(Bucket=BUCKET, Key=CHAVE)["Body"].read())
    assert [recurso["type"] for recurso in estado["resources"]] == ["terraform_data"]
    assert terraform.deployed()
    assert not list((tmp_path / "build/aws").glob("*.tfstate"))
    assert [o["Key"] for o in alvo.cliente("s3").list_objects_v2(Bucket=BUCKET)["Contents"]] == [CHAVE]  # lock released


def test_outputs_are_read_on_a_machine_that_did_not_deploy(alvo: Alvo, conta: Path, tmp_path: Path) -> None:
    _aplicado()
    shutil.rmtree(tmp_path / "build")
    (tmp_path / "build/aws").mkdir(parents=True)

    deploy.outputs("aws", EngineSettings.from_env())

    assert json.loads((tmp_path / "build/aws/saidas.json").read_text()) == {"valor": "lido"}


def test_who_comes_second_waits_for_the_lock(
    alvo: Alvo, conta: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terraform = _aplicado()
    dono = {"ID": "0", "Operation": "OperationTypeApply", "Who": "outra@maquina", "Created": "2026-01-01T00:00:00Z"}
    alvo.cliente("s3").put_object(Bucket=BUCKET, Key=f"{CHAVE}.tflock", Body=json.dumps(dono).encode())

    with pytest.raises(EngineError, match="apply falhou"):
        terraform.apply([])

    dito = capsys.readouterr().out
    assert "Error acquiring the state lock" in dito
    assert "outra@maquina" in dito


def test_a_bucket_changed_by_mistake_is_not_an_empty_state(conta: Path) -> None:
    _aplicado()
    conta.write_text(conta.read_text().replace(BUCKET, "outro-bucket"))

    with pytest.raises(EngineError, match="init falhou"):
        Terraform("aws", EngineSettings.from_env()).init()


def test_a_state_kept_here_is_taken_to_the_backend_once(
    alvo: Alvo, conta: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ajustes = conta.read_text()
    conta.unlink()
    monkeypatch.setenv("ESTADO_LOCAL", "sim")
    _aplicado()
    aqui = tmp_path / "build/aws/conta.tfstate"
    assert aqui.is_file()
    conta.write_text(ajustes)

    deploy.migrate_state(EngineSettings.from_env())

    assert not aqui.exists()
    assert json.loads(alvo.cliente("s3").get_object(Bucket=BUCKET, Key=CHAVE)["Body"].read())["resources"]
    aqui.write_text(aqui.with_suffix(".tfstate.migrado").read_text())
    with pytest.raises(EngineError, match="já descreve"):
        deploy.migrate_state(EngineSettings.from_env())
