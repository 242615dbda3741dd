"""``make varredura`` over what the tests before this one left in the deployed system: the last file in the alphabet."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ulid import ULID

from provas.alvo import Alvo
from tests.comando import digitar

pytestmark = pytest.mark.e2e

TOKEN = "tok-plantado-por-um-teste"
CONSUMIDAS = ("url_fila_pedidos_criados", "fila_pedidos_url")


@pytest.fixture
def plantado(alvo: Alvo) -> Iterator[str]:
    """A log group with a token in it, whose name is returned, and a queue with a clean message; deleted after."""
    nome, logs, sqs = f"cesta-varredura-{ULID()}", alvo.cliente("logs"), alvo.cliente("sqs")
    grupo = f"/aws/lambda/{nome}"
    fila = sqs.create_queue(QueueName=nome)["QueueUrl"]
    try:
        sqs.send_message(QueueUrl=fila, MessageBody="nada")
        logs.create_log_group(logGroupName=grupo)
        logs.create_log_stream(logGroupName=grupo, logStreamName="1")
        evento = {"timestamp": int(time.time() * 1000), "message": f"pagou com {TOKEN}"}
        logs.put_log_events(logGroupName=grupo, logStreamName="1", logEvents=[evento])
        yield grupo
    finally:
        sqs.delete_queue(QueueUrl=fila)
        logs.delete_log_group(logGroupName=grupo)


def test_this_file_is_the_last_one() -> None:
    assert max(Path(__file__).parent.glob("test_*.py")).name == Path(__file__).name


def test_what_is_planted_is_all_that_is_found(alvo: Alvo, bancada, plantado: str) -> None:
    sku, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    bancada.publicar(bancada.entrada(pedido_id, sku))
    bancada.esperar_execucao(pedido_id)

    varrida = digitar(["make", "varredura", f"ALVO={alvo.nome}"])

    dito = varrida.stdout + varrida.stderr
    achados = [linha.partition("ACHADO ")[2] for linha in varrida.stdout.splitlines() if "ACHADO" in linha]
    assert achados == [f"token de cartão {TOKEN[:7]}… em log {plantado}"], dito
    assert varrida.returncode != 0
    assert TOKEN not in dito
    lidos = {fonte: int(n) for n, fonte in re.findall(r"(\d+) (logs|mensagens|execuções|métricas|tabelas)\b", dito)}
    assert len(lidos) == 5, dito
    assert min(lidos.values()) > 0, dito
    nao_lidas = next(linha for linha in varrida.stdout.splitlines() if linha.startswith("não lidas"))
    assert set(nao_lidas.partition(": ")[2].split(", ")) == {alvo.saida(s).rpartition("/")[2] for s in CONSUMIDAS}
