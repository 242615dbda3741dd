"""Which tools work on production: those that operate it do, those that make traffic or failures refuse."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from provas.alvo import Alvo

OPERAM = {
    "operacao.dlq": ["listar"],
    "operacao.intervencao": ["listar"],
    "operacao.reprocessar": [],
    "operacao.reconciliar": ["--simular"],
    "operacao.varredura": [],
    "operacao.onde": ["01JCESTA0000000000000000P1"],
    "operacao.alarmes": [],
}
RECUSAM = {"operacao.movimento": [], "operacao.carga": [], "operacao.gateway": ["indisponivel"]}
SAIDAS = {
    "ambiente": "producao",
    "arn_maquina_saga": "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido",
    "arn_maquina_compensacao": "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-compensacao-manual",
}


class AlcancouAContaError(Exception):
    """The tool got as far as asking for an AWS client."""


@pytest.fixture(autouse=True)
def producao(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "aws").mkdir()
    (tmp_path / "aws/saidas.json").write_text(json.dumps(SAIDAS))
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path))

    def cliente(self: Alvo, servico: str) -> Any:
        raise AlcancouAContaError(servico)

    monkeypatch.setattr(Alvo, "cliente", cliente)


def _rodar(modulo: str, argumentos: list[str]) -> int:
    return int(importlib.import_module(modulo).principal(["--alvo", "aws", *argumentos]))


@pytest.mark.parametrize("modulo", OPERAM)
def test_people_operate_production(modulo: str) -> None:
    with pytest.raises(AlcancouAContaError):
        _rodar(modulo, OPERAM[modulo])


@pytest.mark.parametrize("modulo", RECUSAM)
def test_traffic_is_refused_in_production(modulo: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _rodar(modulo, RECUSAM[modulo]) != 0
    dito = capsys.readouterr()
    assert "produção" in dito.out + dito.err


def test_every_tool_is_on_one_of_the_lists() -> None:
    pasta = Path(importlib.import_module("operacao").__file__ or "").parent
    ferramentas = {f"operacao.{f.stem}" for f in pasta.glob("*.py") if '"--alvo"' in f.read_text()}
    # limpar needs no outputs, and destroys any environment that its owner confirms: it has tests of its own.
    assert ferramentas == {*OPERAM, *RECUSAM, "operacao.limpar"}
