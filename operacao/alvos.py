"""What the commands that operate the system have in common: the target they work on, and what on it is ours."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, ParamSpec

import urllib3
from botocore.exceptions import BotoCoreError, ClientError

from provas.alvo import Alvo

_P = ParamSpec("_P")

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


def dizendo_o_que_falhou(principal: Callable[_P, int]) -> Callable[_P, int]:
    """A command that says in one sentence what the target refused or left unanswered midway, and then returns 2."""

    @functools.wraps(principal)
    def comando(*argumentos: _P.args, **nomeados: _P.kwargs) -> int:
        try:
            return principal(*argumentos, **nomeados)
        except (ClientError, BotoCoreError, urllib3.exceptions.HTTPError) as erro:
            print(
                f"erro: o comando parou no meio, porque o alvo não respondeu bem ({erro}). Confira a rede, as "
                "credenciais e as permissões, e repita.",
                file=sys.stderr,
            )
            return 2

    return comando
