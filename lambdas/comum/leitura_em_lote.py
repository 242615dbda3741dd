"""Many items of one table by key, read consistently: what DynamoDB leaves unread is asked for again."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from comum.erros import ErroTransitorio

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

LOTE = 100
"""Most keys one BatchGetItem takes."""

ESPERAS_S = (0.0, 0.05, 0.1, 0.2, 0.4)


class LeituraIncompletaError(ErroTransitorio):
    """DynamoDB kept leaving keys unread (throttling): nothing was decided, the same read may work later."""


def ler_em_lote(
    dynamodb: "DynamoDBClient", tabela: str, chave: str, valores: Iterable[str], campos: Sequence[str]
) -> list[Mapping[str, Any]]:
    """Read items whose hash key (a string) is one of ``valores``.

    Parameters
    ----------
    dynamodb : DynamoDBClient
    tabela, chave : str
        Table, and the name of its only key.
    valores : Iterable[str]
        At most 100 distinct keys; repeated ones are asked for once.
    campos : Sequence[str]
        Attributes wanted.

    Returns
    -------
    list[Mapping[str, Any]]
        The items that exist, as DynamoDB types them, in no order.

    Raises
    ------
    LeituraIncompletaError
        Some keys stayed unread.
    """
    pendentes: list[Any] = [{chave: {"S": valor}} for valor in dict.fromkeys(valores)]
    nomes = {f"#c{posicao}": campo for posicao, campo in enumerate(campos)}
    achados: list[Mapping[str, Any]] = []
    for espera in ESPERAS_S:
        if not pendentes:
            return achados
        time.sleep(espera)
        resposta = dynamodb.batch_get_item(
            RequestItems={
                tabela: {
                    "Keys": pendentes,
                    "ConsistentRead": True,
                    "ProjectionExpression": ", ".join(nomes),
                    "ExpressionAttributeNames": nomes,
                }
            }
        )
        achados += resposta["Responses"].get(tabela, [])
        nao_lidas = resposta.get("UnprocessedKeys", {}).get(tabela)
        pendentes = [] if nao_lidas is None else list(nao_lidas["Keys"])
    if pendentes:
        raise LeituraIncompletaError("keys left unread", quantas=len(pendentes))
    return achados
