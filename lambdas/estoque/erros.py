"""Failures of the stock steps, named as the state machine names them."""

from comum.erros import ErroDefinitivo, ErroDesfechoDesconhecido, ErroTransitorio


class EstoqueInsuficienteError(ErroDefinitivo):
    """The balance does not cover the order and nothing is reserved for it."""


class ProdutoInexistenteError(ErroDefinitivo):
    """No such sku, so nothing is reserved."""


class ReservaEncerradaError(ErroDefinitivo):
    """A reserve that arrives after its undo: refused. Meant to fall to States.ALL, whose release finds nothing to
    do."""


class ReservaDivergenteError(ErroDesfechoDesconhecido):
    """The order already holds a reservation of another quantity. Meant to fall to States.ALL: what is held is given
    back."""


class ReservaEmDisputaError(ErroTransitorio):
    """Reserve and release of one order kept overtaking each other. Matched by States.TaskFailed: the call is
    repeated."""
