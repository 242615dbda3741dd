"""``make onde``: one timeline from every system, which changes nothing and shows no card token."""

import json
from datetime import UTC, datetime, timedelta
from time import sleep
from typing import Any

import boto3
import pytest

from comum.relogio import para_iso
from operacao import onde
from operacao.intervencao_acoes import _linhas
from painel.repositorio import RepositorioPainel
from painel.transicao import Transicao
from provas.alvo import Alvo
from provas.execucao import ler_historico
from tests.models.fonte_painel import criar_tabela_painel
from tests.unit.conftest import criar_tabela

PEDIDO = "01JQ5Z0000000000000000000P"
TOKEN = "tok-nunca-mostrado"
FUNCOES = {"CriarPedido": "cesta-criar-pedido", "CobrarPagamento": "cesta-cobrar-pagamento", "Nova": "nunca-rodou"}
INICIO = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)


class Resposta:
    def __init__(self, corpo: Any) -> None:
        self.status, self.data = 200, json.dumps(corpo).encode()


class Http:
    """The stand-in's ledger."""

    def request(self, *_: Any, fields: dict[str, str], **__: Any) -> Resposta:
        movimento = {"ordem": 1, "em": em(4), "movimento": "COBRANCA_APROVADA", "valorCentavos": 14000}
        return Resposta({"movimentos": [movimento] if fields["pedidoId"] == PEDIDO else []})


def em(segundo: int) -> str:
    return para_iso(INICIO + timedelta(seconds=segundo))


