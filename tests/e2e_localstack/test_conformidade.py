"""Every behaviour the design relies on, seen again on the engine: as on AWS, or departing exactly as recorded."""

from __future__ import annotations

import pytest

from conformidade.__main__ import sondar
from conformidade.alvo import descartavel
from conformidade.linhas import LINHAS
from conformidade.tabela import vistos

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def respostas() -> dict[str, str]:
    with descartavel("localstack") as alvo:
        return sondar(alvo, [linha.sonda for linha in LINHAS])


@pytest.mark.parametrize("sonda", [linha.sonda for linha in LINHAS])
def test_behaviour(sonda: str, respostas: dict[str, str]) -> None:
    assert respostas[sonda] == vistos()["localstack"].respostas[sonda]
