"""Typed settings: one frozen model per function, read from the environment, checked before first use.

A field ``tabela_pedidos`` reads the variable ``TABELA_PEDIDOS``. Terraform sets every variable; nothing has a default
that only suits one place, so a missing variable is an error and never a guess.
"""

import os
from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from comum.erros import ConfiguracaoInvalidaError


class Configuracao(BaseModel):
    """Base of every function's settings."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=str.upper, populate_by_name=True, hide_input_in_errors=True
    )

    @classmethod
    def do_ambiente(cls, ambiente: Mapping[str, str] | None = None) -> Self:
        """Build the settings from environment variables.

        Parameters
        ----------
        ambiente : Mapping[str, str] | None
            Variables by name; the process's own when absent. An empty value counts as missing.

        Raises
        ------
        ConfiguracaoInvalidaError
            Naming every missing or malformed variable, without values.
        """
        variaveis = os.environ if ambiente is None else ambiente
        try:
            return cls.model_validate({nome: valor for nome, valor in variaveis.items() if valor != ""})
        except ValidationError as erro:
            motivos = "; ".join(
                f"{'.'.join(str(parte) for parte in problema['loc']) or cls.__name__}: {problema['msg']}"
                for problema in erro.errors(include_url=False, include_input=False, include_context=False)
            )
        raise ConfiguracaoInvalidaError(f"invalid settings ({cls.__name__}): {motivos}")
