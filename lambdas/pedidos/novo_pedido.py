"""What a customer may send to ``POST /pedidos``, and what they are told when they send something else."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from ulid import ULID

from comum.cartao import texto_parece_cartao
from comum.contrato import CartaoToken, EntradaSaga, Quantidade, Sku, ValorCentavos
from comum.corpo_http import ler_corpo
from pedidos.configuracao import ConfiguracaoCriar


class NovoPedido(BaseModel):
    """Body of ``POST /pedidos``: total in centavos, a gateway card token; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    sku: Sku
    quantidade: Quantidade
    valorCentavos: ValorCentavos
    cartaoToken: CartaoToken = Field(repr=False)


def novo_pedido_id() -> str:
    """A ULID: sorts by time, is a valid execution name, and never looks like a card number."""
    while True:
        pedido_id = str(ULID())
        if not texto_parece_cartao(pedido_id):
            return pedido_id


def ler_novo_pedido(corpo: dict[str, Any], configuracao: ConfiguracaoCriar) -> NovoPedido:
    """Validate the body of a new order; raises what :func:`comum.corpo_http.ler_corpo` raises."""
    regras = {
        "sku": "use letras maiúsculas, dígitos e hífen, até 40 caracteres",
        "quantidade": f"use um inteiro de 1 a {configuracao.quantidade_maxima}",
        "valorCentavos": f"use um inteiro de 1 a {configuracao.valor_maximo_centavos} centavos",
        "cartaoToken": "use o token do gateway, que começa com tok-",
    }
    maximos = {"quantidade": configuracao.quantidade_maxima, "valorCentavos": configuracao.valor_maximo_centavos}
    return ler_corpo(NovoPedido, corpo, regras, maximos)


def montar_entrada(novo: NovoPedido, pedido_id: str, criado_em: str) -> EntradaSaga:
    """The saga's input for an accepted order."""
    return EntradaSaga(pedidoId=pedido_id, criadoEm=criado_em, **novo.model_dump())
