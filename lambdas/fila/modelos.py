"""What enters the queue's side: the body of ``POST /api/pedidos`` and the message the consumer reads."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from comum.contrato import InstanteIso, ModeloDeEntrada, Quantidade, ValorCentavos, campos_invalidos
from comum.http_borda import pedido_malformado
from fila.erros import MensagemInvalidaError

# Canonical lower-case text, so that one order has one key in every table.
PedidoUuid = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\z")
]
ItemId = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Z0-9][A-Z0-9-]{0,39}\z")]
# Also the tail of the store's account at the gateway (`tok-{lojaId}`), hence lower case and at most 60.
LojaId = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z0-9][a-z0-9-]{0,59}\z")]


class NovoPedido(BaseModel):
    """Body of ``POST /api/pedidos``: ``quantidade`` in units, ``valorCentavos`` the order's total; unknown fields
    refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    itemId: ItemId
    quantidade: Quantidade
    valorCentavos: ValorCentavos
    lojaId: LojaId


class MensagemDePedido(ModeloDeEntrada):
    """One message of ``ffv-lab-fila-pedidos``; fields it does not declare are ignored, so that a producer may grow
    first."""

    pedidoId: PedidoUuid
    itemId: ItemId
    quantidade: Quantidade
    valorCentavos: ValorCentavos
    lojaId: LojaId
    recebidoEm: InstanteIso


_PEDIDO_ID: TypeAdapter[str] = TypeAdapter(PedidoUuid)


def ler_pedido_id(texto: str) -> str:
    """An id that came in a path.

    Raises
    ------
    ProblemaHttp
        400 when it cannot be one of ours.
    """
    try:
        return _PEDIDO_ID.validate_python(texto)
    except ValidationError:
        pass
    raise pedido_malformado("O identificador do pedido não é válido.")


def ler_mensagem(corpo: str, atributo_pedido_id: str | None = None) -> MensagemDePedido:
    """Read a message's body.

    Parameters
    ----------
    corpo : str
        JSON text of the message.
    atributo_pedido_id : str | None
        Value of the message attribute ``PedidoId`` when it is there; it must name the same order as the body.

    Raises
    ------
    MensagemInvalidaError
        Naming each field and the rule it breaks; never the content.
    """
    try:
        valor: Any = json.loads(corpo)
    except ValueError:
        valor = None
    if not isinstance(valor, dict):
        raise MensagemInvalidaError("invalid message: corpo: not a JSON object", campos="corpo: not a JSON object")
    problemas: list[tuple[str, str]] = []
    try:
        mensagem = MensagemDePedido.model_validate(valor)
    except ValidationError as erro:
        problemas = campos_invalidos(MensagemDePedido, erro)
    else:
        if atributo_pedido_id in (None, mensagem.pedidoId):
            return mensagem
        problemas = [("PedidoId", "the attribute names another order than the body")]
    campos = "; ".join(f"{campo}: {motivo}" for campo, motivo in problemas)
    raise MensagemInvalidaError(f"invalid message: {campos}", campos=campos)
