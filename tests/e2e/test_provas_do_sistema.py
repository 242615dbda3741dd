"""The six proofs as tests: the same code that scripts/provas.sh runs, without its terminal."""

from __future__ import annotations

import pytest

from provas.base import Contexto
from provas.executor import executar_uma
from provas.registro import provas_de

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("numero", provas_de("saga"))
def test_proof(alvo, numero):
    r = executar_uma("saga", provas_de("saga")[numero], Contexto(alvo))
    falhas = [f"{c.descricao}: esperado {c.esperado}; visto {c.visto}" for c in r.falhas]
    assert r.passou, "\n".join(falhas + r.erros)
    assert r.registro.linhas_do_tempo or r.registro.tabelas, "a proof shows its evidence"
