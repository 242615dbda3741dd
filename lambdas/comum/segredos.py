"""Secrets kept in Systems Manager (SecureString), cached in the process for a few minutes."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient

VALIDADE_S = 300


class SegredoIndisponivelError(Exception):
    """The parameter could not be read; each context turns this into the failure its step is allowed to raise."""


class SegredoSsm:
    """One SecureString, read through Powertools' cache.

    Parameters
    ----------
    ssm : Callable[[], SSMClient]
        Makes or returns the client; called only when a value must be fetched.
    nome : str
        Parameter name.
    """

    def __init__(self, ssm: "Callable[[], SSMClient]", nome: str) -> None:
        from aws_lambda_powertools.utilities.parameters import SSMProvider

        self._provedor = SSMProvider(boto3_client=ssm())
        self._nome = nome

    def obter(self) -> str:
        """The decrypted value.

        Raises
        ------
        SegredoIndisponivelError
            Without the parameter's content and without the cause, which may quote the request.
        """
        from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

        try:
            return cast(str, self._provedor.get(self._nome, max_age=VALIDADE_S, decrypt=True))
        except GetParameterError:
            pass
        raise SegredoIndisponivelError("secret parameter could not be read")

    def esquecer(self) -> None:
        """Drop the cached value: the next call reads a rotated secret."""
        self._provedor.clear_cache()  # type: ignore[no-untyped-call]  # Powertools leaves it so
