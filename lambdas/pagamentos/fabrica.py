"""Builds what the payment handlers use, from settings."""

from typing import Any

from comum import aws
from comum.http_saida import Prazo
from comum.segredos import SegredoSsm
from pagamentos.cliente_gateway import ClienteGatewayHttp
from pagamentos.configuracao import MARGEM_S, ConfiguracaoPagamentos


def cliente(configuracao: ConfiguracaoPagamentos) -> ClienteGatewayHttp:
    """The gateway's client for these settings."""
    segredo = SegredoSsm(aws.ssm, configuracao.parametro_chave_gateway)
    return ClienteGatewayHttp(configuracao.url_gateway, segredo, configuracao.timeout_conexao_gateway_s)


def prazo(configuracao: ConfiguracaoPagamentos, contexto: Any) -> Prazo:
    """The step's deadline: the configured total, never past what the invocation has left minus a margin to answer."""
    segundos = configuracao.timeout_total_gateway_s
    if hasattr(contexto, "get_remaining_time_in_millis"):
        segundos = min(segundos, contexto.get_remaining_time_in_millis() / 1000 - MARGEM_S)
    return Prazo(segundos)
