"""The panel on the deployed target: its proofs, its two recovery tools, and its page in a real browser."""

from __future__ import annotations

import json
import shutil

import pytest
from permissoes import invocar
from sondas_painel import (
    Bancada,
    cancelado_apos_separado,
    com_lacuna,
    esquecer_no_painel,
    mensagem_de_falha,
    registros_do_stream,
)

from operacao import reconciliar, reprocessar
from provas.base import Contexto
from provas.executor import executar_uma
from provas.registro import provas_de

pytestmark = pytest.mark.e2e


@pytest.fixture
def painel(alvo):
    bancada = Bancada(Contexto(alvo))
    yield bancada
    assert bancada.limpar() == []


@pytest.mark.parametrize("numero", provas_de("painel"))
def test_proof(alvo, numero):
    r = executar_uma("painel", provas_de("painel")[numero], Contexto(alvo))
    falhas = [f"{c.descricao}: esperado {c.esperado}; visto {c.visto}" for c in r.falhas]
    assert r.passou, "\n".join(falhas + r.erros)
    assert r.registro.linhas_do_tempo or r.registro.tabelas, "a proof shows its evidence"


def test_discarded_records_come_back_from_the_stream(alvo, painel, capsys):
    pedido = cancelado_apos_separado(painel)
    antes = [(i["de"], i["para"], i["em"], i["sequencia"]) for i in painel.itens(pedido)]
    registros = registros_do_stream(painel, pedido)
    esquecer_no_painel(painel, pedido)
    sqs, fila = alvo.cliente("sqs"), alvo.saida("dlq_url")
    sqs.send_message(QueueUrl=fila, MessageBody=json.dumps(mensagem_de_falha(painel, registros)))
    assert reprocessar.principal(["--alvo", alvo.nome]) == 0
    assert "reprocessada: 2 transições de 2 registros" in capsys.readouterr().out
    assert [(i["de"], i["para"], i["em"], i["sequencia"]) for i in painel.itens(pedido)] == antes
    assert painel.itens(pedido, "ATUAL")[0]["status"] == "CANCELADO"


def test_records_past_the_retention_are_said_to_be_gone(alvo, painel, capsys):
    pedido = cancelado_apos_separado(painel)
    registros = registros_do_stream(painel, pedido)
    mensagem = mensagem_de_falha(painel, registros)
    mensagem["DDBStreamBatchInfo"] |= {"startSequenceNumber": "1".zfill(21), "endSequenceNumber": "2".zfill(21)}
    sqs, fila = alvo.cliente("sqs"), alvo.saida("dlq_url")
    painel.ao_limpar("fila de falhas", lambda: sqs.purge_queue(QueueUrl=fila))
    sqs.send_message(QueueUrl=fila, MessageBody=json.dumps(mensagem))
    assert reprocessar.principal(["--alvo", alvo.nome]) == 1
    saida = capsys.readouterr().out
    assert "passaram as 24 h" in saida
    assert "scripts/reconciliar.sh" in saida


def test_a_gap_is_found_marked_and_told(alvo, painel, capsys):
    fila = painel.assinar_reposicao()
    pedido = com_lacuna(painel)
    assert reconciliar.principal(["--alvo", alvo.nome, "--loja", painel.loja, "--carencia", "0"]) == 0
    saida = capsys.readouterr().out
    assert pedido in saida
    lacuna = painel.itens(pedido, "LACUNA#")[0]
    assert (lacuna["ultimoConhecido"], lacuna["encontrado"]) == ("SEPARADO", "CANCELADO")
    assert len(painel.itens(pedido)) == 1  # no transition was invented
    alertas = painel.esperar_ate(
        lambda: [a for a in painel.alertas(fila, pedido) if a["origem"] == "reconciliacao"], 30, "alerta da lacuna"
    )
    assert len(alertas) == 1


def test_a_poison_record_does_not_pass_in_silence(alvo):
    registro = {"eventName": "MODIFY", "dynamodb": {"Keys": {"PK": {"S": "PEDIDO#x"}, "SK": {"S": "METADADOS"}}}}
    falhou, resposta = invocar(alvo, "ConsumidorPedidos", {"Records": [registro]})
    assert falhou
    assert resposta["errorType"] == "LoteFalhouError"


def test_the_page_opens_from_its_address_and_moves(alvo, painel):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium: the deployed page was NOT opened in a browser (apt-get install chromium)")
    from playwright.sync_api import expect, sync_playwright

    pedido = painel.criar_pedido()
    painel.mudar(pedido, "SEPARADO")
    painel.esperar_transicoes(pedido, 1)
    with sync_playwright() as motor:
        navegador = motor.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        pagina = navegador.new_page()
        pagina.goto(f"{alvo.saida('url_painel')}?loja={painel.loja}")
        expect(pagina.locator(f"[data-status=SEPARADO] [data-pedido='{pedido}']")).to_be_visible(timeout=15_000)
        painel.mudar(pedido, "CANCELADO")
        expect(pagina.locator("#reposicao-lista li")).to_contain_text(pedido, timeout=15_000)
        navegador.close()
