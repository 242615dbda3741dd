"""Which stores a person may see, and who acknowledged, from the claims API Gateway has already verified."""

from collections.abc import Mapping
from typing import Any

from painel.transicao import LOJA_DESCONHECIDA

SEM_LOGIN = "sem-login"


def lojas_permitidas(evento: Mapping[str, Any], autenticacao: str) -> frozenset[str] | None:
    """Stores of the caller; None means every store.

    Parameters
    ----------
    evento : Mapping[str, Any]
        HTTP API event; the JWT authorizer puts the verified claims in ``requestContext.authorizer.jwt.claims``.
    autenticacao : str
        ``nenhuma`` only where there is no sign-in at all. With sign-in, a caller without the claim sees no store: a
        missing authorizer must not open everything.
    """
    if autenticacao == "nenhuma":
        return None
    lojas = str(_claims(evento).get("custom:lojas", "")).split(",")
    if "*" in lojas:
        return None
    return frozenset(loja.strip() for loja in lojas if loja.strip()) - {LOJA_DESCONHECIDA}


def quem(evento: Mapping[str, Any]) -> str:
    """Who is asking: the token's subject, an id that names nobody; ``sem-login`` where there is no sign-in."""
    return str(_claims(evento).get("sub", SEM_LOGIN))[:64]


def _claims(evento: Mapping[str, Any]) -> Mapping[str, Any]:
    valor: Any = evento
    for nome in ("requestContext", "authorizer", "jwt", "claims"):
        valor = valor.get(nome) if isinstance(valor, Mapping) else None
    return valor if isinstance(valor, Mapping) else {}
