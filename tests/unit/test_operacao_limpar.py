"""Taking a deployment away: what is exported first, what is deleted late, and what counts as left."""

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from engine.settings import EngineError, EngineSettings
from engine.terraform import Terraform
from operacao import filas, limpar
from operacao.alvos import BALDE_FALHAS
from operacao.limpar import Conta, LimparError, Ritmo

REGIAO = "sa-east-1"
RAPIDO = Ritmo(pausa_s=1, prazo_s=5, vazias=2)
TESTE = [{"Key": "Projeto", "Value": "cesta"}]


@pytest.fixture
def conta(monkeypatch: pytest.MonkeyPatch) -> Iterator[Conta]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with mock_aws():
        yield Conta(REGIAO, None)


def _sem_espera(_: float) -> None:
    return


def _balde(conta: Conta, regiao: str = REGIAO) -> str:
    nome = f"{BALDE_FALHAS}123456789012-{regiao}"
    local: Any = {"LocationConstraint": regiao}
    Conta(regiao, None)["s3"].create_bucket(Bucket=nome, CreateBucketConfiguration=local)
    conta["s3"].put_object(Bucket=nome, Key="aws/lambda/a/2026/lote", Body=b"registros")
    return nome


def test_everything_people_may_need_is_written_and_stays(conta: Conta, tmp_path: Path) -> None:
    sqs = conta["sqs"]
    urls = {fila: sqs.create_queue(QueueName=fila)["QueueUrl"] for fila in (limpar.FILA_HUMANA, *limpar.DLQS)}
    for fila, url in urls.items():
        atributos = {"PedidoId": {"DataType": "String", "StringValue": "P1"}}
        sqs.send_message(QueueUrl=url, MessageBody=f"corpo de {fila}", MessageAttributes=atributos)
    balde = _balde(conta)

    assert limpar.exportar(conta, tmp_path) == dict.fromkeys([*urls, balde], 1)

    for fila, url in urls.items():
        [linha] = (tmp_path / f"{fila}.jsonl").read_text().splitlines()
        escrita = json.loads(linha)
        assert (escrita["corpo"], escrita["atributos"]) == (f"corpo de {fila}", {"PedidoId": "P1"})
        assert len(sqs.receive_message(QueueUrl=url).get("Messages", [])) == 1
    [objeto] = (tmp_path / balde).iterdir()
    assert objeto.read_bytes() == b"registros"


def test_a_queue_that_is_gone_has_nothing_to_give(conta: Conta, tmp_path: Path) -> None:
    assert limpar.exportar(conta, tmp_path / "export") == {}
    assert not (tmp_path / "export").exists()


def test_messages_in_other_hands_stop_everything(conta: Conta, tmp_path: Path) -> None:
    url = conta["sqs"].create_queue(QueueName=limpar.FILA_HUMANA)["QueueUrl"]
    for corpo in ("um", "dois"):
        conta["sqs"].send_message(QueueUrl=url, MessageBody=corpo)
    conta["sqs"].receive_message(QueueUrl=url, MaxNumberOfMessages=1, VisibilityTimeout=600)

    with pytest.raises(LimparError, match="Nada foi destruído"):
        limpar.exportar(conta, tmp_path, _sem_espera)


def test_an_export_has_no_limit_of_ours(conta: Conta, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filas, "LIMITE_MENSAGENS", 10)
    url = _fila_com(conta, 25)

    assert limpar.exportar(conta, tmp_path, _sem_espera) == {limpar.DLQS[0]: 25}

    linhas = (tmp_path / f"{limpar.DLQS[0]}.jsonl").read_text().splitlines()
    assert {json.loads(linha)["corpo"] for linha in linhas} == {str(n) for n in range(25)}
    atributos = conta["sqs"].get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert atributos["ApproximateNumberOfMessages"] == "25"


def test_more_than_sqs_lets_be_read_is_said_as_such(
    conta: Conta, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filas, "LIMITE_EM_VOO", 20)
    _fila_com(conta, 25)

    with pytest.raises(LimparError, match=r"mais mensagens do que o SQS deixa.* 20 estão em .* faltam 5"):
        limpar.exportar(conta, tmp_path, _sem_espera)


