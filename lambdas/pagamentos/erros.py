"""Failures of the payment steps, named as the state machine names them."""

from comum.erros import ErroDefinitivo, ErroDesfechoDesconhecido


class CartaoRecusadoError(ErroDefinitivo):
    """The gateway refused the card: known to have charged nothing, so there is nothing to refund."""


class GatewayIndisponivelError(ErroDesfechoDesconhecido):
    """No verdict: network, timeout, 5xx, throttling, credential out of reach, the same key still in flight (409), or
    the circuit breaker open and nothing sent (``motivo`` DISJUNTOR_ABERTO).

    Retried with the same key; when retries end the charge may exist, so the saga refunds.
    """


class CobrancaCanceladaError(ErroDefinitivo):
    """The charge's token was made unusable, or the charge was refunded: it will never charge.

    Meant to fall to States.ALL: an undo already ran for this order, so the saga compensates to the end.
    """


class CobrancaDivergenteError(ErroDesfechoDesconhecido):
    """The token was used before with another content (422). Meant to fall to States.ALL: that charge may exist."""


class RespostaInesperadaGatewayError(ErroDesfechoDesconhecido):
    """An answer outside the contract: what happened is unknown. Meant to fall to States.ALL."""
