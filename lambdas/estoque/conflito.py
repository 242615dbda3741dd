"""Writes on an item that a transaction holds for a moment.

While a write-off's transaction is being applied, DynamoDB refuses every other write on the same item with
TransactionConflictException, and botocore does not repeat it. A refused write had no effect, so it is repeated here:
on a product everybody buys, failing instead would undo orders that nothing is wrong with.
"""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from comum.aws import codigo_do_erro

Resposta = TypeVar("Resposta")

ESPERAS_S = (0.02, 0.04, 0.08, 0.16, 0.32)


def insistir(escrever: Callable[[], Resposta]) -> Resposta:
    """Write, waiting (0.6 s at most, with jitter) while a transaction holds the item.

    Raises
    ------
    botocore.exceptions.ClientError
        Anything else at once; TransactionConflictException after the last wait.
    """
    for espera in ESPERAS_S:
        try:
            return escrever()
        except Exception as erro:
            if codigo_do_erro(erro) != "TransactionConflictException":
                raise
        dormir(espera)
    return escrever()


def dormir(espera_s: float) -> None:
    """Wait between half of ``espera_s`` and all of it."""
    time.sleep(espera_s * (0.5 + random.random() / 2))
