"""Recognises what looks like a card number, so that it is refused at the door and never stored or logged."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

MENOR_CARTAO, MAIOR_CARTAO = 13, 19

# Identifiers in hexadecimal, whose digits follow each other by chance: a UUID, or a word of 24, 32, 40… with a letter
# (an ObjectId, a digest). One random UUID in 360 has digits that pass for a card's.
_IDENTIFICADOR = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])"
    r"|(?<![0-9a-z])(?=\d*[a-f])[0-9a-f]{24}(?:[0-9a-f]{8})*(?![0-9a-z])",
    re.IGNORECASE,
)
_SEQUENCIA = re.compile(rf"\d(?:[ .\-]{{0,2}}\d){{{MENOR_CARTAO - 1},}}")
_GRUPO = re.compile(r"\d+")


def luhn(digitos: str) -> bool:
    """Luhn check (ISO/IEC 7812-1) over decimal digits."""
    soma = 0
    for posicao, caractere in enumerate(reversed(digitos)):
        valor = int(caractere)
        if posicao % 2 == 1:
            valor = valor * 2 - 9 if valor > 4 else valor * 2
        soma += valor
    return soma % 10 == 0


def numeros(texto: str) -> Iterator[Iterator[str]]:
    """For each run of digits split by spaces, dots or dashes, the numbers of 13 to 19 digits in it that pass Luhn and
    begin as a card's does; none in an identifier.

    Neighbouring groups of digits are joined in every way (``4111-1111-1111-1111``, ``12 4111 1111 1111 1111``); a
    longer group is searched for a 15 or 16 digit card inside it.
    """
    sequencias = _SEQUENCIA.findall(_IDENTIFICADOR.sub("·", texto))
    return (_na_sequencia(_GRUPO.findall(sequencia)) for sequencia in sequencias)


def texto_parece_cartao(texto: str) -> bool:
    """Whether there is any of :func:`numeros` in the text."""
    return len(texto) >= MENOR_CARTAO and any(True for achados in numeros(texto) for _ in achados)


def parece_cartao(valor: Any) -> bool:
    """Whether any string, number or key inside a parsed JSON value looks like a card number."""
    if isinstance(valor, str):
        return texto_parece_cartao(valor)
    if isinstance(valor, Mapping):
        return any(parece_cartao(chave) or parece_cartao(item) for chave, item in valor.items())
    if isinstance(valor, bool) or valor is None:
        return False
    if isinstance(valor, int | float):
        return texto_parece_cartao(format(valor, "f") if isinstance(valor, float) else str(valor))
    return isinstance(valor, Iterable) and any(parece_cartao(item) for item in valor)


def _na_sequencia(grupos: Sequence[str]) -> Iterator[str]:
    for inicio in range(len(grupos)):
        junto = ""
        for grupo in grupos[inicio:]:
            junto += grupo
            if len(junto) > MAIOR_CARTAO:
                break
            if len(junto) >= MENOR_CARTAO and _cartao(junto):
                yield junto
    for grupo in grupos:
        if len(grupo) > MAIOR_CARTAO:
            yield from filter(_cartao, _janelas(grupo))


def _cartao(digitos: str) -> bool:
    # A payment card's first digit, its major industry identifier (ISO/IEC 7812-1), is one of these.
    return 2 <= int(digitos[0]) <= 6 and luhn(digitos)


def _janelas(grupo: str) -> Iterable[str]:
    for tamanho in (15, 16):
        for inicio in range(len(grupo) - tamanho + 1):
            yield grupo[inicio : inicio + tamanho]
