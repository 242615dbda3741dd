"""The scan finds a planted card number and a planted token wherever it reads, and is not set off by ids or times."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from comum.cartao import texto_parece_cartao
from operacao import filas, varredura
from operacao.alvos import BALDE_FALHAS
from operacao.varredura import Trecho, examinar
from provas.alvo import Alvo
from tests.unit.apoio_unit import cliente
from tests.unit.conftest import criar_tabela

LUHN = "4111111111111111"
TOKEN = "tok-nunca-mostrado"
CONSUMIDA, DLQ, HUMANA = "cesta-pedidos-criados", "cesta-pedidos-criados-dlq", "cesta-compensacao-falhou"
SAGA, COMPENSACAO = "cesta-saga-pedido", "cesta-compensacao-manual"
GRUPO_DA_SAGA = f"/aws/vendedlogs/states/{SAGA}"


@pytest.mark.parametrize(
    "texto",
    [
        *(
            LUHN,
            f'{{"n": {LUHN}}}',
            "4111 1111 1111 1111",
            "5555-5555-5555-4444",
            "cartão 378282246310005.",
            f"n={LUHN},",
        ),
        # joined with what is beside it
        *("140 4111 1111 1111 1111", "4111 1111 1111 1111 123", "4111 1111 1111 1111 12/29", "4111  1111  1111  1111"),
        *(f"-{LUHN}", f"req-{LUHN}", f"cartao{LUHN}", f"cartao_{LUHN}", f"2026-11-30 {LUHN} 1764478205123"),
        # inside a longer number
        *(
            f"0000{LUHN}",
            f"140{LUHN}12",
            f"9{LUHN}000000",
            f'{{"pedido": "00000{LUHN}"}}',
            f"{LUHN}.5",
            "0" * 10 + LUHN,
            f"0.5 {LUHN}",
        ),
        # after an escape
        *(json.dumps(f"cartao:\n{LUHN}"), json.dumps(json.dumps(f"cartao:\t{LUHN}")), str({"x": f"a\r\n{LUHN}\tb"})),
        json.dumps("4111\u00a01111\u00a01111\u00a01111"),
    ],
)
def test_card_number_is_found(texto: str) -> None:
    achados = list(examinar(Trecho("log", "g", texto)))
    assert [a.tipo for a in achados] == ["número de cartão"]
    assert LUHN not in achados[0].mascarado


@pytest.mark.parametrize(
    "texto",
    [
        "4111111111111112",  # Luhn fails
        "185283444852791",  # Luhn passes, and no card begins so
        "tentativa 7: 1764478205123",  # milliseconds since the epoch
        "52 1764478269005",
        "2026-11-30T04:50:05.123Z",
        "532 2026-11-30 04:50:05",
        "3f1c4111-1111-4111-8111-111111111111",  # a UUID
        "42914177-7631-4706-8690-12ab34cd56ef",
        "01J4111111111111111FGHJKMN",  # a ULID
        "1-65983246-8203417684a2b3c4d5e6f7a8",  # a trace
        "a4111111111111111b3c4d5e6f708192",  # MD5
        "0.4111111111111111",
        "4111.111111111111",
        "arn:aws:states:sa-east-1:000000000000:execution:cesta-saga-pedido:P1",
        "0" * 16,
        f'"SequenceNumber": "9999{LUHN}0000"',
        json.dumps({"startSequenceNumber": f"9999{LUHN}0000", "endSequenceNumber": f"9999{LUHN}0009"}),
        json.dumps(json.dumps({"endSequenceNumber": f"9999{LUHN}0009"})),
        f"{{'sequencia': {{'S': '{LUHN:0>40}'}}, 'SK': {{'S': 'TRANSICAO#{LUHN:0>40}'}}}}",
        f'"falhas": ["9999{LUHN}0000", "9999{LUHN}0009"]',
        f"shardId-0000{LUHN}-4a4b4c4d",
    ],
)
def test_what_is_no_card_is_left_alone(texto: str) -> None:
    assert list(examinar(Trecho("log", "g", texto))) == []


@pytest.mark.parametrize("texto", [f'"SequenceNumber": "{LUHN}"', f"#{LUHN}", f'"falhas": ["{"9" * 21}", "{LUHN}"]'])
def test_the_name_of_a_sequence_number_hides_no_card(texto: str) -> None:
    """It has 21 digits at least: a card's number is not one."""
    assert [a.tipo for a in examinar(Trecho("log", "g", texto))] == ["número de cartão"]


