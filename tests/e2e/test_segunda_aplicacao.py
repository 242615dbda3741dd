"""Applying again changes nothing: what Terraform describes is what is there, even after every other test ran."""

from __future__ import annotations

import pytest

from engine.build import BuildPlan, build
from engine.settings import EngineError, EngineSettings
from engine.terraform import Terraform

pytestmark = pytest.mark.e2e


def test_a_second_plan_is_empty(alvo, capsys):
    plano = BuildPlan.for_target(alvo.nome)
    terraform = Terraform(alvo.nome, EngineSettings.from_env())
    argumentos = terraform.variables(runtime=plano.runtime, architecture=plano.architecture, artifact=build(plano))
    terraform.init()
    try:
        # -detailed-exitcode: 0 nothing to do, 2 something to change.
        terraform.run(
            "plan",
            "-detailed-exitcode",
            "-parallelism=20",
            "-lock=false",
            "-no-color",
            *terraform.backend.arguments,
            *argumentos,
            quiet=True,
        )
    except EngineError:
        mudancas = [linha for linha in capsys.readouterr().out.splitlines() if linha.lstrip().startswith(("#", "Plan"))]
        pytest.fail("a second apply would change:\n" + "\n".join(mudancas), pytrace=False)
