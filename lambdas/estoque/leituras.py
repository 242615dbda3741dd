"""What the check of reservations reads: pages of ``cesta-estoque``, and orders of ``cesta-pedidos`` (never written
here)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from comum.leitura_em_lote import ler_em_lote

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGINA = 25


@dataclass(frozen=True, slots=True)
class ItemDeEstoque:
    """A stock item: its reservations (pedidoId -> units held), or None when they are not readable."""

    sku: str
    reservas: Mapping[str, int] | None


@dataclass(frozen=True, slots=True)
class PedidoLido:
    """An order as the check needs it."""

    status: str
    sku: str
    atualizado_em: str


class LeituraEstoque:
    """Walks ``cesta-estoque``."""

    def __init__(self, dynamodb: "DynamoDBClient", tabela: str) -> None:
        self._dynamodb = dynamodb
        self._tabela = tabela

    def paginas(self, depois_de: str | None) -> Iterator[list[ItemDeEstoque]]:
        """Pages of stock items in the table's own order, after the item ``depois_de`` (which need not exist any
        more)."""
        inicio: dict[str, Any] = {} if depois_de is None else {"ExclusiveStartKey": {"sku": {"S": depois_de}}}
        while True:
            # Eventually consistent: what is read here is only where to look; every write has its own condition.
            pagina = self._dynamodb.scan(
                TableName=self._tabela, Limit=PAGINA, ProjectionExpression="sku, reservas", **inicio
            )
            yield [_item(item) for item in pagina["Items"]]
            if "LastEvaluatedKey" not in pagina:
                return
            inicio = {"ExclusiveStartKey": pagina["LastEvaluatedKey"]}


class LeituraPedidos:
    """Reads orders by id."""

    def __init__(self, dynamodb: "DynamoDBClient", tabela: str) -> None:
        self._dynamodb = dynamodb
        self._tabela = tabela

    def obter(self, pedidos: Iterable[str]) -> dict[str, PedidoLido]:
        """The orders (at most 100) that exist, read consistently, by pedidoId."""
        campos = ("pedidoId", "status", "sku", "atualizadoEm")
        return {
            _texto(item, "pedidoId"): PedidoLido(_texto(item, "status"), _texto(item, "sku"), _texto(item, campos[3]))
            for item in ler_em_lote(self._dynamodb, self._tabela, "pedidoId", pedidos, campos)
        }


def _item(item: Mapping[str, Any]) -> ItemDeEstoque:
    try:
        reservas = {pedido: int(unidades["N"]) for pedido, unidades in item.get("reservas", {"M": {}})["M"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return ItemDeEstoque(_texto(item, "sku"), None)
    return ItemDeEstoque(_texto(item, "sku"), reservas)


def _texto(item: Mapping[str, Any], campo: str) -> str:
    return str(item.get(campo, {}).get("S", ""))