@pytest.mark.parametrize(
    "valor", ["4111111111111111", "12 4111 1111 1111 1111", "4111-1111-1111-1111", "a4111.1111.1111.1111"]
)
def test_what_the_door_refuses_is_found(valor: str) -> None:
    assert texto_parece_cartao(valor)
    assert list(examinar(Trecho("log", "g", valor)))


@pytest.mark.parametrize("valor", [f"pagou com:\n{TOKEN}", f"\t{TOKEN}\r\n"])
def test_token_is_found_after_an_escape(valor: str) -> None:
    for texto in (json.dumps({"x": valor}), json.dumps(json.dumps(valor)), str({"x": valor})):
        assert [a.tipo for a in examinar(Trecho("log", "g", texto))] == ["token de cartão"]


def test_token_is_a_finding_only_outside_execution_data() -> None:
    texto = '{"cartaoToken": "tok-abc123"}'
    assert [a.tipo for a in examinar(Trecho("log", "g", texto))] == ["token de cartão"]
    assert list(examinar(Trecho("execução (input)", "P1", texto, token_permitido=True))) == []


def test_card_number_is_a_finding_even_where_a_token_may_be() -> None:
    assert len(list(examinar(Trecho("execução (input)", "P1", LUHN, token_permitido=True)))) == 1


# --- readers: one thing planted where each of them reads --------------------------------------------------------------


