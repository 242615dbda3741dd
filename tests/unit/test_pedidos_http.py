"""POST and GET of orders: what is accepted, what is refused and how it is told, what survives a crash."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from comum import aws
from comum.contrato import EntradaSaga, ler
from pedidos import consultar_pedido, criar_pedido
from pedidos.mensagens import FALHA_GENERICA
from pedidos.novo_pedido import novo_pedido_id

VALIDO = {"sku": "CAFE-500G", "quantidade": 2, "valorCentavos": 14000, "cartaoToken": "tok-ok"}


def criar(corpo: Any = VALIDO, **cabecalhos: str) -> dict[str, Any]:
    resposta: dict[str, Any] = criar_pedido.handler(
        {
            "rawPath": "/pedidos",
            "headers": {"content-type": "application/json"}
            | {nome.replace("_", "-"): valor for nome, valor in cabecalhos.items()},
            "requestContext": {"http": {"method": "POST", "path": "/pedidos"}},
            "body": corpo if isinstance(corpo, str) else json.dumps(corpo),
        },
        None,
    )
    return resposta


def consultar(pedido_id: str) -> dict[str, Any]:
    resposta: dict[str, Any] = consultar_pedido.handler(
        {
            "rawPath": f"/pedidos/{pedido_id}",
            "requestContext": {"http": {"method": "GET"}},
            "pathParameters": {"pedidoId": pedido_id},
        },
        None,
    )
    return resposta


def corpo(resposta: dict[str, Any]) -> dict[str, Any]:
    lido: dict[str, Any] = json.loads(resposta["body"])
    return lido


def test_accepted_order_is_published_in_canonical_form(sistema: Any, saida: Any) -> None:
    resposta = criar()
    assert resposta["statusCode"] == 202
    assert corpo(resposta)["status"] == "RECEBIDO"
    pedido_id = corpo(resposta)["pedidoId"]
    assert resposta["headers"]["Location"] == f"pedidos/{pedido_id}"
    [mensagem] = sistema.mensagens()
    entrada = ler(EntradaSaga, json.loads(mensagem))
    assert mensagem == entrada.canonico()
    assert (entrada.pedidoId, entrada.sku, entrada.cartaoToken) == (pedido_id, "CAFE-500G", "tok-ok")
    assert saida.metricas() == {"PedidosRecebidos": 1}
    assert saida.linhas()[-1]["correlation_id"] == pedido_id


def test_ids_sort_by_time_and_are_execution_names() -> None:
    ids = [novo_pedido_id() for _ in range(50)]
    assert len(set(ids)) == 50
    assert all(len(pedido_id) == 26 and pedido_id.isalnum() for pedido_id in ids)


@pytest.mark.parametrize(
    ("mudanca", "campo"),
    [
        ({"quantidade": 0}, "quantidade"),
        ({"quantidade": 1001}, "quantidade"),
        ({"quantidade": "2"}, "quantidade"),
        ({"quantidade": True}, "quantidade"),
        ({"valorCentavos": 0}, "valorCentavos"),
        ({"valorCentavos": 10_000_001}, "valorCentavos"),
        ({"valorCentavos": 9.99}, "valorCentavos"),
        ({"sku": "cafe"}, "sku"),
        ({"sku": ""}, "sku"),
        ({"cartaoToken": "abc"}, "cartaoToken"),
        ({"desconto": 10}, "campo desconhecido"),
        ({"pedidoId": "X"}, "campo desconhecido"),
        ({"forcarFalhaEstorno": True}, "campo desconhecido"),
    ],
)
def test_invalid_order_is_400_naming_the_field(sistema: Any, saida: Any, mudanca: dict[str, Any], campo: str) -> None:
    resposta = criar(VALIDO | mudanca)
    assert resposta["statusCode"] == 400
    assert resposta["headers"]["Content-Type"].startswith("application/problem+json")
    assert corpo(resposta)["type"] == "urn:cesta:problema:pedido-invalido"
    assert [erro["campo"] for erro in corpo(resposta)["erros"]] == [campo]
    assert sistema.mensagens() == []
    assert saida.metricas() == {"PedidosRecusados": 1}


def test_missing_fields_are_all_named(sistema: Any) -> None:
    erros = corpo(criar({}))["erros"]
    assert {erro["campo"]: erro["motivo"] for erro in erros} == dict.fromkeys(VALIDO, "campo obrigatório")


@pytest.mark.parametrize(
    ("pedido", "cabecalhos"),
    [
        (VALIDO | {"cartaoToken": "4111 1111 1111 1111"}, {}),
        (VALIDO | {"cartaoToken": "tok-4111111111111111"}, {}),
        (VALIDO | {"sku": "4111-1111-1111-1111"}, {}),
        (VALIDO | {"quantidade": 4111111111111111}, {}),
        (VALIDO | {"obs": {"x": ["cartao 5555-5555-5555-4444"]}}, {}),
        (VALIDO | {"4111111111111111": 1}, {}),
        (VALIDO, {"idempotency_key": "4111111111111111"}),
    ],
)
def test_card_number_has_its_own_refusal_and_leaves_no_trace(
    sistema: Any, saida: Any, pedido: dict[str, Any], cabecalhos: dict[str, str]
) -> None:
    resposta = criar(pedido, **cabecalhos)
    assert resposta["statusCode"] == 400
    assert corpo(resposta)["type"] == "urn:cesta:problema:numero-de-cartao"
    rastro = saida.tudo() + json.dumps(resposta)
    for numero in ("4111111111111111", "4111 1111", "4111-1111", "5555-5555"):
        assert numero not in rastro
    assert sistema.mensagens() == []


def test_repeated_post_answers_and_publishes_one_order(sistema: Any, saida: Any) -> None:
    primeira, segunda = (criar(idempotency_key="k-1") for _ in range(2))
    assert primeira == segunda
    assert len(sistema.mensagens()) == 1
    assert saida.metricas() == {"PedidosRecebidos": 1, "RequisicoesRepetidas": 1}
    assert criar(idempotency_key="k-2")["body"] != primeira["body"]


def test_a_key_and_a_token_drawn_in_hexadecimal_are_no_card(sistema: Any) -> None:
    """Their digits pass Luhn by chance: the client could only be refused for ever."""
    pedido = VALIDO | {"cartaoToken": "tok-a4111111111111111b3c4d5e6f708192"}
    assert criar(pedido, idempotency_key="42914177-7631-4706-8690-12ab34cd56ef")["statusCode"] == 202


def test_key_convention(sistema: Any) -> None:
    assert criar(idempotency_key="")["statusCode"] == 400
    criar(idempotency_key="k-1")
    assert criar(VALIDO | {"quantidade": 3}, idempotency_key="k-1")["statusCode"] == 422
    reordenado = json.dumps(dict(reversed(VALIDO.items())), indent=2)
    assert criar(reordenado, idempotency_key="k-1")["statusCode"] == 202


def falha_de_envio(erro: Exception) -> Any:
    def enviar(**_: Any) -> None:
        raise erro

    return enviar


@pytest.mark.parametrize(
    "erro",
    [
        ClientError({"Error": {"Code": "ServiceUnavailable"}}, "SendMessage"),
        EndpointConnectionError(endpoint_url="http://sqs"),
    ],
)
def test_refused_by_the_queue_is_503_and_the_retry_keeps_the_order(
    sistema: Any, saida: Any, monkeypatch: pytest.MonkeyPatch, erro: Exception
) -> None:
    with monkeypatch.context() as sabotagem:
        sabotagem.setattr(aws.sqs(), "send_message", falha_de_envio(erro))
        recusada = criar(idempotency_key="k-1")
    assert recusada["statusCode"] == 503
    assert int(recusada["headers"]["Retry-After"]) > 0
    assert "PedidosRecebidos" not in saida.metricas()
    aceita = criar(idempotency_key="k-1")
    assert aceita["statusCode"] == 202
    assert len(sistema.mensagens()) == 1


def test_crash_after_publishing_repeats_the_same_message(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Morte(BaseException):
        pass

    with monkeypatch.context() as sabotagem:
        sabotagem.setattr(criar_pedido._chaves(), "concluir", falha_de_envio(Morte()))
        sabotagem.setattr(criar_pedido._chaves(), "concluir", lambda *_: (_ for _ in ()).throw(Morte()))
        with pytest.raises(Morte):
            criar(idempotency_key="k-1")
    assert criar(idempotency_key="k-1")["statusCode"] == 409
    # the dead request's claim expires
    [item] = sistema.dynamodb.scan(TableName="cesta-idempotencia-api")["Items"]
    sistema.dynamodb.put_item(TableName="cesta-idempotencia-api", Item=item | {"posse": {"N": "1"}})
    assert criar(idempotency_key="k-1")["statusCode"] == 202
    primeira, segunda = sistema.mensagens()
    assert primeira == segunda


def test_order_is_shown_step_by_step(sistema: Any) -> None:
    passos = [
        {"M": {"status": {"S": status}, "em": {"S": f"2026-03-01T12:00:0{i}.000Z"}, "passo": {"S": passo}}}
        for i, (status, passo) in enumerate(
            [
                ("RECEBIDO", "IniciarSaga"),
                ("RESERVADO", "RegistrarReservado"),
                ("RESERVADO", "RegistrarReservado"),
                ("CONFIRMADO", "ConfirmarPedido"),
            ]
        )
    ]
    sistema.por_pedido(
        "P1",
        "CONFIRMADO",
        sku={"S": "CAFE-500G"},
        quantidade={"N": "2"},
        valorCentavos={"N": "14000"},
        criadoEm={"S": "2026-03-01T12:00:00.000Z"},
        atualizadoEm={"S": "2026-03-01T12:00:03.000Z"},
        historico={"L": passos},
    )
    resposta = consultar("P1")
    assert resposta["statusCode"] == 200
    visto = corpo(resposta)
    assert (visto["status"], visto["quantidade"], visto["valorCentavos"]) == ("CONFIRMADO", 2, 14000)
    assert [passo["status"] for passo in visto["historico"]] == ["RECEBIDO", "RESERVADO", "CONFIRMADO"]
    assert [passo["em"][17:19] for passo in visto["historico"]] == ["00", "01", "03"]
    assert "motivo" not in visto


@pytest.mark.parametrize(
    ("status", "erro", "trecho"),
    [
        ("FALHOU_COMPENSADO", "CartaoRecusadoError", "cartão foi recusado"),
        ("FALHOU_SEM_RESERVA", "EstoqueInsuficienteError", "Não há unidades suficientes"),
        ("REQUER_INTERVENCAO_HUMANA", "GatewayIndisponivelError", "serviço de pagamento"),
        ("FALHOU_COMPENSADO", "States.Timeout", FALHA_GENERICA),
    ],
)
def test_reason_is_in_words_a_customer_understands(sistema: Any, status: str, erro: str, trecho: str) -> None:
    motivo = {"M": {"erro": {"S": erro}, "causa": {"S": '{"stackTrace": ["x.py"]}'}}}
    sistema.por_pedido("P1", status, motivo=motivo)
    resposta = consultar("P1")
    assert trecho in corpo(resposta)["motivo"]
    assert erro not in resposta["body"]
    assert "stackTrace" not in resposta["body"]


def test_unknown_and_malformed_ids(sistema: Any, saida: Any) -> None:
    assert consultar("P404")["statusCode"] == 404
    for ruim in ("", "a b", "x" * 49, "ç", "4111111111111111"):
        assert consultar(ruim)["statusCode"] == 400
    assert "4111111111111111" not in saida.tudo()


def test_status_of_another_version_still_answers(sistema: Any) -> None:
    sistema.por_pedido("P1", "STATUS_DO_FUTURO")
    assert corpo(consultar("P1"))["descricao"] == "Estamos verificando seu pedido."
