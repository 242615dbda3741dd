"""The one function of the probes: does what its event, or its environment, tells it to.

Direct events: ``{"do": "raise" | "hang" | "exit" | "big" | "put" | "echo", …}``.
Batches (SQS, DynamoDB Streams): each delivery is written to the diary table, then records whose ``ruim`` is true fail,
by a partial batch answer (RELATO=parcial) or by an exception for the whole batch (RELATO=excecao).
"""

import json
import os
import time
from typing import Any

import boto3


def handler(event: dict[str, Any], context: Any) -> Any:
    if "Records" in event:
        return _batch(event["Records"])
    do = event.get("do", "echo")
    if do == "raise":
        base = type(event["base"], (Exception,), {}) if event.get("base") else Exception
        raise type(event["name"], (base,), {})("asked to")
    if do == "hang":
        time.sleep(event["seconds"])
    if do == "exit":
        os._exit(event["code"])
    if do == "big":
        return {"text": "x" * event["bytes"]}
    if do == "put":
        boto3.client("dynamodb").put_item(TableName=event["table"], Item={"pk": {"S": "iam"}, "sk": {"S": "iam"}})
    if do == "emf":
        print(event["line"])
    return event


def _batch(records: list[dict[str, Any]]) -> dict[str, Any] | None:
    seen = [_read(record) for record in records]
    delivery = {
        "pk": {"S": os.environ["SONDA"]},
        "sk": {"S": str(time.time_ns())},
        "nomes": {"S": json.dumps([r["nome"] for r in seen])},
        "evento": {"S": seen[0]["evento"]},
        "em": {"S": str(seen[0].get("em", ""))},
    }
    boto3.client("dynamodb").put_item(TableName=os.environ["DIARIO"], Item=delivery)
    bad = [r["id"] for r in seen if r["ruim"]]
    if os.environ["RELATO"] == "parcial":
        return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in bad]}
    if bad:
        raise RuntimeError("a record of the batch is bad")
    return None


def _read(record: dict[str, Any]) -> dict[str, Any]:
    if record["eventSource"] == "aws:sqs":
        body = json.loads(record["body"])
        return {"id": record["messageId"], "nome": body["nome"], "ruim": body.get("ruim", False), "evento": "sqs"}
    change = record["dynamodb"]
    image = change.get("NewImage") or change["OldImage"]
    return {
        "id": change["SequenceNumber"],
        "nome": image["nome"]["S"],
        "ruim": image.get("ruim", {}).get("BOOL", False),
        "evento": record["eventName"],
        "em": change["ApproximateCreationDateTime"],
    }
