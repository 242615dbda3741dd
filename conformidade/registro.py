"""The probes by name."""

from __future__ import annotations

from collections.abc import Callable

from conformidade.alvo import Alvo

Sonda = Callable[[Alvo], str]
SONDAS: dict[str, Sonda] = {}


def sonda(nome: str) -> Callable[[Sonda], Sonda]:
    """Register a probe. It answers with a short phrase: what was seen, the same for the same behaviour every time."""

    def registrar(funcao: Sonda) -> Sonda:
        if nome in SONDAS:
            raise ValueError(f"two probes named {nome}")
        SONDAS[nome] = funcao
        return funcao

    return registrar
