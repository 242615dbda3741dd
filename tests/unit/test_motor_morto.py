"""What people type when the engine is down: one sentence that says what to do, and no traceback."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from engine.settings import ROOT
from tests.comando import digitar
from tests.unit.apoio_unit import FUNCOES

COMANDOS = {
    "alarmes": ["operacao.alarmes"],
    "dlq": ["operacao.dlq", "listar"],
    "gateway": ["operacao.gateway", "normal"],
    "intervencao": ["operacao.intervencao", "listar"],
    "invoke": ["engine", "invoke", "criar_pedido"],
    "limpar": ["operacao.limpar"],
    "movimento": ["operacao.movimento"],
    "onde": ["operacao.onde", "01J8XQ4M9Z7W2K5T3R6V1N0PAB"],
    "plano": ["engine", "plano"],
    "provas": ["provas", "saga"],
    "reconciliar": ["operacao.reconciliar"],
    "reprocessar": ["operacao.reprocessar"],
    "semear": ["engine", "semear"],
    "varredura": ["operacao.varredura"],
}
DIZEM = {
    **dict.fromkeys(
        ("alarmes", "dlq", "gateway", "intervencao", "movimento", "reconciliar", "reprocessar"),
        "parou no meio, porque o alvo não respondeu bem (An error occurred (ExpiredTokenException)",
    ),
    "onde": "fora de alcance (ExpiredTokenException)",
    "varredura": "o que não foi lido não foi conferido",
}
"""What the commands that work on a deployment say when it refuses them midway."""


@pytest.fixture(scope="module")
def sem_motor(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment of a deployment whose engine died: its outputs are there, nothing listens on its port."""
    with socket.socket() as livre:
        livre.bind(("127.0.0.1", 0))
        porta = livre.getsockname()[1]
    return ambiente(tmp_path_factory.mktemp("build"), porta)


def ambiente(build: Path, porta: int) -> dict[str, str]:
    """Environment of somebody whose deployment, with every output, is on the engine of that port."""
    (build / "local").mkdir()
    (build / "local/saidas.json").write_text(json.dumps(saidas(porta)))
    return {
        **os.environ,
        "CESTA_DIR_BUILD": str(build),
        "CESTA_PORTA_MOTOR": str(porta),
        "ALVO": "local",
        "PYTHONPATH": f"{ROOT}:{Path(ROOT) / 'lambdas'}",
    }


def saidas(porta: int) -> dict[str, Any]:
    """A value of its kind for each of the deployment's outputs."""
    terraform = "".join(arquivo.read_text() for arquivo in (ROOT / "terraform").glob("*.tf"))
    assert len(FUNCOES) > 10
    valores: dict[str, Any] = {}
    for nome in re.findall(r'^output "(\w+)"', terraform, re.M):
        if "url" in nome:
            valores[nome] = f"http://127.0.0.1:{porta}/000000000000/{nome}"
        elif "arn" in nome:
            valores[nome] = f"arn:aws:states:sa-east-1:000000000000:stateMachine:{nome}"
        else:
            valores[nome] = nome
    return {
        **valores,
        "funcoes": {logico: propriedades["FunctionName"] for logico, propriedades in FUNCOES.items()},
        "tabelas_fila": {"efeitos": "efeitos", "estoque": "estoque", "descartes": "descartes"},
    }


def rodar(comando: str, ambiente: dict[str, str]) -> CompletedProcess[str]:
    return digitar([sys.executable, "-m", *COMANDOS[comando]], ambiente=ambiente)


@pytest.mark.parametrize("comando", COMANDOS)
def test_a_dead_engine_is_one_sentence(sem_motor: dict[str, str], comando: str) -> None:
    feito = rodar(comando, sem_motor)

    dito = feito.stdout + feito.stderr
    assert feito.returncode != 0
    assert "Traceback" not in dito
    assert "não responde" in " ".join(dito.split())
    assert "make local-up" in dito


RECUSA = json.dumps({"__type": "ExpiredTokenException", "message": "the token expired"}).encode()
IDENTIDADE = (
    b"<GetCallerIdentityResponse><GetCallerIdentityResult><Account>000000000000</Account>"
    b"</GetCallerIdentityResult></GetCallerIdentityResponse>"
)


class SoDizQuemE(BaseHTTPRequestHandler):
    """An AWS whose credentials expire as soon as they have been looked at."""

    def do_POST(self) -> None:
        pedido = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        corpo = IDENTIDADE if b"GetCallerIdentity" in pedido else RECUSA
        self.send_response(200 if corpo is IDENTIDADE else 403)
        self.send_header("Content-Length", str(len(corpo)))
        self.end_headers()
        self.wfile.write(corpo)

    do_GET = do_PUT = do_POST

    def log_message(self, *_: Any) -> None:
        return


@pytest.fixture(scope="module")
def credenciais_vencidas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Environment of a deployment on it."""
    motor = ThreadingHTTPServer(("127.0.0.1", 0), SoDizQuemE)
    threading.Thread(target=motor.serve_forever, daemon=True).start()
    yield ambiente(tmp_path_factory.mktemp("build"), motor.server_address[1])
    motor.shutdown()
    motor.server_close()


@pytest.mark.parametrize("comando", DIZEM)
def test_a_target_that_refuses_midway_is_one_sentence(credenciais_vencidas: dict[str, str], comando: str) -> None:
    feito = rodar(comando, credenciais_vencidas)

    dito = " ".join((feito.stdout + feito.stderr).split())
    assert feito.returncode == 2
    assert "Traceback" not in dito
    assert DIZEM[comando] in dito
