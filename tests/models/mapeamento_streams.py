"""Model of Lambda's event source mapping for DynamoDB Streams, to drive the real handler where no engine does it right.

Local engines ignore partial batches, attempts and bisect, so what AWS documents is written here rule by rule. Where AWS
leaves a choice open, the choice is a parameter, and tests draw it: what holds must hold either way.

=====  =====================================================================================  ==========
rule   what AWS says                                                                          source
=====  =====================================================================================  ==========
R1     Each shard is read in order, in batches; a batch that fails blocks its shard           [polling]
R2     A complete success checkpoints at the batch's highest sequence number                  [partial]
R3     Several failures: the lowest sequence number is the checkpoint, everything from it
       is sent again, later successes included                                                [partial]
R4     Empty, null or malformed ``itemIdentifier``: the whole batch failed                    [partial]
R5     Empty or null ``batchItemFailures``, empty or null answer: complete success            [partial]
R6     The invocation fails: retry of the whole batch, in halves when bisect is on, whatever
       ReportBatchItemFailures says; splitting uses up no attempt                             [partial][errors]
R7     Partial answer with bisect on: cut at the returned number, only the rest is retried    [partial]
R8     After MaximumRetryAttempts, MaximumRecordAgeInSeconds or the stream's 24 h, the
       records are discarded and the shard goes on                                            [errors][params]
R9     A throttled or impossible invocation is retried until the age, without counting        [errors]
R10    On-failure to SQS carries shard and sequence range, never the records; the range may
       hold more than one record even with bisect on                                          [errors][esm]
R11    Shards run in parallel; one item's changes are in one shard, children after parents    [streams]
R12    ParallelizationFactor: several batches of a shard at once, in order per partition key  [polling]
R13    At least once: a batch that succeeded may come again                                   [polling]
=====  =====================================================================================  ==========

[partial] https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
[errors]  https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
[params]  https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-params.html
[polling] https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
[esm]     https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-lambda-eventsourcemapping.html
[streams] https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Registro = dict[str, Any]
RETENCAO_S = 24 * 3600
ARN_STREAM = "arn:aws:dynamodb:sa-east-1:123456789012:table/pedidos_cadencia/stream/2026-01-01T00:00:00.000"


class ProcessoMorto(BaseException):
    """The function's process ended in the middle (timeout, out of memory): nothing after it ran, nothing was
    answered.
    """


class InvocacaoRecusada(Exception):
    """The function could not be invoked at all (throttling): R9."""


@dataclass(frozen=True)
class Mapeamento:
    """Settings of one mapping; the defaults are the project's own (3 retries, batch of 100, bisect, partial batch)."""

    tamanho_do_lote: int = 100
    tentativas: int = 3
    idade_maxima_s: int = -1
    bisect: bool = True
    resposta_parcial: bool = True
    paralelismo: int = 1
    # Open in the documentation: whether an answer that moved the checkpoint starts a fresh count of attempts.
    progresso_renova_tentativas: bool = True


@dataclass
class Shard:
    """A shard: its records in order, and the shard that must be finished before it (R11)."""

    id: str
    registros: list[Registro]
    pai: str | None = None


@dataclass
class Resultado:
    """What the mapping did: invocations (batch sizes), on-failure messages, records discarded."""

    invocacoes: list[int] = field(default_factory=list)
    mensagens: list[dict[str, Any]] = field(default_factory=list)
    descartados: list[Registro] = field(default_factory=list)


