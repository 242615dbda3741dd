"""Every proof of the three systems on the second engine, and the input queue's poison, by the same code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from provas.base import Contexto
from provas.executor import executar_uma
from provas.registro import provas_de

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from test_fila_de_entrada import (  # noqa: F401 - collected here against this engine
    test_a_poison_message_does_not_hold_back_its_batch,
    test_poison_reaches_the_dlq_after_five_receives_and_its_alarm_fires,
    visibilidade_curta,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


@pytest.mark.parametrize(("sistema", "numero"), [(s, n) for s in ("saga", "painel", "fila") for n in provas_de(s)])
def test_proof(alvo: Any, sistema: str, numero: int) -> None:
    r = executar_uma(sistema, provas_de(sistema)[numero], Contexto(alvo))
    falhas = [f"{c.descricao}: esperado {c.esperado}; visto {c.visto}" for c in r.falhas]
    assert r.passou, "\n".join(falhas + r.erros)
