"""What people type when the engine is down: one sentence that says what to do, and no traceback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from engine.settings import ROOT

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


@pytest.fixture(scope="module")
def sem_motor(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment of a deployment whose engine died: its outputs are there, nothing listens on its port."""
    build = tmp_path_factory.mktemp("build")
    (build / "local").mkdir()
    (build / "local/saidas.json").write_text(
        '{"arn_maquina_saga": "arn:aws:states:sa-east-1:000000000000:stateMachine:m"}'
    )
    with socket.socket() as livre:
        livre.bind(("127.0.0.1", 0))
        porta = livre.getsockname()[1]
    return {
        **os.environ,
        "CESTA_DIR_BUILD": str(build),
        "CESTA_PORTA_MOTOR": str(porta),
        "ALVO": "local",
        "PYTHONPATH": f"{ROOT}:{Path(ROOT) / 'lambdas'}",
    }


@pytest.mark.parametrize("comando", COMANDOS)
def test_a_dead_engine_is_one_sentence(sem_motor: dict[str, str], comando: str) -> None:
    feito = subprocess.run(
        [sys.executable, "-m", *COMANDOS[comando]],
        cwd=ROOT,
        env=sem_motor,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    dito = feito.stdout + feito.stderr
    assert feito.returncode != 0
    assert "Traceback" not in dito
    assert "não responde" in " ".join(dito.split())
    assert "make local-up" in dito
