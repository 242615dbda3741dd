"""What one message does: debit stock, charge, record the outcome. Pure of AWS types; every step may be repeated.

Crash points and what the next delivery finds:

- before the debit: nothing happened, it starts over;
- after the debit, before or inside the charge: the debit's marker is there, the charge is repeated with the same key;
- after the charge, its answer lost: the gateway gives the same answer to the same key;
- after the charge, before recording it: as above, then it is recorded;
- after recording, before the idempotency record says COMPLETED: the effect is found final and returned.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from comum.relogio import de_iso, para_iso
from fila.efeitos import Efeito, Motivo, RepositorioDeEfeitos
from fila.gateway import Aprovada, ContaDaLoja, Recusada
from fila.modelos import MensagemDePedido

# The gateway honours a key for 24 h; an hour is left for clocks that disagree.
JANELA_DA_CHAVE = timedelta(hours=23)


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
    cobranca = _cobranca_antiga(efeito, conta, agora()) or conta.cobrar(
        mensagem.pedidoId, mensagem.lojaId, mensagem.valorCentavos
    )
    if isinstance(cobranca, Aprovada):
        return efeitos.concluir(mensagem, cobranca.id_transacao, para_iso(agora()))
    return efeitos.desfazer_debito(mensagem, Motivo.PAGAMENTO_RECUSADO, para_iso(agora()))


def _cobranca_antiga(efeito: Efeito, conta: ContaDaLoja, agora: datetime) -> Aprovada | Recusada | None:
    """Past the key's window the gateway may have forgotten the key but not the charge: look before charging."""
    if efeito.debitado_em is None or agora - de_iso(efeito.debitado_em) < JANELA_DA_CHAVE:
        return None
    return conta.consultar(efeito.pedido_id)
