"""What one message does: debit stock, charge, record the outcome. Pure of AWS types; every step may be repeated.

Crash points and what the next delivery finds:

- before the debit: nothing happened, it starts over;
- after the debit, before the charge: the debit's marker is there and the gateway knows no charge, so it charges;
- inside the charge, or its answer lost: the gateway is asked first; what it knows is the answer, and if it knows
  nothing the charge is repeated with the same key;
- after the charge, before recording it: as above, then it is recorded;
- after recording, before the idempotency record says COMPLETED: the effect is found final and returned.
"""

from collections.abc import Callable
from datetime import datetime

from comum.relogio import para_iso
from fila.efeitos import Efeito, Motivo, RepositorioDeEfeitos
from fila.gateway import Aprovada, ContaDaLoja
from fila.modelos import MensagemDePedido


def processar(
    mensagem: MensagemDePedido,
    efeitos: RepositorioDeEfeitos,
    conta: ContaDaLoja,
    agora: Callable[[], datetime],
) -> Efeito:
    """Take the order from wherever an earlier delivery left it to its outcome.

    Parameters
    ----------
    mensagem : MensagemDePedido
        The order, validated.
    efeitos : RepositorioDeEfeitos
        Stock and the order's record.
    conta : ContaDaLoja
        The store's account at the gateway.
    agora : Callable[[], datetime]
        Clock (aware UTC).

    Returns
    -------
    Efeito
        CONCLUIDO, or RECUSADO with its reason.

    Raises
    ------
    PedidoConflitanteError
        The id belongs to another order.
    EstoqueEmDisputaError, CobrancaEmAndamentoError, CobrancaSemRespostaError, CobrancaMalFormadaError
        Not finished this time; the message comes back.
    """
    efeito = efeitos.debitar(mensagem, para_iso(agora()))
    if efeito.definitivo:
        return efeito
    # An earlier delivery may have charged. The key alone does not tell: the gateway forgets it after 24 h (a DLQ lives
    # 14 days), and some replay a stored 500 for ever. So a repeated delivery looks the charge up before charging.
    cobranca = conta.consultar(mensagem.pedidoId) if efeito.de_outra_entrega else None
    if cobranca is None:
        cobranca = conta.cobrar(mensagem.pedidoId, mensagem.lojaId, mensagem.valorCentavos)
    if isinstance(cobranca, Aprovada):
        return efeitos.concluir(mensagem, cobranca.id_transacao, para_iso(agora()))
    return efeitos.desfazer_debito(mensagem, Motivo.PAGAMENTO_RECUSADO, para_iso(agora()))
