"""The sample events are real: each one drives its handler from the way in to the answer, in the order of the saga."""

import json
from pathlib import Path
from typing import Any

import pytest

from comum.http_borda import ler_requisicao
from desenhos_minimos import criar_pedido_sincrono, gateway_simulado
from estoque import baixar_reserva, conferir_reservas, liberar_estoque, reservar_estoque
from fila.modelos import MensagemDePedido, NovoPedido
from pagamentos import cobrar_pagamento, conferir_cobrancas, estornar_pagamento
from painel.transicao import ler_transicao
from pedidos import confirmar_pedido, consultar_pedido, criar_pedido, iniciar_saga
from tests.unit.apoio_unit import FUNCOES, cliente

RAIZ = Path(__file__).resolve().parents[2]


def evento(nome: str) -> Any:
    return json.loads((RAIZ / "events" / f"{nome}.json").read_text())


def test_every_function_has_a_sample_event_and_every_sample_a_function() -> None:
    assert set(FUNCOES) == {arquivo.stem for arquivo in (RAIZ / "events").glob("*.json")}


def test_samples_of_the_other_systems_are_readable() -> None:
    transicao = ler_transicao(evento("ConsumidorPedidos")["Records"][0])
    assert transicao is not None
    assert transicao.pede_reposicao
    [registro] = evento("ConsumidorFila")["Records"]
    mensagem = MensagemDePedido.model_validate_json(registro["body"])
    assert mensagem.pedidoId == registro["messageAttributes"]["PedidoId"]["stringValue"]
    for nome in ("ApiPedidosFila", "PedidoSincronoFila"):
        assert NovoPedido.model_validate(ler_requisicao(evento(nome)).json()).lojaId == mensagem.lojaId
    assert ler_requisicao(evento("PainelApi")).parametros == {"loja": transicao.loja}


def test_samples_walk_one_order_through_the_saga(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sistema.por_estoque("CAFE-500G", 10)
    assert criar_pedido.handler(evento("CriarPedido"), None)["statusCode"] == 202
    assert iniciar_saga.handler(evento("IniciarSaga"), None) == {"batchItemFailures": []}
    pedido_id = evento("ReservarEstoque")["pedidoId"]
    assert reservar_estoque.handler(evento("ReservarEstoque"), None)["resultado"] == "RESERVADA"
    sistema.dynamodb.update_item(
        TableName="cesta-pedidos",
        Key={"pedidoId": {"S": pedido_id}},
        UpdateExpression="SET #status = :r",
        ExpressionAttributeNames={"#status": "status"},
        ExpressionAttributeValues={":r": {"S": "RESERVADO"}},
    )
    assert confirmar_pedido.handler(evento("ConfirmarPedido"), None)["resultado"] == "CONFIRMADO"
    visto = consultar_pedido.handler(evento("ConsultarPedido"), None)
    assert json.loads(visto["body"])["status"] == "CONFIRMADO"
    assert baixar_reserva.handler(evento("BaixarReserva"), None) == {"batchItemFailures": []}
    assert sistema.estoque("CAFE-500G") == (8, {})
    assert liberar_estoque.handler(evento("LiberarEstoque"), None)["resultado"] == "NADA_A_LIBERAR"
    assert conferir_reservas.handler(evento("ConferirReservas"), None)["completa"] is True
    assert conferir_cobrancas.handler(evento("ConferirCobrancas"), None)["completa"] is True


def test_payment_samples(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cliente("ssm").put_parameter(
        Name="/cesta/chave-gateway", Value="chave-de-exemplo", Type="SecureString", Overwrite=True
    )
    assert gateway_simulado.handler(evento("GatewaySimulado"), None)["statusCode"] == 201
    from pagamentos.erros import GatewayIndisponivelError

    for handler, nome in (
        (cobrar_pagamento.handler, "CobrarPagamento"),
        (estornar_pagamento.handler, "EstornarPagamento"),
    ):
        with pytest.raises(GatewayIndisponivelError):  # the sample is readable; nobody listens at this address
            handler(evento(nome), None)


def test_minimal_architecture_sample(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sistema.por_estoque("CAFE-500G", 10, reservas={"M": {}})
    monkeypatch.setattr(criar_pedido_sincrono, "_cobrar", lambda pedido: True)
    assert criar_pedido_sincrono.handler(evento("CriarPedidoSincrono"), None)["status"] == "CONFIRMADO"
