import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import ClassVar

import pytest
from apoio_provas import ZERO, em, historico_local

from provas.desenho import LARGURA, MARGEM_ESQUERDA, desenhar, passo_do_eixo
from provas.evidencia import Conferencia, Faixa, LinhaDoTempo, Marco, Registro, Situacao, Tabela, Trecho
from provas.execucao import faixas_dos_estados, ler_historico
from provas.executor import Resultado
from provas.relatorio import gerar


class Arvore(HTMLParser):
    """Checks nesting and keeps tags, ids and text."""

    VAZIAS: ClassVar = {"meta", "br", "hr"}

    def __init__(self, pagina):
        super().__init__()
        self.pilha, self.nos, self.texto = [], [], []
        self.feed(pagina)
        assert self.pilha == []

    def handle_starttag(self, tag, attrs):
        self.nos.append((tag, dict(attrs)))
        if tag not in self.VAZIAS:
            self.pilha.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VAZIAS:
            assert self.pilha.pop() == tag

    def handle_data(self, data):
        self.texto.append(data)

    def de(self, tag):
        return [a for t, a in self.nos if t == tag]


def linha():
    gateway = Faixa("Cobrança", "Gateway", marcos=(Marco(em(0.55), Situacao.SUCESSO, "APROVADA R$ 50,00"),))
    return LinhaDoTempo(
        "Saga", "Cobra, falha, estorna", (*faixas_dos_estados(ler_historico(historico_local())), gateway)
    )


def resultado(passou=True, **extra):
    registro = Registro(
        [Conferencia("status", "CONFIRMADO", "CONFIRMADO" if passou else "RECEBIDO", passou)], [linha()]
    )
    return Resultado("saga", 3, "título", "o que prova", "passa quando", ZERO, 1.5, registro, **extra)


def test_the_page_is_well_formed_portuguese_and_loads_nothing():
    pagina = gerar([resultado()], "local", ZERO)
    arvore = Arvore(pagina)
    assert arvore.de("html")[0]["lang"] == "pt-BR"
    assert not arvore.de("script") and not arvore.de("link") and not arvore.de("img")
    assert not re.findall(r"(?:src|href|url\()\s*=?[\"']?(?!#)\w+:", pagina.replace("xmlns=", ""))
    assert "default-src 'none'" in pagina
    assert "prefers-color-scheme:dark" in pagina
    ids = [a["id"] for _, a in arvore.nos if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in arvore.de("a")} <= set(ids)


def test_the_picture_has_a_title_a_description_and_a_table_with_every_event():
    pagina = gerar([resultado()], "local", ZERO)
    arvore = Arvore(pagina)
    (svg,) = arvore.de("svg")
    assert svg["role"] == "img"
    ids = {a.get("id") for _, a in arvore.nos}
    assert set(svg["aria-labelledby"].split()) <= ids
    tabela = pagina[pagina.index("<details>") :]
    for texto in ("CobrarPagamento", "GatewayIndisponivelError", "espera de 0.30 s", "APROVADA R$ 50,00", "0,540 s"):
        assert texto in tabela


def test_failures_are_coloured_and_also_signed():
    pagina = gerar([resultado()], "local", ZERO)
    svg = pagina[pagina.index("<svg") : pagina.index("</svg>")]
    assert svg.count('class="barra falha"') == 2
    assert svg.count('class="barra sucesso"') == 2
    assert svg.count('class="espera"') == 1
    assert "✕ 1ª: GatewayIndisponivelError" in svg
    assert "✓ APROVADA" in svg


def test_states_and_gateway_share_one_time_axis():
    svg = desenhar(linha(), "x")
    ponto = next(e for e in svg.iter("circle"))
    util = LARGURA - MARGEM_ESQUERDA - 30
    assert float(ponto.get("cx")) == pytest.approx(MARGEM_ESQUERDA + util * (0.55 - 0.01) / (0.8 - 0.01), abs=0.1)


def test_expected_and_seen_and_the_verdict_are_there_when_it_fails():
    r = resultado(False, erros=["não foi possível limpar (fila)"])
    texto = " ".join(Arvore(gerar([r, resultado()], "local", ZERO)).texto)
    assert "1 de 2 provas passaram." in texto
    assert "RECEBIDO" in texto and "✕ não confere" in texto and "✕ falhou" in texto
    assert "não foi possível limpar (fila)" in texto


def test_text_from_outside_cannot_become_markup():
    mau = "<script>alert(1)</script>\x00"
    registro = Registro(
        [Conferencia(mau, mau, mau, False)],
        [LinhaDoTempo(mau, mau, (Faixa(mau, mau, (Trecho(ZERO, em(1), Situacao.FALHA, mau, mau),)),))],
        [Tabela(mau, (mau,), ((mau,),))],
        [mau],
    )
    pagina = gerar([Resultado("saga", 1, mau, mau, mau, ZERO, 0, registro, [mau])], mau, ZERO)
    assert not Arvore(pagina).de("script")
    assert "\x00" not in pagina


def test_nothing_to_draw_is_said_instead_of_an_empty_picture():
    r = Resultado("saga", 1, "t", "o", "e", ZERO, 0, Registro(linhas_do_tempo=[LinhaDoTempo("Saga", "", ())]))
    pagina = gerar([r], "local", ZERO)
    assert "<svg" not in pagina
    assert "nada aconteceu" in pagina


def test_labels_of_one_row_never_overlap():
    marcos = tuple(Marco(em(i * 0.01), Situacao.SUCESSO, f"movimento número {i}") for i in range(12))
    svg = desenhar(
        LinhaDoTempo(
            "t", "d", (Faixa("g", "", marcos=marcos), Faixa("f", "", marcos=(Marco(em(5), Situacao.NEUTRO, "fim"),)))
        ),
        "x",
    )
    caixas = {}
    for t in svg.iter("text"):
        if "rotulo" in (t.get("class") or ""):
            largura = len(t.text) * 6.3
            x = float(t.get("x")) - (largura if t.get("text-anchor") == "end" else 0)
            caixas.setdefault(t.get("y"), []).append((x, x + largura))
    assert sum(map(len, caixas.values())) == 13
    for linha_de_caixas in caixas.values():
        assert all(a[1] <= b[0] for a, b in pairwise(sorted(linha_de_caixas)))
        assert all(x1 <= LARGURA for _, x1 in linha_de_caixas)


@pytest.mark.parametrize(("duracao", "passo"), [(9, 1), (0.9, 0.1), (10, 2), (40, 5), (0.001, 0.0002), (3600, 500)])
def test_the_axis_uses_round_steps(duracao, passo):
    assert passo_do_eixo(duracao) == pytest.approx(passo)
    assert 3 <= duracao / passo_do_eixo(duracao) <= 9.01