@pytest.fixture
def alvo(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> Alvo:
    """Every system in moto, each knowing one thing of the order."""
    sqs, ddb, logs = sistema.sqs, sistema.dynamodb, boto3.client("logs")
    maquina = sistema.arn_maquina
    compensacao = sistema.stepfunctions.create_state_machine(
        name="cesta-compensacao-manual",
        definition='{"StartAt":"Fim","States":{"Fim":{"Type":"Succeed"}}}',
        roleArn="arn:aws:iam::123456789012:role/cesta-compensacao-manual-role",
    )["stateMachineArn"]
    dlq = sqs.create_queue(QueueName="cesta-pedidos-criados-dlq")["QueueUrl"]
    dlq_fila = sqs.create_queue(QueueName="ffv-lab-fila-pedidos-dlq")["QueueUrl"]
    for nome, funcao in FUNCOES.items():
        if nome != "Nova":
            logs.create_log_group(logGroupName=f"/aws/lambda/{funcao}")
            logs.create_log_stream(logGroupName=f"/aws/lambda/{funcao}", logStreamName="1")
    saidas = {
        "arn_maquina_saga": maquina,
        "arn_maquina_compensacao": compensacao,
        "url_fila_compensacao_falhou": sistema.url_fila_humana,
        "url_fila_pedidos_criados": sistema.url_fila,
        "url_fila_pedidos_criados_dlq": dlq,
        "tabela_pedidos": "cesta-pedidos",
        "tabela_estoque": "cesta-estoque",
        "tabela_estoque_baixas": "cesta-estoque-baixas",
        "url_gateway_simulado": "http://gateway",
        "tabela_painel_operacao": criar_tabela_painel(),
        "tabelas_fila": {"efeitos": criar_tabela("efeitos", "pedidoId"), "estoque": "x", "descartes": "x"},
        "fila_pedidos_url": sistema.url_fila,
        "fila_pedidos_dlq_url": dlq_fila,
        "funcoes": FUNCOES,
    }
    receber = sqs.receive_message
    monkeypatch.setattr(sqs, "receive_message", lambda **pedido: receber(**pedido | {"WaitTimeSeconds": 0}))
    criado = Alvo("aws", saidas, None, {"sqs": sqs, "dynamodb": ddb, "logs": logs})
    criado._clientes["stepfunctions"] = sistema.stepfunctions
    criado.__dict__["http"] = Http()
    monkeypatch.setattr(onde.Livro, "chave_de_api", lambda _: "chave")
    return criado


def registrar(alvo: Alvo, funcao: str, segundo: int, **campos: Any) -> None:
    linha = {"timestamp": em(segundo), "level": "INFO", "message": "m", "correlation_id": PEDIDO} | campos
    alvo.cliente("logs").put_log_events(
        logGroupName=f"/aws/lambda/{funcao}",
        logStreamName="1",
        logEvents=[{"timestamp": int(INICIO.timestamp() + segundo) * 1000, "message": json.dumps(linha)}],
    )


def por_tudo(alvo: Alvo, sistema: Any) -> None:
    """The order as every system would know it."""
    historico = {"L": [{"M": {"status": {"S": "RECEBIDO"}, "em": {"S": em(2)}, "passo": {"S": "IniciarSaga"}}}]}
    item = {"sku": {"S": "CAFE-500G"}, "quantidade": {"N": "2"}, "valorCentavos": {"N": "14000"}}
    sistema.por_pedido(PEDIDO, "RECEBIDO", **item, criadoEm={"S": em(1)})
    alvo.cliente("dynamodb").update_item(
        TableName="cesta-pedidos",
        Key={"pedidoId": {"S": PEDIDO}},
        UpdateExpression="SET historico = :h",
        ExpressionAttributeValues={":h": historico},
    )
    registrar(alvo, "cesta-criar-pedido", 1, message="order accepted")
    registrar(alvo, "cesta-cobrar-pagamento", 5, message="invocation failed", level="WARNING", erro="X", motivo=TOKEN)
    registrar(alvo, "cesta-cobrar-pagamento", 5, message=f"other {PEDIDO}", correlation_id="OUTRO")
    alvo.cliente("dynamodb").put_item(
        TableName="cesta-estoque-baixas",
        Item={"pedidoId": {"S": PEDIDO}, "em": {"S": em(6)}, "quantidade": {"N": "2"}, "sku": {"S": "CAFE-500G"}},
    )
    transicao = Transicao(PEDIDO, "L001", "PENDENTE", "SEPARADO", em(7), "1".zfill(40))
    painel = RepositorioPainel(alvo.cliente("dynamodb"), alvo.saida("tabela_painel_operacao"))
    painel.registrar_transicao(transicao, em(7))
    painel.atualizar_atual(transicao, em(7))
    alvo.cliente("dynamodb").put_item(
        TableName="efeitos",
        Item={
            "pedidoId": {"S": PEDIDO},
            "situacao": {"S": "RECUSADO"},
            "motivo": {"S": "PAGAMENTO_RECUSADO"},
            "criadoEm": {"S": em(8)},
            "atualizadoEm": {"S": em(9)},
        },
    )
    sqs = alvo.cliente("sqs")
    for outro in ("OUTRO", PEDIDO):
        corpo = json.dumps({"pedidoId": outro, "cartaoToken": TOKEN})
        sqs.send_message(QueueUrl=alvo.saida("url_fila_pedidos_criados_dlq"), MessageBody=corpo)
    sleep(0.01)  # instants are in milliseconds
    for outro in ("OUTRO", PEDIDO):
        humana = {"pedidoId": outro, "compensacoesPendentes": ["LiberarEstoque"]}
        sqs.send_message(QueueUrl=alvo.saida("url_fila_compensacao_falhou"), MessageBody=json.dumps(humana))


def visiveis(alvo: Alvo, saida: str) -> int:
    lidos = alvo.cliente("sqs").get_queue_attributes(QueueUrl=alvo.saida(saida), AttributeNames=["All"])["Attributes"]
    return int(lidos["ApproximateNumberOfMessages"])


def test_every_system_is_in_the_timeline_in_order(alvo: Alvo, sistema: Any, capsys: pytest.CaptureFixture[str]) -> None:
    por_tudo(alvo, sistema)

    assert onde.principal([PEDIDO], alvo) == 0

    tela = capsys.readouterr().out
    linhas = [linha.split("\t") for linha in tela.splitlines() if "\t" in linha][1:]
    assert [(onde_, o_que) for _, onde_, o_que, _ in linhas] == [
        ("log cesta-criar-pedido", "order accepted"),
        ("pedido", "RECEBIDO"),
        ("gateway", "cobrou R$ 140,00"),
        ("log cesta-cobrar-pagamento", "invocation failed (WARNING)"),
        ("estoque", "baixa"),
        ("painel", "PENDENTE → SEPARADO"),
        ("fila", "efeito iniciado"),
        ("fila", "RECUSADO"),
        ("cesta-pedidos-criados-dlq", "mensagem, ainda na DLQ"),
        ("fila humana", "mensagem, ainda na fila"),
    ]
    assert [quando for quando, *_ in linhas] == sorted(quando for quando, *_ in linhas)
    assert linhas[3][3] == "erro X; motivo tok-…"
    assert tela.startswith(f"Pedido {PEDIDO}: RECEBIDO")
    assert TOKEN not in tela
    assert "fora de alcance" not in tela


def test_nothing_is_changed(alvo: Alvo, sistema: Any) -> None:
    por_tudo(alvo, sistema)
    antes = sistema.pedido(PEDIDO)
    filas = ("url_fila_pedidos_criados_dlq", "url_fila_compensacao_falhou")

    onde.principal([PEDIDO], alvo)

    assert sistema.pedido(PEDIDO) == antes
    assert [visiveis(alvo, fila) for fila in filas] == [2, 2]


def test_the_queue_of_a_function_is_counted_and_never_received_from(
    alvo: Alvo, capsys: pytest.CaptureFixture[str]
) -> None:
    registrar(alvo, "cesta-criar-pedido", 1, message="order accepted")
    sqs, url = alvo.cliente("sqs"), alvo.saida("url_fila_pedidos_criados")
    sqs.send_message(QueueUrl=url, MessageBody=json.dumps({"pedidoId": PEDIDO, "cartaoToken": TOKEN}))

    assert onde.principal([PEDIDO], alvo) == 0

    tela = capsys.readouterr().out
    assert "não está na tabela da saga" in tela
    assert "1 mensagem(ns) na fila de entrada" in tela
    [mensagem] = sqs.receive_message(QueueUrl=url, AttributeNames=["All"])["Messages"]
    assert mensagem["Attributes"]["ApproximateReceiveCount"] == "1"


def test_an_unknown_order_is_said_and_fails(alvo: Alvo, sistema: Any, capsys: pytest.CaptureFixture[str]) -> None:
    por_tudo(alvo, sistema)
    assert onde.principal(["01JQ5Z0000000000000000000X"], alvo) == 1
    escrito = capsys.readouterr()
    assert escrito.out == ""
    assert "Nada se sabe do pedido 01JQ5Z0000000000000000000X no alvo aws" in escrito.err


def test_a_system_out_of_reach_does_not_hide_the_others(
    alvo: Alvo, sistema: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    por_tudo(alvo, sistema)
    alvo.cliente("dynamodb").delete_table(TableName="cesta-estoque-baixas")
    assert onde.principal([PEDIDO], alvo) == 0
    tela = capsys.readouterr().out
    assert "aviso: estoque: fora de alcance (ResourceNotFoundException)" in tela
    assert "order accepted" in tela
    assert "RECUSADO" in tela


@pytest.mark.parametrize("numero", ["", "a b", "x" * 49, "../etc"])
def test_what_is_not_an_order_number_is_refused(numero: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as saida:
        onde.principal([numero])
    assert saida.value.code == 2
    assert "não é um número de pedido" in capsys.readouterr().err


@pytest.mark.parametrize("horas", ["nan", "inf", "1e9", "0", "-1", "três", ""])
def test_hours_that_cannot_be_searched_are_refused(horas: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as saida:
        onde.principal([PEDIDO, f"--horas={horas}"])
    assert saida.value.code == 2
    assert "use um número de horas maior que 0 e até 87840" in capsys.readouterr().err


@pytest.mark.parametrize("horas", ["0.5", str(onde.HORAS_MAXIMAS)])
def test_hours_that_can_be_searched_are_where_logs_begin(horas: str) -> None:
    lidas = onde.analisador().parse_args([PEDIDO, "--horas", horas]).horas
    comeco = onde._inicio(onde.Historia("sem-data-no-numero"), lidas)
    esperado = datetime.now(UTC) - timedelta(hours=float(horas)) - onde.FOLGA
    assert abs(comeco - esperado) < timedelta(minutes=1)


def test_without_a_target_it_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path))
    assert onde.principal([PEDIDO]) == 2
    assert "make local-up deploy" in capsys.readouterr().err


def test_each_attempt_that_failed_is_a_line() -> None:
    instantes = iter(datetime(2026, 1, 1, 0, 0, n, tzinfo=UTC) for n in range(9))

    def evento(tipo: str, **detalhes: Any) -> dict[str, Any]:
        return {"type": tipo, "timestamp": next(instantes), **detalhes}

    causa = json.dumps({"errorMessage": "no usable answer", "stackTrace": ["x"]})
    falha = {"taskFailedEventDetails": {"error": "GatewayIndisponivelError", "cause": causa}}
    execucao = ler_historico(
        [
            evento("ExecutionStarted"),
            evento("TaskStateEntered", stateEnteredEventDetails={"name": "CobrarPagamento"}),
            evento("TaskScheduled"),
            evento("TaskFailed", **falha),
            evento("TaskScheduled"),
            evento("TaskSucceeded"),
            evento("TaskStateExited", stateExitedEventDetails={"name": "CobrarPagamento"}),
            evento("ExecutionSucceeded"),
        ]
    )
    assert [(linha.o_que, linha.detalhe) for linha in _linhas("saga", execucao)][1:3] == [
        ("CobrarPagamento", "2 tentativas"),
        ("CobrarPagamento, 1ª tentativa falhou", "GatewayIndisponivelError: no usable answer"),
    ]
