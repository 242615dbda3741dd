"""A function's URL reached by path instead of by host name."""

from __future__ import annotations

import json
import os

from localstack.aws.connect import connect_to
from localstack.http import Request, Response
from localstack.services.lambda_.invocation.lambda_models import InvocationResult
from localstack.services.lambda_.urlrouter import event_for_lambda_url, lambda_result_to_response


def by_path(request: Request, name: str, path: str) -> Response:
    """Invoke function ``name`` with the event its function URL would have carried.

    Answers 403 when the function has no URL configuration (as the real address would) and 502 when the function fails.
    """
    client = connect_to(region_name=os.environ["AWS_DEFAULT_REGION"]).lambda_
    try:
        client.get_function_url_config(FunctionName=name)
    except client.exceptions.ResourceNotFoundException:
        return Response(json.dumps({"Message": None}), 403, mimetype="application/json")
    event = event_for_lambda_url(name, request)
    event["rawPath"] = f"/{path}"
    event["requestContext"]["http"]["path"] = f"/{path}"
    answer = client.invoke(FunctionName=name, Payload=json.dumps(event).encode())
    payload = answer["Payload"].read()
    if answer.get("FunctionError"):
        return Response("Internal Server Error", 502)
    request_id = answer["ResponseMetadata"]["RequestId"]
    return lambda_result_to_response(InvocationResult(request_id, payload, is_error=False, logs=None))
