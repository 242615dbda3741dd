"""The ``aws`` commands that the documents tell people to type exist and have those options (botocore's models), and the
functions, log groups and log lines they look for are this system's."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise

import pytest
from botocore import xform_name
from botocore.session import get_session

from engine.settings import ROOT
from tests.unit.apoio_unit import FUNCOES

DOCUMENTOS = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
GLOBAIS = {"output", "profile", "query", "region"}
SO_DO_PROGRAMA = {("logs", "tail"): {"since", "filter-pattern"}, ("sso", "login"): set[str]()}
"""Options of the commands of the AWS CLI (version 2) that are not one operation of an API."""
SESSAO = get_session()
NOMES = {propriedades["FunctionName"] for propriedades in FUNCOES.values()}
FONTES = "".join(arquivo.read_text() for arquivo in (ROOT / "lambdas").rglob("*.py"))


def comandos(texto: str) -> list[list[str]]:
    """The words after ``aws`` of each command in code: blocks, joined at a final backslash, and inline."""
    blocos = re.findall(r"^ *```[^\n]*\n(.*?)^ *```", texto, re.M | re.S)
    linhas = [linha for bloco in blocos for linha in bloco.replace("\\\n", " ").splitlines()]
    em_linha = re.findall(r"`(aws [^`]+)`", re.sub(r"```.*?```", "", texto, flags=re.S))
    achados = [
        achado
        for linha in [*linhas, *em_linha]
        for achado in re.findall(
            r"(?<!--alvo )(?<![\w/-])aws ([a-z][^|]*)", re.sub(r"\$\((aws [^)]*)\)", r"X | \1", linha)
        )
    ]
    return [shlex.split(achado, comments=True) for achado in achados]


def problemas(palavras: list[str]) -> list[str]:
    """What is wrong with one command."""
    servico, operacao, *resto = palavras
    opcoes = {palavra[2:]: valor for palavra, valor in pairwise([*resto, ""]) if palavra[:2] == "--"}
    if (servico, operacao) in SO_DO_PROGRAMA:
        aceitas = SO_DO_PROGRAMA[servico, operacao]
    elif (api := {"s3api": "s3"}.get(servico, servico)) not in SESSAO.get_available_services():
        return [f"no service {servico}"]
    else:
        modelo = SESSAO.get_service_model(api)
        nomes = {xform_name(nome, "-"): nome for nome in modelo.operation_names}
        if operacao not in nomes:
            return [f"no operation {servico} {operacao}"]
        entrada = modelo.operation_model(nomes[operacao]).input_shape
        aceitas = {xform_name(membro, "-") for membro in entrada.members} if entrada else set()
    grupo = resto[0] if (servico, operacao) == ("logs", "tail") else opcoes.get("log-group-name", "")
    funcao = opcoes.get("function-name") or (grupo.removeprefix("/aws/lambda/") if "/aws/lambda/" in grupo else "")
    frases = re.findall(r'"([^"]+)"|(\w+)', opcoes.get("filter-pattern", ""))
    return [
        *(f"no option --{opcao}" for opcao in sorted(opcoes.keys() - aceitas - GLOBAIS)),
        *([f"no function {funcao}"] if funcao and funcao not in NOMES else []),
        *(f"nothing logs {frase}" for frase in map("".join, frases) if frase != "ERROR" and frase not in FONTES),
    ]


def test_the_commands_in_the_documents_can_be_typed() -> None:
    achados = {(arquivo.name, tuple(c)) for arquivo in DOCUMENTOS for c in comandos(arquivo.read_text())}
    assert len(achados) > 40
    assert {achado: erros for achado in sorted(achados) if (erros := problemas(list(achado[1])))} == {}


@pytest.mark.parametrize(
    ("texto", "erro"),
    [
        ("`aws sqqs receive-message`", "no service sqqs"),
        (
            "```\naws sqs recieve-message --queue-url $(aws sqs get-queue-url --queue-name x)\n```",
            "no operation sqs recieve-message",
        ),
        ("```\naws sqs purge-queue --queue-url $(aws sqs get-queue-url --queue x)\n```", "no option --queue"),
        ("```\nB=x\naws s3api create-bucket \\\n  --buckett $B\n```", "no option --buckett"),
        ("```\naws logs tail /aws/lambda/cesta-antiga --since 1h\n```", "no function cesta-antiga"),
        ("`aws lambda invoke --function-name cesta-antiga x`", "no function cesta-antiga"),
        (
            "`aws logs tail /aws/lambda/cesta-criar-pedido --filter-pattern '?\"never said\"'`",
            "nothing logs never said",
        ),
    ],
)
def test_a_command_that_cannot_be_typed_is_seen(texto: str, erro: str) -> None:
    assert [e for c in comandos(texto) for e in problemas(c)] == [erro]


def test_the_scripts_of_this_project_are_not_taken_for_it() -> None:
    assert comandos("```\nscripts/dlq.sh --alvo aws listar\nmake deploy ALVO=aws\n```") == []
