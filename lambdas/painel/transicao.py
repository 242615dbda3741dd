"""What a stream record says about an order: one change of status, or nothing of interest.

Pure: from the record the platform delivers to a :class:`Transicao`, with no clock and no network.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from comum.relogio import para_iso
from painel.erros import RegistroInvalidoError

# "Minimum length of 21. Maximum length of 40":
# https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_streams_StreamRecord.html A decimal string of
# variable length sorts only when padded to one width.
LARGURA_SEQUENCIA = 40
SK_DO_PEDIDO = "METADADOS"
LOJA_DESCONHECIDA = "DESCONHECIDA"
SEPARADO, CANCELADO = "SEPARADO", "CANCELADO"

_CHAVE_DO_PEDIDO = re.compile(r"PEDIDO#([0-9A-Za-z_-]{1,64})\Z")
_LOJA = re.compile(r"[0-9A-Za-z_-]{1,32}\Z")
_STATUS = re.compile(r"[A-Z][A-Z_]{0,39}\Z")
_SEQUENCIA = re.compile(r"[0-9]{1,40}\Z")


@dataclass(frozen=True)
class Transicao:
    """One change of status of one order.

    Attributes
    ----------
    pedido_id, loja : str
        Order and store; the store is ``DESCONHECIDA`` when the item names none.
    de, para : str
        Status before and after.
    em : str
        When the table changed: UTC ISO-8601 with milliseconds, from ApproximateCreationDateTime (which AWS rounds
        down to the second), never from this process's clock, so that a re-sent record says the same.
    sequencia : str
        Stream sequence number, zero-padded to 40 digits: text order is the order of writing.
    """

    pedido_id: str
    loja: str
    de: str
    para: str
    em: str
    sequencia: str

    @property
    def pede_reposicao(self) -> bool:
        """Whether a packed order was cancelled, so that the store must put the goods back."""
        return self.de == SEPARADO and self.para == CANCELADO


def normalizar_sequencia(numero: Any) -> str:
    """Zero-pad a stream sequence number to 40 digits; raise RegistroInvalidoError when it is not a decimal string."""
    if not isinstance(numero, str) or not _SEQUENCIA.match(numero):
        raise RegistroInvalidoError("sequence number is not a decimal string of at most 40 digits")
    return numero.zfill(LARGURA_SEQUENCIA)


def ler_transicao(registro: Mapping[str, Any]) -> Transicao | None:
    """Read one record of the stream of ``pedidos_cadencia``.

    Parameters
    ----------
    registro : Mapping[str, Any]
        A record as Lambda delivers it: ``eventName`` and ``dynamodb`` with typed attribute values.

    Returns
    -------
    Transicao | None
        None when there is nothing to write: not a MODIFY, not an order's own item, or the status is the same.

    Raises
    ------
    RegistroInvalidoError
        The record is malformed, or lacks an image: without OLD an alert could never be decided, and silence here is how
        a NEW_IMAGE stream loses every alert without an error.
    """
    if registro.get("eventName") != "MODIFY":
        return None
    mudanca = registro.get("dynamodb")
    if not isinstance(mudanca, Mapping):
        raise RegistroInvalidoError("record without its dynamodb part")
    chaves = _mapa(mudanca, "Keys")
    if _texto(chaves, "SK") != SK_DO_PEDIDO:
        return None
    pedido = _CHAVE_DO_PEDIDO.match(_texto(chaves, "PK"))
    if pedido is None:
        raise RegistroInvalidoError("PK is not PEDIDO#<id>")
    antes, depois = _mapa(mudanca, "OldImage"), _mapa(mudanca, "NewImage")
    de, para = _status(antes), _status(depois)
    if de == para:
        return None
    return Transicao(
        pedido_id=pedido.group(1),
        loja=_loja(depois, antes),
        de=de,
        para=para,
        em=_instante(mudanca.get("ApproximateCreationDateTime")),
        sequencia=normalizar_sequencia(mudanca.get("SequenceNumber")),
    )


def loja_do_item(item: Mapping[str, Any], *outros: Mapping[str, Any]) -> str:
    """Store of an order's item (typed attribute values): ``loja_id``, else the GSI3 key, else ``DESCONHECIDA``."""
    for imagem in (item, *outros):
        for atributo, prefixo in (("loja_id", ""), ("GSI3PK", "LOJA#")):
            valor = imagem.get(atributo)
            texto = valor.get("S") if isinstance(valor, Mapping) else None
            if isinstance(texto, str) and texto.startswith(prefixo) and _LOJA.match(texto.removeprefix(prefixo)):
                return texto.removeprefix(prefixo)
    return LOJA_DESCONHECIDA


_loja = loja_do_item


def _mapa(pai: Mapping[str, Any], nome: str) -> Mapping[str, Any]:
    valor = pai.get(nome)
    if not isinstance(valor, Mapping) or not valor:
        raise RegistroInvalidoError(f"{nome} is missing: the stream must be NEW_AND_OLD_IMAGES")
    return valor


def _texto(mapa: Mapping[str, Any], nome: str) -> str:
    valor = mapa.get(nome)
    texto = valor.get("S") if isinstance(valor, Mapping) else None
    if not isinstance(texto, str):
        raise RegistroInvalidoError(f"{nome} is not a string attribute")
    return texto


def _status(imagem: Mapping[str, Any]) -> str:
    status = _texto(imagem, "status")
    if not _STATUS.match(status):
        raise RegistroInvalidoError("status is not an upper-case word")
    return status


def _instante(epoca: Any) -> str:
    # Seconds since the epoch: a number in Lambda's event, a datetime when the record was read with boto3.
    if isinstance(epoca, datetime):
        return para_iso(epoca.astimezone(UTC))
    if isinstance(epoca, int | float) and not isinstance(epoca, bool):
        try:
            return para_iso(datetime.fromtimestamp(epoca, UTC))
        except (OverflowError, OSError, ValueError):
            pass
    raise RegistroInvalidoError("ApproximateCreationDateTime is not an instant")