class ModeloDoMapeamento:
    """Delivers shards to ``invocar`` the way AWS documents.

    Parameters
    ----------
    mapeamento : Mapeamento
        Settings.
    invocar : Callable[[dict], Any]
        The function: takes the event, returns the answer; any exception (or ProcessoMorto) is a failed invocation.
    agora : Callable[[], float]
        Clock, seconds since the epoch, for ages.
    escolher : Callable[[int], int]
        Which of n shards (or lanes of a shard) goes next; tests draw it.
    reentregar : Callable[[], bool]
        Whether a batch that just succeeded is sent once more (R13).
    """

    def __init__(
        self,
        mapeamento: Mapeamento,
        invocar: Callable[[dict[str, Any]], Any],
        agora: Callable[[], float] = lambda: 0.0,
        escolher: Callable[[int], int] = lambda _: 0,
        reentregar: Callable[[], bool] = lambda: False,
    ) -> None:
        self._mapeamento = mapeamento
        self._invocar = invocar
        self._agora = agora
        self._escolher = escolher
        self._reentregar = reentregar
        self.resultado = Resultado()

    def executar(self, shards: Sequence[Shard]) -> Resultado:
        """Deliver everything; ends when every shard is at its end (each record delivered or discarded)."""
        ativos: list[tuple[str, Iterator[None]]] = []
        esperando, prontos = list(shards), set[str]()
        while esperando or ativos:
            for shard in [s for s in esperando if s.pai is None or s.pai in prontos]:
                esperando.remove(shard)
                ativos.append((shard.id, self._shard(shard)))
            posicao = self._escolher(len(ativos)) % len(ativos)
            shard_id, passos = ativos[posicao]
            if next(passos, "fim") == "fim":
                ativos.pop(posicao)
                prontos.add(shard_id)
        return self.resultado

    def _shard(self, shard: Shard) -> Iterator[None]:
        faixas = [self._faixa(shard.id, registros) for registros in self._dividir_em_faixas(shard.registros)]
        while faixas:
            posicao = self._escolher(len(faixas)) % len(faixas)
            if next(faixas[posicao], "fim") == "fim":
                faixas.pop(posicao)
            yield

    def _dividir_em_faixas(self, registros: list[Registro]) -> list[list[Registro]]:
        faixas: list[list[Registro]] = [[] for _ in range(self._mapeamento.paralelismo)]
        for registro in registros:  # R12: the lane is a function of the partition key
            chave = repr(sorted(registro["dynamodb"]["Keys"]["PK"].items()))
            faixas[zlib.crc32(chave.encode()) % len(faixas)].append(registro)
        return [faixa for faixa in faixas if faixa]

    def _faixa(self, shard_id: str, registros: list[Registro]) -> Iterator[None]:
        tamanho = self._mapeamento.tamanho_do_lote
        for inicio in range(0, len(registros), tamanho):  # R1
            yield from self._lote(shard_id, registros[inicio : inicio + tamanho], self._mapeamento.tentativas)

    def _lote(self, shard_id: str, lote: list[Registro], tentativas: int) -> Iterator[None]:
        while lote:
            if self._velho(lote[0]):  # R8
                self._descartar(shard_id, lote[:1], "RecordAgeExceeded")
                lote = lote[1:]
                continue
            falhou_em = self._entregar(lote)
            yield
            if falhou_em is None:
                if self._reentregar():  # R13
                    self._entregar(lote)
                    yield
                return
            if falhou_em == RECUSADA:  # R9
                continue
            if falhou_em > 0:  # R3, R7
                lote = lote[falhou_em:]
                if self._mapeamento.progresso_renova_tentativas:
                    tentativas = self._mapeamento.tentativas
                    continue
            elif falhou_em == INTEIRO and self._mapeamento.bisect and len(lote) > 1:  # R6
                meio = len(lote) // 2
                yield from self._lote(shard_id, lote[:meio], tentativas)
                lote = lote[meio:]
                continue
            if tentativas == 0:  # R8
                self._descartar(shard_id, lote, "RetryAttemptsExhausted")
                return
            tentativas -= 1

    def _entregar(self, lote: list[Registro]) -> int | None:
        """Index of the checkpoint in the batch, None for success, INTEIRO or RECUSADA."""
        self.resultado.invocacoes.append(len(lote))
        try:
            resposta = self._invocar({"Records": [dict(registro) for registro in lote]})
        except InvocacaoRecusada:
            return RECUSADA
        except (Exception, ProcessoMorto):  # noqa: BLE001 - any error is a failed invocation
            return INTEIRO
        if not self._mapeamento.resposta_parcial:
            return None
        return indice_do_checkpoint(resposta, lote)

    def _velho(self, registro: Registro) -> bool:
        idade = self._agora() - registro["dynamodb"]["ApproximateCreationDateTime"]
        limite = self._mapeamento.idade_maxima_s
        return idade > RETENCAO_S or (limite >= 0 and idade > limite)

    def _descartar(self, shard_id: str, lote: list[Registro], condicao: str) -> None:
        self.resultado.descartados.extend(lote)
        self.resultado.mensagens.append(mensagem_de_falha(shard_id, lote, condicao, self._agora()))


INTEIRO, RECUSADA = -1, -2


def indice_do_checkpoint(resposta: Any, lote: Sequence[Registro]) -> int | None:
    """Read a function's answer: position of the lowest failed record, None for success, INTEIRO for a whole failure."""
    falhas = resposta.get("batchItemFailures") if isinstance(resposta, Mapping) else None
    if not resposta or not falhas:  # R5
        return None
    posicoes = {registro["dynamodb"]["SequenceNumber"]: posicao for posicao, registro in enumerate(lote)}
    indices = []
    for falha in falhas:
        identificador = falha.get("itemIdentifier") if isinstance(falha, Mapping) else None
        if not identificador or identificador not in posicoes:  # R4
            return INTEIRO
        indices.append(posicoes[identificador])
    return min(indices)  # R3


def mensagem_de_falha(shard_id: str, lote: Sequence[Registro], condicao: str, agora: float) -> dict[str, Any]:
    """On-failure message as AWS sends it to SQS: metadata only (R10). With an S3 destination, ``payload`` is added."""
    primeiro, ultimo = lote[0]["dynamodb"], lote[-1]["dynamodb"]
    return {
        "requestContext": {
            "requestId": "316aa6d0-8154-4b9c-9af7-85d5f4a6bc81",
            "functionArn": "arn:aws:lambda:sa-east-1:123456789012:function:ffv-lab-consumidor-pedidos",
            "condition": condicao,
            "approximateInvokeCount": 4,
        },
        "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
        "version": "1.0",
        "timestamp": _iso(agora),
        "DDBStreamBatchInfo": {
            "shardId": shard_id,
            "startSequenceNumber": primeiro["SequenceNumber"],
            "endSequenceNumber": ultimo["SequenceNumber"],
            "approximateArrivalOfFirstRecord": _iso(primeiro["ApproximateCreationDateTime"]),
            "approximateArrivalOfLastRecord": _iso(ultimo["ApproximateCreationDateTime"]),
            "batchSize": len(lote),
            "streamArn": ARN_STREAM,
        },
    }


def _iso(epoca: float) -> str:
    return datetime.fromtimestamp(epoca, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
