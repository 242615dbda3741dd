"""Command line of the second engine: ``python -m engine.localstack setup|up|down|status|pode``."""

from __future__ import annotations

import argparse
import sys

from engine.localstack import preparo, processo


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when done, 1 when the engine failed or does not run, 2 when the machine lacks something."""
    parser = argparse.ArgumentParser(
        prog="python -m engine.localstack", description="LocalStack sem Docker e sem conta."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("setup", help="instala o que falta, sem subir nada")
    commands.add_parser("up", help="sobe o motor e espera que responda")
    commands.add_parser("down", help="para tudo o que o motor iniciou")
    commands.add_parser("status", help="diz se o motor responde")
    commands.add_parser("pode", help="diz se esta máquina tem o que o motor precisa")
    command = parser.parse_args(arguments).command
    try:
        return {"setup": _setup, "up": _up, "down": _down, "status": _status, "pode": _can}[command]()
    except preparo.PreparoError as error:
        print(error, file=sys.stderr)
        return 2
    except processo.MotorError as error:
        print(error, file=sys.stderr)
        return 1


def _setup() -> int:
    if processo.external_endpoint() is None:
        preparo.prepare()
    return 0


def _up() -> int:
    print(f"LocalStack no ar em {processo.up()}")
    return 0


def _down() -> int:
    print("LocalStack parado." if processo.down() else "Nenhum LocalStack deste projeto estava no ar.")
    return 0


def _status() -> int:
    services = processo.health()
    if services is None:
        print(f"Nenhum LocalStack responde em {processo.endpoint()}.")
        return 1
    running = sorted(name for name, state in services.items() if state == "running")
    print(f"LocalStack responde em {processo.endpoint()}; serviços em uso: {', '.join(running) or 'nenhum ainda'}.")
    return 0


def _can() -> int:
    if (lack := processo.missing()) is None:
        return 0
    print(lack, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
