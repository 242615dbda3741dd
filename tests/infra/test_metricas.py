"""Every business metric a function counts is on a dashboard or an alarm, and every one read there is counted.

A metric is its namespace, its service, its name and the names of its other dimensions: CloudWatch finds nothing, and
says nothing, when one of them differs.
"""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Iterator

import pytest

from engine.settings import ROOT

from .conftest import Estado

LAMBDAS = ROOT / "lambdas"
Metrica = tuple[str, str, str, frozenset[str]]


def arvores(modulo: str, vistos: set[str]) -> Iterator[ast.Module]:
    """Syntax trees of a module of the functions and of all that it imports of theirs, each once."""
    arquivo = LAMBDAS / f"{modulo.replace('.', '/')}.py"
    if modulo in vistos or not arquivo.is_file():
        return
    vistos.add(modulo)
    arvore = ast.parse(arquivo.read_text())
    yield arvore
    for no in ast.walk(arvore):
        if isinstance(no, ast.Import | ast.ImportFrom):
            de = [no.module] if isinstance(no, ast.ImportFrom) and no.module else []
            for nome in [*de, *(".".join([*de, apelido.name]) for apelido in no.names)]:
                yield from arvores(nome, vistos)


def nomes(no: ast.expr) -> set[str]:
    """Names of metrics written in an expression (``"A" if novo else "B"`` has two); other counts are not CamelCase."""
    textos = {c.value for c in ast.walk(no) if isinstance(c, ast.Constant) and isinstance(c.value, str)}
    return {texto for texto in textos if re.fullmatch(r"[A-Z][a-z]\w+", texto)}


def contadas_em(arvore: ast.Module) -> Iterator[tuple[str, frozenset[str]]]:
    """Name and own dimensions of each metric counted in a module."""
    for no in ast.walk(arvore):
        match no:
            case ast.Call(func=ast.Name(id="contar"), args=[nome, *_], keywords=dimensoes):
                yield from ((n, frozenset(d.arg for d in dimensoes if d.arg)) for n in nomes(nome))
            case ast.Call(func=ast.Attribute(attr="add_metric"), keywords=chaves):
                yield from ((n, frozenset()) for c in chaves if c.arg == "name" for n in nomes(c.value))
            case ast.Subscript(value=ast.Attribute(attr="contagem"), slice=nome, ctx=ast.Store()):
                yield from ((n, frozenset()) for n in nomes(nome))


def contadas(estado: Estado) -> set[Metrica]:
    """Metrics that the deployed functions may publish, each under its function's namespace and service."""
    achadas: set[Metrica] = set()
    for funcao in estado.funcoes().values():
        ambiente = funcao["environment"][0]["variables"]
        de = ambiente["POWERTOOLS_METRICS_NAMESPACE"], ambiente["POWERTOOLS_SERVICE_NAME"]
        for arvore in arvores(funcao["handler"].rpartition(".")[0], set()):
            achadas |= {(*de, nome, dimensoes) for nome, dimensoes in contadas_em(arvore)}
    return achadas


def lidas(estado: Estado) -> set[Metrica]:
    """Business metrics that widgets and alarms read."""
    vistas = [
        (alarme["namespace"], alarme["metric_name"], alarme["dimensions"])
        for alarme in estado.do_tipo("aws_cloudwatch_metric_alarm").values()
    ]
    for painel in estado.do_tipo("aws_cloudwatch_dashboard").values():
        for widget in json.loads(painel["dashboard_body"])["widgets"]:
            for espaco, nome, *resto in widget["properties"].get("metrics", []):
                pares = [parte for parte in resto if isinstance(parte, str)]
                vistas.append((espaco, nome, dict(zip(pares[::2], pares[1::2], strict=True))))
    return {
        (espaco, dimensoes.get("service", ""), nome, frozenset(dimensoes) - {"service"})
        for espaco, nome, dimensoes in vistas
        if not espaco.startswith("AWS/")
    }


def test_every_metric_counted_is_seen_by_somebody(estado: Estado) -> None:
    assert len(contadas(estado)) > 30
    assert contadas(estado) - lidas(estado) == set()


def test_every_metric_read_is_counted_by_some_function(estado: Estado) -> None:
    assert len(lidas(estado)) > 30
    assert lidas(estado) - contadas(estado) == set()


def test_every_count_under_a_variable_name_is_of_a_counter_whose_keys_were_read() -> None:
    vistos = 0
    for arquivo in LAMBDAS.rglob("*.py"):
        arvore = ast.parse(arquivo.read_text())
        sem_nome, de_contagem = set(), set()
        for no in ast.walk(arvore):
            match no:
                case ast.Call(func=ast.Name(id="contar"), args=[nome, *_]) if not nomes(nome):
                    sem_nome.add(no)
                case ast.For(iter=iteravel) if ".contagem.items()" in ast.unparse(iteravel):
                    de_contagem |= set(ast.walk(no))
        vistos += len(sem_nome)
        assert sem_nome - de_contagem == set(), arquivo
    assert vistos >= 4


@pytest.mark.parametrize(
    ("nome", "outro"),
    [
        ("TransicoesComSalto", "TransicoesSaltadas"),
        ("AvisosRepetidos", "AvisosReenviados"),
        ("CobrancasOrfas", "CobrancasOrfans"),
        ("DisjuntorAberto", "DisjuntorFechado"),
    ],
)
def test_a_metric_that_is_read_by_another_name_is_caught_on_both_sides(estado: Estado, nome: str, outro: str) -> None:
    trocado = Estado(
        {endereco: json.loads(json.dumps(v).replace(nome, outro)) for endereco, v in estado.recursos.items()}, {}
    )
    assert {m[2] for m in contadas(trocado) - lidas(trocado)} == {nome}
    assert {m[2] for m in lidas(trocado) - contadas(trocado)} == {outro}


@pytest.mark.parametrize("dimensao", ["operacao", "service"])
def test_a_metric_read_under_other_dimensions_is_caught(estado: Estado, dimensao: str) -> None:
    recursos = copy.deepcopy(estado.recursos)
    for endereco, alarme in recursos.items():
        if "alarm.disjuntor[" in endereco:
            del alarme["dimensions"][dimensao]
    assert {m[2] for m in lidas(Estado(recursos, {})) - contadas(estado)} == {"DisjuntorAberto"}
