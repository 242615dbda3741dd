"""Synthetic histories and proofs for the tests of the proofs' framework."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from provas.alvo import Alvo
from provas.base import Contexto, Prova

ZERO = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def em(segundos: float) -> datetime:
    return ZERO + timedelta(seconds=segundos)


def evento(tipo: str, quando: float, **detalhes: Any) -> dict[str, Any]:
    return {"type": tipo, "timestamp": em(quando), **detalhes}


def entrou(estado: str, quando: float) -> dict[str, Any]:
    return evento("TaskStateEntered", quando, stateEnteredEventDetails={"name": estado})


def saiu(estado: str, quando: float) -> dict[str, Any]:
    return evento("TaskStateExited", quando, stateExitedEventDetails={"name": estado})


def historico_local() -> list[dict[str, Any]]:
    """Charge unavailable once, then approved; the confirmation fails; events named as the local engine names them."""
    return [
        evento("ExecutionStarted", 0),
        entrou("CobrarPagamento", 0.0),
        evento("TaskScheduled", 0.01),
        evento("TaskFailed", 0.2, taskFailedEventDetails={"error": "GatewayIndisponivelError", "cause": "503"}),
        evento("TaskScheduled", 0.5),
        evento("TaskSucceeded", 0.6),
        saiu("CobrarPagamento", 0.61),
        entrou("ConfirmarPedido", 0.62),
        evento("TaskScheduled", 0.63),
        evento("TaskFailed", 0.7, taskFailedEventDetails={"error": "FalhaForcadaError", "cause": "x"}),
        saiu("ConfirmarPedido", 0.7),
        entrou("EstornarPagamento", 0.71),
        evento("TaskScheduled", 0.72),
        evento("TaskSucceeded", 0.8),
        saiu("EstornarPagamento", 0.8),
        evento("ExecutionSucceeded", 0.9),
    ]


def historico_aws() -> list[dict[str, Any]]:
    """The same kind of path with the events AWS writes for a direct Lambda ARN."""
    return [
        evento("ExecutionStarted", 0),
        entrou("CobrarPagamento", 0.0),
        evento("LambdaFunctionScheduled", 0.01),
        evento("LambdaFunctionStarted", 0.02),
        evento("LambdaFunctionFailed", 0.2, lambdaFunctionFailedEventDetails={"error": "GatewayIndisponivelError"}),
        evento("LambdaFunctionScheduled", 0.5),
        evento("LambdaFunctionStarted", 0.51),
        evento("LambdaFunctionTimedOut", 0.9, lambdaFunctionTimedOutEventDetails={}),
        saiu("CobrarPagamento", 0.91),
        entrou("MarcarCompensando", 0.92),
        evento("TaskScheduled", 0.93),
        evento("TaskStarted", 0.94),
        evento("TaskSucceeded", 0.95),
        saiu("MarcarCompensando", 0.96),
        evento("ExecutionFailed", 1.0),
    ]


class RelogioFalso:
    """A clock that only moves when someone sleeps; keeps the naps taken (seconds)."""

    def __init__(self) -> None:
        self.agora = 0.0
        self.sonecas: list[float] = []

    def monotonic(self) -> float:
        return self.agora

    def sleep(self, segundos: float, /) -> None:
        self.sonecas.append(segundos)
        self.agora += segundos


def alvo_falso(**saidas: Any) -> Alvo:
    return Alvo("local", {"arn_topico_alertas": "arn:aws:sns:sa-east-1:000000000000:t", **saidas}, "http://127.0.0.1:1")


def contexto(relogio: Any = None, **saidas: Any) -> Contexto:
    return Contexto(alvo_falso(**saidas), relogio=relogio or RelogioFalso())


class ProvaCerta(Prova):
    numero = 1
    titulo = "certa"
    o_que_prova = "que tudo vai bem"
    espera = "um é um"

    def executar(self) -> None:
        self.conferir("um", 1, 1)
