"""Settings of the stock functions."""

from comum.configuracao import Configuracao


class ConfiguracaoEstoque(Configuracao):
    """Environment of ``reservar_estoque`` and ``liberar_estoque``."""

    tabela_estoque: str
