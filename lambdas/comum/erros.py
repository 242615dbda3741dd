"""The three kinds of failure. Each concrete class named in the state machine derives from exactly one of them.

Step Functions matches an error by the class's own ``__name__``, never by a parent's: these bases are never raised and
never named in the ASL. A message travels to the execution history, the order and the human queue: it never carries a
card token, a key or what the customer typed.
"""


class ErroDeNegocio(Exception):
    """Root of every error raised on purpose.

    Parameters
    ----------
    mensagem : str
        What happened, in words safe to log and to store.
    detalhes : str | int
        Named facts safe to log (ids, quantities in units, values in centavos, codes).
    """

    def __init__(self, mensagem: str, **detalhes: str | int) -> None:
        super().__init__(mensagem)
        self.mensagem = mensagem
        self.detalhes = detalhes


class ErroDefinitivo(ErroDeNegocio):
    """Nothing happened and trying again cannot change that: do not retry."""


class ErroTransitorio(ErroDeNegocio):
    """Nothing happened this time; the same call may work later: retry."""


class ErroDesfechoDesconhecido(ErroDeNegocio):
    """The effect may have happened: retry with the same idempotency key, then compensate as if it had."""


class PedidoInvalidoError(ErroDefinitivo):
    """The order (or the step's input) breaks the contract; ``detalhes["campos"]`` names the fields, never their
    content."""


class ConfiguracaoInvalidaError(ErroDefinitivo):
    """An environment variable is missing or malformed; the message names it and never shows its value.

    Meant to fall to States.ALL: the step may have run before under a good configuration, so the saga compensates.
    """
