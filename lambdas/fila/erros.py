"""Failures of the queue's consumer, each of one of the three kinds.

Every one of them sends the message back to the queue; after 5 receives it is in the DLQ, with an alarm, and can be
redriven. What is *not* an error is a business refusal (no stock, payment refused): that is an outcome, recorded on
the order's effect.
"""

from comum.erros import ErroDefinitivo, ErroDesfechoDesconhecido, ErroTransitorio


class MensagemInvalidaError(ErroDefinitivo):
    """The message breaks the contract; ``detalhes["campos"]`` names the fields and rules, never their content."""


class PedidoConflitanteError(ErroDefinitivo):
    """The same pedidoId arrived before with another content: one of the two is wrong, a person decides."""


class EstoqueEmDisputaError(ErroTransitorio):
    """Other orders kept writing the same stock item while this one tried to debit it; nothing was written."""


class EfeitoAusenteError(ErroTransitorio):
    """The order's effect was there and is not any more (someone deleted it); the next delivery starts over."""


class TempoInsuficienteError(ErroTransitorio):
    """Too little of the invocation is left to finish a message; it was not started."""


class CobrancaEmAndamentoError(ErroTransitorio):
    """Another attempt with the same key is inside the gateway right now (409 EM_ANDAMENTO)."""


class CobrancaSemRespostaError(ErroDesfechoDesconhecido):
    """The gateway did not answer, or answered 5xx: the charge may have happened. Repeated with the same key."""


class CobrancaMalFormadaError(ErroDefinitivo):
    """The gateway refused the request itself (400, 401, 422...): a defect or a setting of ours, never the
    customer's."""


class FilaForaDeAlcanceError(ErroDesfechoDesconhecido):
    """The queue refused the order, or its answer was lost (it may be there); the customer repeats the request."""
