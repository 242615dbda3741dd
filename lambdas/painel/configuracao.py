"""Settings of the panel's functions."""

from comum.configuracao import Configuracao


class ConfiguracaoConsumidor(Configuracao):
    """``TABELA_PAINEL`` and the restock topic's ARN."""

    tabela_painel: str
    arn_topico_reposicao: str
