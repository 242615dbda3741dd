"""Command line of the package: ``python -m engine COMMAND``. Run with --help for the list."""

from __future__ import annotations

import argparse
import sys

from engine.settings import ROOT, TARGETS, EngineError


def _build(args: argparse.Namespace) -> int:
    from engine.build import BuildPlan, build

    build(BuildPlan.for_target(args.alvo), force=args.forcar)
    return 0


def _requirements(args: argparse.Namespace) -> int:
    from engine.build import requirements_from_lock

    path = ROOT / "lambdas" / "requirements.txt"
    expected = requirements_from_lock()
    if not args.checar:
        path.write_text(expected)
        print(f"{path.relative_to(ROOT)} gerado")
        return 0
    if not path.exists() or path.read_text() != expected:
        raise EngineError(
            "lambdas/requirements.txt difere de requirements/lambdas.txt; gere de novo: python -m engine requisitos."
        )
    return 0


def _motor(args: argparse.Namespace) -> int:
    from engine import motor
    from engine.settings import EngineSettings

    settings = EngineSettings.from_env()
    match args.comando:
        case "up":
            motor.up(settings)
        case "down":
            motor.down(settings)
        case "status":
            return motor.status(settings)
        case "logs":
            motor.logs(settings, args.linhas)
    return 0


def _deploy(args: argparse.Namespace) -> int:
    from engine import deploy
    from engine.settings import EngineSettings

    actions = {"deploy": deploy.deploy, "plano": deploy.plan, "saidas": deploy.outputs, "destroy": deploy.destroy}
    actions[args.comando](args.alvo, EngineSettings.from_env())
    return 0


def _migrate_state(_: argparse.Namespace) -> int:
    from engine import deploy
    from engine.settings import EngineSettings

    deploy.migrate_state(EngineSettings.from_env())
    return 0


def _validate(_: argparse.Namespace) -> int:
    from engine.terraform import validate

    validate()
    return 0


def _invoke(args: argparse.Namespace) -> int:
    from engine import invoke
    from engine.settings import EngineSettings

    run = invoke.invoke if args.comando == "invoke" else invoke.sam_invoke
    return run(args.funcao, EngineSettings.from_env(), args.evento or None)


def _seed(_: argparse.Namespace) -> int:
    from engine.seed import seed
    from engine.settings import EngineSettings

    seed(EngineSettings.from_env())
    return 0


def _summary(args: argparse.Namespace) -> int:
    from engine.summary import summary

    summary(args.alvo)
    return 0


def _terraform_rc(_: argparse.Namespace) -> int:
    from engine.settings import build_root
    from engine.terraform import cli_configuration

    print(cli_configuration(build_root() / "lint" / "terraform.rc"))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine", description="Construção, motor local e implantação.")
    commands = parser.add_subparsers(dest="comando", required=True)

    build = commands.add_parser("build", help="constrói o artefato das funções")
    build.add_argument("--alvo", choices=TARGETS, default="local")
    build.add_argument("--forcar", action="store_true", help="reconstrói mesmo sem mudança")
    build.set_defaults(run=_build)

    requirements = commands.add_parser("requisitos", help="gera lambdas/requirements.txt a partir da trava")
    requirements.add_argument("--checar", action="store_true", help="só confere")
    requirements.set_defaults(run=_requirements)

    for name, text in (("up", "inicia o motor local"), ("down", "para o motor e descarta o estado dele")):
        commands.add_parser(name, help=text).set_defaults(run=_motor)
    commands.add_parser("status", help="diz se o motor está no ar").set_defaults(run=_motor)
    logs = commands.add_parser("logs", help="mostra o fim do registro do motor")
    logs.add_argument("--linhas", type=int, default=40)
    logs.set_defaults(run=_motor)

    for name, text in (
        ("plano", "mostra o que um deploy mudaria, sem mudar nada"),
        ("deploy", "implanta com Terraform"),
        ("saidas", "relê as saídas do estado, numa máquina que não implantou"),
        ("destroy", "destrói o que foi implantado"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--alvo", choices=TARGETS, default="local")
        command.set_defaults(run=_deploy)
    commands.add_parser("migrar-estado", help="leva o estado local de uma conta para o backend dela").set_defaults(
        run=_migrate_state
    )
    commands.add_parser("validate", help="confere a configuração do Terraform").set_defaults(run=_validate)
    commands.add_parser("terraform-rc", help="mostra a configuração de CLI que o Terraform usa").set_defaults(
        run=_terraform_rc
    )
    commands.add_parser("semear", help="põe alguns produtos no estoque local").set_defaults(run=_seed)

    for name, text in (("invoke", "roda uma função aqui, sem Docker"), ("sam-invoke", "roda uma função com Docker")):
        invoke = commands.add_parser(name, help=text)
        invoke.add_argument("funcao")
        invoke.add_argument("--evento", default="")
        invoke.set_defaults(run=_invoke)

    summary = commands.add_parser("resumo", help="mostra endereços e o que experimentar")
    summary.add_argument("--alvo", choices=TARGETS, default="local")
    summary.set_defaults(run=_summary)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run one command; returns the exit status. An :class:`EngineError` becomes one sentence on stderr."""
    args = _parser().parse_args(argv)
    try:
        return int(args.run(args))
    except EngineError as error:
        print(f"erro: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrompido", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
