"""Deploy to a target and take it down again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from engine import motor, state_backend
from engine.build import BuildPlan, build
from engine.localstack import processo as localstack
from engine.settings import EngineError, EngineSettings, shown
from engine.terraform import Terraform


def confirm(question: str) -> None:
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


def require_reachable(target: str, settings: EngineSettings) -> None:
    """Raise :class:`EngineError` unless the engine of a target without an account answers."""
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
    require_reachable(target, settings)
    terraform = Terraform(target, settings)
    arguments = _arguments(terraform)
    began = time.monotonic()
    terraform.init()
    if target == "aws":
        planned = terraform.plan(arguments)
        confirm("Aplicar este plano na conta AWS?")
        terraform.apply_plan(planned)
    else:
        terraform.apply(arguments)
    values = terraform.outputs()
    if terraform.backend.file and target == "aws":
        print(f"o estado está só nesta máquina, em {shown(terraform.backend.file)}: guarde-o")
    print(f"implantado em {target} em {time.monotonic() - began:.0f} s; saídas em {shown(terraform.outputs_file)}")
    for name in ("url_api", "url_painel", "url_api_fila"):
        if name in values:
            print(f"  {name}: {values[name]}")


def _arguments(terraform: Terraform) -> list[str]:
    """Variables of the target. Builds the artifact when it is missing: the configuration reads it even to destroy."""
    _ = terraform.backend  # said, as what is wrong with the rest, before a build is paid for
    plan = BuildPlan.for_target(terraform.target)
    arguments = terraform.variables(runtime=plan.runtime, architecture=plan.architecture, artifact=plan.artifact)
    if terraform.target == "aws":
        _require_credentials()
    build(plan)
    return arguments


def _require_credentials() -> None:
    import boto3  # most of the time that a command takes to start, and only an account needs it

    if boto3.Session().get_credentials() is None:
        raise EngineError(
            "não há credenciais da AWS: escolha o perfil (export AWS_PROFILE=...; aws sso login) e repita; "
            "aws sts get-caller-identity diz de quem são."
        )


def plan(target: str, settings: EngineSettings) -> None:
    """Show what a deploy would change. Changes nothing and keeps nothing.

    Raises
    ------
    EngineError
        If the target is not reachable, or Terraform fails.
    """
    require_reachable(target, settings)
    terraform = Terraform(target, settings)
    arguments = _arguments(terraform)
    terraform.init()
    terraform.run("plan", "-compact-warnings", "-lock=false", *terraform.backend.arguments, *arguments)


def outputs(target: str, settings: EngineSettings) -> None:
    """Write ``build/<target>/saidas.json`` from the state: for a machine that did not deploy.

    Raises
    ------
    EngineError
        If nothing is deployed, or the state cannot be read.
    """
    terraform = Terraform(target, settings)
    terraform.init()
    if not terraform.deployed():
        raise EngineError(f"o estado de {target} está vazio: nada implantado. Rode: make deploy ALVO={target}")
    terraform.outputs()
    print(f"saídas de {target} em {shown(terraform.outputs_file)}")


def migrate_state(settings: EngineSettings) -> None:
    """Take the state an account kept on this machine to its backend.

    Raises
    ------
    EngineError
        If there is nothing to take, nowhere to take it to, or the backend already describes something.
    """
    backend_settings, file = state_backend.account_files()
    if not state_backend.has_resources(file):
        raise EngineError(f"não há estado em {shown(file)} para levar.")
    if not backend_settings.exists():
        raise EngineError(f"falta {shown(backend_settings)}, que diz para onde levar o estado.")
    terraform = Terraform("aws", settings, state_backend.remote())
    terraform.init()
    if terraform.deployed():
        raise EngineError(f"o backend de {shown(backend_settings)} já descreve recursos; nada foi levado.")
    terraform.run("state", "push", str(file), quiet=True)
    file.rename(file.with_suffix(".tfstate.migrado"))
    print(f"estado levado; {shown(file)}.migrado pode ser apagado depois de um make plano ALVO=aws sem mudanças")


def destroy(target: str, settings: EngineSettings, before: Callable[[], None] | None = None) -> None:
    """Destroy everything the target's state knows. Safe to repeat.

    Parameters
    ----------
    before : callable, optional
        Run after the account owner confirmed, before anything is destroyed.

    Raises
    ------
    EngineError
        If the target is not reachable, the account owner does not confirm, or Terraform fails.
    """
    terraform = Terraform(target, settings)
    if terraform.backend.file and not terraform.backend.file.exists():
        print(f"nada implantado em {target} por este diretório")
        return
    require_reachable(target, settings)
    arguments = _arguments(terraform)
    terraform.init()
    if target == "aws":
        planned = terraform.plan(arguments, destroy=True)
        confirm("Destruir tudo isto na conta AWS?")
    if before:
        before()
    if target == "aws":
        terraform.apply_plan(planned)
    else:
        terraform.destroy(arguments)
    terraform.outputs_file.unlink(missing_ok=True)
    print(f"{target}: tudo destruído")
