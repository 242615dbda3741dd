"""What the business asks is counted, in the embedded metric format, when it really happens and not when it is tried."""

from contextlib import suppress
from typing import Any

import pytest

from estoque import baixar_reserva, conferir_reservas, liberar_estoque, reservar_estoque
from pagamentos import cobrar_pagamento, estornar_pagamento
from tests.unit.test_baixar_reserva import registro
from tests.unit.test_correlacao import SKU

CRIADO_EM = "2026-03-01T12:00:00.000Z"
PASSO = "RegistrarRequerIntervencaoHumana"


def estado(pedido: str = "P1", cartao: str = "tok-ok") -> dict[str, Any]:
    from comum.relogio import agora_iso

    return {
        "pedidoId": pedido,
        "sku": SKU,
        "quantidade": 2,
        "valorCentavos": 14000,
        "cartaoToken": cartao,
        "criadoEm": agora_iso(),
    }


@pytest.fixture
def contadas(sistema: Any, gateway_no_ar: None, saida: Any) -> Any:
    sistema.por_estoque(SKU, 10)
    return saida.metricas


def test_compensations(contadas: Any) -> None:
    reservar_estoque.handler(estado(), None)
    cobrar_pagamento.handler(estado(), None)
    assert contadas() == {}
    estornar_pagamento.handler(estado(), None)
    liberar_estoque.handler(estado(), None)
    assert contadas() == {"EstornosFeitos": 1, "ReservasLiberadas": 1}

    estornar_pagamento.handler(estado("P2"), None)  # nothing was charged, nothing reserved: nothing is undone
    liberar_estoque.handler(estado("P2"), None)
    assert contadas() == {"EstornosFeitos": 1, "ReservasLiberadas": 1}


def test_refusals(contadas: Any) -> None:
    with suppress(Exception):
        cobrar_pagamento.handler(estado(cartao="tok-forcar-recusa"), None)
    with suppress(Exception):
        reservar_estoque.handler(estado() | {"quantidade": 11}, None)
    assert contadas() == {"CartoesRecusados": 1, "EstoqueInsuficiente": 1}


def test_duplicates_dropped(contadas: Any) -> None:
    for _ in range(2):
        reservar_estoque.handler(estado(), None)
    for _ in range(2):
        liberar_estoque.handler(estado(), None)
    assert contadas() == {"DuplicatasDescartadas": 2, "ReservasLiberadas": 1}


def entregue_a_pessoa(passo: str, pedido: str = "P1", evento: str = "MODIFY") -> dict[str, Any]:
    historico = {"L": [{"M": {"passo": {"S": "IniciarSaga"}}}, {"M": {"passo": {"S": passo}}}]}
    return registro(pedido, status="REQUER_INTERVENCAO_HUMANA", historico=historico) | {"eventName": evento}


def test_human_interventions(contadas: Any, sistema: Any) -> None:
    antes = sistema.estoque(SKU)
    lote = {"Records": [entregue_a_pessoa(PASSO, "P1"), entregue_a_pessoa(PASSO, "P2", "INSERT")]}
    for _ in range(2):  # the stream sends again
        assert baixar_reserva.handler(lote, None)["batchItemFailures"] == []
        assert contadas() == {"IntervencoesHumanas": 2}
    # What a person's own tools write under the same status asks nobody for anything.
    for passo in ("AssumirPedido", "intervencao"):
        baixar_reserva.handler({"Records": [entregue_a_pessoa(passo, "P3")]}, None)
    assert contadas() == {"IntervencoesHumanas": 2}
    assert sistema.estoque(SKU) == antes


def test_an_order_left_to_a_person_and_then_confirmed_is_still_written_off(contadas: Any, sistema: Any) -> None:
    reservar_estoque.handler(estado(), None)
    baixar_reserva.handler({"Records": [entregue_a_pessoa(PASSO)]}, None)
    baixar_reserva.handler({"Records": [registro()]}, None)
    assert contadas() == {"IntervencoesHumanas": 1, "ReservasBaixadas": 1}
    assert sistema.estoque(SKU) == (8, {})


def test_the_step_that_asks_for_a_person_is_a_state_of_the_saga() -> None:
    import json

    from engine.settings import ROOT

    estados = json.loads((ROOT / "asl" / "saga-pedido.asl.json").read_text())["States"]
    assert baixar_reserva.PASSO_QUE_CHAMA_PESSOA in estados


def test_orphans_healed(contadas: Any, sistema: Any) -> None:
    reservar_estoque.handler(estado(), None)
    sistema.por_pedido("P1", "FALHOU_COMPENSADO", sku={"S": SKU}, atualizadoEm={"S": CRIADO_EM})
    conferir_reservas.handler({}, None)
    assert contadas() == {"ItensConferidos": 1, "OrfasLiberadas": 1}
    assert sistema.estoque(SKU)[0] == 10
