"""A loopback HTTP server in front of the real API handler: what API Gateway does with a request, and nothing else.

It answers under a path prefix, as the local engine does, so that a page that assumed the root would break here too.
"""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from painel.api import handler

PREFIXO = "/_aws/execute-api/api123/$default"


class Servidor:
    """The API on a loopback port.

    ``fora_do_ar`` answers 503 to everything; ``claims`` is what a JWT authorizer would have verified; ``vistos`` has
    method, path, status and second (monotonic clock) of each answer, noted before it is sent; ``exigir_ficha`` answers
    401 to protected routes without a bearer token, as the authorizer does.
    """

    def __init__(self) -> None:
        self.fora_do_ar = False
        self.exigir_ficha = False
        self.claims: dict[str, str] = {}
        self.vistos: list[tuple[str, str, int, float]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._classe())
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def origem(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"{self.origem}{PREFIXO}/painel"

    def contar(self, trecho: str, status: int | None = None) -> int:
        """How many requests had ``trecho`` in their path (and, if given, that status)."""
        return len(self._instantes(trecho, status))

    def intervalos(self, trecho: str, status: int | None = None) -> list[float]:
        """Seconds from each answer that ``contar`` counts to the next.

        The page begins to wait when it has an answer, so however busy the machine is these are no shorter than its
        wait.
        """
        return [depois - antes for antes, depois in pairwise(self._instantes(trecho, status))]

    def _instantes(self, trecho: str, status: int | None) -> list[float]:
        return [quando for _, caminho, visto, quando in self.vistos if trecho in caminho and status in (None, visto)]

    def parar(self) -> None:
        """Stop listening."""
        self._http.shutdown()
        self._http.server_close()

    def _classe(servidor) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - the handler class closes over the server
        class Pedido(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _atender(self) -> None:
                partes = urlsplit(self.path)
                resposta = servidor.responder(self.command, partes.path, partes.query, dict(self.headers.items()))
                corpo = resposta.get("body", "").encode()
                self.send_response(resposta["statusCode"])
                for nome, valor in resposta.get("headers", {}).items():
                    self.send_header(nome, valor)
                self.send_header("Content-Length", str(len(corpo)))
                self.end_headers()
                self.wfile.write(corpo)

            do_GET = do_PUT = do_POST = _atender

            def log_message(self, *_: Any) -> None:
                return

        return Pedido

    def responder(self, metodo: str, caminho: str, consulta: str, cabecalhos: dict[str, str]) -> dict[str, Any]:
        """Answer one request as API Gateway would, and remember it."""
        resposta = self._responder(metodo, unquote(caminho), consulta, cabecalhos)
        self.vistos.append((metodo, unquote(caminho), resposta["statusCode"], time.monotonic()))
        return resposta

    def _responder(self, metodo: str, caminho: str, consulta: str, cabecalhos: dict[str, str]) -> dict[str, Any]:
        if self.fora_do_ar:
            return {"statusCode": 503, "headers": {"Content-Type": "application/json"}, "body": "{}"}
        if not caminho.startswith(PREFIXO):
            return {"statusCode": 404, "headers": {}, "body": ""}
        caminho = caminho.removeprefix(PREFIXO)
        minusculos = {nome.lower(): valor for nome, valor in cabecalhos.items()}
        if self.exigir_ficha and "/lojas/" in caminho and not minusculos.get("authorization", "").startswith("Bearer "):
            return {
                "statusCode": 401,
                "headers": {"Content-Type": "application/json"},
                "body": '{"message":"Unauthorized"}',
            }
        return dict(handler(evento_http(metodo, caminho, consulta, minusculos, self.claims), None))


def evento_http(
    metodo: str,
    caminho: str,
    consulta: str = "",
    cabecalhos: dict[str, str] | None = None,
    claims: dict[str, str] | None = None,
) -> dict[str, Any]:
    """An HTTP API event, payload format 2.0."""
    evento: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": caminho,
        "rawQueryString": consulta,
        "headers": cabecalhos or {},
        "queryStringParameters": dict(parse_qsl(consulta)),
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "api123",
            "stage": "$default",
            "requestId": "r1",
            "http": {
                "method": metodo,
                "path": caminho,
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "t",
            },
        },
        "isBase64Encoded": False,
    }
    if claims:
        evento["requestContext"]["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    return evento
