"""What looks like a card number is recognised wherever it hides, and ordinary orders are not."""

import hashlib
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from comum.cartao import luhn, parece_cartao


@pytest.mark.parametrize(
    "valor",
    [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "4111.1111.1111.1111",
        "meu cartão é 4111 1111 1111 1111, ok?",
        "12 4111 1111 1111 1111",
        "tok-4111111111111111",
        "４１１１１１１１１１１１１１１１",
        "tok-00004111111111111111",
        "378282246310005",
        "6304000000000000000",  # 19 digits
        "4222222222222",  # 13 digits
        4111111111111111,
        {"a": {"b": ["x", "5555555555554444"]}},
        {"4111111111111111": 1},
    ],
)
def test_card_is_seen(valor: Any) -> None:
    assert parece_cartao(valor)


@pytest.mark.parametrize(
    "valor",
    [
        "4111111111111112",
        "CAFE-500G",
        "tok-ok",
        "0000000000000000",
        "411111111111",
        "2026-03-01T12:00:00.000Z",
        "01JNM7ZB5V6W7X8Y9Z0ABCDEFG",
        "3f1c4111-1111-4111-8111-111111111111",
        "42914177-7631-4706-8690-12AB34CD56EF",
        "tok-a4111111111111111b3c4d5e6f708192",  # 32 in hexadecimal
        "A4111111111111111B3C4D5E",  # 24
        "7891000315507",  # a barcode: no card begins with 7
        14000,
        True,
        None,
        1.5,
        [],
        {},
    ],
)
def test_ordinary_values_are_not_cards(valor: Any) -> None:
    assert not parece_cartao(valor)


@pytest.mark.parametrize(
    "valor",
    [
        "a4111111111111111",  # no identifier: too short
        "4111111111111111a4111111111111111g",
        "411111111111111141111111",  # 24, and no letter
        "3f1c4111-1111-1111-1111-aaaaaaaaaaa",  # one short of a UUID
        "3f1c4111-1111-4111-8111-111111111111 4111111111111111",
    ],
)
def test_card_beside_an_identifier_is_seen(valor: str) -> None:
    assert parece_cartao(valor)


@given(st.uuids(), st.binary(min_size=20, max_size=32))
def test_no_key_that_clients_draw_is_taken_for_a_card(chave: UUID, conteudo: bytes) -> None:
    assert not parece_cartao(str(chave))
    for resumo in (hashlib.md5, hashlib.sha1, hashlib.sha256):
        assert not parece_cartao(resumo(conteudo).hexdigest())


@given(
    st.sampled_from("23456"),
    st.text("0123456789", min_size=11, max_size=17),
    st.sampled_from(["", " ", "-"]),
    st.text("ghi xyz", max_size=5),
)
def test_every_number_with_its_check_digit_is_seen(emissor: str, corpo: str, separador: str, texto: str) -> None:
    digito = next(d for d in "0123456789" if luhn(emissor + corpo + d))
    numero = emissor + corpo + digito
    partes = separador.join(numero[i : i + 4] for i in range(0, len(numero), 4))
    assert parece_cartao(f"{texto}{partes}{texto}")
