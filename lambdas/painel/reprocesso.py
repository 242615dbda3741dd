"""Bringing back what the mapping discarded: from the on-failure message to the records, and through the consumer's
code.

On the way to SQS the platform keeps only where the records are: shard, first and last sequence number
(https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html). They are read again from the stream,
which holds them for 24 hours. With an S3 destination the object carries the records themselves and nothing expires.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast
from urllib.parse import unquote_plus

from aws_lambda_powertools.utilities.parser.models.dynamodb import DynamoDBStreamLambdaOnFailureDestinationModel
from pydantic import ValidationError

from comum.aws import codigo_do_erro
from comum.erros import ErroDefinitivo
from comum.observabilidade import identificar, logger
from painel.erros import MensagemInvalidaError, RetencaoEsgotadaError
from painel.gravacao import Gravador
from painel.transicao import ler_transicao

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient
    from mypy_boto3_s3 import S3Client

Registro = Mapping[str, Any]
Desfecho = Literal["reprocessada", "vencida", "falhou", "invalida"]
# GetRecords may answer empty pages while it walks a shard; an open shard never ends, so empty pages are counted.
_PAGINAS_VAZIAS = 20
# The API refuses a shorter one before asking:
# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_GetShardIterator.html
_SEQUENCIA = re.compile(r"[0-9]{21,40}\Z")


@dataclass(frozen=True)
class Faixa:
    """Where the discarded records are: stream, shard, and both ends, inclusive."""

    arn_stream: str
    shard: str
    primeira: str
    ultima: str


@dataclass(frozen=True)
class ObjetoS3:
    """The S3 object that holds the discarded records."""

    balde: str
    chave: str


@dataclass
class Relato:
    """What became of one message; ``registros`` and ``transicoes`` count what was read and what was a change of
    status.
    """

    desfecho: Desfecho
    registros: int = 0
    transicoes: int = 0
    falhas: list[str] = field(default_factory=list)
    motivo: str = ""


def ler_mensagem(corpo: str) -> list[Faixa | ObjetoS3]:
    """Read the body of an on-failure message: the platform's metadata, or an S3 notification of an object with them.

    Raises
    ------
    MensagemInvalidaError
        It is neither.
    """
    try:
        conteudo = json.loads(corpo)
    except ValueError:
        raise MensagemInvalidaError("message is not JSON") from None
    if isinstance(conteudo, dict) and "DDBStreamBatchInfo" in conteudo:
        return [_ler_faixa(conteudo)]
    if isinstance(conteudo, dict) and conteudo.get("Event") == "s3:TestEvent":
        return []
    try:
        return [
            ObjetoS3(balde=str(r["s3"]["bucket"]["name"]), chave=unquote_plus(str(r["s3"]["object"]["key"])))
            for r in conteudo["Records"]
        ]
    except (KeyError, TypeError):
        raise MensagemInvalidaError("message is neither the platform's metadata nor an S3 notification") from None


def _ler_faixa(conteudo: dict[str, Any]) -> Faixa:
    try:
        info = DynamoDBStreamLambdaOnFailureDestinationModel.model_validate(conteudo).ddb_stream_batch_info
    except ValidationError:
        raise MensagemInvalidaError("DDBStreamBatchInfo does not have the documented shape") from None
    if not (_SEQUENCIA.match(info.start_sequence_number) and _SEQUENCIA.match(info.end_sequence_number)):
        raise MensagemInvalidaError("sequence numbers are not 21 to 40 digits")
    return Faixa(info.stream_arn, info.shard_id, info.start_sequence_number, info.end_sequence_number)


class Fonte(Protocol):
    """Where the records come from."""

    def ler(self, faixa: Faixa) -> Iterator[Registro]: ...


class LeitorDoStream:
    """Reads a range of a shard with the low-level Streams API."""

    def __init__(self, cliente: "DynamoDBStreamsClient") -> None:
        self._cliente = cliente

    def ler(self, faixa: Faixa) -> Iterator[Registro]:
        """Yield the records from first to last sequence number.

        Raises
        ------
        RetencaoEsgotadaError
            The stream (or the shard) no longer holds all of them: past 24 hours they are trimmed. Raised at the end:
            what is still there of the range has been yielded by then.
        """
        iterador = self._iterador(faixa, do_numero=True)
        aparado = iterador is None
        if iterador is None:
            iterador = self._iterador(faixa, do_numero=False)
        for registro in self._paginas(iterador):
            numero = int(registro["dynamodb"]["SequenceNumber"])
            if numero > int(faixa.ultima):
                break
            if numero >= int(faixa.primeira):
                yield registro
            if numero == int(faixa.ultima):
                if aparado:
                    break
                return
        raise _vencida(faixa)

    def _paginas(self, iterador: str | None) -> Iterator[Registro]:
        vazias = 0
        while iterador and vazias < _PAGINAS_VAZIAS:
            try:
                pagina = self._cliente.get_records(ShardIterator=iterador, Limit=1000)
            except self._cliente.exceptions.TrimmedDataAccessException:
                return
            vazias = 0 if pagina["Records"] else vazias + 1
            yield from cast(list[Registro], pagina["Records"])
            iterador = pagina.get("NextShardIterator")

    def _iterador(self, faixa: Faixa, *, do_numero: bool) -> str | None:
        onde: dict[str, Any] = {"ShardIteratorType": "TRIM_HORIZON"}
        if do_numero:
            onde = {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": faixa.primeira}
        try:
            return self._cliente.get_shard_iterator(StreamArn=faixa.arn_stream, ShardId=faixa.shard, **onde)[
                "ShardIterator"
            ]
        except (
            self._cliente.exceptions.TrimmedDataAccessException,
            self._cliente.exceptions.ResourceNotFoundException,
        ):
            return None
        except Exception as erro:
            # Some engines answer a trimmed sequence number as one the shard does not know.
            if codigo_do_erro(erro) == "ValidationException":
                return None
            raise


def _vencida(faixa: Faixa) -> RetencaoEsgotadaError:
    return RetencaoEsgotadaError(
        "o stream não guarda mais estes registros (24 h); reconcilie", shard=faixa.shard, primeira=faixa.primeira
    )


class LeitorS3:
    """Reads the records an S3 destination kept: field ``payload`` of the object, the whole event."""

    def __init__(self, cliente: "S3Client") -> None:
        self._cliente = cliente

    def ler(self, objeto: ObjetoS3) -> list[Registro]:
        """Records of the event kept in the object; MensagemInvalidaError when it holds none."""
        corpo = self._cliente.get_object(Bucket=objeto.balde, Key=objeto.chave)["Body"].read()
        try:
            evento = json.loads(corpo)["payload"]
            evento = json.loads(evento) if isinstance(evento, str) else evento
            registros = evento["Records"]
        except (ValueError, KeyError, TypeError):
            raise MensagemInvalidaError("object without the payload of the failed invocation") from None
        return list(registros)


class Reprocessador:
    """Runs the records of one message through the same code as the consumer.

    The order of arrival does not matter here: the log is keyed by sequence number and ATUAL only moves forward. So one
    record that still fails does not hold back the others of the same message.
    """

    def __init__(self, gravador: Gravador, stream: Fonte, s3: Callable[[ObjetoS3], list[Registro]]) -> None:
        self._gravador = gravador
        self._stream = stream
        self._s3 = s3

    def reprocessar(self, corpo: str) -> Relato:
        """Bring back what the message points at; the message may be deleted only when the outcome is
        ``reprocessada``.
        """
        relato = Relato("reprocessada")
        try:
            for origem in ler_mensagem(corpo):
                registros = self._stream.ler(origem) if isinstance(origem, Faixa) else self._s3(origem)
                for registro in registros:
                    self._aplicar(registro, relato)
                    identificar(None)
        except RetencaoEsgotadaError as erro:
            relato.desfecho, relato.motivo = "vencida", erro.mensagem
        except MensagemInvalidaError as erro:
            relato.desfecho, relato.motivo = "invalida", erro.mensagem
        return relato

    def _aplicar(self, registro: Registro, relato: Relato) -> None:
        relato.registros += 1
        try:
            transicao = ler_transicao(registro)
            if transicao is not None:
                identificar(transicao.pedido_id)
                self._gravador.aplicar(transicao)
                logger.info("transition brought back", extra={"de": transicao.de, "para": transicao.para})
                relato.transicoes += 1
        except ErroDefinitivo as erro:
            relato.desfecho, relato.motivo = "falhou", erro.mensagem
            relato.falhas.append(str(registro.get("dynamodb", {}).get("SequenceNumber", "")))
