"""Which proofs exist: every subclass of Prova found in ``provas/<sistema>/*.py``; a new file is enough to add one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import provas
from provas.base import Prova
from provas.erros import UsoInvalidoError

SISTEMAS = ("saga", "painel", "fila")


def provas_de(sistema: str) -> dict[int, type[Prova]]:
    """The proofs of ``sistema`` by number, ascending.

    Modules whose name starts with an underscore are helpers and hold no proof.

    Raises
    ------
    UsoInvalidoError
        Unknown system, or a system with no proof in this tree.
    ValueError
        Two proofs with one number.
    """
    if sistema not in SISTEMAS:
        raise UsoInvalidoError(f"Sistema desconhecido: {sistema}. Use um de: {', '.join(SISTEMAS)}.")
    try:
        pacote = importlib.import_module(f"{provas.__name__}.{sistema}")
    except ModuleNotFoundError as erro:
        if erro.name != f"{provas.__name__}.{sistema}":
            raise
        raise UsoInvalidoError(f"O sistema {sistema} ainda não tem provas.") from erro
    achadas: dict[int, type[Prova]] = {}
    for info in pkgutil.iter_modules(pacote.__path__):
        if info.name.startswith("_"):
            continue
        for classe in _provas_do_modulo(importlib.import_module(f"{pacote.__name__}.{info.name}")):
            if classe.numero in achadas:
                raise ValueError(f"{classe.__module__} and {achadas[classe.numero].__module__} share a number")
            achadas[classe.numero] = classe
    if not achadas:
        raise UsoInvalidoError(f"O sistema {sistema} ainda não tem provas.")
    return dict(sorted(achadas.items()))


def _provas_do_modulo(modulo: ModuleType) -> list[type[Prova]]:
    return [
        classe
        for _, classe in inspect.getmembers(modulo, inspect.isclass)
        if issubclass(classe, Prova) and classe.__module__ == modulo.__name__ and not inspect.isabstract(classe)
    ]
