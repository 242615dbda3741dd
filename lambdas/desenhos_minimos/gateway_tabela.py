"""The stand-in gateway's table, where every money movement is one transaction with its line in the ledger.

Layout (hash ``pk``, range ``sk``):

- ``COBRANCA#{key}`` / ``COBRANCA``: a charge. ``situacao`` (EM_ANDAMENTO, APROVADA, RECUSADA, ESTORNADA, CANCELADA),
  ``impressao`` (hash of the request), ``dono`` and ``posse`` (who decides it, and until when in epoch ms), ``criadaEm``
  (epoch ms), ``valorCentavos``, ``referencia``, ``idTransacao``, ``falhaGuardada``.
- ``COBRANCA#{key}`` / ``TENTATIVAS``: how many times a key met an unavailable gateway.
- ``ESTORNO#{key}`` / ``ESTORNO``: a refund's verdict. ``impressao``, ``resultado``, ``criadoEm`` (epoch ms).
- ``MOVIMENTOS`` / 12-digit order: the ledger. ``CONTADOR`` / ``CONTADOR``: its counter.
- ``MODO`` / ``MODO``: the whole gateway's mode.

The order comes from an atomic counter taken before the transaction: movements of one key are serialised by the
conditions, so their order is the order in which money moved; a transaction that loses leaves a gap.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from comum.aws import codigo_do_erro
from comum.relogio import agora, para_iso

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VALIDADE_CHAVE = timedelta(hours=24)
POSSE = timedelta(seconds=30)  # longer than the function lives: a live charge is never taken for a dead one


class Situacao(StrEnum):
    """State of a charge."""

    EM_ANDAMENTO = "EM_ANDAMENTO"
    APROVADA = "APROVADA"
    RECUSADA = "RECUSADA"
    ESTORNADA = "ESTORNADA"
    CANCELADA = "CANCELADA"


class Movimento(StrEnum):
    """Kind of a ledger line; only COBRANCA_APROVADA and ESTORNO move money."""

    COBRANCA_APROVADA = "COBRANCA_APROVADA"
    COBRANCA_RECUSADA = "COBRANCA_RECUSADA"
    COBRANCA_BLOQUEADA = "COBRANCA_BLOQUEADA"
    ESTORNO = "ESTORNO"
    NADA_A_ESTORNAR = "NADA_A_ESTORNAR"


class Modo(StrEnum):
    """Mode of the whole gateway."""

    NORMAL = "NORMAL"
    INDISPONIVEL = "INDISPONIVEL"


class DisputaPerdida(Exception):
    """Another request changed the charge first: read again and answer what it says."""


@dataclass(frozen=True, slots=True)
class CobrancaGuardada:
    """A charge as stored; ``valor`` in centavos, ``posse`` in epoch ms."""

    situacao: Situacao
    impressao: str
    dono: str
    posse: int
    valor: int
    referencia: str
    id_transacao: str
    falha_guardada: bool


@dataclass(frozen=True, slots=True)
class EstornoGuardado:
    """A refund's stored verdict."""

    impressao: str
    resultado: str


