"""Failures of the order functions."""

from comum.erros import ErroDefinitivo, ErroTransitorio


class ConfirmacaoRecusadaError(ErroDefinitivo):
    """The order is not RESERVADO (an undo already began, or it ended): it will never be confirmed.

    Meant to fall to States.ALL: the mark COMPENSANDO decides what happens next.
    """


class ConfirmacaoForcadaAFalharError(ErroTransitorio):
    """Failure injected by a proof, only where injection is on. Matched by States.TaskFailed, then falls to
    States.ALL."""


class PedidoDivergenteError(ErroDefinitivo):
    """The same pedidoId with other content: a conflict, not a duplicate. The message ends in the dead-letter queue."""


class FilaIndisponivelError(ErroTransitorio):
    """The queue of created orders refused the message, or its answer was lost: publishing again is safe."""
