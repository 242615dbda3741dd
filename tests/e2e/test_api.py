"""The public API on the wire: what a client sees, from the 202 to CONFIRMADO, and every way of being refused."""

from __future__ import annotations

import hashlib
import json
import statistics
import time
from typing import Any
from urllib.parse import urljoin

import pytest
from ulid import ULID

pytestmark = pytest.mark.e2e

CORPO = {"quantidade": 1, "valorCentavos": 5_000, "cartaoToken": "tok-ok"}


class Api:
    """A client of the API whose orders are cleaned up."""

    def __init__(self, bancada) -> None:
        self.bancada = bancada
        self.url = str(bancada.alvo.saida("url_api")).rstrip("/")
        self.latencia_ms = 0.0

    def criar(self, corpo: Any, chave: str | None = None, bruto: bytes | None = None):
        cabecalhos = {"Content-Type": "application/json", **({"Idempotency-Key": chave} if chave is not None else {})}
        if chave is not None:
            self._esquecer_chave(chave)
        dados = json.dumps(corpo).encode() if bruto is None else bruto
        comeco = time.perf_counter()
        r = self.bancada.alvo.http.request("POST", f"{self.url}/pedidos", body=dados, headers=cabecalhos)
        self.latencia_ms = (time.perf_counter() - comeco) * 1000
        if r.status == 202 and (pedido_id := json.loads(r.data)["pedidoId"]) not in self.bancada.pedidos_desenhados:
            self.bancada.adotar_pedido(pedido_id)
        return r

    def _esquecer_chave(self, chave: str) -> None:
        """Remove the key's item at the end (deleting twice is harmless)."""
        alvo = self.bancada.alvo
        item = {"chave": {"S": f"POST /pedidos#{hashlib.sha256(chave.encode()).hexdigest()}"}}
        tabela = alvo.variavel("CriarPedido", "TABELA_IDEMPOTENCIA")
        self.bancada.ao_limpar(
            f"chave {chave}", lambda: alvo.cliente("dynamodb").delete_item(TableName=tabela, Key=item)
        )

    def ver(self, pedido_id: str):
        return self.bancada.alvo.http.request("GET", f"{self.url}/pedidos/{pedido_id}")

    def status(self, pedido_id: str) -> str:
        r = self.ver(pedido_id)
        return "ausente" if r.status == 404 else str(json.loads(r.data)["status"])

    def esperar(self, pedido_id: str, *aceitos: str) -> str:
        return self.bancada.esperar_ate(
            lambda: self.status(pedido_id), 60, f"status em {aceitos}", ate=lambda s: s in aceitos
        )


@pytest.fixture
def api(bancada):
    return Api(bancada)


def problema(resposta) -> dict[str, Any]:
    """The body of a refusal, which is problem details."""
    assert resposta.headers["Content-Type"].startswith("application/problem+json")
    lido = json.loads(resposta.data)
    assert lido["status"] == resposta.status
    assert lido["title"]
    return lido


def test_the_customer_is_answered_at_once_and_follows_the_order_to_the_end(api, bancada):
    """202 at once; while the gateway is slow the order shows RESERVADO; the retry finds the same charge."""
    sku = bancada.criar_estoque()
    r = api.criar({**CORPO, "sku": sku, "cartaoToken": "tok-lento-apos-cobrar"})
    assert r.status == 202
    pedido_id = json.loads(r.data)["pedidoId"]
    assert json.loads(r.data) == {"pedidoId": pedido_id, "status": "RECEBIDO"}
    assert urljoin(f"{api.url}/pedidos", r.headers["Location"]) == f"{api.url}/pedidos/{pedido_id}"
    assert api.esperar(pedido_id, "RESERVADO", "CONFIRMADO", "FALHOU_COMPENSADO") == "RESERVADO"
    assert api.esperar(pedido_id, "CONFIRMADO", "FALHOU_COMPENSADO") == "CONFIRMADO"
    lido = json.loads(api.ver(pedido_id).data)
    assert [h["status"] for h in lido["historico"]] == ["RECEBIDO", "RESERVADO", "CONFIRMADO"]
    instantes = [h["em"] for h in lido["historico"]]
    assert instantes == sorted(instantes)
    assert "tok-" not in json.dumps(lido)
    assert [m.dinheiro for m in bancada.movimentos(pedido_id)] == [5_000]


