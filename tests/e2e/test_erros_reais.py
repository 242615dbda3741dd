"""Functions run under AWS's own runtime client: the state machine sees real class names, timeouts and crashes."""

from __future__ import annotations

import json

import pytest

from provas.alvo import RAIZ
from provas.saga._apoio import VALOR_CENTAVOS

pytestmark = pytest.mark.e2e


def invocar(bancada, logico, evento):
    """(whether the function failed, what it answered)"""
    r = bancada.alvo.cliente("lambda").invoke(
        FunctionName=bancada.alvo.funcao(logico), Payload=json.dumps(evento).encode()
    )
    return bool(r.get("FunctionError")), json.loads(r["Payload"].read())


@pytest.mark.parametrize(
    ("cartao", "erro"),
    [("tok-forcar-recusa", "CartaoRecusadoError"), ("tok-indisponivel", "GatewayIndisponivelError")],
)
def test_an_error_keeps_its_class_name(bancada, cartao, erro):
    pedido_id = bancada.novo_pedido_id()
    evento = json.loads(bancada.entrada(pedido_id, bancada.criar_estoque(), cartao=cartao))
    falhou, resposta = invocar(bancada, "CobrarPagamento", evento)
    assert falhou
    assert resposta["errorType"] == erro
    assert "tok-" not in json.dumps(resposta)


def test_missing_stock_ends_the_saga_without_compensation(bancada):
    sku = bancada.criar_estoque(saldo=1)
    pedido_id = bancada.novo_pedido_id()
    bancada.publicar(bancada.entrada(pedido_id, sku))
    execucao = bancada.esperar_execucao(pedido_id)
    assert execucao.estados == ["ReservarEstoque", "RegistrarFalhaSemCompensacao"]
    assert [t.erro for t in execucao.visita("ReservarEstoque").tentativas] == ["EstoqueInsuficienteError"]
    assert bancada.status(pedido_id) == "FALHOU_SEM_RESERVA"
    assert bancada.estoque(sku) == (1, {})
    assert bancada.movimentos(pedido_id) == []


def test_a_function_killed_by_its_own_timeout_is_sandbox_timedout(bancada, alvo):
    """The stand-in charges, then sleeps past a time limit cut for this test: Lambda ends it, after the effect."""
    lambda_, funcao = alvo.cliente("lambda"), alvo.funcao("GatewaySimulado")
    antes = lambda_.get_function_configuration(FunctionName=funcao)["Timeout"]
    pedido_id = bancada.novo_pedido_id()
    parametro = alvo.variavel("GatewaySimulado", "PARAMETRO_CHAVE_GATEWAY")
    chave = alvo.cliente("ssm").get_parameter(Name=parametro, WithDecryption=True)["Parameter"]["Value"]
    evento = json.loads((RAIZ / "events" / "GatewaySimulado.json").read_text())
    evento["headers"] |= {"x-api-key": chave, "idempotency-key": f"cesta-cobranca-{pedido_id}"}
    evento["body"] = json.dumps(
        {"valorCentavos": VALOR_CENTAVOS, "cartaoToken": "tok-lento-apos-cobrar", "referencia": pedido_id}
    )

    def com_limite(segundos):
        lambda_.update_function_configuration(FunctionName=funcao, Timeout=segundos)
        lambda_.get_waiter("function_updated_v2").wait(FunctionName=funcao)

    try:
        com_limite(5)
        falhou, resposta = invocar(bancada, "GatewaySimulado", evento)
    finally:
        com_limite(antes)
    assert falhou
    assert resposta.get("errorType") == "Sandbox.Timedout"
    assert [m.dinheiro for m in bancada.movimentos(pedido_id)] == [VALOR_CENTAVOS], "the effect had landed"
