"""With tracing on, an invocation sends X-Ray its subsegment, findable by order, and nothing of what the order says."""

import json
import os
import socket
import subprocess
import sys

import pytest

from engine.settings import ROOT

CARTAO = "tok-que-nao-se-rastreia"
PEDIDO = "01JQ00000000000000000000P1"
ORDEM = {
    "pedidoId": PEDIDO,
    "valorCentavos": 100,
    "cartaoToken": CARTAO,
    "criadoEm": "2099-01-01T00:00:00.000Z",
}
# A charge whose gateway key is out of reach: it goes as far as the AWS client and the error.
CODIGO = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "lambdas")!r})
from pagamentos import cobrar_pagamento
try:
    cobrar_pagamento.handler(json.loads(sys.argv[1]), None)
except Exception as erro:
    print(type(erro).__name__)
"""
# A handler that answers with the card's token, one that fails with it, and one that botocore refuses, quoting it.
INDISCRETOS = {
    "answer": "resultado = evento",
    "failure": "raise RuntimeError(evento['cartaoToken'])",
    "failure of a call": "boto3.client('sqs').send_message(QueueUrl='u', MessageBody=[evento['cartaoToken']])",
}
INDISCRETO = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "lambdas")!r})
import boto3
from comum.observabilidade import observado
@observado
def handler(evento, contexto):
    resultado = None
    %s
    return resultado
try:
    print(json.dumps(handler(json.loads(sys.argv[1]), None)))
except Exception as erro:
    print(type(erro).__name__, erro)
"""


@pytest.fixture
def daemon() -> socket.socket:
    """Where the X-Ray daemon would listen."""
    ouvido = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    ouvido.bind(("127.0.0.1", 0))
    ouvido.settimeout(10)
    return ouvido


def invocar(daemon: socket.socket, ativo: str, codigo: str = CODIGO) -> str:
    ambiente = {
        "PATH": os.environ["PATH"],
        "RASTREAMENTO_ATIVO": ativo,
        "LAMBDA_TASK_ROOT": "/var/task",
        "_X_AMZN_TRACE_ID": "Root=1-65f00000-abcdefabcdefabcdefabcdef;Parent=1234567890abcdef;Sampled=1",
        "AWS_XRAY_DAEMON_ADDRESS": f"127.0.0.1:{daemon.getsockname()[1]}",
        "POWERTOOLS_SERVICE_NAME": "cesta",
        "AWS_REGION": "sa-east-1",
        "AWS_DEFAULT_REGION": "sa-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "URL_GATEWAY": "http://127.0.0.1:9",
        "PARAMETRO_CHAVE_GATEWAY": "/x",
        "TIMEOUT_CONEXAO_GATEWAY_S": "0.5",
        "TIMEOUT_TOTAL_GATEWAY_S": "2",
        "TABELA_DISJUNTOR": "d",
        "DISJUNTOR_FALHAS": "5",
        "DISJUNTOR_JANELA_S": "60",
        "DISJUNTOR_ABERTO_S": "30",
    }
    feito = subprocess.run(
        [sys.executable, "-c", codigo, json.dumps(ORDEM)],
        env=ambiente,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return feito.stdout


def recebido(daemon: socket.socket) -> str:
    """Every segment sent so far."""
    pacotes = []
    while True:
        try:
            pacotes.append(daemon.recv(65536).decode())
        except TimeoutError:
            return "\n".join(pacotes)
        daemon.settimeout(0.2)


def test_on_the_order_can_be_found_and_its_card_cannot(daemon: socket.socket) -> None:
    assert "GatewayIndisponivelError" in invocar(daemon, "true")

    enviado = recebido(daemon)
    cabecalho, _, corpo = enviado.partition("\n")
    assert json.loads(cabecalho)["format"] == "json"
    segmentos = [json.loads(linha) for linha in corpo.splitlines() if '"name"' in linha]
    [do_handler] = [s for s in segmentos if s["name"] == "## handler"]
    assert do_handler["annotations"]["pedidoId"] == PEDIDO
    assert do_handler["trace_id"] == "1-65f00000-abcdefabcdefabcdefabcdef"
    assert {"ssm", "dynamodb"} & {s["name"].lower() for s in [*segmentos, *do_handler.get("subsegments", [])]}
    assert CARTAO not in enviado


@pytest.mark.parametrize("indiscreto", INDISCRETOS)
def test_no_answer_and_no_error_text_is_traced(daemon: socket.socket, indiscreto: str) -> None:
    assert CARTAO in invocar(daemon, "true", INDISCRETO % INDISCRETOS[indiscreto])

    enviado = recebido(daemon)
    assert '"## handler"' in enviado
    # The kind of error and where it was raised are what a trace is for.
    assert ('"stack"' in enviado) == ("failure" in indiscreto)
    assert CARTAO not in enviado


def test_off_nothing_is_sent(daemon: socket.socket) -> None:
    daemon.settimeout(0.2)
    assert "GatewayIndisponivelError" in invocar(daemon, "false")
    assert recebido(daemon) == ""
