"""What the commands that operate the system have in common: the target they work on, and what on it is ours."""

from __future__ import annotations

from typing import Any

from provas.alvo import Alvo

INICIOS = ("cesta-", "cadencia-", "ffv-lab-")
"""How every name that this system gives begins; an account has other systems' resources."""

BALDE_FALHAS = "ffv-lab-falhas-consumidor-"
"""The bucket of discarded records (``painel.destino_falhas = "s3"``): account and region end its name."""


def nosso(nome: str) -> bool:
    """Whether a resource's name is one this system gives."""
    return nome.startswith(INICIOS)


def baldes_de_falhas(s3: Any, regiao: str) -> list[str]:
    """The bucket of discarded records, where there is one."""
    baldes = [str(b["Name"]) for b in s3.list_buckets()["Buckets"]]
    return [b for b in baldes if b.startswith(BALDE_FALHAS) and b.endswith(f"-{regiao}")]


def alvo_em_operacao(nome: str, *, producao: bool = True) -> Alvo:
    """A deployed target that answers; AlvoNaoImplantadoError otherwise, and for production unless it may be one."""
    alvo = Alvo.carregar(nome, producao=producao)
    alvo.conferir_no_ar()
    return alvo
