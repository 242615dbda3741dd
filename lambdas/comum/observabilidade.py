"""Structured logs and business metrics (Powertools), the same way in every function; tracing only when it is on.

The Tracer needs aws-xray-sdk, whose import costs more than everything else here together, so it is imported only when
``RASTREAMENTO_ATIVO`` is ``true``. Events, answers and the text of unforeseen errors are never logged nor traced: they
may carry the card's token.
"""

import functools
import os
import warnings
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit, single_metric

from comum.aws import codigo_do_erro
from comum.erros import ErroDeNegocio

warnings.filterwarnings("ignore", message="No application metrics to publish")

logger = Logger(log_uncaught_exceptions=False, utc=True, use_rfc3339=True)
metricas = Metrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE", "Cesta"))

Handler = Callable[[Any, Any], Any]


def _novo_rastreador() -> Any:
    """The X-Ray tracer where it is on, else None. It follows AWS's clients and, through http.client, the gateway."""
    if os.environ.get("RASTREAMENTO_ATIVO", "false") != "true":
        return None
    from aws_lambda_powertools import Tracer
    from aws_xray_sdk.core import xray_recorder

    from comum.rastro import EmissorDiscreto

    xray_recorder.configure(emitter=EmissorDiscreto())
    return Tracer(auto_patch=True, patch_modules=("botocore", "httplib"))


_rastreador = _novo_rastreador()


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


def identificar(pedido_id: str | None) -> None:
    """Make an already validated ``pedidoId`` the correlation id of every following log line, and trace annotation.

    It holds for this thread and this invocation, so that messages worked on side by side do not take each other's. None
    forgets the last one: what follows is about no order, or about one not read yet.
    """
    if pedido_id is None:
        logger.thread_safe_remove_keys(["pedidoId", "correlation_id"])
        return
    logger.thread_safe_append_keys(pedidoId=pedido_id, correlation_id=pedido_id)
    # A thread of its own has only the segment that Lambda owns, which takes no annotation.
    if _rastreador is not None and _rastreador.provider.current_subsegment() is not None:
        _rastreador.put_annotation("pedidoId", pedido_id)


def correlacao() -> str | None:
    """The pedidoId this thread works on, or None."""
    pedido_id = logger.thread_safe_get_current_keys().get("pedidoId")
    return None if pedido_id is None else str(pedido_id)


def observado(handler: Handler) -> Handler:
    """Wrap a Lambda handler: Lambda context and clean keys in each log line, a line for each failure, metrics flushed
    even on error, trace if on."""
    envolvido = metricas.log_metrics(_com_contexto(handler))
    if _rastreador is not None:
        envolvido = _rastreador.capture_lambda_handler(envolvido, capture_response=False, capture_error=False)

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
        try:
            return handler(evento, contexto)
        except ErroDeNegocio as erro:
            # The runtime's own report of the error does not say which order it is about.
            fatos = {"erro": type(erro).__name__, "mensagem": erro.mensagem, **erro.detalhes}
            logger.warning("invocation failed", extra=fatos)
            raise
        except Exception as erro:
            logger.error("invocation failed", extra={"erro": codigo_do_erro(erro)})
            raise

    return chamar
