"""A person finishes what automation could not, with the very script they would type."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from subprocess import CompletedProcess

import pytest

from provas.alvo import Alvo
from provas.saga._apoio import QUANTIDADE, SALDO_INICIAL, VALOR_CENTAVOS
from provas.saga._gateway import saldo_liquido
from tests.comando import digitar

pytestmark = [pytest.mark.e2e, pytest.mark.incidente, pytest.mark.timeout(1200)]

PEDIDOS_NA_QUEDA = 50
JUNTOS = 5
"""Orders sent at once: the local engine runs a process per call, and a starved one times out for no fault of ours."""


def rodar(alvo: Alvo, *argumentos: str) -> CompletedProcess[str]:
    return digitar([sys.executable, "-m", "operacao.intervencao", "--alvo", alvo.nome, *argumentos], limite_s=300)


def na_fila(alvo: Alvo) -> int:
    """Messages in the human queue, visible or held."""
    lidos = alvo.cliente("sqs").get_queue_attributes(
        QueueUrl=alvo.saida("url_fila_compensacao_falhou"), AttributeNames=["All"]
    )["Attributes"]
    return int(lidos["ApproximateNumberOfMessages"]) + int(lidos["ApproximateNumberOfMessagesNotVisible"])


def estado_do_alarme(alvo: Alvo) -> str:
    nome = alvo.saida("nome_alarme_compensacao")
    return str(alvo.cliente("cloudwatch").describe_alarms(AlarmNames=[nome])["MetricAlarms"][0]["StateValue"])


def parar(bancada) -> tuple[str, str]:
    """An order of its own, charged, reserved, and waiting for a person."""
    bancada.exigir_injecao("IniciarSaga", "ConfirmarPedido", "EstornarPagamento")
    sku, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    bancada.publicar(bancada.entrada(pedido_id, sku, forcarFalhaConfirmar=True, forcarFalhaEstorno=True))
    bancada.esperar_execucao(pedido_id)
    assert bancada.status(pedido_id) == "REQUER_INTERVENCAO_HUMANA"
    return sku, pedido_id


@pytest.fixture(autouse=True)
def fila_vazia(alvo: Alvo) -> Iterator[None]:
    assert na_fila(alvo) == 0, "another order's message is in the human queue: it must not be touched"
    yield


def test_the_order_of_proof_5_is_seen_undone_and_the_alarm_goes_out(alvo, bancada):
    sku, pedido_id = parar(bancada)
    prazos = alvo.prazos
    bancada.esperar_ate(lambda: estado_do_alarme(alvo), prazos.alarme_dispara, "ALARM", ate=lambda e: e == "ALARM")

    [listado] = json.loads(rodar(alvo, "listar", "--json").stdout)["pedidos"]
    assert (listado["pedidoId"], listado["valorCentavos"]) == (pedido_id, VALOR_CENTAVOS)
    assert listado["compensacoesPendentes"] == ["EstornarPagamento", "LiberarEstoque"]
    mostrado = rodar(alvo, "mostrar", pedido_id)
    assert mostrado.returncode == 0
    assert "CompensacaoFalhouParaFilaHumana" in mostrado.stdout
    assert "tok-" not in mostrado.stdout

    feito = rodar(alvo, "reprocessar", pedido_id, "--sim")
    assert feito.returncode == 0, feito.stdout + feito.stderr
    assert bancada.status(pedido_id) == "FALHOU_COMPENSADO"
    assert bancada.estoque(sku) == (SALDO_INICIAL, {})
    assert [m.dinheiro for m in bancada.movimentos(pedido_id) if m.dinheiro] == [VALOR_CENTAVOS, -VALOR_CENTAVOS]
    assert na_fila(alvo) == 0
    bancada.esperar_ate(lambda: estado_do_alarme(alvo), prazos.alarme_normaliza, "OK", ate=lambda e: e == "OK")

    assert rodar(alvo, "reprocessar", pedido_id, "--sim").returncode == 1, "nothing is left to do"
    assert [m.dinheiro for m in bancada.movimentos(pedido_id) if m.dinheiro] == [VALOR_CENTAVOS, -VALOR_CENTAVOS]


def test_an_order_ended_by_hand_keeps_why_and_gives_its_units_back(alvo, bancada):
    sku, pedido_id = parar(bancada)
    motivo = "estorno feito no painel do gateway"
    feito = rodar(alvo, "encerrar", pedido_id, "--motivo", motivo, "--por", "teste", "--estoque", "liberar", "--sim")
    assert feito.returncode == 0, feito.stdout + feito.stderr
    pedido = bancada.pedido(pedido_id)
    assert (pedido["status"], pedido["encerramento"]["motivo"]) == ("ENCERRADO_MANUALMENTE", motivo)
    assert bancada.estoque(sku) == (SALDO_INICIAL, {})
    assert na_fila(alvo) == 0


def test_orders_of_an_outage_are_drained_when_the_gateway_is_back(alvo, bancada):
    """Charge and refund fail together; afterwards one command leaves no order, no unit and no centavo astray."""
    sku = bancada.criar_estoque(saldo=PEDIDOS_NA_QUEDA * QUANTIDADE)
    pedidos = [bancada.novo_pedido_id() for _ in range(PEDIDOS_NA_QUEDA)]
    bancada.livro.mudar_modo("INDISPONIVEL")
    bancada.ao_limpar("gateway de volta", lambda: bancada.livro.mudar_modo("NORMAL"))
    for inicio in range(0, PEDIDOS_NA_QUEDA, JUNTOS):
        leva = pedidos[inicio : inicio + JUNTOS]
        for pedido_id in leva:
            bancada.publicar(bancada.entrada(pedido_id, sku))
        for pedido_id in leva:
            bancada.esperar_ate(
                lambda p=pedido_id: bancada.situacao_execucao(p),
                240,
                "a saga terminar durante a queda",
                ate=lambda s: s not in ("RUNNING", "inexistente"),
            )
    esperando = [p for p in pedidos if bancada.status(p) == "REQUER_INTERVENCAO_HUMANA"]
    assert len(esperando) == PEDIDOS_NA_QUEDA
    assert bancada.estoque(sku)[0] == 0
    assert bancada.circuito() != "FECHADO", "the charges of an outage stop reaching the gateway"

    bancada.livro.mudar_modo("NORMAL")
    comeco = time.monotonic()
    # A breaker that is still open when the first attempt comes leaves its orders for the next one, and loses nothing.
    for _ in range(5):
        feito = rodar(alvo, "reprocessar", "--todos", "--sim")
        if feito.returncode == 0:
            break
        time.sleep(5)
    print(f"{PEDIDOS_NA_QUEDA} orders drained in {time.monotonic() - comeco:.1f} s")
    assert feito.returncode == 0, feito.stdout + feito.stderr
    assert {bancada.status(p) for p in pedidos} == {"FALHOU_COMPENSADO"}
    assert bancada.estoque(sku) == (PEDIDOS_NA_QUEDA * QUANTIDADE, {})
    assert {saldo_liquido(bancada.movimentos(p)) for p in pedidos} == {0}
    assert na_fila(alvo) == 0
