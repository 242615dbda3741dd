"""From the stream of ``cesta-pedidos``: a confirmed order's units leave the stock item, which stays small for ever."""

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord

from comum import aws
from comum.contrato import ModeloDeEntrada, PedidoId, Quantidade, Sku, ler
from comum.erros import ErroDeNegocio
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from estoque.baixas import RepositorioBaixas, ResultadoBaixa
from estoque.configuracao import ConfiguracaoBaixa

PASSO_QUE_CHAMA_PESSOA = "RegistrarRequerIntervencaoHumana"
"""State of the saga that writes that automation gave up; a person's own steps write the same status."""

_processador = BatchProcessor(event_type=EventType.DynamoDBStreams, raise_on_entire_batch_failure=False)


class PedidoMudado(ModeloDeEntrada):
    """What is read of any order's new image."""

    pedidoId: PedidoId


class PedidoConfirmado(PedidoMudado):
    """What is read of a confirmed order's new image; ``quantidade`` in units."""

    sku: Sku
    quantidade: Quantidade


@uma_vez
def _repositorio() -> RepositorioBaixas:
    configuracao = ConfiguracaoBaixa.do_ambiente()
    return RepositorioBaixas(aws.dynamodb(), configuracao.tabela_estoque, configuracao.tabela_estoque_baixas)


@observado
def handler(evento: Any, contexto: Any) -> dict[str, Any]:
    """Write off each confirmed order of a batch, failing only the records that fail.

    Duplicate: the mark is there already, nothing is taken twice. Undo before do: cannot be, a confirmed order is never
    undone, and a write-off that finds no reservation leaves no mark. Do after undo: a reserve that lands after the
    write-off is a late duplicate, which ``conferir_reservas`` gives back to the balance.

    Records do not depend on each other, so the ones after a failure are written off too: what a stream sends again, or
    discards after its last attempt, was done already. What is discarded is found by ``conferir_reservas``.

    It also counts the orders that the saga leaves to a person, each once, because this is the only reader of the
    orders' stream.

    Parameters
    ----------
    evento : dict
        DynamoDB stream records of ``cesta-pedidos`` with the new image; any but a CONFIRMADO one, or one the saga
        just left to a person, is skipped.
    contexto : LambdaContext

    Returns
    -------
    dict
        ``{"batchItemFailures": [{"itemIdentifier": sequence number}]}``.

    Raises
    ------
    Nothing of its own: a record's PedidoInvalidoError or ReservaEmDisputaError becomes a failed item.
    """
    resposta = process_partial_response(event=evento, record_handler=_atender, processor=_processador, context=contexto)
    return dict(resposta)


def _atender(record: DynamoDBRecord) -> None:
    """One record; Powertools passes it by the name ``record``. Every failure is logged here, then comes back."""
    logger.append_keys(sequencia=record.raw_event.get("dynamodb", {}).get("SequenceNumber"))
    identificar(None)
    try:
        _tratar(record.raw_event.get("dynamodb", {}).get("NewImage", {}))
    except ErroDeNegocio as erro:
        contar("BaixasComFalha")
        logger.error("record refused", extra={"erro": type(erro).__name__, "mensagem": erro.mensagem, **erro.detalhes})
        raise
    except Exception as erro:
        contar("BaixasComFalha")
        # Name or AWS code only: the text of an error nobody foresaw may quote the order.
        logger.error("record will come back", extra={"erro": aws.codigo_do_erro(erro)})
        raise


def _tratar(imagem: Mapping[str, Any]) -> None:
    pedido_id = ler(PedidoMudado, {"pedidoId": _valor(imagem, "pedidoId")}).pedidoId
    identificar(pedido_id)
    match _valor(imagem, "status"):
        case "CONFIRMADO":
            _baixar(ler(PedidoConfirmado, {campo: _valor(imagem, campo) for campo in PedidoConfirmado.model_fields}))
        case "REQUER_INTERVENCAO_HUMANA" if _ultimo_passo(imagem) == PASSO_QUE_CHAMA_PESSOA:
            if _repositorio().anotar_intervencao(pedido_id):
                contar("IntervencoesHumanas")
            logger.warning("order left to a person")
        case _:
            logger.info("record of an order that is not confirmed skipped")


def _baixar(pedido: PedidoConfirmado) -> None:
    baixa = _repositorio().baixar(pedido.sku, pedido.pedidoId, pedido.quantidade)
    match baixa.resultado:
        case ResultadoBaixa.BAIXADA:
            contar("ReservasBaixadas")
        case ResultadoBaixa.JA_BAIXADA:
            contar("DuplicatasDescartadas")
        case ResultadoBaixa.SEM_RESERVA:
            # Sold without units held: whoever took them did it outside the saga, and a person must look.
            contar("BaixasSemReserva")
            logger.error("confirmed order without a reservation", extra={"sku": pedido.sku})
            return
    logger.info("reservation written off", extra={"resultado": baixa.resultado, "quantidade": baixa.quantidade})


def _ultimo_passo(imagem: Mapping[str, Any]) -> str | None:
    """Name of the step that made the order's last change; None when the image does not say."""
    match imagem.get("historico"):
        case {"L": [*_, {"M": {"passo": {"S": str(passo)}}}]}:
            return passo
    return None


def _valor(imagem: Mapping[str, Any], campo: str) -> str | int | None:
    """A string or a whole number of an image; None for anything else, which the model refuses by name."""
    match imagem.get(campo):
        case {"S": str(texto)}:
            return texto
        case {"N": str(numero)} if numero.isdigit():
            return int(numero)
    return None
