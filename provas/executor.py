"""Runs the chosen proofs one after the other, tells what happens, and keeps what each one recorded."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from rich.console import Console
from rich.table import Table

from provas.alvo import Alvo
from provas.base import Contexto, Prova
from provas.erros import ErroDasProvas, ProvaFalhouError
from provas.evidencia import Conferencia, Registro


@dataclass
class Resultado:
    """How one proof ended. ``erros`` are Portuguese sentences: what stopped it, what could not be cleaned."""

    sistema: str
    numero: int
    titulo: str
    o_que_prova: str
    espera: str
    inicio: datetime
    duracao_s: float = 0.0
    registro: Registro = field(default_factory=Registro)
    erros: list[str] = field(default_factory=list)

    @property
    def passou(self) -> bool:
        """True when it checked something, every check held, nothing stopped it and everything was cleaned up."""
        conferencias = self.registro.conferencias
        return not self.erros and bool(conferencias) and all(c.passou for c in conferencias)

    @property
    def falhas(self) -> list[Conferencia]:
        """The comparisons that did not hold."""
        return [c for c in self.registro.conferencias if not c.passou]


class Relator(Protocol):
    """Who is told about progress."""

    def comecou(self, sistema: str, classe: type[Prova], indice: int, total: int) -> None: ...

    def passo(self, texto: str) -> None: ...

    def terminou(self, resultado: Resultado) -> None: ...


def executar(escolhidas: Sequence[tuple[str, type[Prova]]], alvo: Alvo, relator: Relator) -> list[Resultado]:
    """Run them in order; a proof that fails does not stop the next one."""
    resultados = []
    for indice, (sistema, classe) in enumerate(escolhidas, 1):
        relator.comecou(sistema, classe, indice, len(escolhidas))
        resultado = executar_uma(sistema, classe, Contexto(alvo, ao_passo=relator.passo))
        relator.terminou(resultado)
        resultados.append(resultado)
    return resultados


def executar_uma(sistema: str, classe: type[Prova], contexto: Contexto) -> Resultado:
    """Run one proof: needed outputs, the proof, its evidence, its clean-up (always).

    Stopped from outside (Ctrl-C), it cleans up before the exception goes on, with one note per undo that failed.
    """
    resultado = Resultado(sistema, classe.numero, classe.titulo, classe.o_que_prova, classe.espera, datetime.now(UTC))
    comeco = time.monotonic()
    prova = classe(contexto)
    resultado.registro = prova.registro
    try:
        _provar(prova, resultado)
    except BaseException as interrupcao:
        contexto.ao_passo("interrompida; desfazendo o que ela mudou")
        for problema in prova.limpar():
            interrupcao.add_note(problema)
        raise
    contexto.ao_passo("limpando")
    resultado.erros += prova.limpar()
    if not resultado.registro.conferencias and not resultado.erros:
        resultado.erros.append("a prova não conferiu nada")
    resultado.duracao_s = time.monotonic() - comeco
    return resultado


def _provar(prova: Prova, resultado: Resultado) -> None:
    """The proof and its evidence; what went wrong goes into ``resultado``."""
    try:
        for saida, porque in prova.exige:
            prova.alvo.saida(saida, porque)
        prova.executar()
    except ProvaFalhouError as erro:
        ja_dita = any(not c.passou and f"{c.descricao}: {c.esperado}" == erro.esperado for c in resultado.falhas)
        if not ja_dita:
            resultado.registro.conferencias.append(
                Conferencia("a prova segue até o fim", erro.esperado, erro.visto, False)
            )
    except ErroDasProvas as erro:
        resultado.erros.append(str(erro))
    except Exception as erro:  # noqa: BLE001 - one broken proof must not hide the others; it is reported as failed
        onde = traceback.extract_tb(erro.__traceback__)[-1]
        resultado.erros.append(f"erro inesperado: {type(erro).__name__}: {erro} ({onde.name}, linha {onde.lineno})")
    try:
        prova.recolher()
    except Exception as erro:  # noqa: BLE001 - evidence is secondary to the verdict, but its absence is said
        resultado.erros.append(f"não foi possível recolher a evidência: {type(erro).__name__}: {erro}")


class RelatorDeTerminal:
    """Progress on a terminal: one live line with rich; plain lines when the output is not a terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(file=sys.stdout, highlight=False)
        self._status = self.console.status("") if self.console.is_terminal else None
        self._cabeca = ""
        self._ultimo = ""

    @contextmanager
    def ligado(self) -> Iterator[RelatorDeTerminal]:
        """Keep the live line up while the proofs run."""
        if self._status is None:
            yield self
            return
        with self._status:
            yield self

    def comecou(self, sistema: str, classe: type[Prova], indice: int, total: int) -> None:
        self._cabeca = f"[{indice}/{total}] {sistema} {classe.numero} · {classe.titulo}"
        self._ultimo = ""
        if self._status is None:
            self.console.print(self._cabeca, markup=False, soft_wrap=True)
        else:
            self._atualizar("")

    def passo(self, texto: str) -> None:
        if texto == self._ultimo:
            return
        self._ultimo = texto
        if self._status is None:
            self.console.print(f"      {texto}", markup=False, soft_wrap=True)
        else:
            self._atualizar(texto)

    def terminou(self, resultado: Resultado) -> None:
        sinal, cor = ("✔ passou", "green") if resultado.passou else ("✘ FALHOU", "red")
        self.console.print(
            f"[{cor}]{sinal}[/{cor}] {resultado.sistema} {resultado.numero} · {resultado.titulo} "
            f"({resultado.duracao_s:.1f} s)"
        )
        for nota in resultado.registro.notas if resultado.passou else []:
            self.console.print(f"      {nota}", markup=False, soft_wrap=True)
        for c in resultado.falhas:
            self.console.print(f"      {c.descricao}", markup=False, soft_wrap=True)
            self.console.print(f"        esperado: {c.esperado}", markup=False, soft_wrap=True)
            self.console.print(f"        visto:    {c.visto}", markup=False, soft_wrap=True)
        for erro in resultado.erros:
            self.console.print(f"      {erro}", markup=False, soft_wrap=True)

    def tabela(self, resultados: Sequence[Resultado]) -> None:
        """The table at the end."""
        tabela = Table(title="Provas")
        for coluna in ("", "Prova", "Passa quando", "Conferências", "Tempo"):
            tabela.add_column(coluna, justify="right" if coluna in ("Conferências", "Tempo") else "left")
        for r in resultados:
            certas = sum(c.passou for c in r.registro.conferencias)
            tabela.add_row(
                "[green]✔[/green]" if r.passou else "[red]✘[/red]",
                f"{r.sistema} {r.numero} · {r.titulo}",
                r.espera,
                f"{certas}/{len(r.registro.conferencias)}",
                f"{r.duracao_s:.1f} s",
            )
        self.console.print(tabela)

    def _atualizar(self, texto: str) -> None:
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(f"{self._cabeca} — {texto}" if texto else self._cabeca))
