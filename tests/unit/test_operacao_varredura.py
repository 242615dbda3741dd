"""The scan finds a planted card number and a planted token, and is not set off by ids, times or sequence numbers."""

import pytest

from operacao import varredura
from operacao.varredura import Trecho, examinar

LUHN = "4111111111111111"


@pytest.mark.parametrize(
    "texto",
    [LUHN, f'{{"n": {LUHN}}}', "4111 1111 1111 1111", "5555-5555-5555-4444", "cartão 378282246310005.", f"n={LUHN},"],
)
def test_card_number_is_found(texto: str) -> None:
    achados = list(examinar(Trecho("log", "g", texto)))
    assert [a.tipo for a in achados] == ["número de cartão"]
    assert LUHN not in achados[0].mascarado


@pytest.mark.parametrize(
    "texto",
    [
        "4111111111111112",  # Luhn fails
        "1764478205123",  # milliseconds since the epoch
        "2026-11-30T04:50:05.123Z",
        "3f1c4111-1111-4111-8111-111111111111",  # a UUID
        "req-4111111111111111",
        "arn:aws:states:sa-east-1:000000000000:execution:cesta-saga-pedido:P1",
        "0" * 16,
    ],
)
def test_what_is_no_card_is_left_alone(texto: str) -> None:
    assert list(examinar(Trecho("log", "g", texto))) == []


def test_token_is_a_finding_only_outside_execution_data() -> None:
    texto = '{"cartaoToken": "tok-abc123"}'
    assert [a.tipo for a in examinar(Trecho("log", "g", texto))] == ["token de cartão"]
    assert list(examinar(Trecho("execução (input)", "P1", texto, token_permitido=True))) == []


def test_card_number_is_a_finding_even_where_a_token_may_be() -> None:
    assert len(list(examinar(Trecho("execução (input)", "P1", LUHN, token_permitido=True)))) == 1


@pytest.mark.parametrize(("fontes", "esperado"), [((LUHN, "x"), 1), (("limpo", "x"), 0), ((None, "x"), 2)])
def test_exit_status(monkeypatch: pytest.MonkeyPatch, fontes: tuple[str | None, str], esperado: int) -> None:
    log, execucao = fontes
    monkeypatch.setattr(varredura.Alvo, "carregar", lambda _, **__: None)
    monkeypatch.setattr(
        varredura,
        "FONTES",
        {
            "logs": lambda _, **__: [Trecho("log", "g", log)] if log else [],
            "execuções": lambda _, **__: [Trecho("execução", "P1", execucao)],
        },
    )
    assert varredura.principal([]) == esperado
