"""Settings of the payment functions."""

from typing import Self

from pydantic import Field, model_validator

from comum.configuracao import Configuracao

# Of the invocation, after the gateway's share: two writes of the circuit breaker and the answer.
MARGEM_S = 1.5
# How much longer than the longest call a probe of the circuit breaker is waited for, in seconds.
FOLGA_SONDA_S = 2
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
RETENCAO_MAXIMA_SQS_S = 14 * 24 * 3600


class ConfiguracaoPagamentos(Configuracao):
    """Environment of ``cobrar_pagamento`` and ``estornar_pagamento``; timeouts in seconds.

    ``timeout_total_gateway_s`` bounds everything a step does with the gateway. It must end before the function does:
    Terraform checks it against the function's timeout, and each call also respects the time the invocation has left.

    A circuit opens when ``disjuntor_falhas`` different keys fail within ``disjuntor_janela_s`` seconds with no answer
    in between, and lets one probe pass every ``disjuntor_aberto_s`` seconds.
    """

    url_gateway: str = Field(pattern=r"^https?://[^\s]+$")
    parametro_chave_gateway: str
    timeout_conexao_gateway_s: float = Field(gt=0)
    timeout_total_gateway_s: float = Field(gt=0, le=29)
    tabela_disjuntor: str
    disjuntor_falhas: int = Field(ge=1, le=1000)
    disjuntor_janela_s: float = Field(gt=0, le=3600)
    disjuntor_aberto_s: float = Field(gt=0, le=3600)

    @model_validator(mode="after")
    def _conexao_dentro_do_total(self) -> Self:
        if self.timeout_conexao_gateway_s > self.timeout_total_gateway_s:
            raise ValueError("TIMEOUT_CONEXAO_GATEWAY_S is longer than TIMEOUT_TOTAL_GATEWAY_S")
        return self


class ConfiguracaoEstorno(ConfiguracaoPagamentos):
    """Environment of ``estornar_pagamento``, which may be told to fail where injection is on."""

    permitir_injecao_falhas: bool


class ConfiguracaoConferenciaCobrancas(ConfiguracaoPagamentos):
    """Environment of ``conferir_cobrancas``.

    ``limite_cobranca_s`` is the age, in seconds, from which an order that is not CONFIRMADO should hold no charge:
    above the longest saga. ``janela_cobranca_s`` is how long after its end a failed order is still asked about, above
    the 24 h in which the gateway may repeat an answer. ``reaviso_s`` is how long after a message people are sent
    another one about the same order, in seconds: less than the queue keeps it. ``maximo_consultas`` bounds one run, in
    questions to the gateway.
    """

    tabela_pedidos: str
    tabela_conferencias: str
    url_fila_compensacao_falhou: str
    arn_maquina_saga: str = Field(pattern=r"^arn:[^:]+:states:[^:]*:[^:]*:stateMachine:[^:]+$")
    limite_cobranca_s: int = Field(ge=0)
    janela_cobranca_s: int = Field(gt=0)
    reaviso_s: int = Field(gt=0, lt=RETENCAO_MAXIMA_SQS_S)
    maximo_consultas: int = Field(ge=1)

    @model_validator(mode="after")
    def _janela_depois_do_limite(self) -> Self:
        if self.janela_cobranca_s <= self.limite_cobranca_s:
            raise ValueError("JANELA_COBRANCA_S is not longer than LIMITE_COBRANCA_S: nothing would ever be checked")
        return self
