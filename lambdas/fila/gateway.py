"""The store's account at the payment gateway: what the consumer asks of it and what it answers.

The message carries no card: the order is the store's, so the charge goes to the account the store registered with the
gateway, whose token is ``tok-{lojaId}``. The key ``fila-cobranca-{pedidoId}`` is made here and nowhere else; the
gateway honours it for 24 hours (same key, same result).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fila.erros import CobrancaEmAndamentoError, CobrancaMalFormadaError, CobrancaSemRespostaError
from fila.transporte import Transporte


@dataclass(frozen=True)
class Aprovada:
    """The charge exists; ``id_transacao`` is the gateway's."""

    id_transacao: str


@dataclass(frozen=True)
class Recusada:
    """Nothing was charged and this key never will be; ``codigo`` is the gateway's."""

    codigo: str


def chave_da_cobranca(pedido_id: str) -> str:
    """Idempotency key of an order's charge: 14 + 36 characters, within the 64 that the shortest real gateway takes."""
    return f"fila-cobranca-{pedido_id}"


class ContaDaLoja:
    """Charges stores' accounts.

    Parameters
    ----------
    transporte : Transporte
        How to reach the gateway.
    """

    def __init__(self, transporte: Transporte) -> None:
        self._transporte = transporte

    def cobrar(self, pedido_id: str, loja_id: str, valor_centavos: int) -> Aprovada | Recusada:
        """Charge ``valor_centavos`` once for this order, however many times it is called within 24 h.

        Raises
        ------
        CobrancaSemRespostaError
            No usable answer: unknown outcome.
        CobrancaEmAndamentoError
            The first attempt is still inside the gateway.
        CobrancaMalFormadaError
            Anything outside the contract (400, 422...).
        """
        resposta = self._transporte(
            "POST",
            "/cobrancas",
            {"valorCentavos": valor_centavos, "cartaoToken": f"tok-{loja_id}", "referencia": pedido_id},
            chave_da_cobranca(pedido_id),
        )
        codigo = resposta.corpo.get("codigo")
        match resposta.status, codigo:
            case ((200 | 201), _):
                return _aprovada(resposta.corpo, resposta.status)
            case (402, "CARTAO_RECUSADO") | (409, "TOKEN_CANCELADO"):
                return Recusada(str(codigo))
            case 409, "EM_ANDAMENTO":
                raise CobrancaEmAndamentoError("charge in progress at the gateway")
        raise CobrancaMalFormadaError("answer outside the gateway's contract", status=resposta.status)

    def consultar(self, pedido_id: str) -> Aprovada | Recusada | None:
        """Look the order's charge up by its key; None when the gateway has no final word on it.

        Raises
        ------
        CobrancaSemRespostaError, CobrancaMalFormadaError
            Not known now; nothing was asked to be charged.
        """
        resposta = self._transporte("GET", f"/cobrancas/{chave_da_cobranca(pedido_id)}", None, None)
        # A refusal is problem details, whose own "status" is the HTTP number.
        match resposta.status, resposta.corpo.get("status" if resposta.status == 200 else "codigo"):
            case 200, "APROVADA":
                return _aprovada(resposta.corpo, 200)
            case 200, ("RECUSADA" | "ESTORNADA") as situacao:
                return Recusada(situacao)
            # No final word, and whoever was deciding may be dead: charging again with the key either takes the
            # decision over or is told to wait.
            case 200, "EM_ANDAMENTO":
                return None
            # A bare 404 may be a wrong address: only the gateway's own word says that nothing was charged.
            case 404, "COBRANCA_INEXISTENTE":
                return None
        raise CobrancaMalFormadaError("answer outside the gateway's contract", status=resposta.status)


def _aprovada(corpo: Mapping[str, Any], status: int) -> Aprovada:
    id_transacao = corpo.get("idTransacao")
    if corpo.get("status") != "APROVADA" or not isinstance(id_transacao, str) or not id_transacao:
        raise CobrancaSemRespostaError("approval without its transaction", motivo=f"HTTP_{status}")
    return Aprovada(id_transacao)
