"""The ``Idempotency-Key`` header over one DynamoDB table: "is this request a repeat?", for every API that accepts
orders.

The key is claimed *before* the effect, together with what will be answered (the promise: an opaque small dict, such
as the ``pedidoId`` and ``criadoEm`` just made). A crash between the effect and the stored answer therefore repeats
the effect with the very same promise, which the consumer recognises as a duplicate. Convention of the expired IETF
draft draft-ietf-httpapi-idempotency-key-header-07: 400 malformed, 409 while the first is in flight, 422 same key with
another payload, the stored answer replayed afterwards.

Table: hash ``chave`` (S), TTL ``expiraEm`` (N, epoch seconds). Item: ``chave`` (scope and SHA-256 of the header),
``impressao`` (SHA-256 of the request), ``promessa`` (JSON), ``estado`` (EM_ANDAMENTO | CONCLUIDA), ``posse`` (N,
epoch ms until which the claim is held), ``resposta`` (JSON, once answered). DynamoDB deletes expired items late, so
every condition also compares ``expiraEm``.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import BotoCoreError, ClientError

from comum.aws import codigo_do_erro
from comum.contrato import json_canonico
from comum.http_borda import ProblemaHttp, RequisicaoHttp, RespostaHttp, indisponivel
from comum.observabilidade import contar, logger
from comum.relogio import agora

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CABECALHO = "idempotency-key"
VALIDADE_S = 24 * 60 * 60
POSSE_S = 10  # longer than any API function lives: a live first request is never taken for a dead one

# Visible ASCII without quote, comma or backslash: API Gateway joins repeated headers with a comma, which is thus
# refused.
_CHAVE = re.compile(r'(?P<aspas>"?)(?P<chave>[!#-+\--\[\]-~]{1,128})(?P=aspas)\Z')

EM_ANDAMENTO = "EM_ANDAMENTO"
CONCLUIDA = "CONCLUIDA"

Promessa = dict[str, str]


class ChaveMalformadaError(ProblemaHttp):
    """400: the header is present and is not a key."""

    def __init__(self) -> None:
        super().__init__(
            400,
            "chave-malformada",
            "Idempotency-Key malformada",
            "Use de 1 a 128 caracteres ASCII visíveis, sem aspas, vírgula ou barra invertida.",
        )


class RequisicaoEmAndamentoError(ProblemaHttp):
    """409: the first request with this key has not been answered yet."""

    def __init__(self, tentar_em_s: int) -> None:
        super().__init__(
            409,
            "requisicao-em-andamento",
            "Requisição em andamento",
            "A primeira requisição com esta Idempotency-Key ainda está sendo atendida. Tente de novo em instantes.",
            cabecalhos={"Retry-After": str(max(1, tentar_em_s))},
        )


class ChaveReutilizadaError(ProblemaHttp):
    """422: the key was used with another payload."""

    def __init__(self) -> None:
        super().__init__(
            422,
            "chave-reutilizada",
            "Idempotency-Key já usada",
            "Esta Idempotency-Key já foi usada com outro conteúdo. Use uma chave nova para um pedido novo.",
        )


@dataclass(frozen=True, slots=True)
class Reivindicacao:
    """A claim: ``promessa`` is what must be answered; ``resposta`` is set when the request was already answered."""

    chave: str
    impressao: str
    promessa: Promessa
    posse: int
    resposta: RespostaHttp | None = None


def ler_chave(requisicao: RequisicaoHttp) -> str | None:
    """The key of a request, without optional quotes, or None when the header is absent.

    Raises
    ------
    ChaveMalformadaError
        If the header is present and empty, too long, repeated or has forbidden characters.
    """
    texto = requisicao.cabecalhos.get(CABECALHO)
    if texto is None:
        return None
    achado = _CHAVE.match(texto.strip())
    if achado is None:
        raise ChaveMalformadaError
    return achado["chave"]


def impressao_de(conteudo: Any) -> str:
    """SHA-256 (hex) of a request's content as canonical JSON: two spellings of one JSON are the same request."""
    return hashlib.sha256(json_canonico(conteudo).encode()).hexdigest()


