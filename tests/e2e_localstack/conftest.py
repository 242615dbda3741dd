"""Tests that need the second engine up (``make localstack-up``); those of the deployed system also need a deploy there.

``make test-localstack`` brings it up, deploys, runs them and takes it down.
"""

from __future__ import annotations

import os

import pytest

from engine.localstack import processo


def pytest_configure(config: pytest.Config) -> None:
    # The fixtures of tests/e2e read the target from here.
    os.environ["ALVO"] = "localstack"
    # The engine reads a queue with one poller: 3,000 orders would drain in half an hour and show nothing that 200 do not.
    os.environ.setdefault("PROVA_PICO_TOTAL", "200")


@pytest.fixture(scope="session", autouse=True)
def motor() -> None:
    """Fails, never skips, when the engine is not up."""
    if processo.health() is None:
        pytest.fail(f"Nenhum LocalStack responde em {processo.endpoint()}; rode make localstack-up.", pytrace=False)
