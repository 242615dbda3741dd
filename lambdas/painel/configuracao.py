"""Settings of the panel's functions."""

from comum.configuracao import Configuracao


class ConfiguracaoConsumidor(Configuracao):
    """``TABELA_PAINEL`` and the restock topic's ARN."""

    tabela_painel: str
    arn_topico_reposicao: str


class ConfiguracaoReprocesso(ConfiguracaoConsumidor):
    """As the consumer's, plus the on-failure queue's URL (``URL_DLQ_CONSUMIDOR``)."""

    url_dlq_consumidor: str
