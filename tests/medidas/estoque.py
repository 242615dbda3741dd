"""What one product's stock item becomes after thousands of confirmed orders, here and in the lab's design.

    python -m tests.medidas.estoque [--pedidos 10000]

Sizes are computed from the stored item by DynamoDB's rules; capacity is what DynamoDB Local answers to
ReturnConsumedCapacity, added to each call of the deployed code by a hook on its client.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from ulid import ULID

from estoque.baixas import RepositorioBaixas
from estoque.repositorio import RepositorioEstoque
from tests.asl.lab.handlers import Gateway, lab_handlers
from tests.medidas import dynamodb_local

TABELA, BAIXAS = "cesta-estoque", "cesta-estoque-baixas"
SKU = "CAFE-500G"
SALDO = 9_999_999  # as many significant digits at the end as at the start: the size of a number goes by them


@dataclass(frozen=True, slots=True)
class Leitura:
    """The item after an order, in bytes; write units of the order's reserve, and of its reserve and write-off."""

    pedido: int
    bytes_do_item: int
    unidades_da_reserva: float
    unidades_do_pedido: float


@dataclass(frozen=True, slots=True)
class Medida:
    """A design, measured: some of the orders, and the time they took in seconds."""

    desenho: str
    leituras: tuple[Leitura, ...]
    segundos: float


def tamanho(item: Mapping[str, Any]) -> int:
    """Bytes of an item by the service's rules.

    Name and value of each attribute; a string is its UTF-8 bytes; a number is about a byte per two significant digits
    plus one; a map or list is 3 bytes, plus one per element, plus its elements:
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
    """
    return sum(len(nome.encode()) + _tamanho_do_valor(valor) for nome, valor in item.items())


def _tamanho_do_valor(valor: Mapping[str, Any]) -> int:
    [(tipo, conteudo)] = valor.items()
    match tipo:
        case "S":
            return len(conteudo.encode())
        case "N":
            return (len(conteudo.strip("-").strip("0").replace(".", "")) + 1) // 2 + 1
        case "M":
            return 3 + sum(1 + len(nome.encode()) + _tamanho_do_valor(dentro) for nome, dentro in conteudo.items())
        case "L":
            return 3 + sum(1 + _tamanho_do_valor(dentro) for dentro in conteudo)
    raise ValueError(f"type {tipo} not measured")


