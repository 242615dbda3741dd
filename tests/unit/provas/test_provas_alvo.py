import json

import pytest

from provas import alvo as modulo
from provas.alvo import PRAZOS, Alvo
from provas.erros import AlvoNaoImplantadoError, SaidaAusenteError

ARN = "arn:aws:states:sa-east-1:000000000000:stateMachine:cesta-saga-pedido"


def gravar(raiz, nome, conteudo):
    arquivo = raiz / "build" / nome / "saidas.json"
    arquivo.parent.mkdir(parents=True)
    arquivo.write_text(conteudo if isinstance(conteudo, str) else json.dumps(conteudo))


@pytest.mark.parametrize("nome", ["local", "localstack", "aws"])
def test_a_target_without_outputs_says_what_to_run(tmp_path, nome):
    with pytest.raises(AlvoNaoImplantadoError, match=r"não está implantado.*make .*deploy"):
        Alvo.carregar(nome, tmp_path, {})


@pytest.mark.parametrize("conteudo", ["{", "[]", "{}", '"x"'])
def test_unreadable_outputs_are_said_to_be_so(tmp_path, conteudo):
    gravar(tmp_path, "local", conteudo)
    with pytest.raises(AlvoNaoImplantadoError, match=r"saidas\.json"):
        Alvo.carregar("local", tmp_path, {})


def test_the_local_endpoint_follows_the_engine_port(tmp_path):
    gravar(tmp_path, "local", {"arn_maquina_saga": ARN})
    assert Alvo.carregar("local", tmp_path, {"CESTA_PORTA_MOTOR": "4573"}).endpoint == "http://127.0.0.1:4573"
    assert Alvo.carregar("local", tmp_path, {}).endpoint == "http://127.0.0.1:4566"


def test_localstack_is_the_users_or_this_projects_own(tmp_path):
    gravar(tmp_path, "localstack", {"arn_maquina_saga": ARN})
    assert Alvo.carregar("localstack", tmp_path, {"CESTA_URL_LOCALSTACK": "http://h:1/"}).endpoint == "http://h:1"
    assert Alvo.carregar("localstack", tmp_path, {"LOCALSTACK_AUTH_TOKEN": "x"}).endpoint.endswith(":4566")
    assert Alvo.carregar("localstack", tmp_path, {}).endpoint == "http://127.0.0.1:4666"


def test_outputs_are_read_where_the_deploy_was_told_to_write_them(tmp_path):
    gravar(tmp_path, "local", {"arn_maquina_saga": ARN})
    outra = {"CESTA_DIR_BUILD": str(tmp_path / "build")}
    assert Alvo.carregar("local", tmp_path / "nowhere", outra).saidas == {"arn_maquina_saga": ARN}
    with pytest.raises(AlvoNaoImplantadoError):
        Alvo.carregar("local", tmp_path / "nowhere", {})


def test_aws_uses_the_sdk_endpoints(tmp_path):
    gravar(tmp_path, "aws", {"arn_maquina_saga": ARN, "ambiente": "homologacao"})
    assert Alvo.carregar("aws", tmp_path, {}).endpoint is None


@pytest.mark.parametrize("ambiente", ["producao", "Producao", "produção", "prod", "", None])
def test_aws_production_or_unknown_is_refused(tmp_path, ambiente):
    gravar(tmp_path, "aws", {"arn_maquina_saga": ARN, "ambiente": ambiente})
    with pytest.raises(AlvoNaoImplantadoError, match="make deploy ALVO=aws"):
        Alvo.carregar("aws", tmp_path, {})


@pytest.mark.parametrize("desligado", [None, "", False, {}, []])
def test_an_output_that_is_off_counts_as_missing(desligado):
    with pytest.raises(SaidaAusenteError, match=r"url_gateway_simulado.*gateway de mentira.*make"):
        Alvo("local", {"url_gateway_simulado": desligado}, None).saida("url_gateway_simulado", "gateway de mentira")


def test_region_comes_from_the_deployed_arns(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert Alvo("local", {"a": "x", "arn": ARN}, None).regiao == "sa-east-1"


def test_an_engine_that_does_not_answer_says_what_to_run(tmp_path):
    alvo = Alvo("local", {"arn": ARN}, "http://127.0.0.1:9")
    with pytest.raises(AlvoNaoImplantadoError, match="make local-up deploy"):
        alvo.conferir_no_ar()


def test_waits_on_alarms_are_longer_where_metrics_take_minutes():
    assert PRAZOS["aws"].alarme_dispara > PRAZOS["localstack"].alarme_dispara > PRAZOS["local"].alarme_dispara
    assert set(PRAZOS) == set(modulo.ALVOS)
