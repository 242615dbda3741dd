"""A seeded sample of the fault matrix on the local engine, with the faults on the network."""

from __future__ import annotations

import os

import pytest
from falhas_de_rede import ROUTES, card, network, schedules

from provas.saga._apoio import FINAIS, QUANTIDADE, SALDO_INICIAL, VALOR_CENTAVOS
from tests.faults.schedules import Schedule

pytestmark = [pytest.mark.e2e, pytest.mark.incidente]

SAMPLE = int(os.environ.get("FALHAS_DE_REDE", "10"))
SEED = 7


def problems(bancada, order, sku):
    """Everything wrong with how one order ended."""
    status = bancada.status(order)
    balance, held = bancada.estoque(sku)
    money = [movement.dinheiro for movement in bancada.movimentos(order) if movement.dinheiro]
    wrong = []
    if status not in FINAIS:
        wrong.append(f"order ended {status}")
    if money not in ([], [VALOR_CENTAVOS], [VALOR_CENTAVOS, -VALOR_CENTAVOS]):
        wrong.append(f"money moved {money}")
    confirmed, with_a_person = status == "CONFIRMADO", status == "REQUER_INTERVENCAO_HUMANA"
    gone = QUANTIDADE if confirmed and not held else 0  # written off
    if balance + sum(held.values()) + gone != SALDO_INICIAL:
        wrong.append(f"units lost: balance {balance}, held {held}, sold {gone}")
    if confirmed and (sum(money), balance) != (VALOR_CENTAVOS, SALDO_INICIAL - QUANTIDADE):
        wrong.append(f"confirmed with {sum(money)} paid and balance {balance}")
    if not confirmed and not with_a_person and (sum(money), held) != (0, {}):
        wrong.append(f"{status} with {sum(money)} paid and {held} held")
    if with_a_person and sum(money) and not held:
        wrong.append("a person is asked about money without goods")
    message = bancada.esperar_ate(lambda: bancada.mensagem_humana(order), 10, "fila humana") if with_a_person else None
    if with_a_person and not message:
        wrong.append("a person is needed and no message says so")
    if message:
        bancada.apagar_mensagem_humana(message)
    return wrong


@pytest.mark.timeout(600)
def test_a_sample_of_schedules_keeps_every_promise(bancada):
    bancada.exigir_injecao("ConfirmarPedido")
    with network(bancada.alvo) as between:
        started = []
        for schedule in schedules(SAMPLE, SEED):
            order, sku = bancada.novo_pedido_id(), bancada.criar_estoque()
            between.break_for(order, schedule)
            marks = {"forcarFalhaConfirmar": True} if ROUTES[schedule.route].get("forcar") else {}
            bancada.publicar(bancada.entrada(order, sku, cartao=card(schedule), **marks))
            started.append((schedule, order, sku))
        wrong = []
        for schedule, order, sku in started:
            execution = bancada.esperar_execucao(order)
            wrong += [f"{schedule}  {problem} ({execution.estados})" for problem in problems(bancada, order, sku)]
        assert wrong == []
        assert between.fired() > SAMPLE // 2


def test_each_fate_is_what_its_name_says(bancada):
    """Whether the units are held, after a reserve that failed as far as the function could tell."""
    with network(bancada.alvo) as between:

        def reserve(fate):
            order, sku = bancada.novo_pedido_id(), bancada.criar_estoque()
            if fate:
                between.break_for(order, Schedule.parse(f"nothing-else/ReservarEstoque#1:{fate}"))
            answer = bancada.alvo.cliente("lambda").invoke(
                FunctionName=bancada.alvo.funcao("ReservarEstoque"), Payload=bancada.entrada(order, sku).encode()
            )
            return bool(answer.get("FunctionError")), sku, {order: QUANTIDADE}

        failed, sku, held = reserve(None)
        assert (failed, bancada.estoque(sku)) == (False, (SALDO_INICIAL - QUANTIDADE, held))
        for fate in ("fail-after", "lost-late"):
            failed, sku, held = reserve(fate)
            assert failed, fate
            bancada.esperar_ate(lambda sku=sku: bancada.estoque(sku)[1], 10, "a reserva atrasada")
            assert bancada.estoque(sku) == (SALDO_INICIAL - QUANTIDADE, held), fate
        for fate in ("fail-before", "throttled", "hang-before"):
            failed, sku, _ = reserve(fate)
            assert (failed, bancada.estoque(sku)) == (True, (SALDO_INICIAL, {})), fate
