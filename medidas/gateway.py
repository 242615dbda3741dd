"""A gateway that approves at once: the real one is somebody else's, and the stand-in is one function more to run."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from provas.alvo import Alvo

FUNCAO = "CobrarPagamento"


class _Aprova(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Any charge is approved."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        corpo = json.dumps({"idTransacao": "tx-bench", "status": "APROVADA"}).encode()
        self.send_response(201)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(corpo)))
        self.end_headers()
        self.wfile.write(corpo)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@contextmanager
def imediato(alvo: Alvo) -> Iterator[None]:
    """Meanwhile the deployed charge calls this gateway; its own address is put back at the end."""
    funcoes, nome = alvo.cliente("lambda"), alvo.funcao(FUNCAO)
    variaveis = funcoes.get_function_configuration(FunctionName=nome)["Environment"]["Variables"]
    servidor = ThreadingHTTPServer(("127.0.0.1", 0), _Aprova)
    servidor.daemon_threads = True
    threading.Thread(target=servidor.serve_forever, daemon=True).start()
    endereco = f"http://127.0.0.1:{servidor.server_address[1]}"
    try:
        funcoes.update_function_configuration(
            FunctionName=nome, Environment={"Variables": variaveis | {"URL_GATEWAY": endereco}}
        )
        yield
    finally:
        funcoes.update_function_configuration(FunctionName=nome, Environment={"Variables": variaveis})
        servidor.shutdown()
        servidor.server_close()
