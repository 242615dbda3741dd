"""A circuit breaker in front of the gateway, one circuit per operation, shared by every instance through a table.

While a circuit is open a call fails at once and **nothing is sent**; so many seconds later exactly one call passes as
the probe, and its answer closes the circuit. Nobody has to do anything.

A refused call raises GatewayIndisponivelError like any other absence of an answer. To the saga its outcome is unknown,
although nothing was sent: an earlier attempt of the same charge may have been. The refund finds out from the gateway.
"""

from collections.abc import Callable
from typing import TypeVar

from pybreaker import CircuitBreaker, CircuitBreakerError

from comum.erros import ErroDeNegocio
from comum.http_saida import Prazo
from comum.observabilidade import contar, logger
from pagamentos.disjuntor_tabela import Circuito, TabelaDisjuntor, TabelaForaDeAlcanceError, anotar_fora_de_alcance
from pagamentos.erros import GatewayIndisponivelError
from pagamentos.porta import Cobranca, Gateway, ResultadoEstorno

Resposta = TypeVar("Resposta")

DISJUNTOR_ABERTO = "DISJUNTOR_ABERTO"

# Of GatewayIndisponivelError: the gateway answered that the key is busy.
RESPONDIDAS = frozenset({"EM_ANDAMENTO"})
# Our key is out of reach or refused: it says nothing of whether the gateway works.
SEM_VEREDITO = frozenset({"CREDENCIAL"})


class GatewayComDisjuntor:
    """Implements the port ``Gateway`` over another.

    Parameters
    ----------
    gateway : Gateway
        The one that sends.
    tabela : TabelaDisjuntor
        The shared circuits.
    """

    def __init__(self, gateway: Gateway, tabela: TabelaDisjuntor) -> None:
        self._gateway = gateway
        self._tabela = tabela

    def cobrar(
        self, token_cobranca: str, valor_centavos: int, cartao_token: str, referencia: str, prazo: Prazo
    ) -> Cobranca:
        """See :class:`pagamentos.porta.Gateway`; GatewayIndisponivelError, unsent, while the circuit is open."""
        return self._proteger(
            "cobrar",
            token_cobranca,
            prazo,
            lambda: self._gateway.cobrar(token_cobranca, valor_centavos, cartao_token, referencia, prazo),
        )

    def estornar(self, token_estorno: str, token_cobranca: str, prazo: Prazo) -> ResultadoEstorno:
        """See :class:`pagamentos.porta.Gateway`; GatewayIndisponivelError, unsent, while the circuit is open."""
        return self._proteger(
            "estornar", token_estorno, prazo, lambda: self._gateway.estornar(token_estorno, token_cobranca, prazo)
        )

    def consultar(self, token_cobranca: str, prazo: Prazo) -> Cobranca | None:
        """See :class:`pagamentos.porta.Gateway`; GatewayIndisponivelError, unsent, while the circuit is open."""
        return self._proteger(
            "consultar", token_cobranca, prazo, lambda: self._gateway.consultar(token_cobranca, prazo)
        )

    def _proteger(self, operacao: str, chave: str, prazo: Prazo, chamar: Callable[[], Resposta]) -> Resposta:
        """Call through the circuit. Without the table the call goes on as if it were closed: the breaker spares the
        gateway, and must never be what stops a sale."""
        if prazo.restante() <= 0:
            return chamar()  # too late to send anything, which says nothing of the gateway
        try:
            circuito = self._tabela.circuito(operacao, chave)
            return self._disjuntor(circuito).call(chamar)
        except TabelaForaDeAlcanceError as erro:
            anotar_fora_de_alcance(operacao, str(erro))
            aberto = False
        except CircuitBreakerError:
            aberto = True
        if not aberto:
            return chamar()
        contar("DisjuntorAberto", operacao=operacao)
        logger.info("circuit open: nothing was sent", extra={"operacao": operacao})
        raise GatewayIndisponivelError("circuit open, nothing was sent", motivo=DISJUNTOR_ABERTO)

    def _disjuntor(self, circuito: Circuito) -> CircuitBreaker:
        """A breaker for one call. Kept for longer it would remember a state that other instances have changed, and
        its lock would make calls of one process wait for each other."""

        def absolve(erro: BaseException) -> bool:
            if _sem_veredito(erro):
                circuito.sem_veredito()
                return True
            return not _e_queda(erro)

        limites = self._tabela.limites
        return CircuitBreaker(
            fail_max=limites.falhas,
            reset_timeout=limites.aberto_s,
            exclude=[absolve],
            state_storage=circuito,
            name=circuito.name,
            throw_new_error_on_trip=False,  # the error of the call itself, which may have had its effect
        )


def _e_queda(erro: BaseException) -> bool:
    """Whether the gateway did not do its work: no connection, no answer in time, 5xx or 429. A refusal is an answer."""
    return isinstance(erro, GatewayIndisponivelError) and erro.detalhes.get("motivo") not in RESPONDIDAS


def _sem_veredito(erro: BaseException) -> bool:
    """Whether the failure is ours, not the gateway's."""
    if not isinstance(erro, ErroDeNegocio):
        return True
    return isinstance(erro, GatewayIndisponivelError) and erro.detalhes.get("motivo") in SEM_VEREDITO
