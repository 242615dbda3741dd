"""The order's status table: the one place in Python that says which status may follow which.

The state machine writes some of these statuses itself; its conditions are checked against this table by a test.
Writing the status an order already has is always allowed, so a repeated write is harmless; a late one is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Status of an order."""

    RECEBIDO = "RECEBIDO"
    RESERVADO = "RESERVADO"
    CONFIRMADO = "CONFIRMADO"
    COMPENSANDO = "COMPENSANDO"
    FALHOU_SEM_RESERVA = "FALHOU_SEM_RESERVA"
    FALHOU_COMPENSADO = "FALHOU_COMPENSADO"
    REQUER_INTERVENCAO_HUMANA = "REQUER_INTERVENCAO_HUMANA"
    ENCERRADO_MANUALMENTE = "ENCERRADO_MANUALMENTE"


AUSENTE = None
"""An order that has no item yet."""

_R = Status

ORIGENS: Mapping[Status, frozenset[Status | None]] = {
    _R.RECEBIDO: frozenset({AUSENTE}),
    _R.RESERVADO: frozenset({AUSENTE, _R.RECEBIDO}),
    _R.CONFIRMADO: frozenset({_R.RESERVADO}),
    _R.COMPENSANDO: frozenset({_R.RECEBIDO, _R.RESERVADO}),
    _R.FALHOU_SEM_RESERVA: frozenset({AUSENTE, _R.RECEBIDO}),
    _R.FALHOU_COMPENSADO: frozenset({AUSENTE, _R.RECEBIDO, _R.RESERVADO, _R.COMPENSANDO, _R.REQUER_INTERVENCAO_HUMANA}),
    _R.REQUER_INTERVENCAO_HUMANA: frozenset({AUSENTE, *_R} - {_R.CONFIRMADO}),
    _R.ENCERRADO_MANUALMENTE: frozenset({_R.REQUER_INTERVENCAO_HUMANA}),
}
"""Status to write -> statuses it may follow (besides itself)."""

FINAIS = frozenset({_R.CONFIRMADO, _R.FALHOU_SEM_RESERVA, _R.FALHOU_COMPENSADO, _R.ENCERRADO_MANUALMENTE})
"""Statuses after which the saga does nothing more."""


@dataclass(frozen=True, slots=True)
class Condicao:
    """A DynamoDB condition: expression, attribute names and values (``{":x": {"S": ...}}``)."""

    expressao: str
    nomes: dict[str, str]
    valores: dict[str, dict[str, str]]


def pode(para: Status, de: Status | None) -> bool:
    """Whether an order in ``de`` (None: no item) may be written as ``para``."""
    return de is para or de in ORIGENS[para]


def condicao_de_escrita(para: Status, *, incluir_o_proprio: bool = True) -> Condicao:
    """Condition under which an order may be written as ``para``.

    Parameters
    ----------
    para : Status
        Status about to be written.
    incluir_o_proprio : bool
        False refuses an order that already has the status, so that a repeated write adds nothing to ``historico``.

    Returns
    -------
    Condicao
        ``attribute_not_exists(pedidoId) OR #status IN (...)``, whichever parts apply; ``status`` is a reserved word.
    """
    permitidos = [de for de in Status if de in ORIGENS[para] and de is not para]
    if incluir_o_proprio:
        permitidos.append(para)
    partes = ["attribute_not_exists(pedidoId)"] if AUSENTE in ORIGENS[para] else []
    if permitidos:
        partes.append(f"#status IN ({', '.join(f':de_{de}' for de in permitidos)})")
    return Condicao(
        expressao=" OR ".join(partes),
        nomes={"#status": "status"} if permitidos else {},
        valores={f":de_{de}": {"S": de.value} for de in permitidos},
    )
