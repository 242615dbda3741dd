"""What the customer reads about an order: Portuguese sentences, no technical name."""

from collections.abc import Mapping

from pedidos.situacao import Status

_STATUS: Mapping[str, str] = {
    Status.RECEBIDO: "Recebemos seu pedido.",
    Status.RESERVADO: "Separamos seus produtos e estamos confirmando o pagamento.",
    Status.CONFIRMADO: "Pedido confirmado.",
    Status.COMPENSANDO: "Não foi possível concluir o pedido e estamos desfazendo o pagamento.",
    Status.FALHOU_SEM_RESERVA: "Pedido não realizado. Nada foi cobrado.",
    Status.FALHOU_COMPENSADO: "Pedido não realizado. Qualquer valor cobrado foi devolvido.",
    Status.REQUER_INTERVENCAO_HUMANA: "Nossa equipe está cuidando do seu pedido e vai falar com você.",
    Status.ENCERRADO_MANUALMENTE: "Pedido encerrado pela nossa equipe.",
}

_FALHAS: Mapping[str, str] = {
    "EstoqueInsuficienteError": "Não há unidades suficientes deste produto em estoque.",
    "ProdutoInexistenteError": "Este produto não está mais à venda.",
    "PedidoInvalidoError": "Os dados do pedido não puderam ser aceitos.",
    "CartaoRecusadoError": "O cartão foi recusado. Tente outro cartão ou fale com o seu banco.",
    "GatewayIndisponivelError": "O serviço de pagamento não respondeu. Se houve cobrança, ela foi ou será devolvida.",
    "CobrancaCanceladaError": "O pagamento foi cancelado antes de ser concluído.",
    "ConfirmacaoRecusadaError": "O pedido já estava sendo cancelado quando tentamos confirmá-lo.",
}

STATUS_COM_MOTIVO: frozenset[str] = frozenset(
    {
        Status.COMPENSANDO,
        Status.FALHOU_SEM_RESERVA,
        Status.FALHOU_COMPENSADO,
        Status.REQUER_INTERVENCAO_HUMANA,
        Status.ENCERRADO_MANUALMENTE,
    }
)

FALHA_GENERICA = "Tivemos um problema ao processar o pedido. Se houve cobrança, ela foi ou será devolvida."


def descrever(status: str) -> str:
    """Sentence for a status; a status this version does not know is a problem under care."""
    return _STATUS.get(status, "Estamos verificando seu pedido.")


def motivo(status: str, erro: str) -> str | None:
    """Sentence for why an order did not go through; None while nothing went wrong.

    Parameters
    ----------
    status : str
        The order's status.
    erro : str
        Name of the failure as the state machine recorded it, or empty.
    """
    if status not in STATUS_COM_MOTIVO or not erro:
        return None
    return _FALHAS.get(erro, FALHA_GENERICA)
