"""The circuit breaker on the deployed functions: an outage of the gateway, seen from the gateway, and its end."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from permissoes import invocar
from ulid import ULID

from provas.alvo import Alvo

pytestmark = [pytest.mark.e2e, pytest.mark.incidente]

INSTANCIAS = 4
QUEDA_S = 15.0
FOLGA_MOTOR_S = 20
"""A starved engine takes seconds to start a process."""


def alarme(alvo: Alvo) -> str:
    lidos = alvo.cliente("cloudwatch").describe_alarms(AlarmNames=["cesta-gateway-disjuntor-cobrar"])
    return str(lidos["MetricAlarms"][0]["StateValue"])


def chegadas(alvo: Alvo, desde_ms: int) -> int:
    """Calls that the unavailable stand-in refused, read from its own log: what reached the gateway."""
    paginas = (
        alvo.cliente("logs")
        .get_paginator("filter_log_events")
        .paginate(
            logGroupName=f"/aws/lambda/{alvo.funcao('GatewaySimulado')}",
            startTime=desde_ms,
            filterPattern='"call refused while unavailable"',
        )
    )
    return sum(len(pagina["events"]) for pagina in paginas)


@contextmanager
def cobrancas(bancada, vistas: Counter[str]) -> Iterator[None]:
    """Several callers charge new orders without pause until the block ends, counting what came of each call."""
    fim = threading.Event()
    trava = threading.Lock()

    def cobrar_sem_parar() -> None:
        while not fim.is_set():
            with trava:
                pedido_id = f"disjuntor-{ULID()}"
                evento = json.loads(bancada.entrada(pedido_id, "QUALQUER"))
            falhou, resposta = invocar(bancada.alvo, "CobrarPagamento", evento)
            with trava:
                if not falhou:
                    bancada.adotar_pedido(pedido_id)  # only what was charged leaves something to clean up
                vistas[resposta.get("errorMessage", "falha") if falhou else "aprovada"] += 1

    fios = [threading.Thread(target=cobrar_sem_parar, daemon=True) for _ in range(INSTANCIAS)]
    for fio in fios:
        fio.start()
    try:
        yield
    finally:
        fim.set()
        for fio in fios:
            fio.join(60)


def test_an_outage_reaches_the_gateway_as_probes_only_and_ends_by_itself(alvo, bancada):
    falhas, aberto_s = (float(alvo.variavel("CobrarPagamento", f"DISJUNTOR_{n}")) for n in ("FALHAS", "ABERTO_S"))
    # Another test's outage may have left it open: it closes at the next answered charge, and that would be in this one.
    tabela = alvo.variavel("CobrarPagamento", "TABELA_DISJUNTOR")
    alvo.cliente("dynamodb").delete_item(TableName=tabela, Key={"operacao": {"S": "cobrar"}})
    bancada.ao_limpar("gateway de volta", lambda: bancada.livro.mudar_modo("NORMAL"))
    desde_ms = int(time.time() * 1000)
    bancada.livro.mudar_modo("INDISPONIVEL")

    queda: Counter[str] = Counter()
    comeco = time.monotonic()
    with cobrancas(bancada, queda):
        bancada.esperar_ate(bancada.circuito, FOLGA_MOTOR_S, "ABERTO", ate=lambda e: e != "FECHADO")
        bancada.esperar_ate(lambda: alarme(alvo), alvo.prazos.alarme_dispara, "ALARM", ate=lambda e: e == "ALARM")
        time.sleep(max(0, QUEDA_S - (time.monotonic() - comeco)))
    duracao_s = time.monotonic() - comeco

    chegaram, feitas = chegadas(alvo, desde_ms), sum(queda.values())
    print(
        f"{feitas} charges in {duracao_s:.0f} s ({feitas / duracao_s:.1f}/s); {chegaram} reached the gateway; {queda}"
    )
    assert set(queda) == {"no usable answer from the gateway", "circuit open, nothing was sent"}
    # Fewer when a call gave up before the stand-in began.
    assert 0 < chegaram <= queda["no usable answer from the gateway"], "what the breaker refused was never sent"
    # Until it opens, each caller may have one more in flight; then one probe per open time.
    assert chegaram <= falhas + INSTANCIAS + duracao_s / aberto_s + 1
    assert feitas > 3 * chegaram, "without a breaker every charge reaches it"

    bancada.livro.mudar_modo("NORMAL")
    volta: Counter[str] = Counter()
    with cobrancas(bancada, volta):
        bancada.esperar_ate(bancada.circuito, aberto_s + FOLGA_MOTOR_S, "FECHADO", ate=lambda e: e == "FECHADO")
        antes = volta["aprovada"]
        bancada.esperar_ate(lambda: volta["aprovada"] - antes, FOLGA_MOTOR_S, "vendas", ate=lambda n: n >= INSTANCIAS)
    assert set(volta) <= {"aprovada", "circuit open, nothing was sent"}
    bancada.esperar_ate(lambda: alarme(alvo), alvo.prazos.alarme_normaliza, "OK", ate=lambda e: e == "OK")
