"""Builds what the payment handlers use, from settings."""

from typing import Any

from comum import aws
from comum.http_saida import Prazo
from comum.segredos import SegredoSsm
from pagamentos.cliente_gateway import ClienteGatewayHttp
from pagamentos.configuracao import FOLGA_SONDA_S, MARGEM_S, ConfiguracaoPagamentos
from pagamentos.porta import Gateway


def gateway(configuracao: ConfiguracaoPagamentos) -> Gateway:
    """The gateway for these settings: its client behind the shared circuit breaker."""
    from pagamentos.disjuntor import GatewayComDisjuntor  # with pybreaker and botocore: not before the first call
    from pagamentos.disjuntor_tabela import Limites, TabelaDisjuntor

    segredo = SegredoSsm(aws.ssm, configuracao.parametro_chave_gateway)
    cliente = ClienteGatewayHttp(configuracao.url_gateway, segredo, configuracao.timeout_conexao_gateway_s)
    limites = Limites(
        falhas=configuracao.disjuntor_falhas,
        janela_s=configuracao.disjuntor_janela_s,
        aberto_s=configuracao.disjuntor_aberto_s,
        sonda_s=configuracao.timeout_total_gateway_s + FOLGA_SONDA_S,
    )
    return GatewayComDisjuntor(cliente, TabelaDisjuntor(aws.dynamodb_breve, configuracao.tabela_disjuntor, limites))


def prazo(configuracao: ConfiguracaoPagamentos, contexto: Any) -> Prazo:
    """The step's deadline: the configured total, never past what the invocation has left minus a margin to answer."""
    segundos = configuracao.timeout_total_gateway_s
    if hasattr(contexto, "get_remaining_time_in_millis"):
        segundos = min(segundos, contexto.get_remaining_time_in_millis() / 1000 - MARGEM_S)
    return Prazo(segundos)
