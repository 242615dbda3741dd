"""The saga's input, published once: what ``criar_pedido`` sends, ``iniciar_saga`` starts with and every step reads.

Steps receive the whole state and ignore what they do not use, so each step declares a model with the fields it needs,
made of the types below, and reads it with :func:`ler`.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, StringConstraints, ValidationError

from comum.erros import PedidoInvalidoError
from comum.relogio import de_iso

QUANTIDADE_LIMITE = 1_000_000
VALOR_LIMITE_CENTAVOS = 100_000_000_00


def _instante(texto: str) -> str:
    de_iso(texto)
    return texto


# 48 characters keep `cesta-cobranca-{pedidoId}` within 64, the shortest key limit among real gateways (Adyen).
PedidoId = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9A-Za-z_-]{1,48}\z")]
Sku = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Z0-9][A-Z0-9-]{0,39}\z")]
CartaoToken = Annotated[str, StringConstraints(strict=True, pattern=r"^tok-[a-z0-9-]{1,60}\z")]
# The ceilings only keep absurd numbers out of arithmetic; the business limits are the edge's settings.
Quantidade = Annotated[int, Strict(), Field(ge=1, le=QUANTIDADE_LIMITE)]
ValorCentavos = Annotated[int, Strict(), Field(ge=1, le=VALOR_LIMITE_CENTAVOS)]
InstanteIso = Annotated[
    str,
    StringConstraints(strict=True, pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z\z"),
    AfterValidator(_instante),
]
Marca = Annotated[bool, Strict()]


class ModeloDeEntrada(BaseModel):
    """Base of a step's input: immutable, ignores the rest of the state, never shows content in an error."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class EntradaSaga(BaseModel):
    """Input of one execution of ``cesta-saga-pedido``; unknown fields are refused.

    ``valorCentavos`` is the order's total in centavos; ``cartaoToken`` is a gateway token, never a card number;
    ``criadoEm`` is when the API accepted the order. The two ``forcar*`` marks exist for proofs and are refused where
    injection is off.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    pedidoId: PedidoId
    sku: Sku
    quantidade: Quantidade
    valorCentavos: ValorCentavos
    cartaoToken: CartaoToken = Field(repr=False)
    criadoEm: InstanteIso
    forcarFalhaConfirmar: Marca = False
    forcarFalhaEstorno: Marca = False

    def pede_injecao(self) -> bool:
        """Whether any fault-injection mark is on."""
        return self.forcarFalhaConfirmar or self.forcarFalhaEstorno

    def canonico(self) -> str:
        """The one byte-stable JSON of this order: sorted keys, no spaces, ASCII, marks only when on.

        StartExecution compares inputs as text, so two deliveries of one order must not differ in a byte.
        """
        return json_canonico(self.model_dump(exclude_defaults=True))


def json_canonico(valor: Any) -> str:
    """Byte-stable JSON: sorted keys, no spaces, ASCII only; NaN and infinities are refused (ValueError)."""
    return json.dumps(valor, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


Modelo = TypeVar("Modelo", bound=BaseModel)


def ler(modelo: type[Modelo], evento: Any) -> Modelo:
    """Read an outside input with a model.

    Raises
    ------
    PedidoInvalidoError
        Naming the offending fields and the rules they break; ``detalhes["campos"]`` lists the fields,
        comma-separated. Field names the model does not declare are not repeated (they are content too).
    """
    try:
        return modelo.model_validate(evento)
    except ValidationError as erro:
        problemas = campos_invalidos(modelo, erro)
    raise PedidoInvalidoError(
        "invalid input: " + "; ".join(f"{campo}: {motivo}" for campo, motivo in problemas),
        campos=",".join(dict.fromkeys(campo for campo, _ in problemas)),
    )


def campos_invalidos(modelo: type[BaseModel], erro: ValidationError) -> list[tuple[str, str]]:
    """(field, rule broken) of each problem; an undeclared field appears as ``campo desconhecido``, without its name."""
    declarados: Mapping[str, Any] = modelo.model_fields
    problemas: list[tuple[str, str]] = []
    for problema in erro.errors(include_url=False, include_input=False, include_context=False):
        if problema["type"] == "extra_forbidden":
            problemas.append(("campo desconhecido", "not part of the contract"))
            continue
        raiz = str(problema["loc"][0]) if problema["loc"] else "corpo"
        problemas.append((raiz if raiz in declarados else "corpo", problema["msg"]))
    return problemas
