"""Settings of the order functions."""

from pydantic import Field

from comum.configuracao import Configuracao
from comum.contrato import QUANTIDADE_LIMITE, VALOR_LIMITE_CENTAVOS


class ConfiguracaoCriar(Configuracao):
    """Environment of ``criar_pedido``; bounds of one order in units and centavos."""

    url_fila_pedidos_criados: str
    tabela_idempotencia: str
    quantidade_maxima: int = Field(ge=1, le=QUANTIDADE_LIMITE)
    valor_maximo_centavos: int = Field(ge=1, le=VALOR_LIMITE_CENTAVOS)


class ConfiguracaoConsultar(Configuracao):
    """Environment of ``consultar_pedido``."""

    tabela_pedidos: str


class ConfiguracaoConfirmar(Configuracao):
    """Environment of ``confirmar_pedido``."""

    tabela_pedidos: str
    permitir_injecao_falhas: bool


class ConfiguracaoIniciar(Configuracao):
    """Environment of ``iniciar_saga``."""

    tabela_pedidos: str
    arn_maquina_saga: str = Field(pattern=r"^arn:[^:]+:states:[^:]*:[^:]*:stateMachine:[^:]+(:[^:]+)?$")
    permitir_injecao_falhas: bool
