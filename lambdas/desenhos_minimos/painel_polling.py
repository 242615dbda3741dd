"""``ffv-lab-polling-pedidos``: the design the panel replaces. Every 2 minutes it copies what changed since the last
time.

Kept to show what it loses: an order that goes PENDENTE → SEPARADO → CANCELADO between two ticks is read once,
CANCELADO, and nobody is told to put the goods back. Nothing fails; there is nothing to see.
"""

from typing import Any

from comum import aws
from comum.configuracao import Configuracao
from comum.observabilidade import logger, observado
from comum.processo import uma_vez
from comum.relogio import agora_iso

_MARCA = "CONTROLE#ULTIMA_CONSULTA"
_COMECO = "1970-01-01T00:00:00.000Z"


class ConfiguracaoPolling(Configuracao):
    """The source table and the cache."""

    tabela_origem: str
    tabela_cache: str


@uma_vez
def _configuracao() -> ConfiguracaoPolling:
    return ConfiguracaoPolling.do_ambiente()


@observado
def handler(_evento: dict[str, Any], _contexto: Any) -> dict[str, Any]:
    """Copy the present status of every order whose ``updated_at`` is after the last tick.

    Meets none of the three anomalies: it overwrites with whatever it reads, which is the defect it shows.

    Returns
    -------
    dict[str, Any]
        ``{"lidos": orders copied, "desde": instant read from}``.
    """
    configuracao, dynamodb = _configuracao(), aws.dynamodb()
    marca = dynamodb.get_item(TableName=configuracao.tabela_cache, Key={"PK": {"S": _MARCA}}).get("Item", {})
    desde, agora = marca.get("em", {"S": _COMECO})["S"], agora_iso()
    lidos = 0
    paginas = dynamodb.get_paginator("query").paginate(
        TableName=configuracao.tabela_origem,
        IndexName="GSI2",
        KeyConditionExpression="GSI2PK = :pedidos AND updated_at > :desde",
        ExpressionAttributeValues={":pedidos": {"S": "PEDIDOS"}, ":desde": {"S": desde}},
    )
    for pagina in paginas:
        for item in pagina["Items"]:
            dynamodb.put_item(
                TableName=configuracao.tabela_cache,
                Item={"PK": item["PK"], "status": item["status"], "lidoEm": {"S": agora}},
            )
            lidos += 1
    dynamodb.put_item(TableName=configuracao.tabela_cache, Item={"PK": {"S": _MARCA}, "em": {"S": agora}})
    logger.info("consulta periodica", extra={"lidos": lidos, "desde": desde})
    return {"lidos": lidos, "desde": desde}
