"""What the commands that operate the system have in common: the target they work on, and what on it is ours."""

from __future__ import annotations

from provas.alvo import Alvo

INICIOS = ("cesta-", "cadencia-", "ffv-lab-")
"""How every name that this system gives begins; an account has other systems' resources."""


def nosso(nome: str) -> bool:
    """Whether a resource's name is one this system gives."""
    return nome.startswith(INICIOS)


def alvo_em_operacao(nome: str) -> Alvo:
    """A deployed target that answers, production included; AlvoNaoImplantadoError otherwise."""
    alvo = Alvo.carregar(nome, producao=True)
    alvo.conferir_no_ar()
    return alvo
