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
