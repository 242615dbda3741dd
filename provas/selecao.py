"""Command line of ``scripts/provas.sh``: which systems, which numbers, which target."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from provas.alvo import ALVOS
from provas.base import Prova
from provas.erros import UsoInvalidoError
from provas.registro import SISTEMAS, provas_de


@dataclass(frozen=True)
class Selecao:
    """What was asked: systems in the order given, numbers (empty: all), target."""

    sistemas: tuple[str, ...]
    numeros: tuple[int, ...]
    alvo: str

    def provas(self) -> list[tuple[str, type[Prova]]]:
        """The chosen proofs, in ascending order within each system.

        Raises
        ------
        UsoInvalidoError
            A number that the system does not have.
        """
        escolhidas: list[tuple[str, type[Prova]]] = []
        for sistema in self.sistemas:
            existentes = provas_de(sistema)
            faltam = [n for n in self.numeros if n not in existentes]
            if faltam:
                raise UsoInvalidoError(
                    f"O sistema {sistema} não tem a prova {', '.join(map(str, faltam))}; "
                    f"tem: {', '.join(map(str, existentes))}."
                )
            escolhidas += [(sistema, c) for n, c in existentes.items() if not self.numeros or n in self.numeros]
        return escolhidas


class _Analisador(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsoInvalidoError(f"{message}\n{self.format_usage().strip()}")


def analisador() -> argparse.ArgumentParser:
    """The parser (its help is what ``scripts/provas.sh --help`` prints)."""
    p = _Analisador(
        prog="scripts/provas.sh",
        description="Roda as provas num alvo implantado e escreve build/provas/relatorio.html.",
        epilog="exemplos: scripts/provas.sh · scripts/provas.sh 3 5 · scripts/provas.sh painel --alvo localstack",
    )
    p.add_argument(
        "oque",
        nargs="*",
        metavar="sistema|número",
        help=f"sistemas ({', '.join(SISTEMAS)}; padrão: saga) e números de provas (padrão: todas)",
    )
    p.add_argument(
        "--alvo", default=os.environ.get("ALVO") or "local", metavar="ALVO", help=f"{'|'.join(ALVOS)} (padrão: local)"
    )
    return p


def analisar(argumentos: Sequence[str]) -> Selecao:
    """Parse the arguments (numbers and systems may be mixed with ``--alvo`` in any order).

    Raises
    ------
    UsoInvalidoError
        Unknown word, unknown target, or numbers together with more than one system.
    """
    lidos = analisador().parse_intermixed_args(list(argumentos))
    if lidos.alvo not in ALVOS:
        raise UsoInvalidoError(f"Alvo desconhecido: {lidos.alvo}. Use um de: {', '.join(ALVOS)}.")
    sistemas: list[str] = []
    numeros: list[int] = []
    for palavra in lidos.oque:
        if palavra in SISTEMAS:
            if palavra not in sistemas:
                sistemas.append(palavra)
        elif palavra.isascii() and palavra.isdigit() and int(palavra) > 0:
            numeros.append(int(palavra))
        else:
            raise UsoInvalidoError(
                f"Não entendi '{palavra}': use um sistema ({', '.join(SISTEMAS)}) ou o número de uma prova."
            )
    if len(sistemas) > 1 and numeros:
        raise UsoInvalidoError("Números de provas só com um sistema de cada vez.")
    return Selecao(tuple(sistemas) or ("saga",), tuple(sorted(set(numeros))), lidos.alvo)
