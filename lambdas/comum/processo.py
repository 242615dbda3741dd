"""Objects made once per process: a warm Lambda environment reuses them, a test forgets them."""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

Objeto = TypeVar("Objeto")

_esquecedores: list[Callable[[], None]] = []


def uma_vez(fabrica: Callable[[], Objeto]) -> Callable[[], Objeto]:
    """Make ``fabrica`` run at most once per process: lazily, on the first call.

    Parameters
    ----------
    fabrica : Callable[[], Objeto]
        Function of no arguments that builds settings, a client or a repository. If it raises, nothing is kept.
    """
    guardada = lru_cache(maxsize=1)(fabrica)
    _esquecedores.append(guardada.cache_clear)

    def obter() -> Objeto:
        return guardada()

    obter.__doc__ = fabrica.__doc__
    obter.__name__ = fabrica.__name__
    return obter


def ao_esquecer(esquecedor: Callable[[], None]) -> None:
    """Register one more cache to be emptied by :func:`esquecer`."""
    _esquecedores.append(esquecedor)


def esquecer() -> None:
    """Forget every object made by :func:`uma_vez`: the next call reads the environment again (tests only)."""
    for esquecedor in _esquecedores:
        esquecedor()