def test_holding_stops_at_the_limit_and_says_so(
    conta: Conta, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(filas, "LIMITE_MENSAGENS", 10)
    with filas.segurar(conta["sqs"], _fila_com(conta, 25)) as seguradas:
        assert len(seguradas.mensagens) == 10

    assert "só as primeiras 10 mensagens" in capsys.readouterr().err


def test_messages_stay_hidden_for_as_long_as_reading_them_may_take(
    conta: Conta, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pedidos: list[int] = []
    url = _fila_com(conta, 25)
    conta["sqs"].meta.events.register(
        "provide-client-params.sqs.ReceiveMessage", lambda params, **_: pedidos.append(params["VisibilityTimeout"])
    )

    filas.exportar(conta["sqs"], url, tmp_path / "fila.jsonl")

    assert set(pedidos) == {filas.SEGURAR_S + 2}


def test_a_message_that_comes_again_is_written_once(tmp_path: Path) -> None:
    class Repete:
        def receive_message(self, **_: Any) -> Any:
            return {"Messages": [{"MessageId": "m", "ReceiptHandle": "r", "Body": "um"}]}

        def get_queue_attributes(self, **_: Any) -> Any:
            return {"Attributes": {}}

        def change_message_visibility_batch(self, **_: Any) -> None:
            return

    assert filas.exportar(Repete(), "url", tmp_path / "fila.jsonl") == 1


def _fila_com(conta: Conta, quantas: int) -> str:
    url = str(conta["sqs"].create_queue(QueueName=limpar.DLQS[0])["QueueUrl"])
    for n in range(quantas):
        conta["sqs"].send_message(QueueUrl=url, MessageBody=str(n))
    return url


def test_what_would_stop_a_destroy_is_lifted(conta: Conta) -> None:
    balde, de_outra_regiao = _balde(conta), _balde(conta, "us-west-2")
    cognito = conta["cognito-idp"]
    for nome in (limpar.GRUPO_USUARIOS, "de-outro-sistema"):
        cognito.create_user_pool(PoolName=nome, DeletionProtection="ACTIVE")

    limpar.desproteger(conta)

    assert "Contents" not in conta["s3"].list_objects_v2(Bucket=balde)
    assert "Contents" in conta["s3"].list_objects_v2(Bucket=de_outra_regiao)
    grupos = [cognito.describe_user_pool(UserPoolId=g["Id"])["UserPool"] for g in _grupos_de_usuarios(cognito)]
    assert {g["Name"]: g["DeletionProtection"] for g in grupos} == {
        limpar.GRUPO_USUARIOS: "INACTIVE",
        "de-outro-sistema": "ACTIVE",
    }


def _grupos_de_usuarios(cognito: Any) -> Any:
    return cognito.list_user_pools(MaxResults=60)["UserPools"]


def test_late_log_groups_are_deleted_and_others_are_not(conta: Conta) -> None:
    logs = conta["logs"]
    nossos = [
        "/aws/lambda/cesta-criar-pedido",
        "/aws/vendedlogs/states/cesta-saga-pedido",
        "/aws/vendedlogs/apis/cadencia-painel",
        "/aws/lambda/ffv-lab-fila-api-pedidos",
    ]
    de_outros = {
        "/aws/lambda/outro-sistema",
        "cesta-de-outro-time",
        "/aws/lambda/cesta-relatorios-de-outro-time",
        "/aws/lambda/cesta-criar-pedido-de-outro-time",
        "/aws/vendedlogs/states/cesta-de-outro-time",
    }
    for nome in [*nossos, *de_outros]:
        logs.create_log_group(logGroupName=nome)

    assert limpar.esperar_nada(conta, RAPIDO, dormir=_sem_espera) == []

    assert _grupos(conta) == de_outros


def _grupos(conta: Conta) -> set[str]:
    return {g["logGroupName"] for g in conta["logs"].describe_log_groups()["logGroups"]}


def _funcao(conta: Conta, nome: str) -> None:
    zipado = io.BytesIO()
    with zipfile.ZipFile(zipado, "w") as arquivo:
        arquivo.writestr("f.py", "")
    confianca = json.dumps({"Version": "2012-10-17", "Statement": []})
    papel = conta["iam"].create_role(RoleName="de-antes", AssumeRolePolicyDocument=confianca)["Role"]["Arn"]
    codigo = {"ZipFile": zipado.getvalue()}
    conta["lambda"].create_function(FunctionName=nome, Runtime="python3.13", Role=papel, Handler="f.h", Code=codigo)


def test_a_log_group_that_something_writes_to_stays_and_is_listed(
    conta: Conta, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _funcao(conta, "cesta-criar-pedido")
    papel = conta["iam"].get_role(RoleName="de-antes")["Role"]["Arn"]
    conta["stepfunctions"].create_state_machine(name="cesta-saga-pedido", definition="{}", roleArn=papel)
    conta["apigatewayv2"].create_api(Name="cesta-pedidos", ProtocolType="HTTP")
    vivos = {
        "/aws/lambda/cesta-criar-pedido",
        "/aws/vendedlogs/states/cesta-saga-pedido",
        "/aws/vendedlogs/apis/cesta-pedidos",
    }
    for nome in [*vivos, "/aws/lambda/cesta-iniciar-saga"]:
        conta["logs"].create_log_group(logGroupName=nome)

    resto = limpar.esperar_nada(conta, RAPIDO, dormir=_sem_espera)

    assert _grupos(conta) == vivos
    assert {recurso for recurso in resto if recurso.startswith("/aws/")} == vivos
    monkeypatch.setattr(limpar, "limpar", lambda *_: resto)
    assert limpar.principal(["--alvo", "aws"]) == 1
    assert "apague-a e repita" in capsys.readouterr().err


def test_a_group_made_again_starts_the_count_again(conta: Conta) -> None:
    voltas = []

    def dormir(_: float) -> None:
        voltas.append(1)
        if len(voltas) == 1:
            conta["logs"].create_log_group(logGroupName="/aws/lambda/cesta-criar-pedido")

    assert limpar.esperar_nada(conta, RAPIDO, dormir=dormir) == []
    assert len(voltas) == 3  # empty, a late group, empty, empty


def _fazer_sobras(conta: Conta) -> None:
    conta["sns"].create_topic(Name="qualquer-nome", Tags=TESTE)
    conta["sqs"].create_queue(QueueName="painel", tags={"Projeto": "ffv-lab"})
    confianca = json.dumps({"Version": "2012-10-17", "Statement": []})
    papel = conta["iam"].create_role(RoleName="cesta-saga-pedido-role", AssumeRolePolicyDocument=confianca)["Role"]
    conta["stepfunctions"].create_state_machine(name="cesta-saga-pedido", definition="{}", roleArn=papel["Arn"])
    conta["cloudwatch"].put_metric_alarm(
        AlarmName="ffv-lab-fila-atrasada", ComparisonOperator="GreaterThanThreshold", EvaluationPeriods=1, Threshold=1,
        MetricName="m", Namespace="n", Period=60, Statistic="Sum",
    )  # fmt: skip
    conta["cloudwatch"].put_dashboard(DashboardName="cesta-saga", DashboardBody=json.dumps({"widgets": []}))
    conta["apigatewayv2"].create_api(Name="cadencia-painel", ProtocolType="HTTP")
    conta["ssm"].put_parameter(Name="/cesta/gateway/chave", Value="x", Type="SecureString")
    alvo = {"Arn": "arn:aws:lambda:sa-east-1:123456789012:function:f", "RoleArn": papel["Arn"]}
    conta["scheduler"].create_schedule(
        Name="cesta-conferir-reservas", ScheduleExpression="rate(5 minutes)", FlexibleTimeWindow={"Mode": "OFF"},
        Target=alvo,
    )  # fmt: skip


def test_whatever_is_left_is_listed(conta: Conta) -> None:
    _fazer_sobras(conta)
    conta["sns"].create_topic(Name="cesta-de-outro", Tags=[{"Key": "Projeto", "Value": "outro"}])

    resto = limpar.esperar_nada(conta, RAPIDO, dormir=_sem_espera)

    assert sorted(resto) == [
        "API cadencia-painel",
        "agenda cesta-conferir-reservas",
        "alarme ffv-lab-fila-atrasada",
        "arn:aws:sns:sa-east-1:123456789012:qualquer-nome",
        "arn:aws:sqs:sa-east-1:123456789012:painel",
        "máquina cesta-saga-pedido",
        "papel cesta-saga-pedido-role",
        "parâmetro /cesta/gateway/chave",
        "quadro cesta-saga",
    ]


def test_what_was_there_before_does_not_count(conta: Conta) -> None:
    arn = conta["sns"].create_topic(Name="de-antes", Tags=TESTE)["TopicArn"]

    assert limpar.esperar_nada(conta, RAPIDO, manter=[arn], dormir=_sem_espera) == []


def test_a_service_that_an_engine_does_not_have_has_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ausente:
        def get_paginator(self, _: str) -> Any:
            resposta: Any = {"Error": {"Code": "InternalFailure"}, "ResponseMetadata": {"HTTPStatusCode": 501}}
            raise ClientError(resposta, "GetApis")

    monkeypatch.setattr(Conta, "__getitem__", lambda *_: Ausente())

    assert list(Conta(REGIAO, "http://127.0.0.1:1").paginas("apigatewayv2", "get_apis", "Items")) == []
    with pytest.raises(ClientError):
        list(Conta(REGIAO, None).paginas("apigatewayv2", "get_apis", "Items"))


@pytest.mark.parametrize(("resto", "estado", "dito"), [([], 0, "nada restou"), (["papel x"], 1, "papel x")])
def test_exit_status_says_whether_anything_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], resto: list[str], estado: int, dito: str
) -> None:
    monkeypatch.setattr(limpar, "limpar", lambda *_: resto)

    assert limpar.principal(["--alvo", "local"]) == estado
    escrito = capsys.readouterr()
    assert dito in escrito.out + escrito.err


@pytest.fixture
def implantado(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, conta: Conta) -> list[str]:
    """A deployed account in which only the order of things is real; what was destroyed is in the list."""
    feito: list[str] = []
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path))
    monkeypatch.setenv("ESTADO_LOCAL", "sim")
    monkeypatch.setattr(limpar, "RITMOS", {"aws": RAPIDO})
    monkeypatch.setattr(limpar.time, "sleep", _sem_espera)
    monkeypatch.setattr(Terraform, "region", REGIAO)
    monkeypatch.setattr(Terraform, "deployed", lambda _: True)
    monkeypatch.setattr(Terraform, "init", lambda _: None)
    monkeypatch.setattr(Terraform, "plan", lambda *_, **__: tmp_path / "plano")
    monkeypatch.setattr(Terraform, "apply_plan", lambda *_: feito.append("destruído"))
    monkeypatch.setattr("engine.deploy._arguments", lambda _: [])
    (tmp_path / "aws").mkdir()
    (tmp_path / "aws/conta.tfstate").write_text("{}")
    return feito


