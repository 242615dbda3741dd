"""After the saga: confirmed orders leave the stock item by the stream, and the checks heal what was left behind."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from permissoes import invocar
from sondas_conferencias import MUITO_ANTES, conferir_ate, esquecer, marca, por_pedido, registro, reservar
from ulid import ULID

from operacao import intervencao
from provas.saga._apoio import QUANTIDADE, SALDO_INICIAL

pytestmark = [pytest.mark.e2e, pytest.mark.incidente]


def test_a_confirmed_order_leaves_the_stock_item_by_itself(bancada):
    sku, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    bancada.publicar(bancada.entrada(pedido_id, sku))
    bancada.esperar_execucao(pedido_id)
    assert bancada.status(pedido_id) == "CONFIRMADO"
    bancada.esperar_ate(
        lambda: bancada.estoque(sku),
        30,
        "a baixa da reserva",
        ate=lambda visto: visto == (SALDO_INICIAL - QUANTIDADE, {}),
    )
    assert marca(bancada, pedido_id)["quantidade"] == QUANTIDADE


def test_an_order_that_is_undone_is_not_written_off(bancada):
    sku, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    bancada.publicar(bancada.entrada(pedido_id, sku, cartao="tok-forcar-recusa"))
    bancada.esperar_execucao(pedido_id)
    assert bancada.estoque(sku) == (SALDO_INICIAL, {})
    assert marca(bancada, pedido_id) is None


def test_the_incident_of_the_lab_heals(bancada, alvo):
    """Proof 6's order: the process died between the reserve and the write. Its time passes in the check's memory."""
    sku, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    evento = {**json.loads(bancada.entrada(pedido_id, sku)), "forcarInterrupcaoAposReserva": True}
    falhou, resposta = invocar(alvo, "CriarPedidoSincrono", evento)
    assert (falhou, resposta["errorType"]) == (True, "Runtime.ExitError")
    assert bancada.estoque(sku) == (SALDO_INICIAL - QUANTIDADE, {pedido_id: QUANTIDADE})
    esquecer(bancada, pedido_id, sku=sku)
    nome = f"avistada#{sku}#{pedido_id}"

    visto = conferir_ate(bancada, "ConferirReservas", lambda: bancada._item("tabela_conferencias", "nome", nome))
    assert visto.funcionou, visto.visto
    assert bancada.estoque(sku)[1] == {pedido_id: QUANTIDADE}, "too early to be sure"

    limite = int(alvo.variavel("ConferirReservas", "LIMITE_RESERVA_S"))
    antes = int((datetime.now(UTC) - timedelta(seconds=limite)).timestamp())
    alvo.cliente("dynamodb").update_item(
        TableName=alvo.saida("tabela_conferencias"),
        Key={"nome": {"S": nome}},
        UpdateExpression="SET em = :antes",
        ExpressionAttributeValues={":antes": {"N": str(antes)}},
    )
    visto = conferir_ate(bancada, "ConferirReservas", lambda: bancada.estoque(sku) == (SALDO_INICIAL, {}))
    assert visto.funcionou, visto.visto


def test_a_reserve_that_lands_after_the_write_off_goes_back(bancada, alvo):
    sku, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    por_pedido(bancada, pedido_id, "CONFIRMADO", sku)
    reservar(bancada, sku, pedido_id)
    falhou, resposta = invocar(alvo, "BaixarReserva", {"Records": [registro(pedido_id, sku)]})
    assert (falhou, resposta) == (False, {"batchItemFailures": []})
    reservar(bancada, sku, pedido_id)
    assert bancada.estoque(sku) == (SALDO_INICIAL - 2 * QUANTIDADE, {pedido_id: QUANTIDADE})
    depois = (SALDO_INICIAL - QUANTIDADE, {})
    visto = conferir_ate(bancada, "ConferirReservas", lambda: bancada.estoque(sku) == depois)
    assert visto.funcionou, visto.visto


def test_an_orphan_charge_reaches_a_person_once(bancada, alvo):
    sku, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    falhou, resposta = invocar(alvo, "CobrarPagamento", json.loads(bancada.entrada(pedido_id, sku)))
    assert not falhou, resposta
    por_pedido(bancada, pedido_id, "FALHOU_COMPENSADO", sku, ha=MUITO_ANTES)
    esquecer(bancada, pedido_id)
    corpos = []

    def chegou():
        mensagem = bancada.mensagem_humana(pedido_id)
        if mensagem is not None:
            corpos.append(json.loads(mensagem["Body"]))
            bancada.apagar_mensagem_humana(mensagem)
        return bool(corpos)

    visto = conferir_ate(bancada, "ConferirCobrancas", chegou)
    assert visto.funcionou, visto.visto
    assert corpos[0]["compensacoesPendentes"] == ["EstornarPagamento", "LiberarEstoque"]
    assert corpos[0]["executionArn"] == bancada.arn_execucao(pedido_id)
    for _ in range(2):
        falhou, resposta = invocar(alvo, "ConferirCobrancas", {})
        assert (falhou, resposta["completa"]) == (False, True)
        chegou()
    assert len(corpos) == 1


def test_the_schedules_invoke_the_checks(alvo, bancada):
    """One start, now, with the deployed schedule's own target and role."""
    agenda = alvo.cliente("scheduler")
    for funcao, expressao in (("ConferirReservas", "rate(5 minutes)"), ("ConferirCobrancas", "rate(15 minutes)")):
        onde = alvo.saida("agendamentos")[alvo.funcao(funcao)]
        lida = agenda.get_schedule(GroupName=onde["grupo"], Name=onde["nome"])
        assert (lida["State"], lida["ScheduleExpression"]) == ("ENABLED", expressao)
        assert lida["Target"]["Arn"].endswith(f":function:{alvo.funcao(funcao)}")

        tabela, cursor = (
            alvo.saida("tabela_conferencias"),
            f"cursor#{onde['nome'].removeprefix('cesta-')}".replace("-", "_"),
        )
        chave = {"nome": {"S": cursor}}
        alvo.cliente("dynamodb").delete_item(TableName=tabela, Key=chave)
        uma_vez = f"e2e-{ULID()}"  # the engine remembers the names it started, deleted ones included
        agenda.create_schedule(
            GroupName=onde["grupo"],
            Name=uma_vez,
            ScheduleExpression=(datetime.now(UTC) - timedelta(seconds=1)).strftime("at(%Y-%m-%dT%H:%M:%S)"),
            FlexibleTimeWindow={"Mode": "OFF"},
            ActionAfterCompletion="NONE",
            Target={"Arn": lida["Target"]["Arn"], "RoleArn": lida["Target"]["RoleArn"]},
        )
        bancada.ao_limpar(uma_vez, lambda g=onde["grupo"], n=uma_vez: agenda.delete_schedule(GroupName=g, Name=n))
        bancada.esperar_ate(
            lambda t=tabela, c=chave: alvo.cliente("dynamodb").get_item(TableName=t, Key=c).get("Item"),
            90,
            f"{funcao} ser chamada pelo agendamento",
        )


@pytest.mark.parametrize("status", ["RESERVADO", "FALHOU_COMPENSADO"])
def test_a_person_undoes_what_the_check_found(bancada, alvo, status):
    """The message of the check is one the intervention tool understands: the charge is refunded, the queue empties."""
    sku, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    falhou, resposta = invocar(alvo, "CobrarPagamento", json.loads(bancada.entrada(pedido_id, sku)))
    assert not falhou, resposta
    por_pedido(bancada, pedido_id, status, sku, ha=MUITO_ANTES)
    esquecer(bancada, pedido_id)
    conferir_ate(bancada, "ConferirCobrancas", lambda: bancada._item("tabela_conferencias", "nome", aviso(pedido_id)))

    assert intervencao.principal(["--alvo", alvo.nome, "reprocessar", pedido_id, "--sim"]) == 0
    assert sum(m.dinheiro for m in bancada.movimentos(pedido_id)) == 0
    assert len(bancada.movimentos(pedido_id)) == 2
    assert bancada.status(pedido_id) == "FALHOU_COMPENSADO"
    assert bancada.mensagem_humana(pedido_id) is None


def aviso(pedido_id):
    """Where the check remembers that people were told."""
    return f"avisado#pessoa#{pedido_id}"
