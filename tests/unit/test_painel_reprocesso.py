"""Bringing back what was discarded: from metadata to records, deleted only after, expiry said plainly."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest

from comum import aws as comum_aws
from painel import reprocessar_dlq
from painel.erros import MensagemInvalidaError, RetencaoEsgotadaError
from painel.reprocesso import Faixa, LeitorDoStream, ObjetoS3, ler_mensagem
from tests.models.fonte_painel import EPOCA, criar_tabela_fonte, criar_tabela_painel, itens, registros_de
from tests.models.mapeamento_streams import ARN_STREAM, mensagem_de_falha


class StreamsFalso:
    """The low-level Streams API: pages of two, an empty page in the middle, trimming, boto3's own types."""

    class exceptions:  # noqa: N801 - boto3's name
        class TrimmedDataAccessException(Exception):
            pass

        class ResourceNotFoundException(Exception):
            pass

    def __init__(self, registros: list[dict[str, Any]], aparados: int = 0) -> None:
        self._registros = [self._como_boto(registro) for registro in registros][aparados:]

    @staticmethod
    def _como_boto(registro: dict[str, Any]) -> dict[str, Any]:
        mudanca = dict(registro["dynamodb"])
        mudanca["ApproximateCreationDateTime"] = datetime.fromtimestamp(mudanca["ApproximateCreationDateTime"], UTC)
        return {**registro, "dynamodb": mudanca}

    def get_shard_iterator(self, **pedido: Any) -> dict[str, str]:
        if pedido["ShardId"] != "shard-1":
            raise self.exceptions.ResourceNotFoundException
        if pedido["ShardIteratorType"] == "TRIM_HORIZON":
            return {"ShardIterator": "0"}
        numeros = [registro["dynamodb"]["SequenceNumber"] for registro in self._registros]
        if pedido["SequenceNumber"] not in numeros:
            raise self.exceptions.TrimmedDataAccessException
        return {"ShardIterator": str(numeros.index(pedido["SequenceNumber"]) * 2)}

    def get_records(self, ShardIterator: str, Limit: int) -> dict[str, Any]:  # noqa: N803 - boto3 names them so
        posicao = int(ShardIterator)
        pagina = {"Records": [] if posicao % 2 else self._registros[posicao // 2 : posicao // 2 + 2]}
        # Odd positions are empty pages; an open shard never ends.
        return {**pagina, "NextShardIterator": str(posicao + 5 if posicao % 2 == 0 else posicao - 1)}


MUDANCAS = [("P1", "SEPARADO"), ("P2", "SEPARADO"), ("P1", "CANCELADO"), ("P3", "SEPARADO"), ("P2", "CANCELADO")]


@pytest.fixture
def fila(aws: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """The on-failure queue, the table and the topic."""
    url = boto3.client("sqs").create_queue(
        QueueName="ffv-lab-consumidor-pedidos-dlq", Attributes={"VisibilityTimeout": "0"}
    )["QueueUrl"]
    monkeypatch.setenv("URL_DLQ_CONSUMIDOR", url)
    monkeypatch.setenv("TABELA_PAINEL", criar_tabela_painel())
    monkeypatch.setenv("ARN_TOPICO_REPOSICAO", boto3.client("sns").create_topic(Name="t")["TopicArn"])
    return str(url)


@pytest.fixture
def com_stream(monkeypatch: pytest.MonkeyPatch) -> Callable[[StreamsFalso], None]:
    """Give the function this stream; every other client is moto's."""
    original = comum_aws.cliente

    def usar(stream: StreamsFalso) -> None:
        monkeypatch.setattr(comum_aws, "cliente", lambda nome: stream if nome == "dynamodbstreams" else original(nome))

    return usar


def enviar(fila: str, corpo: Any) -> None:
    boto3.client("sqs").send_message(QueueUrl=fila, MessageBody=corpo if isinstance(corpo, str) else json.dumps(corpo))


def na_fila(fila: str) -> int:
    atributos = boto3.client("sqs").get_queue_attributes(QueueUrl=fila, AttributeNames=["All"])["Attributes"]
    return int(atributos["ApproximateNumberOfMessages"]) + int(atributos["ApproximateNumberOfMessagesNotVisible"])


def descartado(registros: list[dict[str, Any]], shard: str = "shard-1") -> dict[str, Any]:
    return mensagem_de_falha(shard, registros, "RetryAttemptsExhausted", EPOCA)


def test_so_os_metadados_bastam_para_trazer_de_volta(fila: str, com_stream: Callable[..., None]) -> None:
    """Correction 6: the message has no record; each one comes from the stream, by shard and sequence."""
    registros = registros_de(MUDANCAS)
    com_stream(StreamsFalso(registros))
    mensagem = descartado(registros[1:4])
    assert "NewImage" not in json.dumps(mensagem)
    enviar(fila, mensagem)
    resultado = reprocessar_dlq.handler({}, None)
    assert resultado["resumo"] == {"reprocessada": 1}
    assert resultado["mensagens"][0]["registros"] == 3
    assert [i["para"] for i in itens("painel_operacao", "P1")] == ["CANCELADO"]  # only the range, not what is around it
    assert [i["para"] for i in itens("painel_operacao", "P2")] == ["SEPARADO"]
    assert itens("painel_operacao", "P1")[0]["alerta"] == "PUBLICADO"
    assert na_fila(fila) == 0


def test_cada_linha_e_do_seu_pedido_e_a_da_mensagem_de_nenhum(
    fila: str, com_stream: Callable[..., None], saida: Any
) -> None:
    """``make onde`` finds what was brought back by the order's correlation id, and nobody borrows another's."""
    registros = registros_de(MUDANCAS)
    del registros[1]["dynamodb"]["NewImage"]["status"]  # P2 cannot be read, right after P1
    com_stream(StreamsFalso(registros))
    enviar(fila, descartado(registros[:3]))
    enviar(fila, "nada")
    reprocessar_dlq.handler({"maximo": 2}, None)
    linhas = [(linha["message"], linha.get("correlation_id")) for linha in saida.linhas()]
    assert linhas == [
        ("transition brought back", "P1"),
        ("transition brought back", "P1"),
        ("mensagem da fila de falhas", None),
        ("mensagem da fila de falhas", None),
    ]


def test_o_pedido_em_que_a_invocacao_caiu_e_dito_e_nao_passa_a_proxima(
    fila: str, com_stream: Callable[..., None], saida: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cair(*_: Any) -> None:
        raise ConnectionError

    registros = registros_de(MUDANCAS)
    com_stream(StreamsFalso(registros))
    enviar(fila, descartado(registros[:1]))
    with monkeypatch.context() as troca:
        troca.setattr("painel.gravacao.Gravador.aplicar", cair)
        with pytest.raises(ConnectionError):
            reprocessar_dlq.handler({}, None)
    boto3.client("sqs").purge_queue(QueueUrl=fila)
    enviar(fila, "nada")
    reprocessar_dlq.handler({"maximo": 1}, None)
    linhas = [(linha["message"], linha.get("correlation_id")) for linha in saida.linhas()]
    assert linhas == [("invocation failed", "P1"), ("mensagem da fila de falhas", None)]


def test_reprocessar_duas_vezes_nao_repete_nada(fila: str, com_stream: Callable[..., None]) -> None:
    registros = registros_de(MUDANCAS)
    com_stream(StreamsFalso(registros))
    for _ in range(2):
        enviar(fila, descartado(registros))
        reprocessar_dlq.handler({}, None)
    assert [len(itens("painel_operacao", p)) for p in ("P1", "P2", "P3")] == [2, 2, 1]


def test_mensagem_fica_se_o_registro_ainda_falha_e_os_outros_passam(fila: str, com_stream: Callable[..., None]) -> None:
    registros = registros_de(MUDANCAS)
    del registros[0]["dynamodb"]["NewImage"]["status"]
    com_stream(StreamsFalso(registros))
    enviar(fila, descartado(registros))
    resultado = reprocessar_dlq.handler({"maximo": 1}, None)
    assert resultado["mensagens"][0]["desfecho"] == "falhou"
    assert resultado["mensagens"][0]["falhas"] == [registros[0]["dynamodb"]["SequenceNumber"]]
    assert len(itens("painel_operacao", "P2")) == 2
    assert na_fila(fila) == 1


def test_depois_de_24_h_diz_que_venceu_e_guarda_a_mensagem(fila: str, com_stream: Callable[..., None]) -> None:
    registros = registros_de(MUDANCAS)
    com_stream(StreamsFalso(registros, aparados=5))
    enviar(fila, descartado(registros))
    resultado = reprocessar_dlq.handler({"maximo": 1}, None)
    assert resultado["resumo"] == {"vencida": 1}
    assert "reconcilie" in resultado["mensagens"][0]["motivo"]
    assert na_fila(fila) == 1
    reprocessar_dlq.handler({"maximo": 1, "encerrarVencidas": True}, None)
    assert na_fila(fila) == 0


def test_o_que_o_stream_ainda_guarda_volta_mesmo_que_o_comeco_tenha_vencido(
    fila: str, com_stream: Callable[..., None]
) -> None:
    registros = registros_de(MUDANCAS)
    com_stream(StreamsFalso(registros, aparados=2))
    enviar(fila, descartado(registros))
    resultado = reprocessar_dlq.handler({"maximo": 1}, None)
    assert resultado["resumo"] == {"vencida": 1}
    assert resultado["mensagens"][0]["registros"] == 3
    assert [i["para"] for i in itens("painel_operacao", "P2")] == ["CANCELADO"]


def test_shard_que_nao_existe_mais(com_stream: Callable[..., None]) -> None:
    leitor = LeitorDoStream(StreamsFalso(registros_de(MUDANCAS)))
    with pytest.raises(RetencaoEsgotadaError):
        list(leitor.ler(Faixa(ARN_STREAM, "outro-shard", "1", "2")))


def test_falha_no_meio_deixa_a_mensagem_na_fila(
    fila: str, com_stream: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    registros = registros_de(MUDANCAS)
    com_stream(StreamsFalso(registros))
    enviar(fila, descartado(registros))

    def cair(*_: Any) -> None:
        raise ConnectionError

    with monkeypatch.context() as troca:
        troca.setattr("painel.alertas.PublicadorAlertas.publicar", cair)
        with pytest.raises(ConnectionError):
            reprocessar_dlq.handler({}, None)
    assert na_fila(fila) == 1
    reprocessar_dlq.handler({}, None)
    assert na_fila(fila) == 0
    assert itens("painel_operacao", "P1")[1]["alerta"] == "PUBLICADO"


@pytest.mark.parametrize("como_texto", [True, False])
def test_destino_s3_traz_os_registros_consigo(fila: str, com_stream: Callable[..., None], como_texto: bool) -> None:
    registros = registros_de(MUDANCAS)
    com_stream(StreamsFalso([]))  # the stream is not asked
    evento = {"Records": registros}
    corpo = {**descartado(registros), "payload": json.dumps(evento) if como_texto else evento}
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket="falhas", CreateBucketConfiguration={"LocationConstraint": "sa-east-1"})
    s3.put_object(Bucket="falhas", Key="aws/lambda/a b/1", Body=json.dumps(corpo))
    enviar(fila, {"Records": [{"s3": {"bucket": {"name": "falhas"}, "object": {"key": "aws/lambda/a+b/1"}}}]})
    assert reprocessar_dlq.handler({}, None)["resumo"] == {"reprocessada": 1}
    assert len(itens("painel_operacao", "P1")) == 2


@pytest.mark.parametrize(
    "corpo",
    ["não é json", "[]", "{}", '{"DDBStreamBatchInfo": {}}', '{"Records": [{"s3": {}}]}', "null", '{"Records": 3}'],
)
def test_mensagem_de_outra_forma_e_recusada_e_fica(fila: str, com_stream: Callable[..., None], corpo: str) -> None:
    with pytest.raises(MensagemInvalidaError):
        ler_mensagem(corpo)
    com_stream(StreamsFalso([]))
    enviar(fila, corpo)
    assert reprocessar_dlq.handler({"maximo": 1}, None)["resumo"] == {"invalida": 1}
    assert na_fila(fila) == 1


@pytest.mark.parametrize("numero", ["; drop", "123", "1" * 41, "١" * 21])
def test_numeros_que_nao_sao_numeros(numero: str) -> None:
    mensagem = descartado(registros_de(MUDANCAS))
    mensagem["DDBStreamBatchInfo"]["startSequenceNumber"] = numero
    with pytest.raises(MensagemInvalidaError):
        ler_mensagem(json.dumps(mensagem))


def test_aviso_de_teste_do_s3_nao_e_erro() -> None:
    assert ler_mensagem('{"Service": "Amazon S3", "Event": "s3:TestEvent"}') == []
    aviso = '{"Records": [{"s3": {"bucket": {"name": "b"}, "object": {"key": "a%2Fb"}}}]}'
    assert ler_mensagem(aviso) == [ObjetoS3("b", "a/b")]


def test_le_do_stream_de_verdade(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same reader on moto's own stream, with the types and iterators of the real API."""
    monkeypatch.setenv("AWS_ACCOUNT_ID_ENDPOINT_MODE", "disabled")  # moto knows the stream endpoint without an account
    tabela = criar_tabela_fonte()
    dynamodb, streams = boto3.client("dynamodb"), boto3.client("dynamodbstreams")
    for status in ("PENDENTE", "SEPARADO", "CANCELADO"):
        item = {"PK": {"S": "PEDIDO#P1"}, "SK": {"S": "METADADOS"}, "status": {"S": status}}
        dynamodb.put_item(TableName=tabela, Item=item)
    arn = dynamodb.describe_table(TableName=tabela)["Table"]["LatestStreamArn"]
    shard = streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]["ShardId"]
    horizonte = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON")
    todos = streams.get_records(ShardIterator=horizonte["ShardIterator"])["Records"]
    numeros = [registro["dynamodb"]["SequenceNumber"] for registro in todos]
    lidos = list(LeitorDoStream(streams).ler(Faixa(arn, shard, numeros[1], numeros[2])))
    assert [registro["dynamodb"]["SequenceNumber"] for registro in lidos] == numeros[1:]
