"""The saga's published contract: exact shapes, strict types, one canonical text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comum.contrato import EntradaSaga, ler
from comum.erros import PedidoInvalidoError

VALIDO: dict[str, Any] = {
    "pedidoId": "01J0000000000000000000000A",
    "sku": "CAFE-500G",
    "quantidade": 2,
    "valorCentavos": 14000,
    "cartaoToken": "tok-ok",
    "criadoEm": "2026-03-01T12:00:00.000Z",
}


def test_canonical_text_is_the_contract_byte_by_byte() -> None:
    assert ler(EntradaSaga, VALIDO).canonico() == (
        '{"cartaoToken":"tok-ok","criadoEm":"2026-03-01T12:00:00.000Z","pedidoId":"01J0000000000000000000000A",'
        '"quantidade":2,"sku":"CAFE-500G","valorCentavos":14000}'
    )


@given(st.permutations(list(VALIDO)), st.booleans())
def test_canonical_text_ignores_order_and_marks_that_are_off(ordem: list[str], com_marcas: bool) -> None:
    pedido = {campo: VALIDO[campo] for campo in ordem}
    if com_marcas:
        pedido |= {"forcarFalhaConfirmar": False, "forcarFalhaEstorno": False}
    assert ler(EntradaSaga, pedido).canonico() == ler(EntradaSaga, VALIDO).canonico()


def test_canonical_text_keeps_marks_that_are_on_and_reads_back() -> None:
    entrada = ler(EntradaSaga, VALIDO | {"forcarFalhaEstorno": True})
    assert json.loads(entrada.canonico())["forcarFalhaEstorno"] is True
    assert ler(EntradaSaga, json.loads(entrada.canonico())) == entrada
    assert entrada.pede_injecao()
    assert not ler(EntradaSaga, VALIDO).pede_injecao()


@pytest.mark.parametrize(
    ("campo", "valor"),
    [
        ("pedidoId", ""),
        ("pedidoId", "a" * 49),
        ("pedidoId", "a b"),
        ("pedidoId", "a\n"),
        ("pedidoId", 5),
        ("sku", "cafe"),
        ("sku", "-CAFE"),
        ("sku", "A" * 41),
        ("quantidade", 0),
        ("quantidade", -1),
        ("quantidade", "2"),
        ("quantidade", 2.0),
        ("quantidade", True),
        ("quantidade", None),
        ("valorCentavos", 0),
        ("valorCentavos", 10.5),
        ("cartaoToken", "4111111111111111"),
        ("cartaoToken", "tok-"),
        ("cartaoToken", "tok-OK"),
        ("criadoEm", "2026-03-01T12:00:00Z"),
        ("criadoEm", "2026-02-30T12:00:00.000Z"),
        ("criadoEm", "2026-03-01T12:00:00.000+00:00"),
        ("forcarFalhaConfirmar", "true"),
        ("forcarFalhaConfirmar", 1),
    ],
)
def test_breach_names_the_field_and_never_its_content(campo: str, valor: Any) -> None:
    with pytest.raises(PedidoInvalidoError) as recusa:
        ler(EntradaSaga, VALIDO | {campo: valor})
    assert recusa.value.detalhes["campos"] == campo
    if isinstance(valor, str) and len(valor) > 4:
        assert valor not in str(recusa.value)
    assert recusa.value.__cause__ is None
    assert recusa.value.__context__ is None


def test_every_field_is_required_and_no_other_is_accepted() -> None:
    with pytest.raises(PedidoInvalidoError) as vazio:
        ler(EntradaSaga, {})
    assert set(str(vazio.value.detalhes["campos"]).split(",")) == set(VALIDO)
    with pytest.raises(PedidoInvalidoError) as demais:
        ler(EntradaSaga, VALIDO | {"numeroDoCartao4111111111111111": "x"})
    assert "411111111111" not in str(demais.value)
    with pytest.raises(PedidoInvalidoError):
        ler(EntradaSaga, [])


def test_card_token_does_not_appear_when_printed() -> None:
    assert "tok-ok" not in repr(ler(EntradaSaga, VALIDO))
