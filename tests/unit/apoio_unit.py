"""What unit tests import by name. A module of its own: every level has a conftest, so none of them can be imported."""

from functools import cache
from pathlib import Path
from typing import Any

import boto3
import yaml

CHAVE_GATEWAY = "chave-secreta-do-gateway"

CREDENCIAIS_FALSAS = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_SESSION_TOKEN": "testing",
    "AWS_DEFAULT_REGION": "sa-east-1",
    "AWS_REGION": "sa-east-1",
}

_TEMPLATE = Path(__file__).resolve().parents[2] / "template.yaml"
FUNCOES: dict[str, Any] = {
    nome: recurso["Properties"]
    for nome, recurso in yaml.safe_load(_TEMPLATE.read_text())["Resources"].items()
    if recurso["Type"] == "AWS::Serverless::Function"
}
"""Properties of every function in template.yaml, by logical id."""


@cache
def cliente(servico: str, breve: bool = False) -> Any:
    """One client of a service for the whole run: making one reads its service model, slower than most tests."""
    if breve:
        return cliente(servico)
    return boto3.session.Session(
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
        region_name=CREDENCIAIS_FALSAS["AWS_DEFAULT_REGION"],
    ).client(servico)


class Contexto:
    """What the runtime passes besides the event."""

    function_name = "cesta-teste"
    aws_request_id = "11111111-2222-3333-4444-555555555555"
    invoked_function_arn = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-teste"
    memory_limit_in_mb = 256

    def __init__(self, restante_s: float = 10) -> None:
        self.restante_s = restante_s

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds left of the invocation."""
        return int(self.restante_s * 1000)
