"""The table ``cesta-disjuntor``: one circuit per gateway operation, shared by every instance.

Item: ``operacao`` (S, hash), ``estado`` (S), ``desde`` (S, instant of the last transition), and

| estado | attributes | meaning |
|---|---|---|
| ``FECHADO`` | ``falhas`` (SS), ``janelaAte`` (N) | keys that failed in the window ending then, none answered since |
| ``ABERTO`` | ``tentarEm`` (N) | nothing is sent before then |
| ``MEIO_ABERTO`` | ``sonda`` (S), ``tentarEm`` (N) | one call holds the probe; from then on another may claim it |

Instants are epoch milliseconds. No item is a closed circuit. ``falhas`` is a set of idempotency keys, not a count, so
the retries of one order are one failure: a gateway that replays a stored 500 to one key is not down.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError
from pybreaker import (
    STATE_CLOSED,
    STATE_HALF_OPEN,
    STATE_OPEN,
    CircuitBreakerError,
    CircuitBreakerStorage,
)

from comum.aws import codigo_do_erro
from comum.observabilidade import contar, logger
from comum.relogio import para_iso

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TENTATIVAS = 3


class Estado(StrEnum):
    """Of a circuit."""

    FECHADO = "FECHADO"
    ABERTO = "ABERTO"
    MEIO_ABERTO = "MEIO_ABERTO"


class TabelaForaDeAlcanceError(Exception):
    """The shared state could not be read or claimed: the call must go on without it."""


@dataclass(frozen=True, slots=True)
class Limites:
    """When a circuit opens and for how long.

    Parameters
    ----------
    falhas : int
        Different keys that must fail, with no answer in between, for the circuit to open.
    janela_s : float
        Seconds within which they must fail, counted from the first.
    aberto_s : float
        Seconds between opening and the first probe, and between a failed probe and the next.
    sonda_s : float
        Seconds a probe may take before another instance may claim it; longer than any call.
    """

    falhas: int
    janela_s: float
    aberto_s: float
    sonda_s: float


class TabelaDisjuntor:
    """Reads circuits for the calls about to be made.

    Parameters
    ----------
    dynamodb : Callable[[], DynamoDBClient]
        Makes or returns the low-level client; one that gives up soon, for the call waits for it.
    tabela : str
        Table name.
    limites : Limites
    relogio : Callable[[], float]
        Epoch seconds.
    """

    def __init__(
        self,
        dynamodb: "Callable[[], DynamoDBClient]",
        tabela: str,
        limites: Limites,
        relogio: Callable[[], float] = time.time,
    ) -> None:
        self._dynamodb = dynamodb
        self._tabela = tabela
        self.limites = limites
        self._relogio = relogio

    def circuito(self, operacao: str, chave: str) -> "Circuito":
        """The circuit of an operation as it is now, for one call under ``chave``: one consistent read.

        Raises
        ------
        TabelaForaDeAlcanceError
        """
        try:
            resposta = self._dynamodb().get_item(
                TableName=self._tabela, Key={"operacao": {"S": operacao}}, ConsistentRead=True
            )
        except (BotoCoreError, ClientError) as erro:
            raise TabelaForaDeAlcanceError(codigo_do_erro(erro)) from None
        return Circuito(self, operacao, chave, resposta.get("Item") or {})

    def agora_ms(self) -> int:
        """Epoch milliseconds."""
        return int(self._relogio() * 1000)

    def escrever(
        self, operacao: str, expressao: str, condicao: str, **valores: Mapping[str, Any]
    ) -> tuple[bool, Mapping[str, Any]]:
        """Conditional update: (whether the condition held, the item after it, or the item that refused it).

        Raises
        ------
        BotoCoreError, ClientError
            Anything but a failed condition.
        """
        try:
            resposta = self._dynamodb().update_item(
                TableName=self._tabela,
                Key={"operacao": {"S": operacao}},
                UpdateExpression=expressao,
                ConditionExpression=condicao,
                ExpressionAttributeValues=cast(Any, {f":{nome}": valor for nome, valor in valores.items()}),
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as erro:
            if codigo_do_erro(erro) != "ConditionalCheckFailedException":
                raise
            return False, cast(Mapping[str, Any], erro.response.get("Item") or {})
        return True, cast(Mapping[str, Any], resposta["Attributes"])


class Circuito(CircuitBreakerStorage):
    """pybreaker's storage for one call: what the read saw, and conditional writes of what the call found out.

    pybreaker decides; this class only answers and writes. A write that loses a race changes nothing, so each
    transition happens once, and is logged by the one that made it. Every write but the claim of the probe is best
    effort: the verdict of the call is worth more than the memory of it.
    """

    def __init__(self, tabela: TabelaDisjuntor, operacao: str, chave: str, item: Mapping[str, Any]) -> None:
        super().__init__(operacao)
        self._tabela = tabela
        self._chave = chave
        self._item = item
        self._sonda: str | None = None
        self._respondida = 0
        self._sem_veredito = False

    # --- what pybreaker reads ----------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """Half-open only for the call that holds the probe; for every other, that circuit is open."""
        if self._sonda is not None:
            return STATE_HALF_OPEN
        return STATE_CLOSED if self._estado is Estado.FECHADO else STATE_OPEN

    @state.setter
    def state(self, estado: str) -> None:
        if estado == STATE_HALF_OPEN:
            self._reivindicar_sonda()
        elif estado == STATE_OPEN:
            self._tentar(self._abrir)
        else:
            self._tentar(self._fechar)

    @property
    def counter(self) -> int:
        """Different keys that failed; zero once another instance opened the circuit, for it is not opened twice."""
        return len(self._item.get("falhas", {}).get("SS", ())) if self._estado is Estado.FECHADO else 0

    @property
    def success_counter(self) -> int:
        """One if the probe was answered."""
        return self._respondida

    @property
    def opened_at(self) -> datetime | None:
        """Instant from which the open time counts; None when it is over and the probe may be claimed."""
        tentar_em = int(self._item.get("tentarEm", {}).get("N", 0))
        if tentar_em <= self._tabela.agora_ms():
            return None
        return datetime.fromtimestamp(tentar_em / 1000, UTC) - timedelta(seconds=self._tabela.limites.aberto_s)

    @opened_at.setter
    def opened_at(self, instante: datetime) -> None:
        """Nothing: written together with the state."""

    # --- what pybreaker tells ----------------------------------------------------------------------------------------

    def increment_counter(self) -> None:
        """The call failed."""
        if self._sonda is None:
            self._tentar(self._contar_falha)

    def reset_counter(self) -> None:
        """The call was answered: failures before it were not an outage. Nothing to write when there were none."""
        if self._sonda is None and not self._sem_veredito and self.counter:
            self._tentar(lambda: self._escrever("REMOVE falhas, janelaAte", "estado = :fechado", fechado=_FECHADO))

    def increment_success_counter(self) -> None:
        """The probe was answered, unless the call says nothing of the gateway."""
        self._respondida = 0 if self._sem_veredito else 1

    def reset_success_counter(self) -> None:
        """Nothing: one answer closes the circuit."""

    def sem_veredito(self) -> None:
        """The call says nothing of the gateway (nothing was sent): nothing is counted, and a probe is given back."""
        self._sem_veredito = True
        if self._sonda is not None:
            self._tentar(self._devolver_sonda)

    # --- transitions -------------------------------------------------------------------------------------------------

    @property
    def _estado(self) -> Estado:
        return Estado(self._item.get("estado", {}).get("S", Estado.FECHADO))

    def _reivindicar_sonda(self) -> None:
        """Exactly one call among all instances passes; if it dies, its lease ends and one other may.

        Raises
        ------
        CircuitBreakerError
            Another call holds the probe, or has already used it.
        TabelaForaDeAlcanceError
        """
        sonda = uuid4().hex
        try:
            minha = self._escrever(
                "SET estado = :meio_aberto, sonda = :sonda, tentarEm = :ate, desde = :desde",
                "estado IN (:aberto, :meio_aberto) AND tentarEm <= :agora",
                aberto=_ABERTO,
                meio_aberto=_MEIO_ABERTO,
                sonda={"S": sonda},
                ate=self._daqui_a(self._tabela.limites.sonda_s),
                agora=self._daqui_a(0),
                desde=self._desde(),
            )
        except (BotoCoreError, ClientError) as erro:
            raise TabelaForaDeAlcanceError(codigo_do_erro(erro)) from None
        if not minha:
            raise CircuitBreakerError("another call holds the probe")
        self._sonda = sonda
        logger.info("circuit half-open: this call is the probe", extra={"operacao": self.name})

    def _abrir(self) -> None:
        aberto_s = self._tabela.limites.aberto_s
        valores = {"aberto": _ABERTO, "ate": self._daqui_a(aberto_s), "desde": self._desde()}
        if self._sonda is not None:
            aberto = self._escrever(
                "SET estado = :aberto, tentarEm = :ate, desde = :desde REMOVE sonda",
                # A probe that outlived its lease has no say: another one has decided since.
                "estado = :meio_aberto AND sonda = :sonda",
                meio_aberto=_MEIO_ABERTO,
                sonda={"S": self._sonda},
                **valores,
            )
            self._sonda = None
        else:
            aberto = self._escrever(
                "SET estado = :aberto, tentarEm = :ate, desde = :desde REMOVE falhas, janelaAte",
                # An answer that came meanwhile emptied the set.
                "estado = :fechado AND attribute_exists(falhas) AND size(falhas) >= :limite",
                fechado=_FECHADO,
                limite={"N": str(self._tabela.limites.falhas)},
                **valores,
            )
        if aberto:
            contar("DisjuntorAberto", operacao=self.name)
            logger.warning("circuit opened: nothing is sent", extra={"operacao": self.name, "abertoPorS": aberto_s})

    def _fechar(self) -> None:
        if self._sonda is None:
            return
        fechado = self._escrever(
            "SET estado = :fechado, desde = :desde REMOVE sonda, tentarEm, falhas, janelaAte",
            "estado = :meio_aberto AND sonda = :sonda",
            fechado=_FECHADO,
            meio_aberto=_MEIO_ABERTO,
            sonda={"S": self._sonda},
            desde=self._desde(),
        )
        self._sonda = None
        if fechado:
            logger.info("circuit closed: the gateway answers", extra={"operacao": self.name})

    def _devolver_sonda(self) -> None:
        self._escrever(
            "SET tentarEm = :agora",
            "estado = :meio_aberto AND sonda = :sonda",
            meio_aberto=_MEIO_ABERTO,
            sonda={"S": str(self._sonda)},
            agora=self._daqui_a(0),
        )

    def _contar_falha(self) -> None:
        falha = {"SS": [self._chave]}
        for _ in range(TENTATIVAS):
            if self._estado is not Estado.FECHADO:
                return
            agora = self._daqui_a(0)
            if int(self._item.get("janelaAte", {}).get("N", 0)) > int(agora["N"]):
                contada = self._escrever(
                    "ADD falhas :falha",
                    "estado = :fechado AND janelaAte > :agora",
                    falha=falha,
                    fechado=_FECHADO,
                    agora=agora,
                )
            else:
                contada = self._escrever(
                    "SET estado = :fechado, falhas = :falha, janelaAte = :ate",
                    "attribute_not_exists(operacao)"
                    " OR (estado = :fechado AND (attribute_not_exists(janelaAte) OR janelaAte <= :agora))",
                    falha=falha,
                    fechado=_FECHADO,
                    ate=self._daqui_a(self._tabela.limites.janela_s),
                    agora=agora,
                )
            if contada:
                return

    def _escrever(self, expressao: str, condicao: str, **valores: Mapping[str, Any]) -> bool:
        feita, self._item = self._tabela.escrever(self.name, expressao, condicao, **valores)
        return feita

    def _tentar(self, escrita: Callable[[], object]) -> None:
        try:
            escrita()
        except (BotoCoreError, ClientError) as erro:
            anotar_fora_de_alcance(self.name, codigo_do_erro(erro))

    def _daqui_a(self, segundos: float) -> Mapping[str, str]:
        return {"N": str(self._tabela.agora_ms() + int(segundos * 1000))}

    def _desde(self) -> Mapping[str, str]:
        return {"S": para_iso(datetime.fromtimestamp(self._tabela.agora_ms() / 1000, UTC))}


_FECHADO = {"S": Estado.FECHADO.value}
_ABERTO = {"S": Estado.ABERTO.value}
_MEIO_ABERTO = {"S": Estado.MEIO_ABERTO.value}


def anotar_fora_de_alcance(operacao: str, codigo: str) -> None:
    """Count and log that a call went on without the shared state."""
    contar("DisjuntorForaDeAlcance", operacao=operacao)
    logger.warning("circuit breaker's table out of reach", extra={"operacao": operacao, "codigo": codigo})
