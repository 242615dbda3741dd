"""Tests that need the second engine up (``make localstack-up``); those of the deployed system also need a deploy there.

``make test-localstack`` brings it up, deploys, runs them and takes it down.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.localstack import processo
from provas.alvo import Alvo
from provas.base import Contexto
from provas.erros import AlvoNaoImplantadoError
from provas.saga._apoio import ProvaDaSaga


class Bancada(ProvaDaSaga):
    """The proofs' own helpers (stock, orders, waits, clean-up), for tests."""

    numero = 0

    def executar(self) -> None:
        """Nothing: a test drives it."""


@pytest.fixture(scope="session", autouse=True)
def motor() -> None:
    """Fails, never skips, when the engine is not up."""
    if processo.health() is None:
        pytest.fail(f"Nenhum LocalStack responde em {processo.endpoint()}; rode make localstack-up.", pytrace=False)


@pytest.fixture(scope="session")
def alvo(motor: None) -> Alvo:
    """The system as deployed there. Fails, never skips, when it is not."""
    try:
        carregado = Alvo.carregar("localstack")
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
