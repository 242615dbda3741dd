"""Errors of the proofs. Their messages are read on screen by operators, so they are Portuguese."""

from __future__ import annotations


class ErroDasProvas(Exception):
    """Base of everything the proofs raise on purpose."""


class UsoInvalidoError(ErroDasProvas):
    """The command line asks for a system, a number or a target that does not exist."""


class AlvoNaoImplantadoError(ErroDasProvas):
    """The target has no outputs, does not answer, or must not be touched; the message says what to run."""


class SaidaAusenteError(AlvoNaoImplantadoError):
    """The target is deployed without something a proof needs (an output is missing or off)."""


class ProvaFalhouError(ErroDasProvas):
    """A proof cannot go on.

    Attributes
    ----------
    esperado, visto : str
        What should have been there and what was, both in Portuguese.
    """

    def __init__(self, esperado: str, visto: str) -> None:
        super().__init__(f"esperado: {esperado}; visto: {visto}")
        self.esperado = esperado
        self.visto = visto


class EsperaEsgotadaError(ProvaFalhouError):
    """A state did not come within its limit."""
