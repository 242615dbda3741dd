"""Settings of the payment functions."""

from typing import Self

from pydantic import Field, model_validator

from comum.configuracao import Configuracao

MARGEM_S = 0.5


class ConfiguracaoPagamentos(Configuracao):
    """Environment of ``cobrar_pagamento`` and ``estornar_pagamento``; timeouts in seconds.

    ``timeout_total_gateway_s`` bounds everything a step does with the gateway. It must end before the function does:
    Terraform checks it against the function's timeout, and each call also respects the time the invocation has left.
    """

    url_gateway: str = Field(pattern=r"^https?://[^\s]+$")
    parametro_chave_gateway: str
    timeout_conexao_gateway_s: float = Field(gt=0)
    timeout_total_gateway_s: float = Field(gt=0, le=29)

    @model_validator(mode="after")
    def _conexao_dentro_do_total(self) -> Self:
        if self.timeout_conexao_gateway_s > self.timeout_total_gateway_s:
            raise ValueError("TIMEOUT_CONEXAO_GATEWAY_S is longer than TIMEOUT_TOTAL_GATEWAY_S")
        return self


class ConfiguracaoEstorno(ConfiguracaoPagamentos):
    """Environment of ``estornar_pagamento``, which may be told to fail where injection is on."""

    permitir_injecao_falhas: bool
