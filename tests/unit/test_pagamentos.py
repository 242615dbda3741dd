"""Charge and refund through the real HTTP client, against the stand-in and against servers that misbehave."""

import contextlib
import functools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from comum.erros import PedidoInvalidoError
from comum.processo import esquecer
from comum.relogio import agora, para_iso
from desenhos_minimos import gateway_simulado
from pagamentos import cobrar_pagamento, estornar_pagamento, fabrica
from pagamentos.configuracao import MARGEM_S, ConfiguracaoPagamentos
from pagamentos.erros import (
    CartaoRecusadoError,
    CobrancaCanceladaError,
    CobrancaDivergenteError,
    GatewayIndisponivelError,
    RespostaInesperadaGatewayError,
)
from tests.unit.apoio_unit import CHAVE_GATEWAY, Contexto, cliente

Atendimento = Callable[[BaseHTTPRequestHandler, bytes], None]

# How long a slow server holds a call, and the deadline of who does not wait for it. A machine that stalls is late by
# less than what lies between them; nothing here waits for the longer one.
SEGURA_S, POUCO_S = 30.0, 0.5


@contextlib.contextmanager
def servidor(atender: Atendimento) -> Iterator[str]:
    """A loopback HTTP server; yields its address."""

    class Pedido(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _atender(self) -> None:
            corpo = self.rfile.read(int(self.headers.get("content-length", 0)))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                atender(self, corpo)

        do_GET = do_POST = do_PUT = _atender

        def log_message(self, *_: Any) -> None:
            return

    ouvinte = ThreadingHTTPServer(("127.0.0.1", 0), Pedido)
    ouvinte.daemon_threads = True
    fio = threading.Thread(target=ouvinte.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    fio.start()
    try:
        yield f"http://127.0.0.1:{ouvinte.server_port}"
    finally:
        ouvinte.shutdown()
        ouvinte.server_close()


def responder(pedido: BaseHTTPRequestHandler, status: int, corpo: bytes, **cabecalhos: str) -> None:
    pedido.send_response(status)
    for nome, valor in cabecalhos.items():
        pedido.send_header(nome.replace("_", "-"), valor)
    pedido.send_header("Content-Length", str(len(corpo)))
    pedido.end_headers()
    pedido.wfile.write(corpo)


@contextlib.contextmanager
def pouco_prazo(segundos: float = POUCO_S) -> Iterator[None]:
    """Inside, a deadline that the slow cards miss."""
    with pytest.MonkeyPatch.context() as ambiente:
        ambiente.setenv("TIMEOUT_TOTAL_GATEWAY_S", str(segundos))
        ambiente.setenv("TIMEOUT_CONEXAO_GATEWAY_S", str(segundos))
        esquecer()
        yield
    esquecer()


def estado(cartao: str = "tok-ok", pedido: str = "P1", criado_em: str | None = None, **extras: Any) -> dict[str, Any]:
    return {
        "pedidoId": pedido,
        "sku": "CAFE-500G",
        "quantidade": 2,
        "valorCentavos": 14000,
        "cartaoToken": cartao,
        "criadoEm": criado_em or para_iso(agora()),
        **extras,
    }


def cobrar(*argumentos: Any, contexto: Any = None, **extras: Any) -> dict[str, Any]:
    resposta: dict[str, Any] = cobrar_pagamento.handler(estado(*argumentos, **extras), contexto)
    return resposta


def estornar(*argumentos: Any, contexto: Any = None, **extras: Any) -> str:
    resultado: str = estornar_pagamento.handler(estado(*argumentos, **extras), contexto)["resultado"]
    return resultado


def movimentos(pedido: str = "P1") -> list[str]:
    return [linha["movimento"] for linha in gateway_simulado._tabela().movimentos(pedido)]


def aguardar(condicao: Callable[[], bool]) -> None:
    fim = time.monotonic() + SEGURA_S
    while not condicao():
        assert time.monotonic() < fim, "condition not reached"
        time.sleep(0.02)


def test_charge_and_its_duplicate_are_one_transaction(gateway_no_ar: None) -> None:
    primeira, segunda = cobrar(), cobrar()
    assert primeira["resultado"] == "APROVADA"
    assert primeira["idTransacao"] == segunda["idTransacao"]
    assert movimentos() == ["COBRANCA_APROVADA"]


def test_refused_card_is_named(gateway_no_ar: None, saida: Any) -> None:
    with pytest.raises(CartaoRecusadoError):
        cobrar("tok-forcar-recusa")
    assert saida.metricas()["CartoesRecusados"] == 1


def test_unavailable_gateway_is_an_unknown_outcome(gateway_no_ar: None) -> None:
    with pytest.raises(GatewayIndisponivelError) as falha:
        cobrar("tok-indisponivel")
    assert falha.value.detalhes == {"motivo": "HTTP_503"}
    for _ in range(2):
        with pytest.raises(GatewayIndisponivelError):
            cobrar("tok-indisponivel-2x", "P2")
    assert cobrar("tok-indisponivel-2x", "P2")["resultado"] == "APROVADA"


def test_error_after_charging_is_refunded_by_the_compensation(gateway_no_ar: None) -> None:
    with pytest.raises(GatewayIndisponivelError):
        cobrar("tok-erro-apos-cobrar")
    assert movimentos() == ["COBRANCA_APROVADA"]
    assert estornar() == "ESTORNADA"
    assert movimentos() == ["COBRANCA_APROVADA", "ESTORNO"]


@pytest.fixture
def acordar(gateway_no_ar: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The slow cards are slow until this is set, which the end of the test does."""
    evento = threading.Event()

    def dormir(segundos: float) -> None:
        if segundos:
            evento.wait(SEGURA_S)

    monkeypatch.setattr(gateway_simulado, "Gateway", functools.partial(gateway_simulado.Gateway, dormir=dormir))
    yield evento
    evento.set()


def cobrar_sem_esperar(cartao: str) -> None:
    """A charge that is sent, which takes a busy machine a while, and whose answer is lost to the deadline."""
    inicio = time.monotonic()
    with pouco_prazo(2), pytest.raises(GatewayIndisponivelError) as falha:
        cobrar(cartao)
    assert falha.value.detalhes["motivo"] in {"PRAZO", "ReadTimeoutError"}
    assert time.monotonic() - inicio < SEGURA_S - 5


def test_answer_lost_to_the_deadline_is_found_by_the_retry(acordar: threading.Event) -> None:
    cobrar_sem_esperar("tok-lento-apos-cobrar")
    aguardar(lambda: movimentos() == ["COBRANCA_APROVADA"])
    assert cobrar("tok-lento-apos-cobrar")["resultado"] == "APROVADA"
    assert movimentos() == ["COBRANCA_APROVADA"]


def test_charge_that_lands_after_the_refund_takes_no_money(acordar: threading.Event) -> None:
    cobrar_sem_esperar("tok-cobra-depois")
    assert estornar() == "NADA_A_ESTORNAR"
    acordar.set()
    aguardar(lambda: "COBRANCA_BLOQUEADA" in movimentos())
    assert movimentos() == ["NADA_A_ESTORNAR", "COBRANCA_BLOQUEADA"]
    with pytest.raises(CobrancaCanceladaError):
        cobrar("tok-cobra-depois")


def test_undo_before_do_then_duplicates(gateway_no_ar: None) -> None:
    assert [estornar() for _ in range(2)] == ["NADA_A_ESTORNAR"] * 2
    with pytest.raises(CobrancaCanceladaError):
        cobrar()
    assert movimentos() == ["NADA_A_ESTORNAR", "COBRANCA_BLOQUEADA"]


def test_refund_is_counted_and_happens_once(gateway_no_ar: None, saida: Any) -> None:
    cobrar()
    assert [estornar() for _ in range(2)] == ["ESTORNADA"] * 2
    assert movimentos() == ["COBRANCA_APROVADA", "ESTORNO"]
    assert saida.metricas()["EstornosFeitos"] == 2


def test_key_used_with_other_content_is_an_unknown_outcome(gateway_no_ar: None) -> None:
    cobrar()
    with pytest.raises(CobrancaDivergenteError):
        cobrar(valorCentavos=1)


ONTEM = timedelta(hours=24, seconds=1)


class TestPastTheWindow:
    """The gateway has forgotten the keys: the client asks before it acts."""

    @pytest.fixture(autouse=True)
    def gateway_esquecido(self, gateway_no_ar: None) -> None:
        tabela = gateway_simulado._tabela()
        self.hoje = tabela._relogio
        tabela._relogio = lambda: datetime.now(UTC) - ONTEM
        self.criado_em = para_iso(datetime.now(UTC) - ONTEM)

    def voltar(self) -> None:
        gateway_simulado._tabela()._relogio = self.hoje

    def test_charge_is_found_and_not_repeated(self) -> None:
        primeira = cobrar(criado_em=self.criado_em)
        self.voltar()
        assert cobrar(criado_em=self.criado_em)["idTransacao"] == primeira["idTransacao"]
        assert movimentos() == ["COBRANCA_APROVADA"]

    def test_without_asking_the_same_charge_would_be_taken_twice(self) -> None:
        cobrar(criado_em=self.criado_em)
        self.voltar()
        cobrar()  # a client that believes the order is recent
        assert movimentos() == ["COBRANCA_APROVADA"] * 2

    def test_refused_and_refunded_charges_are_not_tried_again(self) -> None:
        with pytest.raises(CartaoRecusadoError):
            cobrar("tok-forcar-recusa", criado_em=self.criado_em)
        cobrar("tok-ok", "P2", criado_em=self.criado_em)
        estornar("tok-ok", "P2", criado_em=self.criado_em)
        self.voltar()
        with pytest.raises(CartaoRecusadoError):
            cobrar("tok-forcar-recusa", criado_em=self.criado_em)
        with pytest.raises(CobrancaCanceladaError):
            cobrar("tok-ok", "P2", criado_em=self.criado_em)
        assert estornar("tok-ok", "P2", criado_em=self.criado_em) == "ESTORNADA"
        assert movimentos() == ["COBRANCA_RECUSADA"]
        assert movimentos("P2") == ["COBRANCA_APROVADA", "ESTORNO"]

    def test_never_charged_is_charged_and_charged_is_refunded(self) -> None:
        self.voltar()
        assert cobrar(criado_em=self.criado_em)["resultado"] == "APROVADA"
        assert estornar(criado_em=self.criado_em) == "ESTORNADA"
        assert estornar("tok-ok", "P2", criado_em=self.criado_em) == "NADA_A_ESTORNAR"


def test_rotated_api_key_is_read_again(gateway_no_ar: None, sistema: Any) -> None:
    cobrar()
    cliente("ssm").put_parameter(Name="/cesta/chave-gateway", Value="chave-nova", Type="SecureString", Overwrite=True)
    gateway_simulado._segredo().esquecer()
    with pytest.raises(GatewayIndisponivelError) as falha:
        cobrar("tok-ok", "P2")
    assert falha.value.detalhes == {"motivo": "CREDENCIAL"}
    assert cobrar("tok-ok", "P2")["resultado"] == "APROVADA"


def test_missing_api_key_sends_nothing(gateway_no_ar: None, sistema: Any) -> None:
    cliente("ssm").delete_parameter(Name="/cesta/chave-gateway")
    with pytest.raises(GatewayIndisponivelError) as falha:
        cobrar()
    assert falha.value.detalhes == {"motivo": "CREDENCIAL"}
    assert falha.value.__context__ is None


def contra(atender: Atendimento, monkeypatch: pytest.MonkeyPatch, acao: Callable[[], Any]) -> float:
    """Run an action against a server of this behaviour; returns how long it took, in seconds."""
    esquecer()
    with servidor(atender) as url:
        monkeypatch.setenv("URL_GATEWAY", url)
        inicio = time.monotonic()
        acao()
        return time.monotonic() - inicio


def fixa(status: int, corpo: str, **cabecalhos: str) -> Atendimento:
    return lambda pedido, _: responder(pedido, status, corpo.encode(), **cabecalhos)


@pytest.mark.parametrize(
    ("status", "corpo", "erro"),
    [
        (201, "{}", RespostaInesperadaGatewayError),
        (201, "nada", RespostaInesperadaGatewayError),
        (201, "[]", RespostaInesperadaGatewayError),
        (201, '{"idTransacao":"t","status":"PENDENTE"}', RespostaInesperadaGatewayError),
        (201, '{"idTransacao":"","status":"APROVADA"}', RespostaInesperadaGatewayError),
        (201, '{"x":"' + "y" * 70_000 + '"}', RespostaInesperadaGatewayError),
        (204, "", RespostaInesperadaGatewayError),
        (302, "{}", RespostaInesperadaGatewayError),
        (400, '{"codigo":"CORPO_INVALIDO"}', RespostaInesperadaGatewayError),
        (402, "{}", RespostaInesperadaGatewayError),
        (402, '{"codigo":"OUTRO"}', RespostaInesperadaGatewayError),
        (404, "{}", RespostaInesperadaGatewayError),
        (409, "{}", RespostaInesperadaGatewayError),
        (409, '{"codigo":"EM_ANDAMENTO"}', GatewayIndisponivelError),
        (409, '{"codigo":"TOKEN_CANCELADO"}', CobrancaCanceladaError),
        (422, '{"codigo":"CHAVE_REUTILIZADA"}', CobrancaDivergenteError),
        (401, "{}", GatewayIndisponivelError),
        (429, "{}", GatewayIndisponivelError),
        (500, "<html>", GatewayIndisponivelError),
        (503, "", GatewayIndisponivelError),
    ],
)
def test_every_answer_to_a_charge_has_a_name(
    sistema: Any, monkeypatch: pytest.MonkeyPatch, status: int, corpo: str, erro: type[Exception]
) -> None:
    def acao() -> None:
        with pytest.raises(erro) as falha:
            cobrar()
        assert type(falha.value) is erro

    contra(fixa(status, corpo, Location="http://127.0.0.1:9/"), monkeypatch, acao)


@pytest.mark.parametrize(
    ("status", "corpo", "erro"),
    [
        (201, '{"resultado":"TALVEZ"}', RespostaInesperadaGatewayError),
        (201, "{}", RespostaInesperadaGatewayError),
        (404, "{}", RespostaInesperadaGatewayError),
        (409, '{"codigo":"EM_ANDAMENTO"}', GatewayIndisponivelError),
        (422, '{"codigo":"CHAVE_REUTILIZADA"}', CobrancaDivergenteError),
        (500, "", GatewayIndisponivelError),
    ],
)
def test_every_answer_to_a_refund_has_a_name(
    sistema: Any, monkeypatch: pytest.MonkeyPatch, status: int, corpo: str, erro: type[Exception]
) -> None:
    def acao() -> None:
        with pytest.raises(erro) as falha:
            estornar()
        assert type(falha.value) is erro

    contra(fixa(status, corpo), monkeypatch, acao)


@pytest.mark.parametrize("corpo", ['{"message":"Not Found"}', '{"codigo":"ROTA_INEXISTENTE"}'])
def test_a_wrong_address_is_not_taken_for_never_charged(
    sistema: Any, monkeypatch: pytest.MonkeyPatch, corpo: str
) -> None:
    metodos: list[str] = []

    def atender(pedido: BaseHTTPRequestHandler, _: bytes) -> None:
        metodos.append(pedido.command)
        if pedido.command == "GET":
            responder(pedido, 404, corpo.encode())
        else:
            responder(pedido, 201, b'{"idTransacao":"t","status":"APROVADA"}')

    def acao() -> None:
        with pytest.raises(RespostaInesperadaGatewayError):
            cobrar(criado_em=para_iso(agora() - ONTEM))

    contra(atender, monkeypatch, acao)
    assert metodos == ["GET"]


def silencio(pedido: BaseHTTPRequestHandler, _: bytes) -> None:
    time.sleep(SEGURA_S)


def gotejar_corpo(pedido: BaseHTTPRequestHandler, _: bytes) -> None:
    pedido.send_response(201)
    pedido.send_header("Content-Length", "1000")
    pedido.end_headers()
    for _indice in range(int(SEGURA_S / 0.05)):
        pedido.wfile.write(b" ")
        pedido.wfile.flush()
        time.sleep(0.05)


def gotejar_cabecalho(pedido: BaseHTTPRequestHandler, _: bytes) -> None:
    pedido.wfile.write(b"HTTP/1.1 201 Created\r\n")
    for indice in range(int(SEGURA_S / 0.05)):
        pedido.wfile.write(f"X-{indice}: 1\r\n".encode())
        pedido.wfile.flush()
        time.sleep(0.05)


def cortar(pedido: BaseHTTPRequestHandler, _: bytes) -> None:
    pedido.send_response(201)
    pedido.send_header("Content-Length", "1000")
    pedido.end_headers()
    pedido.wfile.write(b'{"idTransacao"')
    pedido.wfile.flush()
    pedido.connection.shutdown(socket.SHUT_RDWR)


def desligar(pedido: BaseHTTPRequestHandler, _: bytes) -> None:
    pedido.connection.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("atender", [silencio, gotejar_corpo, gotejar_cabecalho, cortar, desligar])
def test_no_server_holds_the_call_past_its_deadline(
    sistema: Any, monkeypatch: pytest.MonkeyPatch, atender: Atendimento
) -> None:
    def acao() -> None:
        with pytest.raises(GatewayIndisponivelError):
            cobrar()

    with pouco_prazo():
        assert contra(atender, monkeypatch, acao) < SEGURA_S - 5


def test_nobody_listening_is_unavailable_and_attempted_once(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as reservado:
        reservado.bind(("127.0.0.1", 0))
        monkeypatch.setenv("URL_GATEWAY", f"http://127.0.0.1:{reservado.getsockname()[1]}")
        with pytest.raises(GatewayIndisponivelError):
            cobrar()


def test_client_never_retries_by_itself(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    vistas: list[str] = []

    def atender(pedido: BaseHTTPRequestHandler, corpo: bytes) -> None:
        vistas.append(pedido.path)
        responder(pedido, 503, b"{}", Retry_After="0")

    def acao() -> None:
        with pytest.raises(GatewayIndisponivelError):
            cobrar()

    contra(atender, monkeypatch, acao)
    assert vistas == ["/cobrancas"]


def test_call_respects_what_the_invocation_has_left(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def acao() -> None:
        with pytest.raises(GatewayIndisponivelError):
            cobrar(contexto=Contexto(MARGEM_S + POUCO_S))

    # Neither the server nor the configured total, longer still, decides.
    assert POUCO_S < contra(silencio, monkeypatch, acao) < SEGURA_S - 5


def test_the_deadline_leaves_time_to_answer(sistema: Any) -> None:
    prazo = fabrica.prazo(ConfiguracaoPagamentos.do_ambiente(), Contexto(MARGEM_S + 20))
    assert 0 < prazo.restante() <= 20


def test_no_time_left_sends_nothing(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    vistas: list[str] = []

    def atender(pedido: BaseHTTPRequestHandler, corpo: bytes) -> None:
        vistas.append(pedido.path)
        responder(pedido, 503, b"{}")

    def acao() -> None:
        with pytest.raises(GatewayIndisponivelError) as falha:
            cobrar(contexto=Contexto(restante_s=0.1))
        assert falha.value.detalhes == {"motivo": "PRAZO"}

    contra(atender, monkeypatch, acao)
    assert vistas == []


def test_request_is_the_contract(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    vistas: list[tuple[str, str, str | None, str | None, Any]] = []

    def atender(pedido: BaseHTTPRequestHandler, corpo: bytes) -> None:
        chave, segredo = pedido.headers.get("Idempotency-Key"), pedido.headers.get("X-Api-Key")
        vistas.append((pedido.command, pedido.path, chave, segredo, json.loads(corpo)))
        responder(pedido, 503, b"{}")

    def acao() -> None:
        with pytest.raises(GatewayIndisponivelError):
            cobrar()
        with pytest.raises(GatewayIndisponivelError):
            estornar()

    contra(atender, monkeypatch, acao)
    corpo = {"valorCentavos": 14000, "cartaoToken": "tok-ok", "referencia": "P1"}
    assert vistas == [
        ("POST", "/cobrancas", "cesta-cobranca-P1", CHAVE_GATEWAY, corpo),
        ("POST", "/estornos", "cesta-estorno-P1", CHAVE_GATEWAY, {"tokenCobranca": "cesta-cobranca-P1"}),
    ]


def test_injected_refund_failure_counts_only_where_injection_is_on(
    gateway_no_ar: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    cobrar()
    with pytest.raises(GatewayIndisponivelError):
        estornar(forcarFalhaEstorno=True)
    assert movimentos() == ["COBRANCA_APROVADA"]
    esquecer()
    monkeypatch.setenv("PERMITIR_INJECAO_FALHAS", "false")
    assert estornar(forcarFalhaEstorno=True) == "ESTORNADA"


@pytest.mark.parametrize(
    "mudanca", [{"valorCentavos": 0}, {"cartaoToken": "x"}, {"criadoEm": "ontem"}, {"pedidoId": ""}]
)
def test_bad_state_never_reaches_the_gateway(sistema: Any, mudanca: dict[str, Any]) -> None:
    with pytest.raises(PedidoInvalidoError):
        cobrar_pagamento.handler(estado() | mudanca, None)


def test_settings_refuse_a_connection_longer_than_the_whole() -> None:
    variaveis = {
        "URL_GATEWAY": "http://x",
        "PARAMETRO_CHAVE_GATEWAY": "/p",
        "TIMEOUT_CONEXAO_GATEWAY_S": "3",
        "TIMEOUT_TOTAL_GATEWAY_S": "2",
        "TABELA_DISJUNTOR": "cesta-disjuntor",
        "DISJUNTOR_FALHAS": "5",
        "DISJUNTOR_JANELA_S": "60",
        "DISJUNTOR_ABERTO_S": "30",
    }
    from comum.erros import ConfiguracaoInvalidaError

    with pytest.raises(ConfiguracaoInvalidaError):
        ConfiguracaoPagamentos.do_ambiente(variaveis)
    assert ConfiguracaoPagamentos.do_ambiente(variaveis | {"TIMEOUT_TOTAL_GATEWAY_S": "6"})
