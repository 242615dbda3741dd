"""Rules of the house that a reader would otherwise have to trust: contexts apart, cheap imports, honest names."""

import ast
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from comum.erros import ErroDefinitivo, ErroDeNegocio, ErroDesfechoDesconhecido, ErroTransitorio
from tests.unit.apoio_unit import FUNCOES

RAIZ = Path(__file__).resolve().parents[2]
LAMBDAS = RAIZ / "lambdas"
CONTEXTOS = {"pedidos", "estoque", "pagamentos", "painel", "fila", "desenhos_minimos"}
BASES = (ErroDefinitivo, ErroTransitorio, ErroDesfechoDesconhecido)


def importados(arquivo: Path) -> Iterator[str]:
    """Top-level package of every import in a file, also inside functions and type checks."""
    for no in ast.walk(ast.parse(arquivo.read_text())):
        if isinstance(no, ast.Import):
            yield from (apelido.name.split(".")[0] for apelido in no.names)
        elif isinstance(no, ast.ImportFrom):
            assert no.level == 0, f"{arquivo}: relative import"
            yield (no.module or "").split(".")[0]


def arquivos() -> list[Path]:
    return sorted(arquivo for contexto in (*CONTEXTOS, "comum") for arquivo in (LAMBDAS / contexto).rglob("*.py"))


@pytest.mark.parametrize("arquivo", arquivos(), ids=lambda caminho: str(caminho.relative_to(LAMBDAS)))
def test_no_context_imports_another(arquivo: Path) -> None:
    proprio = arquivo.relative_to(LAMBDAS).parts[0]
    alheios = (CONTEXTOS - {proprio}) & set(importados(arquivo))
    assert not alheios, f"{proprio} imports {alheios}: contexts meet through events, the state machine or comum"


def test_the_check_sees_a_forbidden_import(tmp_path: Path) -> None:
    culpado = tmp_path / "x.py"
    culpado.write_text("def f():\n    from estoque.erros import EstoqueInsuficienteError\n")
    assert "estoque" in set(importados(culpado))


def modulos(*pacotes: str) -> list[Any]:
    return [
        importlib.import_module(f"{pacote}.{modulo.name}")
        for pacote in pacotes
        for modulo in pkgutil.iter_modules([str(LAMBDAS / pacote)])
        if modulo.name == "erros"
    ]


def test_every_error_has_one_kind_and_is_raised_somewhere() -> None:
    fontes = "\n".join(arquivo.read_text() for arquivo in arquivos())
    vistos = 0
    for modulo in modulos("comum", "pedidos", "estoque", "pagamentos"):
        for nome, classe in inspect.getmembers(modulo, inspect.isclass):
            if not issubclass(classe, ErroDeNegocio) or classe in (ErroDeNegocio, *BASES):
                continue
            vistos += 1
            assert sum(base in classe.__mro__ for base in BASES) == 1, nome
            assert f"raise {nome}" in fontes or f"return {nome}(" in fontes, f"{nome} is never raised"
    assert vistos >= 12


@pytest.mark.parametrize("nome", list(FUNCOES))
def test_every_function_has_its_handler_and_says_how_it_meets_the_anomalies(nome: str) -> None:
    modulo, funcao = FUNCOES[nome]["Handler"].rsplit(".", 1)
    if not (LAMBDAS / Path(*modulo.split("."))).with_suffix(".py").exists():
        pytest.fail(f"{modulo} does not exist")
    handler = getattr(importlib.import_module(modulo), funcao)
    explicacao = " ".join((handler.__doc__ or "").lower().split())
    nomes = ("duplicate", "undo before do", "do after undo")
    quantos = sum(nome in explicacao for nome in nomes)
    assert quantos == 3 or (quantos >= 1 and modulo.startswith(OUTRAS)) or "anomal" in explicacao, modulo


OUTRAS = ("painel.", "fila.", "desenhos_minimos.")
"""Systems without compensation steps: they may say it in other words."""

CAROS = ("aws_xray_sdk", "boto3", "urllib3.contrib", "pybreaker")


@pytest.mark.parametrize("nome", list(FUNCOES))
def test_importing_a_handler_loads_no_sdk_and_no_tracer(nome: str) -> None:
    """Clients are made on first use and tracing only when on: a cold start pays for what it needs."""
    modulo = FUNCOES[nome]["Handler"].rsplit(".", 1)[0]
    # The panel and the queue answer nobody who waits: their budget leaves the tracer out, no more.
    caros = CAROS if modulo.startswith(("pedidos.", "estoque.", "pagamentos.", "desenhos_minimos.")) else CAROS[:1]
    codigo = (
        f"import sys, json; sys.path.insert(0, {str(LAMBDAS)!r}); import {modulo}; "
        f"print(json.dumps([m for m in {caros!r} if m in sys.modules]))"
    )
    saida = subprocess.run([sys.executable, "-c", codigo], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(saida.stdout.splitlines()[-1]) == []


def test_tracing_is_loaded_only_when_on() -> None:
    codigo = (
        f"import sys; sys.path.insert(0, {str(LAMBDAS)!r}); import estoque.reservar_estoque; "
        "print('aws_xray_sdk' in sys.modules)"
    )
    vistos = []
    for ativo in ("true", "false"):
        ambiente = {"RASTREAMENTO_ATIVO": ativo, "POWERTOOLS_TRACE_DISABLED": "true", "PATH": "/usr/bin"}
        saida = subprocess.run(
            [sys.executable, "-c", codigo], capture_output=True, text=True, check=True, timeout=60, env=ambiente
        )
        vistos.append(saida.stdout.strip())
    assert vistos == ["True", "False"]
