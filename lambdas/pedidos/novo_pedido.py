"""What a customer may send to ``POST /pedidos``, and what they are told when they send something else."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ulid import ULID

from comum.cartao import parece_cartao, texto_parece_cartao
from comum.contrato import CartaoToken, EntradaSaga, Quantidade, Sku, ValorCentavos, campos_invalidos
from comum.http_borda import ProblemaHttp
from pedidos.configuracao import ConfiguracaoCriar


class NovoPedido(BaseModel):
    """Body of ``POST /pedidos``: total in centavos, a gateway card token; unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    sku: Sku
    quantidade: Quantidade
    valorCentavos: ValorCentavos
    cartaoToken: CartaoToken = Field(repr=False)


class NumeroDeCartaoError(ProblemaHttp):
    """400: something in the request looks like a card number; it is neither logged nor echoed."""

    def __init__(self) -> None:
        super().__init__(
            400,
            "numero-de-cartao",
            "Número de cartão não é aceito",
            "O pedido contém algo que parece um número de cartão."
            " Envie apenas o token gerado pelo gateway de pagamento.",
        )


def novo_pedido_id() -> str:
    """A ULID: sorts by time, is a valid execution name, and never looks like a card number."""
    while True:
        pedido_id = str(ULID())
        if not texto_parece_cartao(pedido_id):
            return pedido_id


def ler_novo_pedido(corpo: dict[str, Any], configuracao: ConfiguracaoCriar) -> NovoPedido:
    """Validate the body of a new order.

    Raises
    ------
    NumeroDeCartaoError
        Something looks like a card number.
    ProblemaHttp
        400 whose ``erros`` lists {campo, motivo} in Portuguese, without content.
    """
    if parece_cartao(corpo):
        raise NumeroDeCartaoError
    try:
        novo = NovoPedido.model_validate(corpo)
    except ValidationError as erro:
        campos = [campo for campo, _ in campos_invalidos(NovoPedido, erro)]
    else:
        campos = [
            campo
            for campo, valor, maximo in (
                ("quantidade", novo.quantidade, configuracao.quantidade_maxima),
                ("valorCentavos", novo.valorCentavos, configuracao.valor_maximo_centavos),
            )
            if valor > maximo
        ]
        if not campos:
            return novo
    raise _invalido(list(dict.fromkeys(campos)), corpo, configuracao)


def montar_entrada(novo: NovoPedido, pedido_id: str, criado_em: str) -> EntradaSaga:
    """The saga's input for an accepted order."""
    return EntradaSaga(pedidoId=pedido_id, criadoEm=criado_em, **novo.model_dump())


def _invalido(campos: list[str], corpo: dict[str, Any], configuracao: ConfiguracaoCriar) -> ProblemaHttp:
    regras = {
        "sku": "use letras maiúsculas, dígitos e hífen, até 40 caracteres",
        "quantidade": f"use um inteiro de 1 a {configuracao.quantidade_maxima}",
        "valorCentavos": f"use um inteiro de 1 a {configuracao.valor_maximo_centavos} centavos",
        "cartaoToken": "use o token do gateway, que começa com tok-",
    }
    erros = [
        {"campo": campo, "motivo": "campo obrigatório" if campo in regras and campo not in corpo else regra}
        for campo, regra in ((campo, regras.get(campo, "não faz parte do pedido")) for campo in campos)
    ]
    return ProblemaHttp(
        400, "pedido-invalido", "Pedido inválido", "Corrija os campos listados em erros e envie de novo.", erros=erros
    )
