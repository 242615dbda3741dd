"""Fixtures of the end-to-end tests: a deployed target, read as the proofs read it.

They run only when asked for (``-m e2e``): they need an engine up and the system deployed on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from provas.alvo import Alvo
from provas.base import Contexto
from provas.erros import AlvoNaoImplantadoError
from provas.saga._apoio import ProvaDaSaga


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without ``e2e`` in -m, leave these tests out: a plain ``pytest`` needs no engine."""
    if "e2e" in (config.option.markexpr or ""):
        return
    aqui = [i for i in items if i.get_closest_marker("e2e")]
    if aqui:
        config.hook.pytest_deselected(items=aqui)
        items[:] = [i for i in items if i not in aqui]


class Bancada(ProvaDaSaga):
    """The proofs' own helpers (stock, orders, waits, clean-up), for tests."""

    numero = 0

    def executar(self) -> None:
        """Nothing: a test drives it."""


@pytest.fixture(scope="session")
def alvo() -> Alvo:
    """The deployed target (ALVO, default local). Fails, never skips, when it is not there."""
    try:
        carregado = Alvo.carregar(os.environ.get("ALVO") or "local")
        carregado.conferir_no_ar()
    except AlvoNaoImplantadoError as erro:
        pytest.fail(str(erro), pytrace=False)
    return carregado


@pytest.fixture
def bancada(alvo: Alvo) -> Iterator[Bancada]:
    """Helpers that clean up after the test."""
    b = Bancada(Contexto(alvo))
    yield b
    assert b.limpar() == []
