"""Settings of the designs deployed by variable."""

from pydantic import Field

from comum.configuracao import Configuracao


class ConfiguracaoGateway(Configuracao):
    """Environment of ``gateway_simulado``.

    ``atraso_lento_s``: seconds the slow cards take, beyond the client's deadline. ``atraso_padrao_ms``: milliseconds
    a charge takes to be decided, during which its key is in flight.
    """

    tabela_gateway: str
    parametro_chave_gateway: str
    atraso_lento_s: float = Field(ge=0, le=25)
    atraso_padrao_ms: int = Field(ge=0, le=10_000)


class ConfiguracaoSincrono(Configuracao):
    """Environment of ``criar_pedido_sincrono``; timeouts in seconds."""

    tabela_pedidos: str
    tabela_estoque: str
    url_gateway: str = Field(pattern=r"^https?://[^\s]+$")
    parametro_chave_gateway: str
    timeout_conexao_gateway_s: float = Field(gt=0)
    timeout_total_gateway_s: float = Field(gt=0)
    permitir_injecao_falhas: bool
