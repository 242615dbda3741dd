"""What rings is shown with where to read on, and the stand-in is only touched where there is one."""

import json
from typing import Any

import boto3
import pytest

from operacao import alarmes, gateway
from provas.alvo import Alvo


def alarme(cloudwatch: Any, nome: str, estado: str) -> None:
    cloudwatch.put_metric_alarm(
        AlarmName=nome,
        AlarmDescription=f"sobre {nome}",
        MetricName="m",
        Namespace="n",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=0,
        ComparisonOperator="GreaterThanThreshold",
    )
    cloudwatch.set_alarm_state(AlarmName=nome, StateValue=estado, StateReason="teste")


@pytest.fixture
def alvo(aws: None) -> Alvo:
    return Alvo("aws", {}, None, {"cloudwatch": boto3.client("cloudwatch")})


def test_only_what_rings_here_is_shown_with_its_section(alvo: Alvo, capsys: pytest.CaptureFixture[str]) -> None:
    for nome, estado in (("cesta-a", "ALARM"), ("cesta-b", "OK"), ("ffv-lab-c", "ALARM"), ("de-outro", "ALARM")):
        alarme(alvo.cliente("cloudwatch"), nome, estado)
    assert alarmes.principal([], alvo) == 0
    tela = capsys.readouterr().out
    assert tela.index("cesta-a  desde") < tela.index("ffv-lab-c  desde")
    assert "sobre cesta-a\n  o que fazer: docs/runbook.md, seção cesta-a\n" in tela
    assert "cesta-b" not in tela
    assert "de-outro" not in tela


def test_silence_is_said(alvo: Alvo, capsys: pytest.CaptureFixture[str]) -> None:
    alarme(alvo.cliente("cloudwatch"), "cesta-b", "OK")
    assert alarmes.principal([], alvo) == 0
    assert capsys.readouterr().out == "Nenhum alarme está tocando.\n"


@pytest.mark.parametrize("modo", ["normal", "indisponivel"])
def test_the_stand_in_is_told_its_mode(
    alvo: Alvo, modo: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ditos = []
    monkeypatch.setattr(gateway.Livro, "mudar_modo", lambda _, qual: ditos.append(qual))
    assert gateway.principal([modo], alvo) == 0
    assert ditos == [modo.upper()]
    assert modo in capsys.readouterr().out


def test_without_a_stand_in_nothing_is_asked(alvo: Alvo, capsys: pytest.CaptureFixture[str]) -> None:
    assert gateway.principal(["normal"], alvo) == 2
    assert "url_gateway_simulado" in capsys.readouterr().err


def test_production_is_never_touched(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path))
    (tmp_path / "aws").mkdir()
    saidas = {"ambiente": "producao", "url_gateway_simulado": "https://x"}
    (tmp_path / "aws" / "saidas.json").write_text(json.dumps(saidas))
    assert gateway.principal(["indisponivel", "--alvo", "aws"]) == 2
    assert "produção" in capsys.readouterr().err
