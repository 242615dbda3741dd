"""The body of a POST that creates an order: read with a model, refused field by field in words the customer
understands.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from comum.cartao import parece_cartao, texto_parece_cartao
from comum.contrato import campos_invalidos
from comum.http_borda import ProblemaHttp, RequisicaoHttp

Modelo = TypeVar("Modelo", bound=BaseModel)


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


def recusar_cartao_na_chave(requisicao: RequisicaoHttp) -> None:
    """Refuse an Idempotency-Key that looks like a card number.

    Raises
    ------
    NumeroDeCartaoError
    """
    if any(texto_parece_cartao(valor) for valor in requisicao.cabecalhos.get("idempotency-key", "").split(",")):
        raise NumeroDeCartaoError


def ler_corpo(
    modelo: type[Modelo], corpo: dict[str, Any], regras: Mapping[str, str], maximos: Mapping[str, int]
) -> Modelo:
    """Validate the body of a new order.

    Parameters
    ----------
    modelo : type[Modelo]
        The contract.
    corpo : dict
        Parsed JSON.
    regras : Mapping[str, str]
        By field, what to send, in Portuguese.
    maximos : Mapping[str, int]
        By numeric field, the largest value accepted here (the model's own ceilings only keep absurd numbers out).

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
        lido = modelo.model_validate(corpo)
    except ValidationError as erro:
        campos = [campo for campo, _ in campos_invalidos(modelo, erro)]
    else:
        campos = [campo for campo, maximo in maximos.items() if getattr(lido, campo) > maximo]
        if not campos:
            return lido
    erros = [
        {"campo": campo, "motivo": "campo obrigatório" if campo in regras and campo not in corpo else regra}
        for campo, regra in ((campo, regras.get(campo, "não faz parte do pedido")) for campo in dict.fromkeys(campos))
    ]
    raise ProblemaHttp(
        400, "pedido-invalido", "Pedido inválido", "Corrija os campos listados em erros e envie de novo.", erros=erros
    )
