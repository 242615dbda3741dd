"""Signing in: authorization code with PKCE against a stand-in of Cognito's hosted pages."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from comum.processo import esquecer
from tests.browser.conftest import Mudar
from tests.browser.servidor import Servidor

pytestmark = pytest.mark.browser


class Login:
    """The sign-in's two addresses: authorize sends the browser back with a code, token checks the PKCE verifier."""

    def __init__(self) -> None:
        self.desafios: dict[str, str] = {}
        self.trocas: list[int] = []
        self.estado_trocado = False
        login = self

        class Pedido(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                partes = urlsplit(self.path)
                consulta = {nome: valores[0] for nome, valores in parse_qs(partes.query).items()}
                login.desafios["codigo-1"] = consulta["code_challenge"]
                assert consulta["code_challenge_method"] == "S256"
                assert consulta["response_type"] == "code"
                assert "client_secret" not in consulta
                estado = "de-outra-pessoa" if login.estado_trocado else consulta["state"]
                self.send_response(302)
                volta = urlencode({"code": "codigo-1", "state": estado})
                self.send_header("Location", f"{consulta['redirect_uri']}?{volta}")
                self.end_headers()

            def do_POST(self) -> None:
                corpo = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                resumo = hashlib.sha256(corpo["code_verifier"][0].encode()).digest()
                certo = base64.urlsafe_b64encode(resumo).rstrip(b"=").decode() == login.desafios[corpo["code"][0]]
                login.trocas.append(200 if certo else 400)
                self.send_response(login.trocas[-1])
                self.send_header("Access-Control-Allow-Origin", "*")
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps({"id_token": "ficha-de-teste", "expires_in": 3600}).encode())

            def log_message(self, *_: Any) -> None:
                return

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Pedido)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def parar(self) -> None:
        """Stop listening."""
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def login(servidor: Servidor, monkeypatch: pytest.MonkeyPatch) -> Iterator[Login]:
    """Sign-in on, for somebody who may see store L001."""
    no_ar = Login()
    monkeypatch.setenv("AUTENTICACAO", "cognito")
    monkeypatch.setenv("URL_LOGIN", no_ar.url)
    monkeypatch.setenv("CLIENTE_LOGIN", "cliente-publico")
    esquecer()
    servidor.exigir_ficha = True
    servidor.claims = {"sub": "u1", "custom:lojas": "L001"}
    yield no_ar
    no_ar.parar()


def test_entra_e_volta_para_onde_estava(servidor: Servidor, login: Login, mudar: Mudar, pagina: Page) -> None:
    mudar("P1", "PENDENTE", "SEPARADO")
    pagina.goto(servidor.url + "?loja=L001&status=SEPARADO")
    expect(pagina.get_by_role("heading", name="Entre para ver os pedidos")).to_be_visible()
    assert servidor.contar("/lojas/") == 0  # nothing of any store was asked before
    pagina.get_by_role("button", name="Entrar").click()
    expect(pagina.locator("[data-pedido=P1]")).to_be_visible()
    assert login.trocas == [200]
    assert "code=" not in pagina.url
    assert "loja=L001" in pagina.url
    assert "status=SEPARADO" in pagina.url


def test_ficha_vencida_pede_para_entrar_de_novo(servidor: Servidor, login: Login, mudar: Mudar, pagina: Page) -> None:
    mudar("P1", "PENDENTE", "SEPARADO")
    pagina.goto(servidor.url + "?loja=L001")
    pagina.get_by_role("button", name="Entrar").click()
    expect(pagina.locator("[data-pedido=P1]")).to_be_visible()
    pagina.evaluate("sessionStorage.setItem('ficha', JSON.stringify({token: 'x', ate: Date.now() - 1}))")
    expect(pagina.get_by_text("Sua sessão terminou. Entre de novo.")).to_be_visible()


def test_ficha_vencida_com_um_pedido_aberto_fecha_o_pedido(
    servidor: Servidor, login: Login, mudar: Mudar, pagina: Page
) -> None:
    mudar("P1", "PENDENTE", "SEPARADO")
    pagina.goto(servidor.url + "?loja=L001&pedido=P1")
    pagina.get_by_role("button", name="Entrar").click()
    expect(pagina.locator("#detalhe h3")).to_have_count(1)
    pagina.evaluate("sessionStorage.setItem('ficha', JSON.stringify({token: 'x', ate: Date.now() - 1}))")
    expect(pagina.get_by_text("Sua sessão terminou. Entre de novo.")).to_be_visible()
    expect(pagina.locator("#detalhe")).to_be_hidden()
    expect(pagina.get_by_role("button", name="Entrar")).to_be_focused()


def test_loja_de_outro_gerente_e_recusada_em_portugues(servidor: Servidor, login: Login, pagina: Page) -> None:
    pagina.goto(servidor.url + "?loja=L002")
    pagina.get_by_role("button", name="Entrar").click()
    expect(pagina.get_by_text("Seu acesso não inclui esta loja.")).to_be_visible()


def test_volta_com_estado_de_outra_pessoa_e_ignorada(servidor: Servidor, login: Login, pagina: Page) -> None:
    login.estado_trocado = True
    pagina.goto(servidor.url + "?loja=L001")
    pagina.get_by_role("button", name="Entrar").click()
    expect(pagina.get_by_role("heading", name="Entre para ver os pedidos")).to_be_visible()
    assert login.trocas == []
