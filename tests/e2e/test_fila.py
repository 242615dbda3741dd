"""The queue on the wire: from the 202 to the outcome the customer reads, and the ways it can end."""

from __future__ import annotations

import json
import statistics
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from provas.alvo import Alvo
from provas.base import Contexto
from provas.executor import executar_uma
from provas.fila._apoio import SALDO_INICIAL, VALOR_CENTAVOS, ProvaDaFila
from provas.registro import provas_de

pytestmark = pytest.mark.e2e


class BancadaDaFila(ProvaDaFila):
    """The proofs' own helpers (stock, orders, waits, clean-up), for tests."""

    numero = 0

    def executar(self) -> None:
        """Nothing: a test drives it."""

    def ver(self, pedido_id: str) -> tuple[int, dict[str, Any]]:
        """GET an order; status and body."""
        resposta = self.alvo.http.request("GET", f"{self.alvo.saida('url_api_fila')}/{pedido_id}")
        return resposta.status, json.loads(resposta.data)

    def esperar_situacao(self, pedido_id: str, situacao: str) -> None:
        """Wait for the effect."""
        self.esperar_ate(lambda: self.situacao(pedido_id), 150, situacao, ate=lambda vista: vista == situacao)


@pytest.fixture
def bancada(alvo: Alvo) -> Iterator[BancadaDaFila]:
    """Helpers that clean up after the test."""
    b = BancadaDaFila(Contexto(alvo))
    b.encurtar_invisibilidade(12)  # a delivery that met a cold gateway comes back sooner
    yield b
    assert b.limpar() == []


def test_order_is_accepted_fast_and_concluded_later(bancada: BancadaDaFila) -> None:
    item = bancada.criar_estoque()
    latencias = []
    for _ in range(5):
        comeco = time.perf_counter()
        status, corpo = bancada.postar(item)
        latencias.append((time.perf_counter() - comeco) * 1000)
        assert (status, corpo["status"]) == (202, "recebido")
        bancada.adotar_pedido(corpo["pedidoId"])
    assert statistics.median(latencias) < bancada.alvo.prazos.latencia_api_ms
    bancada.esperar_situacao(corpo["pedidoId"], "CONCLUIDO")
    assert bancada.ver(corpo["pedidoId"])[1]["status"] == "concluido"
    assert bancada.cobrado(corpo["pedidoId"]) == VALOR_CENTAVOS


def test_same_key_is_one_order(bancada: BancadaDaFila) -> None:
    item, chave = bancada.criar_estoque(), f"e2e-{uuid.uuid4().hex}"
    respostas = [bancada.postar(item, **{"Idempotency-Key": chave}) for _ in range(3)]
    assert [status for status, _ in respostas] == [202] * 3
    (pedido_id,) = {corpo["pedidoId"] for _, corpo in respostas}
    bancada.adotar_pedido(pedido_id)
    bancada.esperar_situacao(pedido_id, "CONCLUIDO")
    assert bancada.saldo(item) == SALDO_INICIAL - 1


@pytest.mark.parametrize(
    ("campos", "saldo", "trecho"),
    [({"lojaId": "forcar-recusa"}, SALDO_INICIAL, "conta da loja"), ({"quantidade": 501}, SALDO_INICIAL, "unidades")],
)
def test_refusal_is_an_outcome_the_customer_reads(
    bancada: BancadaDaFila, campos: dict[str, Any], saldo: int, trecho: str
) -> None:
    item, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    bancada.enviar(bancada.corpo(pedido_id, item, **campos))
    bancada.esperar_situacao(pedido_id, "RECUSADO")
    status, corpo = bancada.ver(pedido_id)
    assert (status, corpo["status"]) == (200, "recusado")
    assert trecho in corpo["motivo"]
    assert bancada.saldo(item) == saldo
    assert bancada.cobrado(pedido_id) == 0


def test_charge_whose_every_answer_is_an_error_is_still_concluded(bancada: BancadaDaFila) -> None:
    """The stand-in charges and replays a stored 500: the second delivery looks the charge up instead."""
    item, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    bancada.enviar(bancada.corpo(pedido_id, item, lojaId="erro-apos-cobrar"))
    bancada.esperar_situacao(pedido_id, "CONCLUIDO")
    assert bancada.cobrado(pedido_id) == VALOR_CENTAVOS
    assert bancada.saldo(item) == SALDO_INICIAL - 1


def test_unknown_and_impossible_orders(bancada: BancadaDaFila) -> None:
    assert bancada.ver(str(uuid.uuid4()))[0] == 404
    assert bancada.ver("nao-e-um-id")[0] == 400


@pytest.mark.parametrize("numero", [2, 4])
def test_proof(alvo: Alvo, numero: int) -> None:
    """The quick proofs as tests; the peak, the redelivery and the DLQ are minutes of waiting, for scripts/provas.sh."""
    r = executar_uma("fila", provas_de("fila")[numero], Contexto(alvo))
    assert r.passou, [f"{c.descricao}: esperado {c.esperado}; visto {c.visto}" for c in r.falhas] + r.erros
