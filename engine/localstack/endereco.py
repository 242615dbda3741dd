"""Where LocalStack is: one answer for deploy, proofs, probes and the engine itself.

- CESTA_URL_LOCALSTACK: a LocalStack that already runs, by its address;
- LOCALSTACK_AUTH_TOKEN: the user has a licensed one; its address is what ``localstack-client`` says (LOCALSTACK_HOST,
  AWS_ENDPOINT_URL, else port 4566 of this machine);
- otherwise this project's own, on port CESTA_PORTA_LOCALSTACK (4666, so that both engines can be up together).
"""

from __future__ import annotations

import os
from collections.abc import Mapping

PORTA_PADRAO = "4666"


def do_usuario(ambiente: Mapping[str, str] | None = None) -> str | None:
    """Base URL of a LocalStack that the user runs, without a trailing slash; ``None`` when it is ours to start."""
    ambiente = os.environ if ambiente is None else ambiente
    if url := ambiente.get("CESTA_URL_LOCALSTACK", "").strip():
        return url.rstrip("/")
    if not ambiente.get("LOCALSTACK_AUTH_TOKEN", "").strip():
        return None
    from localstack_client.config import get_service_endpoint

    return str(get_service_endpoint("sts")).rstrip("/")


def porta(ambiente: Mapping[str, str] | None = None) -> int:
    """Port of this project's own LocalStack.

    Raises
    ------
    ValueError: CESTA_PORTA_LOCALSTACK is not a port; the message is a Portuguese sentence.
    """
    ambiente = os.environ if ambiente is None else ambiente
    texto = ambiente.get("CESTA_PORTA_LOCALSTACK", "").strip() or PORTA_PADRAO
    if not texto.isdigit() or not 1024 <= int(texto) <= 65535:
        raise ValueError(f"CESTA_PORTA_LOCALSTACK deve ser uma porta entre 1024 e 65535; veio {texto!r}.")
    return int(texto)


def endpoint(ambiente: Mapping[str, str] | None = None) -> str:
    """Base URL of the LocalStack in use, without a trailing slash. Raises ``ValueError`` for a port that is none."""
    return do_usuario(ambiente) or f"http://127.0.0.1:{porta(ambiente)}"
