"""What is deployed is what is written: a second plan changes nothing, and everything found by tag is in the state."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from engine.build import BuildPlan
from engine.settings import EngineSettings, target_dir
from engine.terraform import Terraform
from provas.alvo import Alvo

pytestmark = pytest.mark.e2e

ALVO = os.environ.get("ALVO") or "local"


@pytest.fixture(scope="module")
def terraform() -> Terraform:
    if ALVO == "aws":
        pytest.skip("on an account, make deploy shows the plan before it applies")
    return Terraform(ALVO, EngineSettings.from_env())


def _chamar(terraform: Terraform, *argumentos: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["terraform", f"-chdir={terraform.backend.folder}", *argumentos],
        env=terraform.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )


def test_a_second_plan_changes_nothing(alvo: Alvo, terraform: Terraform) -> None:
    plano = BuildPlan.for_target(ALVO)
    argumentos = terraform.variables(
        runtime=plano.runtime, architecture=plano.architecture, artifact=target_dir(ALVO) / "artefato.zip"
    )

    estado = terraform.backend.arguments
    feito = _chamar(terraform, "plan", "-detailed-exitcode", "-no-color", "-lock=false", *estado, *argumentos)

    assert feito.returncode == 0, feito.stdout[-3000:] + feito.stderr[-2000:]


def test_everything_that_carries_the_tag_is_in_the_state(alvo: Alvo, terraform: Terraform) -> None:
    """What destroy takes away is what the state knows, so a tagged resource outside it would be left behind."""
    cliente = alvo.cliente("resourcegroupstaggingapi")
    marcados = {
        recurso["ResourceARN"]
        for pagina in cliente.get_paginator("get_resources").paginate(TagFilters=[{"Key": "Projeto"}])
        for recurso in pagina["ResourceTagMappingList"]
    }
    assert terraform.backend.file
    estado = json.dumps(json.loads(terraform.backend.file.read_text())["resources"])

    assert len(marcados) > 30
    assert {arn for arn in marcados if arn not in estado} == set()