def test_without_a_confirmation_nothing_is_touched(
    implantado: list[str], conta: Conta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONFIRMAR", raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    balde = _balde(conta)

    with pytest.raises(EngineError, match="CONFIRMAR"):
        limpar.limpar("aws", EngineSettings.from_env())

    assert implantado == []
    assert conta["s3"].list_objects_v2(Bucket=balde)["KeyCount"] == 1


def test_a_failed_export_destroys_nothing(
    implantado: list[str], conta: Conta, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONFIRMAR", "sim")
    monkeypatch.setattr(filas, "gravar", lambda *_: (_ for _ in ()).throw(LimparError("disco cheio")))
    url = conta["sqs"].create_queue(QueueName=limpar.FILA_HUMANA)["QueueUrl"]
    conta["sqs"].send_message(QueueUrl=url, MessageBody="um")

    assert limpar.principal(["--alvo", "aws"]) == 1

    assert implantado == []
    assert "disco cheio" in capsys.readouterr().err


def test_confirmed_it_exports_destroys_and_looks(
    implantado: list[str], conta: Conta, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CONFIRMAR", "sim")
    url = conta["sqs"].create_queue(QueueName=limpar.FILA_HUMANA)["QueueUrl"]
    conta["sqs"].send_message(QueueUrl=url, MessageBody="um")
    balde = _balde(conta)

    assert limpar.principal(["--alvo", "aws"]) == 0

    assert implantado == ["destruído"]
    assert conta["s3"].list_objects_v2(Bucket=balde)["KeyCount"] == 0
    assert len(list(tmp_path.glob(f"export/aws/*/{limpar.FILA_HUMANA}.jsonl"))) == 1


@pytest.fixture
def estado_vazio(implantado: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same account asked with a state that knows nothing, by somebody who answers no question."""
    monkeypatch.setattr(Terraform, "deployed", lambda _: False)
    monkeypatch.delenv("CONFIRMAR", raising=False)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)


@pytest.mark.parametrize("confirmar", ["", "sim"])
def test_with_the_wrong_state_a_live_system_keeps_its_logs(
    estado_vazio: None,
    conta: Conta,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    confirmar: str,
) -> None:
    monkeypatch.setenv("CONFIRMAR", confirmar)
    _funcao(conta, "cesta-criar-pedido")
    grupos = {"/aws/lambda/cesta-criar-pedido", "/aws/lambda/cesta-relatorios-de-outro-time"}
    for nome in grupos:
        conta["logs"].create_log_group(logGroupName=nome)

    assert limpar.principal(["--alvo", "aws"]) == 1

    assert _grupos(conta) == grupos
    dito = capsys.readouterr().err
    assert "/aws/lambda/cesta-criar-pedido" in dito
    assert "Repita com o AMBIENTE" in dito


def test_with_an_empty_state_an_account_is_asked_before_its_logs_go(
    estado_vazio: None, conta: Conta, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    conta["logs"].create_log_group(logGroupName="/aws/lambda/cesta-criar-pedido")

    assert limpar.principal(["--alvo", "aws"]) == 1
    assert _grupos(conta) == {"/aws/lambda/cesta-criar-pedido"}
    assert "CONFIRMAR=sim" in capsys.readouterr().err

    monkeypatch.setenv("CONFIRMAR", "sim")
    assert limpar.principal(["--alvo", "aws"]) == 0
    assert _grupos(conta) == set()


@pytest.mark.parametrize(("texto", "regiao"), [('regiao   = "eu-west-1"\n', "eu-west-1"), ('ambiente = "x"\n', REGIAO)])
def test_region_comes_from_the_file_of_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, texto: str, regiao: str
) -> None:
    (tmp_path / "conta.tfvars").write_text(texto)
    monkeypatch.setattr(Terraform, "variables_file", tmp_path / "conta.tfvars")

    assert Terraform("aws", EngineSettings.from_env()).region == regiao
