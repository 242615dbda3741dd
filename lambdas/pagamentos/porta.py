"""The port to the gateway: what the logic may ask, in domain terms, whatever speaks to the network."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from comum.http_saida import Prazo


class SituacaoCobranca(StrEnum):
    """State of a charge at the gateway."""

    EM_ANDAMENTO = "EM_ANDAMENTO"
    APROVADA = "APROVADA"
    RECUSADA = "RECUSADA"
    ESTORNADA = "ESTORNADA"


class ResultadoEstorno(StrEnum):
    """Verdict of a refund."""

    ESTORNADA = "ESTORNADA"
    NADA_A_ESTORNAR = "NADA_A_ESTORNAR"


@dataclass(frozen=True, slots=True)
class Cobranca:
    """A charge as the gateway knows it; ``id_transacao`` is empty while there is none."""

    situacao: SituacaoCobranca
    id_transacao: str


class Gateway(Protocol):
    """What the payment logic needs of a gateway; every method ends within ``prazo``."""

    def cobrar(
        self, token_cobranca: str, valor_centavos: int, cartao_token: str, referencia: str, prazo: Prazo
    ) -> Cobranca:
        """Charge once per ``token_cobranca``; returns the approved charge.

        Raises
        ------
        CartaoRecusadoError, GatewayIndisponivelError, CobrancaCanceladaError, CobrancaDivergenteError,
        RespostaInesperadaGatewayError
        """

    def estornar(self, token_estorno: str, token_cobranca: str, prazo: Prazo) -> ResultadoEstorno:
        """Refund what was charged under ``token_cobranca``, or make that token unusable.

        Raises
        ------
        GatewayIndisponivelError, CobrancaDivergenteError, RespostaInesperadaGatewayError
        """

    def consultar(self, token_cobranca: str, prazo: Prazo) -> Cobranca | None:
        """The charge under a token, or None if it never charged.

        Raises
        ------
        GatewayIndisponivelError, RespostaInesperadaGatewayError
        """
