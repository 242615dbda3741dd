"""The consumer's way to the gateway: ``comum``'s bounded call, with this context's reading of a missing answer."""

from collections.abc import Callable, Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from comum import aws
from comum.configuracao import Configuracao
from comum.http_saida import ChamadorHttp, Prazo, RespostaIlegivelError, RespostaJson, SemRespostaError
from comum.segredos import SegredoSsm
from fila.erros import CobrancaSemRespostaError

Transporte = Callable[[str, str, Mapping[str, Any] | None, str | None], RespostaJson]


class ConfiguracaoDoGateway(Configuracao):
    """Where the gateway is and how long a call may take (seconds, credential and retries of nothing included)."""

    url_gateway: str = Field(pattern=r"^https?://[^\s]+$")
    parametro_chave_gateway: str
    timeout_conexao_gateway_s: float = Field(gt=0)
    timeout_total_gateway_s: float = Field(gt=0, le=6)

    @model_validator(mode="after")
    def _conexao_dentro_do_total(self) -> Self:
        if self.timeout_conexao_gateway_s > self.timeout_total_gateway_s:
            raise ValueError("TIMEOUT_CONEXAO_GATEWAY_S is longer than TIMEOUT_TOTAL_GATEWAY_S")
        return self


def transporte_do_gateway(config: ConfiguracaoDoGateway, simultaneas: int) -> Transporte:
    """A call to the gateway with these settings; ``simultaneas`` at the same time."""
    chamador = ChamadorHttp(
        config.url_gateway,
        SegredoSsm(aws.ssm, config.parametro_chave_gateway),
        config.timeout_conexao_gateway_s,
        simultaneas,
    )

    def chamar(metodo: str, caminho: str, corpo: Mapping[str, Any] | None, chave: str | None) -> RespostaJson:
        cabecalhos = {} if chave is None else {"Idempotency-Key": chave}
        try:
            return chamador.chamar(
                metodo, caminho, Prazo(config.timeout_total_gateway_s), cabecalhos=cabecalhos, corpo=corpo
            )
        except SemRespostaError as erro:
            motivo = erro.motivo
        except RespostaIlegivelError as erro:
            motivo = f"HTTP_{erro.status}"
        raise CobrancaSemRespostaError("no usable answer from the gateway", motivo=motivo)

    return chamar
