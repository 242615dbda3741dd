"""The consumer as the lab lists it, kept to show that the tests of its corrections can fail. Never deployed."""

import os
from datetime import UTC, datetime
from typing import Any

from comum import aws

TITULO = "Pedido cancelado apos separado - reposicao de estoque"


def handler(evento: dict[str, Any], _contexto: Any) -> dict[str, Any]:
    """Unpadded key, clock for ``em``, unconditional writes, an alert per delivery, no stop at the first failure."""
    falhas = []
    for registro in evento["Records"]:
        try:
            _processar(registro)
        except Exception:  # noqa: BLE001 - as listed
            falhas.append({"itemIdentifier": registro["dynamodb"]["SequenceNumber"]})
    return {"batchItemFailures": falhas}


def _processar(registro: dict[str, Any]) -> None:
    if registro["eventName"] != "MODIFY":
        return
    mudanca = registro["dynamodb"]
    de = mudanca.get("OldImage", {}).get("status", {}).get("S")
    para = mudanca["NewImage"]["status"]["S"]
    if de == para:
        return
    pk, em = mudanca["Keys"]["PK"], {"S": datetime.now(UTC).isoformat()}
    comum = {"PK": pk, "para": {"S": para}, "de": {"S": de or "-"}, "em": em}
    tabela = os.environ["TABELA_PAINEL"]
    aws.dynamodb().put_item(TableName=tabela, Item=comum | {"SK": {"S": f"TRANSICAO#{mudanca['SequenceNumber']}"}})
    aws.dynamodb().put_item(TableName=tabela, Item=comum | {"SK": {"S": "ATUAL"}, "status": {"S": para}})
    if de == "SEPARADO" and para == "CANCELADO":
        id_alerta = f"{pk['S'].removeprefix('PEDIDO#')}#{mudanca['SequenceNumber'].zfill(40)}"
        aws.cliente("sns").publish(
            TopicArn=os.environ["ARN_TOPICO_REPOSICAO"],
            Subject=TITULO,
            Message=pk["S"],
            MessageAttributes={"idAlerta": {"DataType": "String", "StringValue": id_alerta}},
        )
