"""Failures of the panel, by what a caller may do about them. Messages never carry an item's image."""

from comum.erros import ErroDefinitivo, ErroTransitorio


class RegistroInvalidoError(ErroDefinitivo):
    """A stream record that cannot be read: wrong shape, or an image missing (stream not NEW_AND_OLD_IMAGES).

    The same record fails the same way every time; bisect isolates it and the mapping's on-failure queue keeps its
    position.
    """


class PrazoEsgotadoError(ErroTransitorio):
    """Too little time left to start another record: the batch stops here and the platform re-sends from here."""


class RetencaoEsgotadaError(ErroDefinitivo):
    """The stream no longer holds the records (24 h have passed): only reconciliation can show the gap."""


class MensagemInvalidaError(ErroDefinitivo):
    """A message of the on-failure queue that is neither the platform's metadata nor its S3 notification."""


class PedidoNaoEncontradoError(ErroDefinitivo):
    """The panel has never seen this order."""


class ConsultaInvalidaError(ErroDefinitivo):
    """A query the panel's API refuses; the message, in Portuguese, is shown to the manager."""
