"""The report: one HTML file with everything in it (no network), in Portuguese, for someone who was not there."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import datetime

from provas.desenho import desenhar, limites, limpo, no
from provas.evidencia import Faixa, LinhaDoTempo, Situacao, Tabela
from provas.executor import Resultado

NOMES = {
    "saga": "Saga do pedido (Cesta)",
    "painel": "Painel de operação (Cadência)",
    "fila": "Fila de pedidos (Cadência)",
}
_PALAVRA = {
    Situacao.SUCESSO: "✓ deu certo",
    Situacao.FALHA: "✕ falhou",
    Situacao.ESPERA: "espera",
    Situacao.NEUTRO: "registro",
}
_CSS = """
:root{color-scheme:light dark;--fundo:#fff;--cartao:#f6f8fa;--texto:#1b1f24;--suave:#57606a;--linha:#d0d7de;
--sucesso:#1a7f37;--falha:#cf222e;--espera:#8a5a00;--neutro:#0969da}
@media (prefers-color-scheme:dark){:root{--fundo:#0d1117;--cartao:#161b22;--texto:#e6edf3;--suave:#9da7b3;
--linha:#30363d;--sucesso:#4ac26b;--falha:#ff7b72;--espera:#e3b341;--neutro:#6cb6ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:24px 20px 60px;background:var(--fundo);color:var(--texto);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.7rem;margin:.2em 0}h2{font-size:1.25rem;margin:0}h3{font-size:1rem;margin:1.4em 0 .4em}
a{color:var(--neutro)}
section{border:1px solid var(--linha);border-radius:8px;padding:18px 20px;margin:22px 0}
.placar{font-size:1.1rem;font-weight:600}
.passou{color:var(--sucesso)}.falhou{color:var(--falha)}
.suave{color:var(--suave)}
table{border-collapse:collapse;width:100%;font-size:.92rem}
caption{text-align:left;color:var(--suave);padding:4px 0}
th,td{border-bottom:1px solid var(--linha);padding:6px 8px;text-align:left;vertical-align:top;overflow-wrap:anywhere}
th{color:var(--suave);font-weight:600;white-space:nowrap}
td.num{text-align:right;white-space:nowrap}
figure{margin:10px 0;background:var(--cartao);border-radius:6px;padding:12px}
figcaption{color:var(--suave);font-size:.9rem;margin-bottom:6px}
.rola{overflow-x:auto}
.erro{border-left:4px solid var(--falha);padding:4px 12px;margin:10px 0;background:var(--cartao)}
.legenda span{margin-right:18px;white-space:nowrap}
.legenda i{display:inline-block;width:22px;height:11px;border-radius:2px;margin-right:6px}
i.sucesso{background:var(--sucesso)}i.falha{background:var(--falha)}i.neutro{background:var(--neutro)}
i.espera{height:0;border-radius:0;border-top:3px dashed var(--espera);vertical-align:middle}
svg.linha{display:block;width:100%;min-width:860px;height:auto;font:11px system-ui,sans-serif}
svg text{fill:var(--texto)}svg .nome{text-anchor:end;font-size:12px}svg .grupo{font-weight:700;font-size:12px}
svg .eixo{text-anchor:middle;fill:var(--suave)}svg .eixo-nome{fill:var(--suave);font-size:11px}
svg .grade,svg .trilho,svg .guia{stroke:var(--linha);stroke-width:1}svg .guia{stroke-dasharray:1 2;stroke:var(--suave)}
svg .barra.sucesso,svg .ponto.sucesso{fill:var(--sucesso)}svg .barra.falha,svg .ponto.falha{fill:var(--falha)}
svg .barra.neutro,svg .ponto.neutro{fill:var(--neutro)}
svg .espera{stroke:var(--espera);stroke-width:2.5;stroke-dasharray:5 4}
svg .rotulo.sucesso{fill:var(--sucesso)}svg .rotulo.falha{fill:var(--falha)}
details{margin:8px 0}summary{cursor:pointer;color:var(--neutro)}
@media print{section{break-inside:avoid}}
"""


def gerar(resultados: Sequence[Resultado], alvo: str, inicio: datetime) -> str:
    """The page as text.

    Parameters
    ----------
    resultados : sequence of Resultado
        In the order in which they ran.
    alvo : str
        Name of the target.
    inicio : datetime
        When the run began (aware).
    """
    corpo = no("body", None, _cabecalho(resultados, alvo, inicio), _legenda())
    for resultado in resultados:
        corpo.append(_prova(resultado))
    pagina = no(
        "html",
        None,
        no(
            "head",
            None,
            no("meta", charset="utf-8"),
            no("meta", name="viewport", content="width=device-width,initial-scale=1"),
            _politica(),
            no("title", f"Relatório das provas · {alvo}"),
            no("style", _CSS),
        ),
        corpo,
        lang="pt-BR",
    )
    return "<!doctype html>\n" + ET.tostring(pagina, encoding="unicode", method="html") + "\n"


def _politica() -> ET.Element:
    """The page may load nothing: no script, no font, no image from anywhere."""
    meta = no("meta", content="default-src 'none'; style-src 'unsafe-inline'")
    meta.set("http-equiv", "Content-Security-Policy")
    return meta


def _cabecalho(resultados: Sequence[Resultado], alvo: str, inicio: datetime) -> ET.Element:
    passaram = sum(r.passou for r in resultados)
    todas = passaram == len(resultados) and bool(resultados)
    linhas = []
    for r in resultados:
        elo = no("a", f"{NOMES.get(r.sistema, r.sistema)} · prova {r.numero}: {r.titulo}", href=f"#{_ident(r)}")
        linhas.append(
            no(
                "tr",
                None,
                no("td", None, elo),
                no("td", r.espera),
                no("td", _veredito(r.passou), class_=_classe(r.passou)),
                no("td", f"{_decimal(r.duracao_s, 1)} s", class_="num"),
            )
        )
    return no(
        "header",
        None,
        no("h1", "Relatório das provas"),
        no(
            "p",
            f"Cada prova provoca uma situação real no sistema implantado (alvo: {alvo}) e compara o que devia "
            f"acontecer com o que aconteceu. Execução de {inicio:%d/%m/%Y às %H:%M:%S} ({inicio.tzname() or 'UTC'}).",
            class_="suave",
        ),
        no(
            "p",
            f"{passaram} de {len(resultados)} provas passaram.",
            class_=f"placar {_classe(todas)}",
        ),
        _tabela("Resumo", ("Prova", "Passa quando", "Resultado", "Tempo"), linhas),
    )


def _legenda() -> ET.Element:
    itens = (
        ("sucesso", "✓ deu certo"),
        ("falha", "✕ falhou"),
        ("espera", "espera antes de tentar de novo"),
        ("neutro", "registro ou mensagem"),
    )
    return no("p", "Nas figuras: ", *[_item(c, t) for c, t in itens], class_="legenda suave")


def _item(classe: str, texto: str) -> ET.Element:
    marca = no("i", class_=classe)
    marca.tail = limpo(texto)
    return no("span", None, marca)


def _prova(r: Resultado) -> ET.Element:
    ident = _ident(r)
    titulo = no("h2", f"{NOMES.get(r.sistema, r.sistema)} · prova {r.numero}: {r.titulo} ", id=f"{ident}-h")
    titulo.append(no("span", f"— {_veredito(r.passou)}", class_=_classe(r.passou)))
    secao = no(
        "section",
        None,
        titulo,
        _paragrafo("O que prova. ", r.o_que_prova),
        _paragrafo("Passa quando: ", r.espera),
        id=ident,
        aria_labelledby=f"{ident}-h",
    )
    for erro in r.erros:
        secao.append(no("p", erro, class_="erro", role="alert"))
    if r.registro.conferencias:
        linhas = [
            no(
                "tr",
                None,
                no("td", c.descricao),
                no("td", c.esperado),
                no("td", c.visto),
                no("td", "✓ confere" if c.passou else "✕ não confere", class_=_classe(c.passou)),
            )
            for c in r.registro.conferencias
        ]
        secao.append(_tabela("Esperado e visto", ("Conferência", "Esperado", "Visto", "Resultado"), linhas))
    for i, linha in enumerate(r.registro.linhas_do_tempo, 1):
        _figura(secao, linha, f"{ident}-f{i}")
    for tabela in r.registro.tabelas:
        secao.append(_dados(tabela))
    for nota in r.registro.notas:
        secao.append(no("p", nota, class_="suave"))
    return secao


def _figura(secao: ET.Element, linha: LinhaDoTempo, ident: str) -> None:
    if not any(f.trechos or f.marcos for f in linha.faixas):
        secao.append(no("p", f"{linha.titulo}: nada aconteceu que se possa desenhar.", class_="suave"))
        return
    rola = no("div", None, desenhar(linha, ident), class_="rola", tabindex=0, role="region", aria_label=linha.titulo)
    secao.append(no("figure", None, no("figcaption", linha.titulo), rola))
    inicio, _ = limites(linha.faixas)
    eventos: list[tuple[datetime, Faixa, Situacao, str, str, float | None]] = []
    for faixa in linha.faixas:
        for t in faixa.trechos:
            eventos.append((t.inicio, faixa, t.situacao, t.rotulo, t.detalhe, (t.fim - t.inicio).total_seconds()))
        for m in faixa.marcos:
            eventos.append((m.em, faixa, m.situacao, m.rotulo, m.detalhe, None))
    eventos.sort(key=lambda e: e[0])
    linhas = [
        no(
            "tr",
            None,
            no("td", f"{_decimal((em - inicio).total_seconds(), 3)} s", class_="num"),
            no("td", faixa.nome),
            no("td", _PALAVRA[situacao]),
            no("td", detalhe if rotulo and rotulo in detalhe else " · ".join(p for p in (rotulo, detalhe) if p)),
            no("td", "" if duracao is None else f"{_decimal(duracao, 3)} s", class_="num"),
        )
        for em, faixa, situacao, rotulo, detalhe, duracao in eventos
    ]
    quadro = _tabela("", ("Instante", "Onde", "Situação", "O que aconteceu", "Durou"), linhas)
    secao.append(no("details", None, no("summary", "A mesma figura em forma de tabela"), quadro))


def _dados(tabela: Tabela) -> ET.Element:
    linhas = [no("tr", None, *[no("td", c) for c in linha]) for linha in tabela.linhas]
    return _tabela(tabela.titulo, tabela.colunas, linhas)


def _tabela(titulo: str, colunas: Sequence[str], linhas: Sequence[ET.Element]) -> ET.Element:
    cabeca = no("thead", None, no("tr", None, *[no("th", c, scope="col") for c in colunas]))
    tabela = no("table", None, cabeca, no("tbody", None, *linhas))
    if titulo:
        tabela.insert(0, no("caption", titulo))
    return no("div", None, tabela, class_="rola")


def _paragrafo(negrito: str, texto: str) -> ET.Element:
    forte = no("strong", negrito)
    forte.tail = limpo(texto)
    return no("p", None, forte)


def _veredito(passou: bool) -> str:
    return "✓ passou" if passou else "✕ falhou"


def _classe(passou: bool) -> str:
    return "passou" if passou else "falhou"


def _ident(r: Resultado) -> str:
    return f"{r.sistema}-{r.numero}"


def _decimal(valor: float, casas: int) -> str:
    return f"{valor:.{casas}f}".replace(".", ",")
