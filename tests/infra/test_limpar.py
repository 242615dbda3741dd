"""What scripts/limpar.sh looks for is what Terraform makes: a new queue, tag or name is not forgotten there."""

import re

import pytest

from operacao import alvos, limpar

from .conftest import CONFIGURACAO, Estado

# Types that scripts/limpar.sh asks their own service about, and the attribute that holds the name.
POR_NOME = {
    "aws_iam_role": "name",
    "aws_cloudwatch_metric_alarm": "alarm_name",
    "aws_cloudwatch_dashboard": "dashboard_name",
    "aws_sfn_state_machine": "name",
    "aws_apigatewayv2_api": "name",
    "aws_lambda_function": "function_name",
    "aws_scheduler_schedule": "name",
}


def test_every_queue_of_failures_is_exported(estado: Estado) -> None:
    filas = {fila["name"] for fila in estado.do_tipo("aws_sqs_queue").values()}

    assert {fila for fila in filas if fila.endswith("-dlq")} == set(limpar.DLQS)
    assert limpar.FILA_HUMANA in filas


def test_every_value_of_the_tag_is_asked_for(estado: Estado) -> None:
    escritas = {
        valor
        for arquivo in CONFIGURACAO.rglob("*.tf")
        for valor in re.findall(r'\bProjeto\s*=\s*"([^"]+)"', arquivo.read_text())
    }
    aplicadas = {v["tags"]["Projeto"] for v in estado.recursos.values() if (v.get("tags") or {}).get("Projeto")}

    assert escritas | aplicadas == set(limpar.PROJETOS)


@pytest.mark.parametrize("tipo", POR_NOME)
def test_every_name_is_recognised(estado: Estado, tipo: str) -> None:
    nomes = {recurso[POR_NOME[tipo]] for recurso in estado.do_tipo(tipo).values()}

    assert nomes
    assert {nome for nome in nomes if not alvos.nosso(nome)} == set()


def test_every_log_group_is_looked_for(estado: Estado) -> None:
    assert {g["name"] for g in estado.do_tipo("aws_cloudwatch_log_group").values()} == limpar.grupos_de_log()


def test_a_log_group_is_named_after_what_writes_to_it(estado: Estado) -> None:
    assert {m["name"] for m in estado.do_tipo("aws_sfn_state_machine").values()} == set(limpar.MAQUINAS)
    assert {a["name"] for a in estado.do_tipo("aws_apigatewayv2_api").values()} == set(limpar.APIS)


def test_every_parameter_is_under_the_path_asked_for(estado: Estado) -> None:
    nomes = [parametro["name"] for parametro in estado.do_tipo("aws_ssm_parameter").values()]

    assert nomes
    assert all(nome.startswith("/cesta/") for nome in nomes)


def test_what_stops_a_destroy_in_production_has_the_names_looked_for() -> None:
    painel = "".join(arquivo.read_text() for arquivo in CONFIGURACAO.glob("modules/painel/*.tf"))

    assert f'bucket        = "{alvos.BALDE_FALHAS}' in painel
    assert re.search(rf'resource "aws_cognito_user_pool" "painel" {{[^}}]*name\s*= "{limpar.GRUPO_USUARIOS}"', painel)
    protecoes = [
        f"{arquivo.name}: {linha.strip()}"
        for arquivo in CONFIGURACAO.rglob("*.tf")
        for linha in arquivo.read_text().splitlines()
        if re.search(r"\b(deletion_protection\w*|prevent_destroy|force_destroy)\s*=", linha)
    ]
    assert len(protecoes) == 3, protecoes  # two buckets and the pool; a fourth has to be lifted in limpar too
