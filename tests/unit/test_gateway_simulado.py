"""The stand-in keeps the gateway's contract: one movement per key, whatever is repeated, raced or late."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from comum.http_borda import ProblemaHttp
from desenhos_minimos import gateway_simulado
from desenhos_minimos.gateway_regras import Gateway, PedidoDeCobranca, PedidoDeEstorno
from desenhos_minimos.gateway_tabela import TabelaGateway
from tests.unit.apoio_unit import CHAVE_GATEWAY

TOKEN = "cesta-cobranca-P1"
ESTORNO = "cesta-estorno-P1"


def chamar(metodo: str, caminho: str, corpo: Any = None, chave: str | None = None, **extras: Any) -> tuple[int, Any]:
    cabecalhos = {"content-type": "application/json", "x-api-key": CHAVE_GATEWAY} | extras.pop("cabecalhos", {})
    if chave is not None:
        cabecalhos["idempotency-key"] = chave
    resposta = gateway_simulado.handler(
        {
            "rawPath": caminho,
            "headers": cabecalhos,
            "requestContext": {"http": {"method": metodo}},
            "body": None if corpo is None else json.dumps(corpo),
            **extras,
        },
        None,
    )
    return resposta["statusCode"], json.loads(resposta["body"])


def cobrar(cartao: str = "tok-ok", valor: int = 14000, pedido: str = "P1") -> tuple[int, Any]:
    corpo = {"valorCentavos": valor, "cartaoToken": cartao, "referencia": pedido}
    return chamar("POST", "/cobrancas", corpo, f"cesta-cobranca-{pedido}")


def estornar(pedido: str = "P1", chave: str | None = None) -> tuple[int, Any]:
    corpo = {"tokenCobranca": f"cesta-cobranca-{pedido}"}
    return chamar("POST", "/estornos", corpo, chave or f"cesta-estorno-{pedido}")


def movimentos(pedido: str | None = "P1") -> list[str]:
    consulta = {"queryStringParameters": {"pedidoId": pedido}} if pedido else {}
    status, corpo = chamar("GET", "/movimentos", **consulta)
    assert status == 200
    ordens = [linha["ordem"] for linha in corpo["movimentos"]]
    assert ordens == sorted(ordens)
    return [linha["movimento"] for linha in corpo["movimentos"]]


def test_charge_is_replayed_and_moves_once(sistema: Any) -> None:
    primeira, segunda = cobrar(), cobrar()
    assert primeira == segunda
    assert primeira[0] == 201
    assert primeira[1]["status"] == "APROVADA"
    assert primeira[1]["idTransacao"]
    assert movimentos() == ["COBRANCA_APROVADA"]


def test_refused_card_is_402_replayed_and_takes_nothing(sistema: Any) -> None:
    assert [cobrar("tok-forcar-recusa")[1]["codigo"] for _ in range(2)] == ["CARTAO_RECUSADO"] * 2
    assert cobrar("tok-forcar-recusa")[0] == 402
    assert movimentos() == ["COBRANCA_RECUSADA"]


def test_same_key_with_other_content_is_422(sistema: Any) -> None:
    cobrar()
    assert cobrar(valor=1)[0] == 422
    assert cobrar(valor=1)[1]["codigo"] == "CHAVE_REUTILIZADA"
    estornar()
    status, corpo = chamar("POST", "/estornos", {"tokenCobranca": "cesta-cobranca-P2"}, ESTORNO)
    assert (status, corpo["codigo"]) == (422, "CHAVE_REUTILIZADA")


def test_refund_moves_once_and_is_replayed(sistema: Any) -> None:
    cobrar()
    assert [estornar() for _ in range(3)] == [(201, {"resultado": "ESTORNADA"})] * 3
    assert estornar(chave="outra-chave") == (201, {"resultado": "ESTORNADA"})
    assert movimentos() == ["COBRANCA_APROVADA", "ESTORNO"]


def test_refund_before_the_charge_makes_the_key_unusable_for_ever(sistema: Any) -> None:
    assert estornar() == (201, {"resultado": "NADA_A_ESTORNAR"})
    assert [cobrar()[1]["codigo"] for _ in range(2)] == ["TOKEN_CANCELADO"] * 2
    assert cobrar()[0] == 409
    assert estornar() == (201, {"resultado": "NADA_A_ESTORNAR"})
    assert estornar(chave="outra-chave") == (201, {"resultado": "NADA_A_ESTORNAR"})
    assert movimentos() == ["NADA_A_ESTORNAR", *["COBRANCA_BLOQUEADA"] * 3]


def test_refund_of_a_refused_charge_finds_nothing_and_cancels(sistema: Any) -> None:
    cobrar("tok-forcar-recusa")
    assert estornar() == (201, {"resultado": "NADA_A_ESTORNAR"})
    assert cobrar("tok-forcar-recusa")[1]["codigo"] == "TOKEN_CANCELADO"


def test_unavailable_card_never_charges_and_twice_unavailable_then_does(sistema: Any) -> None:
    assert [cobrar("tok-indisponivel")[0] for _ in range(3)] == [503] * 3
    assert movimentos() == []
    assert [cobrar("tok-indisponivel-2x", pedido="P2")[0] for _ in range(4)] == [503, 503, 201, 201]
    assert movimentos("P2") == ["COBRANCA_APROVADA"]


def test_error_after_charging_is_replayed_until_refunded(sistema: Any) -> None:
    assert [cobrar("tok-erro-apos-cobrar")[0] for _ in range(2)] == [500, 500]
    assert movimentos() == ["COBRANCA_APROVADA"]
    assert chamar("GET", f"/cobrancas/{TOKEN}")[1]["status"] == "APROVADA"
    assert estornar()[1] == {"resultado": "ESTORNADA"}


def test_query_tells_what_a_key_did(sistema: Any) -> None:
    assert chamar("GET", f"/cobrancas/{TOKEN}")[1]["codigo"] == "COBRANCA_INEXISTENTE"
    _, cobranca = cobrar()
    status, visto = chamar("GET", f"/cobrancas/{TOKEN}")
    assert status == 200
    assert visto == {
        "tokenCobranca": TOKEN,
        "status": "APROVADA",
        "valorCentavos": 14000,
        "referencia": "P1",
        "idTransacao": cobranca["idTransacao"],
    }
    estornar()
    assert chamar("GET", f"/cobrancas/{TOKEN}")[1]["status"] == "ESTORNADA"
    estornar("P9")
    assert chamar("GET", "/cobrancas/cesta-cobranca-P9")[0] == 404


def test_ledger_is_ordered_across_orders(sistema: Any) -> None:
    cobrar(pedido="P1")
    cobrar(pedido="P2")
    estornar("P1")
    assert movimentos(None) == ["COBRANCA_APROVADA", "COBRANCA_APROVADA", "ESTORNO"]
    linha = chamar("GET", "/movimentos", queryStringParameters={"pedidoId": "P1"})[1]["movimentos"][-1]
    assert (linha["pedidoId"], linha["tokenCobranca"], linha["valorCentavos"]) == ("P1", TOKEN, 14000)


def test_mode_makes_the_whole_gateway_unavailable_and_back(sistema: Any) -> None:
    assert chamar("GET", "/modo") == (200, {"modo": "NORMAL"})
    assert chamar("PUT", "/modo", {"modo": "INDISPONIVEL"})[0] == 200
    assert [cobrar()[0], estornar()[0], chamar("GET", f"/cobrancas/{TOKEN}")[0]] == [503] * 3
    assert movimentos() == []
    assert chamar("GET", "/saude")[0] == 200
    assert chamar("PUT", "/modo", {"modo": "OUTRO"})[0] == 400
    chamar("PUT", "/modo", {"modo": "NORMAL"})
    assert cobrar()[0] == 201


@pytest.mark.parametrize("chave", [None, "", "a b", "x" * 65, "ç"])
def test_key_is_required_and_well_formed(sistema: Any, chave: str | None) -> None:
    corpo = {"valorCentavos": 1, "cartaoToken": "tok-ok", "referencia": "P1"}
    for caminho in ("/cobrancas", "/estornos"):
        assert chamar("POST", caminho, corpo, chave)[1]["codigo"] == "CHAVE_INVALIDA"


@pytest.mark.parametrize(
    "corpo",
    [
        {},
        {"valorCentavos": 0, "cartaoToken": "tok-ok", "referencia": "P1"},
        {"valorCentavos": 1, "cartaoToken": "4111111111111111", "referencia": "P1"},
        {"valorCentavos": 1, "cartaoToken": "tok-ok", "referencia": "P1", "extra": 1},
    ],
)
def test_body_out_of_contract_is_400_and_echoes_nothing(sistema: Any, corpo: Any) -> None:
    status, resposta = chamar("POST", "/cobrancas", corpo, TOKEN)
    assert (status, resposta["codigo"]) == (400, "CORPO_INVALIDO")
    assert "411111111111" not in json.dumps(resposta)


@pytest.mark.parametrize("cabecalhos", [{"x-api-key": "errada"}, {"x-api-key": ""}, {"x-api-key": "ç"}])
def test_api_key_is_checked_on_every_route_but_health(sistema: Any, cabecalhos: dict[str, str]) -> None:
    for metodo, caminho in [
        ("POST", "/cobrancas"),
        ("POST", "/estornos"),
        ("GET", f"/cobrancas/{TOKEN}"),
        ("GET", "/movimentos"),
        ("PUT", "/modo"),
        ("GET", "/nada"),
    ]:
        assert chamar(metodo, caminho, {}, cabecalhos=cabecalhos)[0] == 401
    assert chamar("GET", "/saude", cabecalhos=cabecalhos)[0] == 200


def test_unknown_route_is_404(sistema: Any) -> None:
    assert chamar("DELETE", "/cobrancas")[1]["codigo"] == "ROTA_INEXISTENTE"
    assert chamar("GET", "/")[1]["codigo"] == "ROTA_INEXISTENTE"


class Cenario:
    """The stand-in with a clock of its own and something to do while a charge waits."""

    def __init__(self, sistema: Any) -> None:
        self.agora = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.enquanto_espera: Callable[[], object] = lambda: None
        self.tabela = TabelaGateway(sistema.dynamodb, "cesta-gateway-simulado", lambda: self.agora)
        self.gateway = Gateway(
            self.tabela, 5, 0, dormir=lambda s: self.enquanto_espera() and None, relogio=lambda: self.agora
        )

    def cobrar(self, cartao: str = "tok-ok") -> str:
        pedido = PedidoDeCobranca(valorCentavos=14000, cartaoToken=cartao, referencia="P1")
        return desfecho(lambda: self.gateway.cobrar(TOKEN, pedido))

    def estornar(self) -> str:
        return desfecho(lambda: self.gateway.estornar(ESTORNO, PedidoDeEstorno(tokenCobranca=TOKEN)))

    def uma_vez_enquanto_espera(self, acao: Callable[[], str]) -> list[str]:
        vistos: list[str] = []

        def agir() -> None:
            self.enquanto_espera = lambda: None
            vistos.append(acao())

        self.enquanto_espera = agir
        return vistos

    def movimentos(self) -> list[str]:
        return [linha["movimento"] for linha in self.tabela.movimentos("P1")]


def desfecho(acao: Callable[[], Any]) -> str:
    try:
        corpo = json.loads(acao()["body"])
    except ProblemaHttp as recusa:
        return str(recusa.extras["codigo"])
    return str(corpo.get("status") or corpo["resultado"])


@pytest.fixture
def cenario(sistema: Any) -> Cenario:
    return Cenario(sistema)


def test_key_in_flight_answers_409_to_charge_and_refund(cenario: Cenario) -> None:
    cobrancas = cenario.uma_vez_enquanto_espera(cenario.cobrar)
    assert cenario.cobrar() == "APROVADA"
    assert cobrancas == ["EM_ANDAMENTO"]
    assert cenario.movimentos() == ["COBRANCA_APROVADA"]


def test_refund_while_the_charge_is_in_flight_waits(cenario: Cenario) -> None:
    estornos = cenario.uma_vez_enquanto_espera(cenario.estornar)
    assert cenario.cobrar() == "APROVADA"
    assert estornos == ["EM_ANDAMENTO"]
    assert cenario.estornar() == "ESTORNADA"


def test_charge_whose_decider_died_is_taken_over(cenario: Cenario) -> None:
    assert cenario.tabela.reivindicar(TOKEN, "outra", 1, "P1")[0]
    assert cenario.cobrar() == "CHAVE_REUTILIZADA"
    cenario.agora += timedelta(seconds=31)
    assert cenario.estornar() == "NADA_A_ESTORNAR"
    assert cenario.cobrar() == "TOKEN_CANCELADO"


def test_dead_claim_with_the_same_content_charges_once(cenario: Cenario) -> None:
    def reaparecer() -> str:
        cenario.agora += timedelta(seconds=31)
        return cenario.cobrar()

    segunda = cenario.uma_vez_enquanto_espera(reaparecer)
    assert (
        cenario.cobrar() == "APROVADA"
    )  # the first decider wakes up, lost the claim, and answers what the other decided
    assert segunda == ["APROVADA"]
    assert cenario.movimentos() == ["COBRANCA_APROVADA"]


def test_charge_after_the_client_gave_up_meets_the_refund_that_came_first(cenario: Cenario) -> None:
    estornos = cenario.uma_vez_enquanto_espera(cenario.estornar)
    assert cenario.cobrar("tok-cobra-depois") == "TOKEN_CANCELADO"
    assert estornos == ["NADA_A_ESTORNAR"]
    assert cenario.movimentos() == ["NADA_A_ESTORNAR", "COBRANCA_BLOQUEADA"]


def test_late_charge_without_a_refund_lands_once(cenario: Cenario) -> None:
    repetida = cenario.uma_vez_enquanto_espera(lambda: cenario.cobrar("tok-cobra-depois"))
    assert cenario.cobrar("tok-cobra-depois") == "APROVADA"
    assert repetida == ["APROVADA"]
    assert cenario.movimentos() == ["COBRANCA_APROVADA"]


def test_after_24_h_a_key_is_forgotten_but_a_cancelled_one_is_not(cenario: Cenario) -> None:
    cenario.cobrar()
    cenario.agora += timedelta(hours=24)
    assert cenario.cobrar() == "APROVADA"
    assert cenario.movimentos() == ["COBRANCA_APROVADA"] * 2  # what a client that does not ask first would cause
    cenario.estornar()
    outro = TabelaGateway(cenario.tabela._dynamodb, "cesta-gateway-simulado", lambda: cenario.agora)
    outro.cancelar("e", "i", "cesta-cobranca-P2", None)
    cenario.agora += timedelta(days=400)
    assert not outro.reivindicar("cesta-cobranca-P2", "i", 1, "P2")[0]


OPERACOES = st.lists(
    st.sampled_from(["tok-ok", "tok-forcar-recusa", "tok-indisponivel", "tok-erro-apos-cobrar", "estorno"]), max_size=8
)


@given(operacoes=OPERACOES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_money_of_a_key_is_never_taken_twice_nor_given_twice(sistema: Any, operacoes: list[str]) -> None:
    cenario = Cenario(sistema)
    for item in sistema.dynamodb.scan(TableName="cesta-gateway-simulado")["Items"]:
        sistema.dynamodb.delete_item(TableName="cesta-gateway-simulado", Key={"pk": item["pk"], "sk": item["sk"]})
    saldo = 0
    for operacao in operacoes:
        resultado = cenario.estornar() if operacao == "estorno" else cenario.cobrar(operacao)
        linhas = cenario.movimentos()
        saldo = linhas.count("COBRANCA_APROVADA") - linhas.count("ESTORNO")
        assert saldo in (0, 1)
        if resultado in ("ESTORNADA", "NADA_A_ESTORNAR"):
            assert saldo == 0
    if "estorno" in operacoes:
        assert saldo == 0