@pytest.fixture
def alvo(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> Alvo:
    """The system in moto, with the outputs the scan looks at, as ``make varredura`` would load it."""
    sqs = sistema.sqs
    dlq = sqs.create_queue(QueueName=DLQ)["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dlq, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    politica = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 5})
    sqs.set_queue_attributes(QueueUrl=sistema.url_fila, Attributes={"RedrivePolicy": politica})
    sistema.stepfunctions.create_state_machine(
        name=COMPENSACAO,
        definition='{"StartAt":"Fim","States":{"Fim":{"Type":"Succeed"}}}',
        roleArn="arn:aws:iam::123456789012:role/cesta-compensacao-manual-role",
    )
    servicos = ("s3", "sqs", "dynamodb", "logs", "stepfunctions", "cloudwatch")
    saidas = {
        "arn_maquina_saga": sistema.arn_maquina,
        "grupo_log_maquina": GRUPO_DA_SAGA,
        "url_fila_pedidos_criados_dlq": dlq,
    }
    criado = Alvo("aws", saidas, None, {servico: cliente(servico) for servico in servicos})
    receber = sqs.receive_message
    monkeypatch.setattr(sqs, "receive_message", lambda **pedido: receber(**pedido | {"WaitTimeSeconds": 0}))
    monkeypatch.setattr(Alvo, "carregar", lambda _, **__: criado)
    return criado


def por_log(grupo: str, texto: str) -> None:
    logs = cliente("logs")
    logs.create_log_group(logGroupName=grupo)
    logs.create_log_stream(logGroupName=grupo, logStreamName="1")
    evento = {"timestamp": int(time.time() * 1000), "message": texto}
    logs.put_log_events(logGroupName=grupo, logStreamName="1", logEvents=[evento])


def por_execucao(maquina: str, texto: str) -> None:
    arn = f"arn:aws:states:sa-east-1:123456789012:stateMachine:{maquina}"
    entrada = json.dumps({"x": texto})
    cliente("stepfunctions").start_execution(stateMachineArn=arn, name="P1", input=entrada)


def por_mensagem(fila: str, texto: str) -> None:
    cliente("sqs").send_message(QueueUrl=url(fila), MessageBody=texto)


def por_atributo(fila: str, texto: str) -> None:
    atributos = {"motivo": {"DataType": "String", "StringValue": texto}}
    cliente("sqs").send_message(QueueUrl=url(fila), MessageBody="limpo", MessageAttributes=atributos)


def por_metrica(nome: str, texto: str) -> None:
    dado = {"MetricName": nome, "Dimensions": [{"Name": "cartao", "Value": texto}], "Value": 1}
    cliente("cloudwatch").put_metric_data(Namespace="Cesta", MetricData=[dado])


def por_item(tabela: str, texto: str) -> None:
    if tabela not in cliente("dynamodb").list_tables()["TableNames"]:
        criar_tabela(tabela, "id")
    chaves = cliente("dynamodb").describe_table(TableName=tabela)["Table"]["KeySchema"]
    item = {chave["AttributeName"]: {"S": "P1"} for chave in chaves} | {"nota": {"S": texto}}
    cliente("dynamodb").put_item(TableName=tabela, Item=item)


def por_objeto(nome: str, texto: str) -> None:
    balde, _, chave = nome.partition("/")
    s3 = cliente("s3")
    s3.create_bucket(Bucket=balde, CreateBucketConfiguration={"LocationConstraint": "sa-east-1"})
    s3.put_object(Bucket=balde, Key=chave, Body=texto.encode())


def url(fila: str) -> str:
    return str(cliente("sqs").get_queue_url(QueueName=fila)["QueueUrl"])


PLANTIOS = [
    ("log", "/aws/lambda/cesta-criar-pedido", por_log),
    ("log", "/aws/lambda/ffv-lab-consumidor-pedidos", por_log),
    ("log", "/aws/lambda/cadencia-painel", por_log),
    ("log", GRUPO_DA_SAGA, por_log),
    ("execução (input)", SAGA, por_execucao),
    ("execução (input)", COMPENSACAO, por_execucao),
    ("mensagem", HUMANA, por_mensagem),
    ("mensagem", HUMANA, por_atributo),
    ("mensagem", DLQ, por_mensagem),
    ("métrica", "PedidosCriados", por_metrica),
    ("tabela", "cesta-pedidos", por_item),
    ("tabela", "ffv-lab-fila-efeitos", por_item),
    ("tabela", "pedidos_cadencia", por_item),
    ("tabela", "painel_operacao", por_item),
    ("objeto", f"{BALDE_FALHAS}123456789012-sa-east-1/aws/lambda/a b/1", por_objeto),
]


@pytest.mark.parametrize(("fonte", "nome", "plantar"), PLANTIOS)
def test_a_card_number_planted_in_each_source_is_found_and_not_repeated(
    alvo: Alvo, capsys: pytest.CaptureFixture[str], fonte: str, nome: str, plantar: Any
) -> None:
    por_log("/aws/lambda/cesta-limpa", "limpo")
    if not fonte.startswith("execução"):
        por_execucao(SAGA, "limpo")
    plantar(nome, f"cartão {LUHN}")

    assert varredura.principal([]) == 1

    dito = capsys.readouterr().out
    achados = [linha.partition("ACHADO ")[2] for linha in dito.splitlines() if "ACHADO" in linha]
    onde = f"{nome}/P1" if fonte.startswith("execução") else nome
    assert achados == [f"número de cartão 41…11 em {fonte} {onde}"]
    assert LUHN not in dito


@pytest.mark.parametrize("campo", ["output", "error", "cause"])
def test_how_an_execution_ended_is_read(alvo: Alvo, monkeypatch: pytest.MonkeyPatch, campo: str) -> None:
    por_execucao(SAGA, "limpo")
    # moto keeps none of the three as they were given
    monkeypatch.setattr(alvo.cliente("stepfunctions"), "describe_execution", lambda **_: {campo: LUHN})
    assert [(a.fonte, a.nome) for a in varredura.varrer(alvo)[1]] == [(f"execução ({campo})", f"{SAGA}/P1")]


class Historico:
    """A paginator of one event; moto makes up every history."""

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        return [{"events": [{"id": 1, "type": "TaskFailed", "taskFailedEventDetails": {"cause": LUHN}}]}]


def test_the_history_of_an_execution_is_read(alvo: Alvo, monkeypatch: pytest.MonkeyPatch) -> None:
    por_execucao(SAGA, "limpo")
    states = alvo.cliente("stepfunctions")
    paginador = states.get_paginator
    monkeypatch.setattr(
        states, "get_paginator", lambda nome: Historico() if nome == "get_execution_history" else paginador(nome)
    )
    assert [(a.fonte, a.nome) for a in varredura.varrer(alvo)[1]] == [("execução (histórico)", f"{SAGA}/P1")]


@pytest.mark.parametrize(
    ("plantar", "nome", "onde"),
    [
        (por_execucao, SAGA, None),
        (por_log, GRUPO_DA_SAGA, None),
        (por_mensagem, DLQ, None),
        (por_item, "cesta-gateway-simulado", None),
        (por_execucao, COMPENSACAO, f"execução (input) {COMPENSACAO}/P1"),
        (por_log, f"/aws/vendedlogs/states/{COMPENSACAO}", f"log /aws/vendedlogs/states/{COMPENSACAO}"),
        (por_mensagem, HUMANA, f"mensagem {HUMANA}"),
        (por_atributo, DLQ, f"mensagem {DLQ}"),
    ],
)
def test_a_token_may_only_be_where_an_order_carries_it(alvo: Alvo, plantar: Any, nome: str, onde: str | None) -> None:
    plantar(nome, TOKEN)
    assert [f"{a.fonte} {a.nome}" for a in varredura.varrer(alvo)[1]] == ([onde] if onde else [])


def test_a_consumed_queue_is_not_received_from_and_is_named(alvo: Alvo, capsys: pytest.CaptureFixture[str]) -> None:
    por_log("/aws/lambda/cesta-limpa", "limpo")
    por_execucao(SAGA, "limpo")
    por_mensagem(CONSUMIDA, LUHN)

    assert varredura.principal([]) == 0

    linha = next(linha for linha in capsys.readouterr().out.splitlines() if "não lidas" in linha)
    assert linha.endswith(f": {CONSUMIDA}")
    recebida = alvo.cliente("sqs").receive_message(QueueUrl=url(CONSUMIDA), AttributeNames=["All"])["Messages"][0]
    assert recebida["Attributes"]["ApproximateReceiveCount"] == "1"


def test_what_was_read_is_visible_again(alvo: Alvo) -> None:
    por_mensagem(HUMANA, LUHN)
    varredura.varrer(alvo)
    assert len(alvo.cliente("sqs").receive_message(QueueUrl=url(HUMANA))["Messages"]) == 1


def test_a_queue_too_long_to_be_read_whole_is_an_error(
    alvo: Alvo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(filas, "LIMITE_MENSAGENS", 1)
    por_mensagem(HUMANA, "limpo")
    assert varredura.principal([]) == 2
    assert f"A fila {HUMANA} tem mensagens demais" in capsys.readouterr().err


def test_other_systems_of_the_account_are_left_alone(alvo: Alvo) -> None:
    por_log("/aws/lambda/outro-sistema", LUHN)
    por_item("outro-sistema", LUHN)
    alvo.cliente("sqs").create_queue(QueueName="outro-sistema")
    por_mensagem("outro-sistema", LUHN)
    por_objeto("outro-sistema/1", LUHN)
    por_objeto(f"{BALDE_FALHAS}123456789012-us-east-1/1", LUHN)
    assert varredura.varrer(alvo)[1] == []


@pytest.mark.parametrize(("log", "execucao"), [(True, False), (False, True)])
def test_nothing_to_read_is_not_a_clean_scan(
    alvo: Alvo, capsys: pytest.CaptureFixture[str], log: bool, execucao: bool
) -> None:
    if log:
        por_log("/aws/lambda/cesta-limpa", "limpo")
    if execucao:
        por_execucao(SAGA, "limpo")
    assert varredura.principal([]) == 2
    assert f"sem {'execuções' if log else 'logs'}:" in capsys.readouterr().err


def test_a_target_that_is_not_there_is_not_a_finding(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "local").mkdir()
    (tmp_path / "local/saidas.json").write_text(json.dumps({"arn": "arn:aws:sqs:sa-east-1:000000000000:x"}))
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path))
    monkeypatch.setenv("CESTA_PORTA_MOTOR", "1")  # nobody listens there
    assert varredura.principal([]) == 2
    assert "O alvo local não responde" in capsys.readouterr().err


@pytest.mark.parametrize(
    "erro",
    [
        ClientError({"Error": {"Code": "AccessDenied", "Message": "não pode"}}, "ListTables"),
        EndpointConnectionError(endpoint_url="http://x"),
    ],
    ids=["refused", "gone"],
)
def test_what_could_not_be_read_is_not_a_finding(
    alvo: Alvo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], erro: Exception
) -> None:
    def recusar(_: Alvo) -> Iterator[Trecho]:
        yield Trecho("tabela", "t", LUHN)
        raise erro

    monkeypatch.setitem(varredura.FONTES, "tabelas", recusar)
    assert varredura.principal([]) == 2
    dito = capsys.readouterr().err
    assert str(erro) in dito
    assert "permissões de leitura, e repita" in dito
