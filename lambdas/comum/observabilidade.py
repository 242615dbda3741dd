"""Structured logs and business metrics (Powertools), the same way in every function; tracing only when it is on.

The Tracer needs aws-xray-sdk, whose import costs more than everything else here together, so it is imported only when
``RASTREAMENTO_ATIVO`` is ``true``. Events are never logged whole: they carry the card's token.
"""

import functools
import os
import warnings
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit, single_metric

warnings.filterwarnings("ignore", message="No application metrics to publish")

logger = Logger(log_uncaught_exceptions=False, utc=True, use_rfc3339=True)
metricas = Metrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "Cesta"))

Handler = Callable[[Any, Any], Any]


def contar(metrica: str, quantidade: int = 1, **dimensoes: str) -> None:
    """Add to a business counter, flushed as EMF when the handler ends; with dimensions of its own, at once.

    Parameters
    ----------
    metrica : str
        Metric name, in CamelCase Portuguese (``PedidosRecebidos``).
    quantidade : int
        How many.
    dimensoes : str
        Besides ``service``; few values each, for every combination is a metric of its own.
    """
    if dimensoes:
        unidade = MetricUnit.Count
        with single_metric(name=metrica, unit=unidade, value=quantidade, namespace=metricas.namespace) as avulsa:
            for nome, valor in dimensoes.items():
                avulsa.add_dimension(name=nome, value=valor)
        return
    metricas.add_metric(name=metrica, unit=MetricUnit.Count, value=quantidade)


def identificar(pedido_id: str) -> None:
    """Make ``pedidoId`` the correlation id of every following log line of this invocation (an already validated id)."""
    logger.append_keys(pedidoId=pedido_id)
    logger.set_correlation_id(pedido_id)


def observado(handler: Handler) -> Handler:
    """Wrap a Lambda handler: Lambda context and clean keys in each log line, metrics flushed even on error, trace if
    on."""
    envolvido = metricas.log_metrics(_com_contexto(handler))
    if os.environ.get("RASTREAMENTO_ATIVO", "false") == "true":
        from aws_lambda_powertools import Tracer

        envolvido = Tracer(auto_patch=True).capture_lambda_handler(
            envolvido, capture_response=False, capture_error=False
        )

    @functools.wraps(handler)
    def medir(evento: Any, contexto: Any) -> Any:
        return envolvido(evento, contexto)

    return medir


def _com_contexto(handler: Handler) -> Handler:
    """Like Powertools' inject_lambda_context, for callers (tests, ``make invoke``) that pass no context as well."""

    @functools.wraps(handler)
    def chamar(evento: Any, contexto: Any) -> Any:
        logger.clear_state()
        if contexto is not None and hasattr(contexto, "aws_request_id"):
            logger.append_keys(function_name=contexto.function_name, function_request_id=contexto.aws_request_id)
        return handler(evento, contexto)

    return chamar
