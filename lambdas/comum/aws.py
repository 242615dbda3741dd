"""AWS clients: made once per process, on first use, with calls that end before the function does.

botocore waits 60 s for an answer by default, longer than any function here lives. With these numbers the worst call
takes 2 x (1 + 2) s plus backoff, and a second attempt after a lost answer is safe because every write is conditional.
The endpoint comes from ``AWS_ENDPOINT_URL`` when set (local engine), which boto3 honours by itself.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from comum.processo import ao_esquecer

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_ssm import SSMClient
    from mypy_boto3_stepfunctions import SFNClient


@lru_cache(maxsize=16)
def cliente(servico: str, breve: bool = False) -> Any:
    """Client of an AWS service by its boto3 name (``"dynamodb"``); prefer the typed functions below.

    ``breve`` gives up after one attempt of half a second to connect and half a second a read.
    """
    import boto3
    from botocore.config import Config

    limites: dict[str, Any] = (
        {"connect_timeout": 0.5, "read_timeout": 0.5, "retries": {"total_max_attempts": 1}}
        if breve
        else {"connect_timeout": 1, "read_timeout": 2, "retries": {"total_max_attempts": 2, "mode": "standard"}}
    )
    return cast(Any, boto3).client(servico, config=Config(**limites))


ao_esquecer(cliente.cache_clear)


def dynamodb() -> "DynamoDBClient":
    """DynamoDB, low level: items are maps of typed values (``{"S": ...}``)."""
    return cast("DynamoDBClient", cliente("dynamodb"))


def dynamodb_breve() -> "DynamoDBClient":
    """DynamoDB for what a call can do without: it gives up soon and never tries twice."""
    return cast("DynamoDBClient", cliente("dynamodb", breve=True))


def sqs() -> "SQSClient":
    """SQS."""
    return cast("SQSClient", cliente("sqs"))


def stepfunctions() -> "SFNClient":
    """Step Functions."""
    return cast("SFNClient", cliente("stepfunctions"))


def ssm() -> "SSMClient":
    """Systems Manager (parameters)."""
    return cast("SSMClient", cliente("ssm"))


def codigo_do_erro(erro: Exception) -> str:
    """AWS error code of a botocore ClientError (``"ConditionalCheckFailedException"``), or the class name of anything
    else."""
    resposta = getattr(erro, "response", None)
    if not isinstance(resposta, dict):
        return type(erro).__name__
    return str(resposta.get("Error", {}).get("Code", type(erro).__name__))