class RegistroDeChaves:
    """The protocol over one table.

    Parameters
    ----------
    dynamodb : DynamoDBClient
        Low-level client.
    tabela : str
        Table name.
    escopo : str
        Keeps equal keys of different operations apart (``POST /pedidos``).
    posse_s, validade_s : int
        Seconds a claim is held before another request may take it over, and seconds a key lives.
    relogio : Callable[[], datetime]
        Current instant, aware.
    """

    def __init__(
        self,
        dynamodb: "DynamoDBClient",
        tabela: str,
        *,
        escopo: str,
        posse_s: int = POSSE_S,
        validade_s: int = VALIDADE_S,
        relogio: Callable[[], datetime] = agora,
    ) -> None:
        self._dynamodb = dynamodb
        self._tabela = tabela
        self._escopo = escopo
        self._posse_ms = posse_s * 1000
        self._validade_s = validade_s
        self._relogio = relogio

    def executar(
        self, chave: str | None, conteudo: Any, promessa: Promessa, acao: Callable[[Promessa], RespostaHttp]
    ) -> RespostaHttp:
        """Answer a request once: claim, run ``acao`` with the promise that holds, store the answer.

        ``conteudo`` is what was asked, as JSON: the same key with another one is not a repeat.
        ``acao`` receives the promise of the *first* request with this key and must be safe to repeat with it. Without
        a key it simply runs. If it raises, the claim is handed back so that a retry runs at once, with the same
        promise.

        Raises
        ------
        RequisicaoEmAndamentoError, ChaveReutilizadaError
            As the convention says.
        ProblemaHttp
            503 when the table refuses the claim (nothing was done); whatever ``acao`` raises.
        """
        if chave is None:
            return acao(promessa)
        try:
            reivindicacao = self.reivindicar(chave, conteudo, promessa)
        except (ClientError, BotoCoreError) as erro:
            logger.error("idempotency table refused the claim", extra={"codigo": codigo_do_erro(erro)})
            raise indisponivel("Não foi possível registrar o pedido agora. Repita a mesma requisição.") from None
        if reivindicacao.resposta is not None:
            contar("RequisicoesRepetidas")
            return reivindicacao.resposta
        try:
            resposta = acao(reivindicacao.promessa)
        except BaseException:
            self.soltar(reivindicacao)
            raise
        self.concluir(reivindicacao, resposta)
        return resposta

    def reivindicar(self, chave: str, conteudo: Any, promessa: Promessa) -> Reivindicacao:
        """Claim a key, or learn what was promised or answered under it.

        Returns
        -------
        Reivindicacao
            With this promise (first use), with the stored promise (the holder died), or with the stored answer
            (repeat).

        Raises
        ------
        RequisicaoEmAndamentoError, ChaveReutilizadaError
        """
        momento = self._relogio()
        agora_ms, agora_s = int(momento.timestamp() * 1000), int(momento.timestamp())
        nova = Reivindicacao(self._indice(chave), impressao_de(conteudo), promessa, agora_ms + self._posse_ms)
        try:
            self._dynamodb.put_item(
                TableName=self._tabela,
                Item={
                    "chave": {"S": nova.chave},
                    "impressao": {"S": nova.impressao},
                    "promessa": {"S": json_canonico(promessa)},
                    "estado": {"S": EM_ANDAMENTO},
                    "posse": {"N": str(nova.posse)},
                    "expiraEm": {"N": str(agora_s + self._validade_s)},
                },
                ConditionExpression="attribute_not_exists(chave) OR expiraEm <= :agora",
                ExpressionAttributeValues={":agora": {"N": str(agora_s)}},
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException as recusa:
            return self._repetida(cast(Mapping[str, Any], recusa.response).get("Item") or {}, nova, agora_ms)
        return nova

    def concluir(self, reivindicacao: Reivindicacao, resposta: RespostaHttp) -> None:
        """Store the answer to be replayed. A failure here is logged only: a repeat would run again with the same
        promise."""
        try:
            self._dynamodb.update_item(
                TableName=self._tabela,
                Key={"chave": {"S": reivindicacao.chave}},
                UpdateExpression="SET estado = :concluida, resposta = :resposta",
                ConditionExpression="impressao = :impressao AND promessa = :promessa",
                ExpressionAttributeValues={
                    ":concluida": {"S": CONCLUIDA},
                    ":resposta": {"S": json_canonico(resposta)},
                    ":impressao": {"S": reivindicacao.impressao},
                    ":promessa": {"S": json_canonico(reivindicacao.promessa)},
                },
            )
        except (ClientError, BotoCoreError) as erro:
            logger.warning("answer not stored for replay", extra={"codigo": codigo_do_erro(erro)})

    def soltar(self, reivindicacao: Reivindicacao) -> None:
        """Hand the claim back after a failed effect, keeping its promise: the next request takes it over without
        waiting."""
        try:
            self._dynamodb.update_item(
                TableName=self._tabela,
                Key={"chave": {"S": reivindicacao.chave}},
                UpdateExpression="SET posse = :livre",
                ConditionExpression="estado = :andamento AND posse = :minha",
                ExpressionAttributeValues={
                    ":livre": {"N": "0"},
                    ":andamento": {"S": EM_ANDAMENTO},
                    ":minha": {"N": str(reivindicacao.posse)},
                },
            )
        except (ClientError, BotoCoreError) as erro:
            logger.warning("claim left to expire by itself", extra={"codigo": codigo_do_erro(erro)})

    def _repetida(self, item: Mapping[str, Any], nova: Reivindicacao, agora_ms: int) -> Reivindicacao:
        if not item:  # deleted between the refusal and now
            raise RequisicaoEmAndamentoError(1)
        if item["impressao"]["S"] != nova.impressao:
            raise ChaveReutilizadaError
        promessa: Promessa = json.loads(item["promessa"]["S"])
        if item["estado"]["S"] == CONCLUIDA:
            resposta: RespostaHttp = json.loads(item["resposta"]["S"])
            return Reivindicacao(nova.chave, nova.impressao, promessa, 0, resposta)
        posse_atual = int(item["posse"]["N"])
        if posse_atual > agora_ms:
            raise RequisicaoEmAndamentoError((posse_atual - agora_ms + 999) // 1000)
        return self._assumir(nova, promessa, posse_atual)

    def _assumir(self, nova: Reivindicacao, promessa: Promessa, posse_anterior: int) -> Reivindicacao:
        """Take over a claim whose holder died; comparing the old lease lets only one of several repeats win."""
        try:
            self._dynamodb.update_item(
                TableName=self._tabela,
                Key={"chave": {"S": nova.chave}},
                UpdateExpression="SET posse = :nova",
                ConditionExpression="estado = :andamento AND posse = :anterior",
                ExpressionAttributeValues={
                    ":nova": {"N": str(nova.posse)},
                    ":andamento": {"S": EM_ANDAMENTO},
                    ":anterior": {"N": str(posse_anterior)},
                },
            )
        except self._dynamodb.exceptions.ConditionalCheckFailedException:
            raise RequisicaoEmAndamentoError(1) from None
        return Reivindicacao(nova.chave, nova.impressao, promessa, nova.posse)

    def _indice(self, chave: str) -> str:
        return f"{self._escopo}#{hashlib.sha256(chave.encode()).hexdigest()}"
