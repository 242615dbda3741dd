"""Fixtures of the end-to-end tests: a deployed target, read as the proofs read it.

They need an engine up and the system deployed on it (``make local-up deploy``); ``-m "not e2e"`` leaves them out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from provas.alvo import Alvo
from provas.base import Contexto
from provas.erros import AlvoNaoImplantadoError
from provas.saga._apoio import ProvaDaSaga


class Bancada(ProvaDaSaga):
    """The proofs' own helpers (stock, orders, waits, clean-up), for tests."""

    numero = 0

    def executar(self) -> None:
        """Nothing: a test drives it."""

    def circuito(self, operacao: str = "cobrar") -> str:
        """State of an operation's circuit breaker, as the functions share it."""
        item = self.alvo.cliente("dynamodb").get_item(
            TableName=self.alvo.variavel("CobrarPagamento", "TABELA_DISJUNTOR"),
            Key={"operacao": {"S": operacao}},
            ConsistentRead=True,
        )
        return str(item.get("Item", {}).get("estado", {}).get("S", "FECHADO"))


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