class Medidor:
    """Adds ReturnConsumedCapacity to every call of a client, and adds up what comes back."""

    def __init__(self, cliente: Any) -> None:
        self.unidades = 0.0
        cliente.meta.events.register("provide-client-params.dynamodb.*", self._pedir)
        cliente.meta.events.register("after-call.dynamodb.*", self._somar)

    def _pedir(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def _somar(self, parsed: dict[str, Any], **_: Any) -> None:
        consumidas = parsed.get("ConsumedCapacity", [])
        for consumida in consumidas if isinstance(consumidas, list) else [consumidas]:
            self.unidades += consumida["CapacityUnits"]


def _medir(
    desenho: str,
    cliente: Any,
    medidor: Medidor | None,
    pedidos: int,
    reservar: Callable[[str], Any],
    confirmado: Callable[[str], Any],
    marcos: int,
) -> Medida:
    maps: dict[str, Any] = {"reservas": {"M": {}}, "encerradas": {"M": {}}}
    cliente.put_item(TableName=TABELA, Item={"sku": {"S": SKU}, "saldo": {"N": str(SALDO)}, **maps})
    quais = {1, pedidos, *(pedidos * k // marcos for k in range(1, marcos))}
    leituras = []
    inicio = time.monotonic()
    for pedido in range(1, pedidos + 1):
        pedido_id = str(ULID())
        antes = medidor.unidades if medidor else 0.0
        reservar(pedido_id)
        unidades = (medidor.unidades - antes) if medidor else 0.0
        confirmado(pedido_id)
        do_pedido = (medidor.unidades - antes) if medidor else 0.0
        if pedido in quais:
            item = cliente.get_item(TableName=TABELA, Key={"sku": {"S": SKU}}, ConsistentRead=True)["Item"]
            leituras.append(Leitura(pedido, tamanho(item), unidades, do_pedido))
    return Medida(desenho, tuple(leituras), time.monotonic() - inicio)


def medir(cliente: Any, medidor: Medidor | None, pedidos: int, marcos: int = 4) -> tuple[Medida, Medida]:
    """Confirm this many orders of one unit on one product, by this system's code and by the lab's.

    Parameters
    ----------
    cliente : DynamoDBClient
        With the two tables made.
    medidor : Medidor | None
        None where the engine does not charge by size: capacity is then 0.
    pedidos : int
        Orders of each design.
    marcos : int
        Readings taken on the way, besides the first and the last.

    Returns
    -------
    tuple[Medida, Medida]
        Ours, the lab's.
    """
    nossa = medir_nossa(cliente, medidor, pedidos, marcos)
    lab = lab_handlers(lambda: cliente, Gateway())["cesta-reservar-estoque"]
    do_lab = _medir(
        "sem baixa (laboratório)",
        cliente,
        medidor,
        pedidos,
        lambda pedido: lab({"sku": SKU, "pedidoId": pedido, "quantidade": 1}, None),
        lambda pedido: None,
        marcos,
    )
    return nossa, do_lab


def medir_nossa(cliente: Any, medidor: Medidor | None, pedidos: int, marcos: int = 4) -> Medida:
    """The first half of :func:`medir`: this system's code only."""
    estoque = RepositorioEstoque(cliente, TABELA)
    baixas = RepositorioBaixas(cliente, TABELA, BAIXAS)
    return _medir(
        "com baixa",
        cliente,
        medidor,
        pedidos,
        lambda pedido: estoque.reservar(SKU, pedido, 1),
        lambda pedido: baixas.baixar(SKU, pedido, 1),
        marcos,
    )


def tabela(medidas: tuple[Medida, ...]) -> Table:
    """The designs side by side."""
    desenhada = Table(title=f"{medidas[0].leituras[-1].pedido} pedidos confirmados de um só produto")
    desenhada.add_column("pedido nº", justify="right")
    for medida in medidas:
        desenhada.add_column(f"{medida.desenho}\nitem (bytes)", justify="right")
        desenhada.add_column("\nreserva (WCU)", justify="right")
    for linha in zip(*(medida.leituras for medida in medidas), strict=True):
        celulas = [str(linha[0].pedido)]
        for leitura in linha:
            celulas += [f"{leitura.bytes_do_item}", f"{leitura.unidades_da_reserva:g}"]
        desenhada.add_row(*celulas)
    return desenhada


def principal(argumentos: list[str] | None = None) -> int:
    """Measure on DynamoDB Local and print; 1 if the last reserve is not as cheap as the first."""
    leitor = argparse.ArgumentParser(prog="python -m tests.medidas.estoque")
    leitor.add_argument("--pedidos", type=int, default=10_000)
    pedidos = leitor.parse_args(argumentos).pedidos
    console = Console()
    if (motivo := dynamodb_local.ausente()) is not None:
        console.print(f"Não é possível medir: {motivo}.")
        return 2
    with dynamodb_local.no_ar() as cliente:
        dynamodb_local.criar_tabela(cliente, TABELA, "sku")
        dynamodb_local.criar_tabela(cliente, BAIXAS, "pedidoId")
        nossa, do_lab = medir(cliente, Medidor(cliente), pedidos)
    console.print(tabela((nossa, do_lab)))
    console.print(f"Tempo: {nossa.segundos:.0f} s e {do_lab.segundos:.0f} s.")
    primeira, ultima = nossa.leituras[0], nossa.leituras[-1]
    igual = (primeira.bytes_do_item, primeira.unidades_da_reserva) == (
        ultima.bytes_do_item,
        ultima.unidades_da_reserva,
    )
    console.print("A última reserva custa o mesmo que a primeira." if igual else "A última reserva custa mais!")
    return 0 if igual else 1


if __name__ == "__main__":
    sys.exit(principal())
