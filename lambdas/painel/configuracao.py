"""Settings of the panel's functions."""

from typing import Literal

from pydantic import Field

from comum.configuracao import Configuracao


class ConfiguracaoConsumidor(Configuracao):
    """``TABELA_PAINEL`` and the restock topic's ARN."""

    tabela_painel: str
    arn_topico_reposicao: str


class ConfiguracaoReprocesso(ConfiguracaoConsumidor):
    """As the consumer's, plus the on-failure queue's URL (``URL_DLQ_CONSUMIDOR``)."""

    url_dlq_consumidor: str


class ConfiguracaoReconciliacao(ConfiguracaoConsumidor):
    """Both tables, both topics, the grace period (``CARENCIA_S``, seconds) and the initial statuses (commas)."""

    tabela_origem: str
    arn_topico_operacao: str
    carencia_s: int = Field(ge=0)
    status_iniciais: str


class ConfiguracaoApi(Configuracao):
    """The panel's table, how people sign in, and how often the page asks (milliseconds).

    ``URL_LOGIN`` and ``CLIENTE_LOGIN`` are needed only where ``AUTENTICACAO`` is ``cognito``; neither is a secret.
    """

    tabela_painel: str
    autenticacao: Literal["cognito", "nenhuma"]
    url_login: str = ""
    cliente_login: str = ""
    intervalo_consulta_ms: int = Field(ge=1000, le=30000)
