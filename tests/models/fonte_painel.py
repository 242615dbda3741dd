"""The source side for tests of the panel: stream records as Lambda delivers them, tables in moto, clients that fail."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import boto3

from tests.models.mapeamento_streams import ARN_STREAM, ProcessoMorto, Registro

EPOCA = 1_767_225_600  # 2026-01-01T00:00:00Z
# One below a power of ten, so that numbers of 21 and 22 digits meet in every test (AWS: 21 to 40 digits).
PRIMEIRA_SEQUENCIA = 999_999_999_999_999_999_990


def registro(
    pedido: str,
    de: str,
    para: str,
    sequencia: int,
    *,
    epoca: int = EPOCA,
    loja: str = "L001",
    evento: str = "MODIFY",
    sk: str = "METADADOS",
) -> Registro:
    """One record of the stream of ``pedidos_cadencia`` (NEW_AND_OLD_IMAGES)."""

    def imagem(status: str) -> dict[str, Any]:
        return {
            "PK": {"S": f"PEDIDO#{pedido}"},
            "SK": {"S": sk},
            "status": {"S": status},
            "loja_id": {"S": loja},
            "cliente_nome": {"S": "SEGREDO-DO-CLIENTE"},
        }

    mudanca = {
        "ApproximateCreationDateTime": epoca,
        "Keys": {"PK": {"S": f"PEDIDO#{pedido}"}, "SK": {"S": sk}},
        "NewImage": imagem(para),
        "OldImage": imagem(de),
        "SequenceNumber": str(sequencia),
        "SizeBytes": 200,
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    }
    if evento == "INSERT":
        del mudanca["OldImage"]
    return {
        "eventID": f"ev-{sequencia}",
        "eventName": evento,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "sa-east-1",
        "dynamodb": mudanca,
        "eventSourceARN": ARN_STREAM,
    }


def registros_de(mudancas: Iterable[tuple[str, str]], primeira: int = PRIMEIRA_SEQUENCIA) -> list[Registro]:
    """Records of a list of (order, new status), each order starting at PENDENTE; a repeated status is a change of
    another attribute.
    """
    status: dict[str, str] = {}
    feitos = []
    for posicao, (pedido, para) in enumerate(mudancas):
        de = status.get(pedido, "PENDENTE")
        feitos.append(registro(pedido, de, para, primeira + posicao, epoca=EPOCA + posicao // 3))
        status[pedido] = para
    return feitos


def criar_tabela_painel(nome: str = "painel_operacao") -> str:
    """``painel_operacao`` with both indexes, in moto."""
    atributos = ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK")
    boto3.client("dynamodb").create_table(
        TableName=nome,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": atributo, "AttributeType": "S"} for atributo in atributos],
        BillingMode="PAY_PER_REQUEST",
        GlobalSecondaryIndexes=[
            {
                "IndexName": indice,
                "KeySchema": [
                    {"AttributeName": f"{indice}PK", "KeyType": "HASH"},
                    {"AttributeName": f"{indice}SK", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
            for indice in ("GSI1", "GSI2")
        ],
    )
    return nome


def criar_tabela_fonte(nome: str = "pedidos_cadencia") -> str:
    """``pedidos_cadencia`` with its stream and the index by ``updated_at``, in moto."""
    boto3.client("dynamodb").create_table(
        TableName=nome,
        KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": a, "AttributeType": "S"} for a in ("PK", "SK", "GSI2PK", "updated_at")],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        GlobalSecondaryIndexes=[
            {
                "IndexName": "GSI2",
                "KeySchema": [
                    {"AttributeName": "GSI2PK", "KeyType": "HASH"},
                    {"AttributeName": "updated_at", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    return nome


def itens(tabela: str, pedido: str, prefixo: str = "TRANSICAO#") -> list[dict[str, str]]:
    """Items of one order in key order, as plain text values."""
    resposta = boto3.client("dynamodb").query(
        TableName=tabela,
        KeyConditionExpression="PK = :pk AND begins_with(SK, :sk)",
        ExpressionAttributeValues={":pk": {"S": f"PEDIDO#{pedido}"}, ":sk": {"S": prefixo}},
    )
    return [{nome: next(iter(valor.values())) for nome, valor in item.items()} for item in resposta["Items"]]


class FalhaInjetada(Exception):
    """Stands for any error a call to AWS may end with."""


@dataclass
class Falhas:
    """What goes wrong, call by call, the alerts the topic accepted, and each write that moved ATUAL.

    ``plano`` yields, for each write or publication: ``ok``, ``antes`` (error, nothing happened), ``depois`` (it
    happened and the answer was lost), ``morte-antes`` and ``morte-depois`` (the process ended there). When it runs
    out, all is well.
    """

    plano: Iterator[str] = field(default_factory=lambda: iter(()))
    publicados: list[str] = field(default_factory=list)
    janelas: list[str] = field(default_factory=list)
    injetadas: int = 0
    atuais: list[tuple[str, str]] = field(default_factory=list)

    def fabrica(self, criar: Callable[[str], Any]) -> Callable[[str], Any]:
        """Replacement of ``comum.aws.cliente`` whose writes and publications fail by the plan."""
        feitos: dict[str, Any] = {}

        def cliente(servico: str) -> Any:
            if servico not in feitos:
                feitos[servico] = _ClienteComFalhas(criar(servico), self)
            return feitos[servico]

        return cliente

    def chamar(self, nome: str, funcao: Callable[..., Any], argumentos: dict[str, Any]) -> Any:
        acao = next(self.plano, "ok")
        self.injetadas += acao != "ok"
        alerta = self._alerta(nome, argumentos)
        if acao.endswith("antes"):
            if alerta and nome == "update_item":
                self.janelas.append(alerta)  # published, and not marked
            raise ProcessoMorto if acao == "morte-antes" else FalhaInjetada(nome)
        resposta = funcao(**argumentos)
        if (
            nome == "update_item"
            and argumentos["Key"]["SK"]["S"] == "ATUAL"
            and "sequencia" in argumentos["UpdateExpression"]
        ):
            self.atuais.append((argumentos["Key"]["PK"]["S"], argumentos["ExpressionAttributeValues"][":seq"]["S"]))
        if nome == "publish":
            self.publicados.append(argumentos["MessageAttributes"]["idAlerta"]["StringValue"])
        if acao.endswith("depois"):
            if alerta and nome == "publish":
                self.janelas.append(alerta)  # accepted, and the answer lost
            raise ProcessoMorto if acao == "morte-depois" else FalhaInjetada(nome)
        return resposta

    @staticmethod
    def _alerta(nome: str, argumentos: dict[str, Any]) -> str | None:
        if nome == "publish":
            return str(argumentos["MessageAttributes"]["idAlerta"]["StringValue"])
        if nome == "update_item" and "publicadoEm" in argumentos["UpdateExpression"]:
            chave = argumentos["Key"]
            return f"{chave['PK']['S'].removeprefix('PEDIDO#')}#{chave['SK']['S'].removeprefix('TRANSICAO#')}"
        return None


class _ClienteComFalhas:
    _ALVOS = frozenset({"put_item", "update_item", "publish"})

    def __init__(self, cliente: Any, falhas: Falhas) -> None:
        self._cliente = cliente
        self._falhas = falhas

    def __getattr__(self, nome: str) -> Any:
        atributo = getattr(self._cliente, nome)
        if nome not in self._ALVOS:
            return atributo
        return lambda **argumentos: self._falhas.chamar(nome, atributo, argumentos)
