"""Deploy to a target and take it down again."""

from __future__ import annotations

import os
import sys
import time

from engine import motor
from engine.build import BuildPlan, build
from engine.localstack import processo as localstack
from engine.settings import EngineError, EngineSettings, shown
from engine.terraform import Terraform


def _confirm(question: str) -> None:
    """Ask before touching an account; ``CONFIRMAR=sim`` answers for scripts.

    Raises
    ------
    EngineError
        If the answer is not ``sim``, or nobody can answer.
    """
    if os.environ.get("CONFIRMAR") == "sim":
        return
    if not sys.stdin.isatty():
        raise EngineError("ALVO=aws pede confirmação; repita com CONFIRMAR=sim.")
    if input(f"{question} Digite sim para continuar: ").strip().lower() != "sim":
        raise EngineError("cancelado; nada foi alterado.")


def _require_reachable(target: str, settings: EngineSettings) -> None:
    if target == "local" and motor.health(settings) is None:
        raise EngineError(f"o motor local não responde em {settings.endpoint}; rode make local-up.")
    if target == "localstack" and localstack.health() is None:
        raise EngineError(f"o LocalStack não responde em {settings.endpoint_of(target)}; rode make localstack-up.")


def deploy(target: str, settings: EngineSettings) -> None:
    """Build what is missing, apply, and write ``build/<target>/saidas.json``.

    Raises
    ------
    EngineError
        If the target is not reachable, the account owner does not confirm, or a step fails.
    """
    _require_reachable(target, settings)
    plan = BuildPlan.for_target(target)
    artifact = build(plan)
    terraform = Terraform(target, settings)
    arguments = terraform.variables(runtime=plan.runtime, architecture=plan.architecture, artifact=artifact)
    began = time.monotonic()
    terraform.init()
    if target == "aws":
        planned = terraform.plan(arguments)
        _confirm("Aplicar este plano na conta AWS?")
        terraform.apply_plan(planned)
    else:
        terraform.apply(arguments)
    values = terraform.outputs()
    print(f"implantado em {target} em {time.monotonic() - began:.0f} s; saídas em {shown(terraform.outputs_file)}")
    for name in ("url_api", "url_painel", "url_api_fila"):
        if name in values:
            print(f"  {name}: {values[name]}")


def destroy(target: str, settings: EngineSettings) -> None:
    """Destroy everything the target's state knows. Safe to repeat.

    Raises
    ------
    EngineError
        If the target is not reachable, the account owner does not confirm, or Terraform fails.
    """
    terraform = Terraform(target, settings)
    if not terraform.state.exists():
        print(f"nada implantado em {target} por este diretório")
        return
    _require_reachable(target, settings)
    plan = BuildPlan.for_target(target)
    artifact = build(plan)  # the configuration reads it even to destroy
    arguments = terraform.variables(runtime=plan.runtime, architecture=plan.architecture, artifact=artifact)
    terraform.init()
    if target == "aws":
        planned = terraform.plan(arguments, destroy=True)
        _confirm("Destruir tudo isto na conta AWS?")
        terraform.apply_plan(planned)
    else:
        terraform.destroy(arguments)
    terraform.outputs_file.unlink(missing_ok=True)
    print(f"{target}: tudo destruído")
