"""What looks like a card number is recognised wherever it hides, and ordinary orders are not."""

from typing import Any

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


@given(st.text("0123456789", min_size=12, max_size=18), st.sampled_from(["", " ", "-"]), st.text("abc xyz", max_size=5))
def test_every_number_with_its_check_digit_is_seen(corpo: str, separador: str, texto: str) -> None:
    digito = next(d for d in "0123456789" if luhn(corpo + d))
    numero = corpo + digito
    if numero.strip("0") == "":
        return
    partes = separador.join(numero[i : i + 4] for i in range(0, len(numero), 4))
    assert parece_cartao(f"{texto}{partes}{texto}")
