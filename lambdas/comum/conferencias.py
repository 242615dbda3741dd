"""The table ``cesta-conferencias``: where each check stopped, and what it remembers between runs.

Item: ``nome`` (S, hash), ``expiraEm`` (N, epoch seconds, TTL) and, by kind of name: ``cursor#...`` -> ``posicao``
(JSON); ``avistada#...`` -> ``em`` (epoch seconds of the first sighting); ``avisado#...`` -> ``em``. Losing the table
loses no order still within a check's reach: the checks start again, count the time of what they sight from the start,
and tell people again.
"""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from comum.relogio import agora

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VALIDADE_CURSOR_S = 30 * 24 * 3600


class RepositorioConferencias:
    """Reads and writes ``cesta-conferencias``.

    Parameters
    ----------
    dynamodb : DynamoDBClient
        Low-level client.
    tabela : str
        Table name.
    relogio : Callable[[], datetime]
        Current instant, aware.
    """

    def __init__(self, dynamodb: "DynamoDBClient", tabela: str, relogio: Callable[[], datetime] = agora) -> None:
        self._dynamodb = dynamodb
        self._tabela = tabela
        self._relogio = relogio

    def cursor(self, conferencia: str) -> Any:
        """Where the check stopped, as :meth:`gravar_cursor` was given it; None to start from the beginning."""
        item = self._dynamodb.get_item(
            TableName=self._tabela, Key={"nome": {"S": f"cursor#{conferencia}"}}, ConsistentRead=True
        ).get("Item", {})
        return json.loads(item["posicao"]["S"]) if "posicao" in item else None

    def gravar_cursor(self, conferencia: str, posicao: Any) -> None:
        """Remember where the check stopped (anything JSON can say); None when it got to the end."""
        self._dynamodb.put_item(
            TableName=self._tabela,
            Item={
                "nome": {"S": f"cursor#{conferencia}"},
                "posicao": {"S": json.dumps(posicao)},
                "expiraEm": {"N": str(self._agora_s() + VALIDADE_CURSOR_S)},
            },
        )

    def segundos_desde_avistada(self, coisa: str, validade_s: int) -> int:
        """Seconds since ``coisa`` was first seen; 0 when it is now. A repeated sighting never restarts the count.

        Parameters
        ----------
        coisa : str
            What was seen.
        validade_s : int
            How long the first sighting is remembered, longer than anybody waits for it.
        """
        momento = self._agora_s()
        visto = self._dynamodb.update_item(
            TableName=self._tabela,
            Key={"nome": {"S": f"avistada#{coisa}"}},
            UpdateExpression="SET em = if_not_exists(em, :agora), expiraEm = if_not_exists(expiraEm, :fim)",
            ExpressionAttributeValues={":agora": {"N": str(momento)}, ":fim": {"N": str(momento + validade_s)}},
            ReturnValues="ALL_NEW",
        )["Attributes"]
        return max(0, momento - int(visto["em"]["N"]))

    def avisado(self, coisa: str) -> bool:
        """Whether people were told of ``coisa`` and the notice is still valid."""
        item = self._dynamodb.get_item(
            TableName=self._tabela, Key={"nome": {"S": f"avisado#{coisa}"}}, ConsistentRead=True
        ).get("Item")
        # TTL removes an expired item when it can, hours later.
        return item is not None and int(item["expiraEm"]["N"]) > self._agora_s()

    def registrar_aviso(self, coisa: str, validade_s: int) -> None:
        """Remember, for ``validade_s`` seconds, that people were told of ``coisa``; 0 when it is over."""
        momento = self._agora_s()
        self._dynamodb.put_item(
            TableName=self._tabela,
            Item={
                "nome": {"S": f"avisado#{coisa}"},
                "em": {"N": str(momento)},
                "expiraEm": {"N": str(momento + validade_s)},
            },
        )

    def avisos_antigos(self, prefixo: str, idade_s: int) -> Iterator[list[str]]:
        """What starts with ``prefixo`` and people were last told of ``idade_s`` seconds ago or more, by page.

        A page may be empty: it ends where DynamoDB stopped reading.
        """
        momento = self._agora_s()
        for pagina in self._dynamodb.get_paginator("scan").paginate(
            TableName=self._tabela,
            FilterExpression="begins_with(nome, :prefixo) AND em <= :ate AND expiraEm > :agora",
            ExpressionAttributeValues={
                ":prefixo": {"S": f"avisado#{prefixo}"},
                ":ate": {"N": str(momento - idade_s)},
                ":agora": {"N": str(momento)},
            },
        ):
            yield [item["nome"]["S"].removeprefix("avisado#") for item in pagina["Items"]]

    def _agora_s(self) -> int:
        return int(self._relogio().timestamp())