class TabelaGateway:
    """Reads and writes ``cesta-gateway-simulado``.

    Parameters
    ----------
    dynamodb : DynamoDBClient
        Low-level client.
    nome : str
        Table name.
    relogio : Callable[[], datetime]
        Current instant, aware.
    """

    def __init__(self, dynamodb: "DynamoDBClient", nome: str, relogio: Callable[[], datetime] = agora) -> None:
        self._dynamodb = dynamodb
        self._nome = nome
        self._relogio = relogio

    def cobranca(self, chave: str) -> CobrancaGuardada | None:
        """The charge under a key, or None."""
        item = self._ler(_chave_cobranca(chave))
        return None if item is None else _cobranca(item)

    def reivindicar(
        self, chave: str, impressao: str, valor: int, referencia: str
    ) -> tuple[bool, CobrancaGuardada | None]:
        """Put the key in flight for this request.

        Returns
        -------
        tuple[bool, CobrancaGuardada | None]
            (True, the claim) when it is this request's to decide; (False, what is there) otherwise.
        """
        agora_ms = self._agora_ms()
        item: dict[str, Any] = {
            **_chave_cobranca(chave),
            "situacao": {"S": Situacao.EM_ANDAMENTO},
            "impressao": {"S": impressao},
            "dono": {"S": uuid.uuid4().hex},
            "posse": {"N": str(agora_ms + _ms(POSSE))},
            "criadaEm": {"N": str(agora_ms)},
            "valorCentavos": {"N": str(valor)},
            "referencia": {"S": referencia},
        }
        try:
            self._dynamodb.put_item(
                TableName=self._nome,
                Item=item,
                # New; or its decider died; or the key is older than its validity. A cancelled key is never free again.
                ConditionExpression=(
                    "attribute_not_exists(pk)"
                    " OR (situacao = :andamento AND posse < :agora AND impressao = :impressao)"
                    " OR (situacao IN (:aprovada, :recusada, :estornada) AND criadaEm <= :limite)"
                ),
                ExpressionAttributeValues={
                    ":andamento": {"S": Situacao.EM_ANDAMENTO},
                    ":aprovada": {"S": Situacao.APROVADA},
                    ":recusada": {"S": Situacao.RECUSADA},
                    ":estornada": {"S": Situacao.ESTORNADA},
                    ":agora": {"N": str(agora_ms)},
                    ":impressao": {"S": impressao},
                    ":limite": {"N": str(agora_ms - _ms(VALIDADE_CHAVE))},
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as recusa:
            atual = cast(Mapping[str, Any], recusa.response).get("Item")
            return False, _cobranca(atual) if atual else None
        return True, _cobranca(item)

    def soltar(self, chave: str, cobranca: CobrancaGuardada) -> None:
        """Forget a claim that decided nothing."""
        try:
            self._dynamodb.delete_item(
                TableName=self._nome,
                Key=_chave_cobranca(chave),
                ConditionExpression="situacao = :andamento AND dono = :dono",
                ExpressionAttributeValues=_e_minha(cobranca),
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            return

    def decidir(
        self, chave: str, cobranca: CobrancaGuardada, situacao: Situacao, *, falha_guardada: bool
    ) -> CobrancaGuardada:
        """Approve or refuse a claimed charge, with its ledger line.

        Raises
        ------
        DisputaPerdida
            The claim was cancelled or taken over meanwhile: no money moved.
        """
        movimento = Movimento.COBRANCA_APROVADA if situacao is Situacao.APROVADA else Movimento.COBRANCA_RECUSADA
        id_transacao = f"tra-{uuid.uuid4().hex}"
        self._transacao(
            {
                "Update": {
                    "TableName": self._nome,
                    "Key": _chave_cobranca(chave),
                    "UpdateExpression": "SET situacao = :nova, idTransacao = :id, falhaGuardada = :falha",
                    "ConditionExpression": "situacao = :andamento AND dono = :dono",
                    "ExpressionAttributeValues": {
                        **_e_minha(cobranca),
                        ":nova": {"S": situacao},
                        ":id": {"S": id_transacao},
                        ":falha": {"BOOL": falha_guardada},
                    },
                }
            },
            self._linha(movimento, chave, cobranca.referencia, cobranca.valor),
        )
        return CobrancaGuardada(
            situacao,
            cobranca.impressao,
            cobranca.dono,
            cobranca.posse,
            cobranca.valor,
            cobranca.referencia,
            id_transacao,
            falha_guardada,
        )

    def estorno(self, chave: str) -> EstornoGuardado | None:
        """The verdict under a refund key still valid, or None."""
        item = self._ler(_chave_estorno(chave))
        if item is None or int(item["criadoEm"]["N"]) <= self._agora_ms() - _ms(VALIDADE_CHAVE):
            return None
        return EstornoGuardado(item["impressao"]["S"], item["resultado"]["S"])

    def devolver(self, chave_estorno: str, impressao: str, chave_cobranca: str, cobranca: CobrancaGuardada) -> None:
        """Refund an approved charge: charge, verdict and ledger line together (DisputaPerdida if it changed
        meanwhile)."""
        self._transacao(
            {
                "Update": {
                    "TableName": self._nome,
                    "Key": _chave_cobranca(chave_cobranca),
                    "UpdateExpression": "SET situacao = :estornada",
                    "ConditionExpression": "situacao = :aprovada AND dono = :dono",
                    "ExpressionAttributeValues": {
                        ":estornada": {"S": Situacao.ESTORNADA},
                        ":aprovada": {"S": Situacao.APROVADA},
                        ":dono": {"S": cobranca.dono},
                    },
                }
            },
            self._veredito(chave_estorno, impressao, Situacao.ESTORNADA),
            self._linha(Movimento.ESTORNO, chave_cobranca, cobranca.referencia, cobranca.valor),
        )

    def cancelar(
        self, chave_estorno: str, impressao: str, chave_cobranca: str, cobranca: CobrancaGuardada | None
    ) -> None:
        """Make the key of a charge that took no money unusable for ever (DisputaPerdida if it changed meanwhile)."""
        referencia = chave_cobranca.removeprefix("cesta-cobranca-") if cobranca is None else cobranca.referencia
        condicao: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
        if cobranca is not None:
            condicao = {
                "ConditionExpression": "situacao = :vista AND dono = :dono",
                "ExpressionAttributeValues": {":vista": {"S": cobranca.situacao}, ":dono": {"S": cobranca.dono}},
            }
        self._transacao(
            {
                "Put": {
                    "TableName": self._nome,
                    "Item": {
                        **_chave_cobranca(chave_cobranca),
                        "situacao": {"S": Situacao.CANCELADA},
                        "criadaEm": {"N": str(self._agora_ms())},
                        "referencia": {"S": referencia},
                    },
                    **condicao,
                }
            },
            self._veredito(chave_estorno, impressao, Movimento.NADA_A_ESTORNAR),
            self._linha(Movimento.NADA_A_ESTORNAR, chave_cobranca, referencia, 0),
        )

    def guardar_veredito(self, chave_estorno: str, impressao: str, resultado: str) -> None:
        """Keep a verdict that moves nothing (the charge was refunded or cancelled under another refund key)."""
        self._transacao(self._veredito(chave_estorno, impressao, resultado))

    def bloquear(self, chave: str, referencia: str) -> None:
        """Write in the ledger that a charge met an unusable key."""
        self._transacao(self._linha(Movimento.COBRANCA_BLOQUEADA, chave, referencia, 0))

    def contar_tentativa(self, chave: str) -> int:
        """Count one more attempt of a key against an unavailable gateway; returns how many so far."""
        return self._somar(f"COBRANCA#{chave}", "TENTATIVAS")

    def movimentos(self, pedido_id: str | None) -> list[dict[str, Any]]:
        """The ledger in order, whole or of one order (``referencia``)."""
        filtro: dict[str, Any] = {}
        if pedido_id is not None:
            filtro = {
                "FilterExpression": "pedidoId = :pedido",
                "ExpressionAttributeValues": {":pk": {"S": "MOVIMENTOS"}, ":pedido": {"S": pedido_id}},
            }
        paginas = self._dynamodb.get_paginator("query").paginate(
            TableName=self._nome,
            KeyConditionExpression="pk = :pk",
            ConsistentRead=True,
            **({"ExpressionAttributeValues": {":pk": {"S": "MOVIMENTOS"}}} | filtro),
        )
        return [_movimento(item) for pagina in paginas for item in pagina["Items"]]

    def modo(self) -> Modo:
        """Mode of the whole gateway; NORMAL until told otherwise."""
        item = self._ler({"pk": {"S": "MODO"}, "sk": {"S": "MODO"}})
        return Modo.NORMAL if item is None else Modo(item["modo"]["S"])

    def mudar_modo(self, modo: Modo) -> None:
        """Change the mode of the whole gateway."""
        self._dynamodb.put_item(
            TableName=self._nome, Item={"pk": {"S": "MODO"}, "sk": {"S": "MODO"}, "modo": {"S": modo}}
        )

    def _ler(self, chave: dict[str, Any]) -> Mapping[str, Any] | None:
        return self._dynamodb.get_item(TableName=self._nome, Key=chave, ConsistentRead=True).get("Item")

    def _somar(self, pk: str, sk: str) -> int:
        resposta = self._dynamodb.update_item(
            TableName=self._nome,
            Key={"pk": {"S": pk}, "sk": {"S": sk}},
            UpdateExpression="ADD soma :um",
            ExpressionAttributeValues={":um": {"N": "1"}},
            ReturnValues="UPDATED_NEW",
        )
        return int(resposta["Attributes"]["soma"]["N"])

    def _linha(self, movimento: Movimento, chave: str, referencia: str, valor: int) -> dict[str, Any]:
        return {
            "Put": {
                "TableName": self._nome,
                "Item": {
                    "pk": {"S": "MOVIMENTOS"},
                    "sk": {"S": f"{self._somar('CONTADOR', 'CONTADOR'):012d}"},
                    "movimento": {"S": movimento},
                    "pedidoId": {"S": referencia},
                    "tokenCobranca": {"S": chave},
                    "valorCentavos": {"N": str(valor)},
                    "em": {"S": para_iso(self._relogio())},
                },
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        }

    def _veredito(self, chave: str, impressao: str, resultado: str) -> dict[str, Any]:
        return {
            "Put": {
                "TableName": self._nome,
                "Item": {
                    **_chave_estorno(chave),
                    "impressao": {"S": impressao},
                    "resultado": {"S": resultado},
                    "criadoEm": {"N": str(self._agora_ms())},
                },
                "ConditionExpression": "attribute_not_exists(pk) OR criadoEm <= :limite",
                "ExpressionAttributeValues": {":limite": {"N": str(self._agora_ms() - _ms(VALIDADE_CHAVE))}},
            }
        }

    def _transacao(self, *escritas: dict[str, Any]) -> None:
        try:
            self._dynamodb.transact_write_items(TransactItems=cast(Any, list(escritas)))
        except self._dynamodb.exceptions.ClientError as erro:
            if codigo_do_erro(erro) not in ("TransactionCanceledException", "TransactionConflictException"):
                raise
        else:
            return
        raise DisputaPerdida

    def _agora_ms(self) -> int:
        return int(self._relogio().timestamp() * 1000)


def _ms(duracao: timedelta) -> int:
    return int(duracao.total_seconds() * 1000)


def _chave_cobranca(chave: str) -> dict[str, Any]:
    return {"pk": {"S": f"COBRANCA#{chave}"}, "sk": {"S": "COBRANCA"}}


def _chave_estorno(chave: str) -> dict[str, Any]:
    return {"pk": {"S": f"ESTORNO#{chave}"}, "sk": {"S": "ESTORNO"}}


def _e_minha(cobranca: CobrancaGuardada) -> dict[str, Any]:
    return {":andamento": {"S": Situacao.EM_ANDAMENTO}, ":dono": {"S": cobranca.dono}}


def _cobranca(item: Mapping[str, Any]) -> CobrancaGuardada:
    return CobrancaGuardada(
        situacao=Situacao(item["situacao"]["S"]),
        impressao=item.get("impressao", {}).get("S", ""),
        dono=item.get("dono", {}).get("S", ""),
        posse=int(item.get("posse", {}).get("N", 0)),
        valor=int(item.get("valorCentavos", {}).get("N", 0)),
        referencia=item.get("referencia", {}).get("S", ""),
        id_transacao=item.get("idTransacao", {}).get("S", ""),
        falha_guardada=item.get("falhaGuardada", {}).get("BOOL", False),
    )


def _movimento(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "ordem": int(item["sk"]["S"]),
        "movimento": item["movimento"]["S"],
        "pedidoId": item["pedidoId"]["S"],
        "tokenCobranca": item["tokenCobranca"]["S"],
        "valorCentavos": int(item["valorCentavos"]["N"]),
        "em": item["em"]["S"],
    }
