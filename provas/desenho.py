"""Draws a timeline as SVG elements: rows on one time axis, attempts as bars, waits dashed, instants as dots.

Colour is never the only sign: every failure carries ✕ and every success of an instant carries ✓. Colours come from
the page's CSS variables, so the picture follows the light or dark theme.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from datetime import datetime

from provas.evidencia import Faixa, LinhaDoTempo, Marco, Situacao, Trecho

LARGURA = 1080
MARGEM_ESQUERDA = 268
MARGEM_DIREITA = 30
ALTURA_BARRA = 14
ALTURA_ROTULO = 14
LARGURA_LETRA = 6.3  # px per character at 11 px, on the wide side so that labels never touch
MAIOR_ROTULO = 48
_SINAL = {Situacao.SUCESSO: "✓ ", Situacao.FALHA: "✕ ", Situacao.ESPERA: "", Situacao.NEUTRO: ""}


def no(tag: str, texto: str | None = None, /, *filhos: ET.Element, **atributos: object) -> ET.Element:
    """One element; ``class_`` → class, ``aria_label`` → aria-label. Text is escaped when serialised."""
    elemento = ET.Element(tag, {k.rstrip("_").replace("_", "-"): limpo(str(v)) for k, v in atributos.items()})
    if texto is not None:
        elemento.text = limpo(texto)
    elemento.extend(filhos)
    return elemento


def limpo(texto: str) -> str:
    """The text without control characters, which HTML cannot carry."""
    return "".join(c if c >= " " or c in "\n\t" else "�" for c in texto)


def desenhar(linha: LinhaDoTempo, ident: str) -> ET.Element:
    """The SVG of ``linha``; ``ident`` makes the ids of its title and description unique in the page."""
    inicio, fim = limites(linha.faixas)
    duracao = max((fim - inicio).total_seconds(), 0.001)
    util = LARGURA - MARGEM_ESQUERDA - MARGEM_DIREITA

    def x(em: datetime) -> float:
        return MARGEM_ESQUERDA + util * min(max((em - inicio).total_seconds() / duracao, 0.0), 1.0)

    corpo: list[ET.Element] = []
    y = 14.0
    grupo = ""
    for faixa in linha.faixas:
        if faixa.grupo and faixa.grupo != grupo:
            grupo = faixa.grupo
            y += 10
            corpo.append(no("text", grupo, x=0, y=f"{y:.1f}", class_="grupo"))
            y += 8
        elementos, altura = _faixa(faixa, x, y)
        corpo += elementos
        y += altura
    fundo = y + 4
    grade = _grade(duracao, util, fundo)
    svg = no(
        "svg",
        None,
        no("title", linha.titulo, id=f"{ident}-t"),
        no("desc", linha.descricao, id=f"{ident}-d"),
        *grade,
        *corpo,
        viewBox=f"0 0 {LARGURA} {fundo + 34:.0f}",
        role="img",
        aria_labelledby=f"{ident}-t {ident}-d",
        class_="linha",
    )
    svg.set("xmlns", "http://www.w3.org/2000/svg")
    return svg


def limites(faixas: Sequence[Faixa]) -> tuple[datetime, datetime]:
    """First and last instants drawn.

    Raises
    ------
    ValueError
        There is nothing to draw.
    """
    instantes = [t for f in faixas for tr in f.trechos for t in (tr.inicio, tr.fim)]
    instantes += [m.em for f in faixas for m in f.marcos]
    if not instantes:
        raise ValueError("nothing to draw")
    return min(instantes), max(instantes)


def _faixa(faixa: Faixa, x: Callable[[datetime], float], y: float) -> tuple[list[ET.Element], float]:
    meio = y + ALTURA_BARRA / 2
    elementos = [
        no(
            "line",
            None,
            x1=MARGEM_ESQUERDA,
            y1=f"{meio:.1f}",
            x2=LARGURA - MARGEM_DIREITA,
            y2=f"{meio:.1f}",
            class_="trilho",
        ),
        no("text", _curto(faixa.nome, 40), x=MARGEM_ESQUERDA - 12, y=f"{meio + 4:.1f}", class_="nome"),
    ]
    rotulos: list[tuple[float, str, Situacao]] = []
    for trecho in faixa.trechos:
        elementos.append(_trecho(trecho, x(trecho.inicio), x(trecho.fim), y, meio))
        if trecho.rotulo:
            rotulos.append((x(trecho.inicio), _SINAL[trecho.situacao] + trecho.rotulo, trecho.situacao))
    for marco in faixa.marcos:
        elementos.append(_marco(marco, x(marco.em), meio))
        rotulos.append((x(marco.em), _SINAL[marco.situacao] + marco.rotulo, marco.situacao))
    linhas = _empilhar(rotulos)
    for px, texto, situacao, nivel, ancora in linhas:
        base = y + ALTURA_BARRA + 11 + nivel * ALTURA_ROTULO
        if nivel:
            elementos.append(
                no("line", None, x1=f"{px:.1f}", y1=f"{meio:.1f}", x2=f"{px:.1f}", y2=f"{base - 9:.1f}", class_="guia")
            )
        elementos.append(
            no("text", texto, x=f"{px:.1f}", y=f"{base:.1f}", class_=f"rotulo {situacao}", text_anchor=ancora)
        )
    niveis = 1 + max((nivel for *_, nivel, _ in linhas), default=-1)
    return elementos, ALTURA_BARRA + niveis * ALTURA_ROTULO + 9


def _trecho(trecho: Trecho, x0: float, x1: float, y: float, meio: float) -> ET.Element:
    dica = no("title", f"{trecho.rotulo} {trecho.detalhe}".strip())
    if trecho.situacao is Situacao.ESPERA:
        return no(
            "line", None, dica, x1=f"{x0:.1f}", y1=f"{meio:.1f}", x2=f"{x1:.1f}", y2=f"{meio:.1f}", class_="espera"
        )
    largura = max(x1 - x0, 4.0)
    esquerda = min(x0, LARGURA - MARGEM_DIREITA - largura)
    return no(
        "rect",
        None,
        dica,
        x=f"{esquerda:.1f}",
        y=f"{y:.1f}",
        width=f"{largura:.1f}",
        height=ALTURA_BARRA,
        rx=2,
        class_=f"barra {trecho.situacao}",
    )


def _marco(marco: Marco, px: float, meio: float) -> ET.Element:
    dica = no("title", f"{marco.rotulo} {marco.detalhe}".strip())
    return no("circle", None, dica, cx=f"{px:.1f}", cy=f"{meio:.1f}", r=6, class_=f"ponto {marco.situacao}")


def _empilhar(rotulos: Sequence[tuple[float, str, Situacao]]) -> list[tuple[float, str, Situacao, int, str]]:
    """Give each label the first level where it touches no other; those near the right edge grow to the left."""
    ocupado: list[list[tuple[float, float]]] = []
    postos = []
    for px, texto, situacao in sorted(rotulos, key=lambda r: r[0]):
        curto = _curto(texto, MAIOR_ROTULO)
        largura = len(curto) * LARGURA_LETRA + 10
        ancora = "start" if px + largura <= LARGURA else "end"
        faixa = (px, px + largura) if ancora == "start" else (px - largura, px)
        nivel = 0
        while nivel < len(ocupado) and any(a < faixa[1] and faixa[0] < b for a, b in ocupado[nivel]):
            nivel += 1
        if nivel == len(ocupado):
            ocupado.append([])
        ocupado[nivel].append(faixa)
        postos.append((px, curto, situacao, nivel, ancora))
    return postos


def _grade(duracao: float, util: float, fundo: float) -> list[ET.Element]:
    passo = passo_do_eixo(duracao)
    casas = max(0, -math.floor(math.log10(passo))) if passo < 1 else 0
    elementos = []
    for i in range(int(duracao / passo + 1e-9) + 1):
        px = MARGEM_ESQUERDA + util * (i * passo / duracao)
        rotulo = f"{i * passo:.{casas}f}".replace(".", ",") + " s"
        elementos.append(no("line", None, x1=f"{px:.1f}", y1=8, x2=f"{px:.1f}", y2=f"{fundo:.1f}", class_="grade"))
        elementos.append(no("text", rotulo, x=f"{px:.1f}", y=f"{fundo + 15:.1f}", class_="eixo"))
    elementos.append(
        no("text", "segundos desde o início", x=MARGEM_ESQUERDA - 28, y=f"{fundo + 15:.1f}", class_="nome eixo-nome")
    )
    return elementos


def passo_do_eixo(duracao: float, maximo: int = 9) -> float:
    """A step of 1, 2 or 5 × 10ⁿ seconds that gives at most ``maximo`` intervals."""
    bruto = duracao / maximo
    base = 10.0 ** math.floor(math.log10(bruto))
    return next(base * m for m in (1, 2, 5, 10) if base * m >= bruto * (1 - 1e-9))


def _curto(texto: str, limite: int) -> str:
    texto = " ".join(texto.split())
    return texto if len(texto) <= limite else texto[: limite - 1] + "…"
