"""Reading the source table ``pedidos_cadencia``, which belongs to another system: nothing here writes to it."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from comum.relogio import de_iso, para_iso
from painel.reconciliacao import Pagina, PedidoNaOrigem
from painel.transicao import SK_DO_PEDIDO, loja_do_item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_PEDIDO = re.compile(r"PEDIDO#([0-9A-Za-z_-]{1,64})\Z")
_STATUS = re.compile(r"[A-Z][A-Z_]{0,39}\Z")
ITENS_POR_PAGINA = 500


class TabelaDeOrigem:
    """The source, page by page.

    A whole scan even for one store: the only index by store (GSI3) holds pending orders alone, which are the ones that
    cannot have been cancelled.
    """

    def __init__(self, cliente: "DynamoDBClient", tabela: str) -> None:
        self._cliente = cliente
        self._tabela = tabela

    def pagina(self, loja: str | None, inicio: Mapping[str, Any] | None) -> Pagina:
        """Orders of one page (of one store, if given); ``inicio`` is the previous page's ``proxima``."""
        pedido: dict[str, Any] = {
            "TableName": self._tabela,
            "Limit": ITENS_POR_PAGINA,
            # Twice the price of the other kind, which may show an order as it was before a change the panel has seen.
            "ConsistentRead": True,
            "FilterExpression": "SK = :sk",
            "ExpressionAttributeValues": {":sk": {"S": SK_DO_PEDIDO}},
        }
        if inicio:
            pedido["ExclusiveStartKey"] = dict(inicio)
        resposta = self._cliente.scan(**pedido)
        lidos = [_ler(item) for item in resposta["Items"]]
        return Pagina(
            pedidos=[lido for lido in lidos if lido is not None and (loja is None or lido.loja == loja)],
            proxima=cast(dict[str, Any] | None, resposta.get("LastEvaluatedKey")),
            ilegiveis=sum(lido is None for lido in lidos),
        )


def _ler(item: Mapping[str, Any]) -> PedidoNaOrigem | None:
    pedido = _PEDIDO.match(_texto(item, "PK"))
    status = _texto(item, "status")
    try:
        atualizado_em = para_iso(de_iso(_texto(item, "updated_at")))
    except ValueError:
        return None
    if pedido is None or not _STATUS.match(status):
        return None
    return PedidoNaOrigem(pedido.group(1), loja_do_item(item), status, atualizado_em)


def _texto(item: Mapping[str, Any], nome: str) -> str:
    return str(item.get(nome, {}).get("S", ""))
