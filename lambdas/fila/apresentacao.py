"""What the customer reads about an order: Portuguese sentences, no technical name."""

from typing import Any

from fila.efeitos import Efeito, Motivo, Situacao

_STATUS = {
    Situacao.ESTOQUE_DEBITADO: ("em_processamento", "Separamos seus itens e estamos confirmando o pagamento."),
    Situacao.CONCLUIDO: ("concluido", "Pedido concluído."),
    Situacao.RECUSADO: ("recusado", "Pedido não realizado. Nada foi cobrado."),
}

_MOTIVOS = {
    Motivo.ITEM_INEXISTENTE: "Este item não está à venda.",
    Motivo.ESTOQUE_INSUFICIENTE: "Não há unidades suficientes deste item em estoque.",
    Motivo.PAGAMENTO_RECUSADO: "O pagamento pela conta da loja foi recusado.",
    Motivo.ENCERRADO_MANUALMENTE: "Pedido encerrado pela nossa equipe.",
}


def apresentar(efeito: Efeito) -> dict[str, Any]:
    """The order as the customer reads it; ``motivo`` only when it was refused."""
    status, descricao = _STATUS[efeito.situacao]
    corpo = {"pedidoId": efeito.pedido_id, "status": status, "descricao": descricao}
    if efeito.motivo is not None:
        corpo["motivo"] = _MOTIVOS[efeito.motivo]
    return corpo
