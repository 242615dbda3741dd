"""What a proof shows for itself: timelines and tables. Pure data, drawn by :mod:`provas.relatorio`."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Situacao(StrEnum):
    """How a stretch or a mark ended; the report gives each one a colour and a symbol."""

    SUCESSO = "sucesso"
    FALHA = "falha"
    ESPERA = "espera"
    NEUTRO = "neutro"


@dataclass(frozen=True)
class Trecho:
    """Something that lasted: an attempt of a state, a wait between two attempts.

    ``inicio`` and ``fim`` are aware datetimes (UTC); ``rotulo`` is drawn beside the bar, ``detalhe`` goes to the table.
    """

    inicio: datetime
    fim: datetime
    situacao: Situacao
    rotulo: str = ""
    detalhe: str = ""


@dataclass(frozen=True)
class Marco:
    """Something that happened at an instant: a gateway movement, a message, a status written."""

    em: datetime
    situacao: Situacao
    rotulo: str
    detalhe: str = ""


@dataclass(frozen=True)
class Faixa:
    """One row of a timeline. ``grupo`` titles a block of rows that follow each other ("Estados", "Gateway")."""

    nome: str
    grupo: str = ""
    trechos: tuple[Trecho, ...] = ()
    marcos: tuple[Marco, ...] = ()


@dataclass(frozen=True)
class LinhaDoTempo:
    """A picture: rows on one time axis. ``descricao`` is what a screen reader says instead of the picture."""

    titulo: str
    descricao: str
    faixas: tuple[Faixa, ...]


@dataclass(frozen=True)
class Tabela:
    """A table of text cells; every row has as many cells as ``colunas``."""

    titulo: str
    colunas: tuple[str, ...]
    linhas: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Conferencia:
    """One comparison: what was checked, what was expected, what was seen, and the verdict."""

    descricao: str
    esperado: str
    visto: str
    passou: bool


@dataclass
class Registro:
    """Everything a proof recorded while it ran. Grows in order; never rewritten."""

    conferencias: list[Conferencia] = field(default_factory=list)
    linhas_do_tempo: list[LinhaDoTempo] = field(default_factory=list)
    tabelas: list[Tabela] = field(default_factory=list)
    notas: list[str] = field(default_factory=list)
