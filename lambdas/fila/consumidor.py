"""Consumer of ``ffv-lab-fila-pedidos``: each order debits stock and charges the store once, however often it is
delivered."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pydantic import Field

from comum import aws
from comum.observabilidade import observado
from comum.processo import uma_vez
from fila.efeitos import RepositorioDeEfeitos
from fila.gateway import ContaDaLoja
from fila.lote import ProcessadorDeLotes
from fila.processados import TabelaDeProcessados
from fila.transporte import ConfiguracaoDoGateway, transporte_do_gateway

# What a message needs besides the gateway: its DynamoDB calls and a stock item in dispute.
FOLGA_MS = 3000


class ConfiguracaoConsumidor(ConfiguracaoDoGateway):
    """Settings of the consumer; ``paralelismo`` is how many messages of a batch are worked on at once."""

    tabela_idempotencia: str
    tabela_efeitos: str
    tabela_estoque: str
    paralelismo: int = Field(ge=1, le=10)


@uma_vez
def processador() -> ProcessadorDeLotes:
    """The batch processor of this process."""
    config = ConfiguracaoConsumidor.do_ambiente()
    return ProcessadorDeLotes(
        TabelaDeProcessados(config.tabela_idempotencia, aws.dynamodb()),
        RepositorioDeEfeitos(aws.dynamodb(), config.tabela_efeitos, config.tabela_estoque),
        ContaDaLoja(transporte_do_gateway(config, config.paralelismo)),
        ThreadPoolExecutor(config.paralelismo, thread_name_prefix="mensagem"),
        minimo_ms=int(config.timeout_total_gateway_s * 1000) + FOLGA_MS,
    )


@observado
def handler(evento: dict[str, Any], contexto: Any) -> Any:
    """SQS event to ``{"batchItemFailures": [{"itemIdentifier": messageId}, ...]}``; only the listed messages come back.

    Meets the *duplicate*: Powertools' record answers a finished order and turns away one in progress; past it, the
    debit's marker and the gateway's key make each step happen once. The *undo* (giving stock back after a refused
    charge) is one conditional transaction with the refusal, so it can neither arrive before its debit nor be
    repeated, and a debit after its undo finds the order already refused.
    """
    return processador().processar(evento, contexto)