def test_a_warm_post_is_answered_in_under_300_ms(api, bancada):
    sku = bancada.criar_estoque()
    primeiro = json.loads(api.criar({**CORPO, "sku": sku}).data)["pedidoId"]
    api.esperar(primeiro, "CONFIRMADO")
    latencias = []
    for _ in range(3):
        r = api.criar({**CORPO, "sku": sku})
        latencias.append(api.latencia_ms)
        assert r.status == 202
        api.esperar(json.loads(r.data)["pedidoId"], "CONFIRMADO")
    assert statistics.median(latencias) < 300, latencias


@pytest.mark.parametrize(
    "mudanca",
    [
        {"quantidade": 0},
        {"quantidade": -1},
        {"quantidade": 1.5},
        {"quantidade": "1"},
        {"quantidade": True},
        {"quantidade": 10**9},
        {"valorCentavos": 0},
        {"valorCentavos": 10**12},
        {"sku": ""},
        {"sku": "minusculo"},
        {"sku": "A" * 41},
        {"cartaoToken": "sem-prefixo"},
        {"cartaoToken": "4111111111111111"},
        {"cartaoToken": "tok-4111111111111111"},
        {"cartaoToken": None},
        {"campoDesconhecido": 1},
        {"forcarFalhaConfirmar": True},
    ],
    ids=str,
)
def test_bad_input_is_a_clear_400_and_never_an_echo(api, mudanca):
    r = api.criar({**CORPO, "sku": "SKU-1", **mudanca})
    assert r.status == 400
    assert "411111111111" not in json.dumps(problema(r))


def test_a_card_number_gets_its_own_message(api):
    comum = problema(api.criar({**CORPO, "sku": "minusculo"}))
    cartao = problema(api.criar({**CORPO, "sku": "SKU-1", "cartaoToken": "4111111111111111"}))
    assert comum["type"] != cartao["type"]


@pytest.mark.parametrize("bruto", [b"", b"{", b"[]", b'"x"', b"\xff\xfe", b"null"], ids=repr)
def test_a_body_that_is_not_an_object_is_a_400(api, bruto):
    r = api.criar(None, bruto=bruto)
    assert r.status == 400
    problema(r)


@pytest.mark.parametrize("campo", ["sku", "quantidade", "valorCentavos", "cartaoToken"])
def test_each_field_is_needed(api, campo):
    corpo = {**CORPO, "sku": "SKU-1"}
    del corpo[campo]
    r = api.criar(corpo)
    assert r.status == 400
    assert campo in json.dumps(problema(r))


def test_an_unknown_order_is_a_404(api):
    r = api.ver(str(ULID()))
    assert r.status == 404
    problema(r)


def test_a_malformed_order_id_is_refused(api):
    r = api.ver("x" * 100)
    assert r.status in (400, 404)
    problema(r)


def test_the_same_key_and_body_return_the_same_order_and_one_effect(api, bancada):
    sku, chave = bancada.criar_estoque(), str(ULID())
    corpo = {**CORPO, "sku": sku}
    primeira = api.criar(corpo, chave)
    segunda = api.criar(dict(reversed(corpo.items())), chave)
    assert primeira.status == segunda.status == 202
    assert primeira.data == segunda.data
    assert primeira.headers["Location"] == segunda.headers["Location"]
    api.esperar(json.loads(primeira.data)["pedidoId"], "CONFIRMADO")
    saldo, _ = bancada.estoque(sku)
    assert saldo == 9


def test_the_same_key_with_another_body_is_a_422(api, bancada):
    sku, chave = bancada.criar_estoque(), str(ULID())
    assert api.criar({**CORPO, "sku": sku}, chave).status == 202
    r = api.criar({**CORPO, "sku": sku, "quantidade": 2}, chave)
    assert r.status == 422
    problema(r)


@pytest.mark.parametrize("chave", ["x" * 129, "a,b", 'a"b', "a\\b"], ids=repr)
def test_a_malformed_key_is_a_400(api, chave):
    r = api.criar({**CORPO, "sku": "SKU-1"}, chave)
    assert r.status == 400
    problema(r)


def test_different_keys_make_different_orders(api, bancada):
    corpo = {**CORPO, "sku": bancada.criar_estoque()}
    ids = {json.loads(api.criar(corpo, str(ULID())).data)["pedidoId"] for _ in range(2)}
    assert len(ids) == 2
