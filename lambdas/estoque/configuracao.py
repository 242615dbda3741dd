"""Settings of the stock functions."""

from pydantic import Field

from comum.configuracao import Configuracao


class ConfiguracaoEstoque(Configuracao):
    """Environment of ``reservar_estoque`` and ``liberar_estoque``."""

    tabela_estoque: str


class ConfiguracaoBaixa(ConfiguracaoEstoque):
    """Environment of ``baixar_reserva``."""

    tabela_estoque_baixas: str


class ConfiguracaoConferencia(ConfiguracaoBaixa):
    """Environment of ``conferir_reservas``.

    ``limite_reserva_s`` is the age, in seconds, from which a reservation without an outcome is abnormal: far above the
    longest saga. ``limite_decisao_s`` is how long, in seconds, a person who ended an order may leave its units
    undecided before people are reminded. ``maximo_itens_conferidos`` bounds one run, in stock items.
    """

    tabela_pedidos: str
    tabela_conferencias: str
    limite_reserva_s: int = Field(ge=0)
    limite_decisao_s: int = Field(ge=0)
    maximo_itens_conferidos: int = Field(ge=1)
