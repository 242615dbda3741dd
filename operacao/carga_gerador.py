"""Load generator: a fixed number of POSTs from a fixed number of users (Locust as a library).

Runs in the environment ``.venvs/carga``, as a child of :mod:`operacao.carga`: one JSON line per second on standard
output while it works, and every sample in the file it is given at the end.
"""

import argparse
import collections
import json
import time
from pathlib import Path
from typing import Any

import gevent
from locust import FastHttpUser, constant_pacing, events, task
from locust.env import Environment

PRAZO_RESPOSTA_S = 32.0  # an HTTP API gives up at 30 s


class Cliente(FastHttpUser):
    """One user: posts the same order again and again, a new request every ``ritmo`` seconds at most."""

    caminho = ""
    corpo = ""
    restantes = 0
    connection_timeout = 10.0
    network_timeout = PRAZO_RESPOSTA_S
    max_retries = 0

    @task
    def enviar(self) -> None:
        """One POST, unless the total has been reached."""
        if type(self).restantes <= 0:
            gevent.sleep(0.2)
            return
        type(self).restantes -= 1
        self.client.post(self.caminho, data=self.corpo, headers={"Content-Type": "application/json"}, name="POST")


def gerar(opcoes: argparse.Namespace) -> dict[str, Any]:
    """Send ``total`` requests and return ``{"inicio": epoch s, "duracao": s, "amostras": [[s, status, ms], ...]}``.

    ``status`` is the HTTP status, or 0 when no answer came.
    """
    base, _, caminho = opcoes.url.partition("/_aws/") if "/_aws/" in opcoes.url else _partir(opcoes.url)
    Cliente.host = base
    Cliente.caminho = f"/_aws/{caminho}" if "/_aws/" in opcoes.url else caminho
    Cliente.corpo = opcoes.corpo
    Cliente.restantes = opcoes.total
    Cliente.wait_time = constant_pacing(opcoes.ritmo)
    amostras: list[list[float]] = []
    comeco = time.time()

    @events.request.add_listener
    def anotar(response_time: float, response: Any, exception: BaseException | None, **_: Any) -> None:
        status = int(getattr(response, "status_code", 0) or 0)
        amostras.append([round(time.time() - comeco, 3), status, round(response_time, 1)])

    ambiente = Environment(user_classes=[Cliente], events=events)
    corredor = ambiente.create_local_runner()
    corredor.start(opcoes.concorrencia, spawn_rate=opcoes.concorrencia / max(opcoes.rampa, 0.1))
    limite = comeco + opcoes.limite
    while len(amostras) < opcoes.total and time.time() < limite:
        gevent.sleep(min(1.0, max(0.1, opcoes.total / 100)))
        contagem = collections.Counter(int(a[1]) for a in amostras)
        print(json.dumps({"enviadas": len(amostras), "status": contagem}), flush=True)
    duracao = max((a[0] for a in amostras), default=0.0)
    corredor.quit()
    return {"inicio": comeco, "duracao": duracao, "amostras": amostras}


def _partir(url: str) -> tuple[str, str, str]:
    esquema, _, resto = url.partition("://")
    host, barra, caminho = resto.partition("/")
    return f"{esquema}://{host}", barra, f"/{caminho}"


def principal() -> None:
    """Command line (called by :mod:`operacao.carga` only)."""
    p = argparse.ArgumentParser()
    p.add_argument("--url", required=True)
    p.add_argument("--corpo", required=True)
    p.add_argument("--total", type=int, required=True)
    p.add_argument("--concorrencia", type=int, required=True)
    p.add_argument("--ritmo", type=float, required=True)
    p.add_argument("--rampa", type=float, required=True)
    p.add_argument("--limite", type=float, required=True)
    p.add_argument("--saida", type=Path, required=True)
    opcoes = p.parse_args()
    opcoes.saida.write_text(json.dumps(gerar(opcoes)), encoding="utf-8")


if __name__ == "__main__":
    principal()
