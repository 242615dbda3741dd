"""The write-off: a confirmed order's units leave the stock item once, whatever is repeated or arrives late."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from estoque import baixar_reserva, conflito, liberar_estoque, reservar_estoque
from estoque.baixas import VALIDADE_S, Baixa, RepositorioBaixas, ResultadoBaixa
from estoque.erros import ReservaEmDisputaError
from estoque.repositorio import RepositorioEstoque

SKU = "CAFE-500G"


def registro(pedido: str = "P1", quantidade: str = "2", status: str = "CONFIRMADO", **imagem: Any) -> dict[str, Any]:
    """A stream record of an order, as the mapping delivers it."""
    nova = {
        "pedidoId": {"S": pedido},
        "status": {"S": status},
        "sku": {"S": SKU},
        "quantidade": {"N": quantidade},
        **imagem,
    }
    return {
        "eventID": f"evento-{pedido}",
        "eventName": "MODIFY",
        "eventSource": "aws:dynamodb",
        "dynamodb": {"Keys": {"pedidoId": {"S": pedido}}, "NewImage": nova, "SequenceNumber": f"seq-{pedido}"},
    }


def baixar(*registros: dict[str, Any]) -> list[str]:
    """Sequence numbers of the records that failed."""
    resposta = baixar_reserva.handler({"Records": list(registros)}, None)
    return [falha["itemIdentifier"] for falha in resposta["batchItemFailures"]]


def reservar(pedido: str = "P1", quantidade: int = 2) -> str:
    estado = {"pedidoId": pedido, "sku": SKU, "quantidade": quantidade}
    return str(reservar_estoque.handler(estado, None)["resultado"])


def marca(sistema: Any, pedido: str = "P1") -> dict[str, Any] | None:
    item: dict[str, Any] | None = sistema.dynamodb.get_item(
        TableName="cesta-estoque-baixas", Key={"pedidoId": {"S": pedido}}
    ).get("Item")
    return item


def test_the_units_leave_the_item_and_the_mark_says_how_many(sistema: Any, saida: Any) -> None:
    sistema.por_estoque(SKU, 10)
    reservar("P1", 2), reservar("P2", 3)
    assert baixar(registro("P1"), registro("P2", "3")) == []
    assert sistema.estoque(SKU) == (5, {})
    feita = marca(sistema, "P2")
    assert feita is not None
    assert (feita["sku"]["S"], feita["quantidade"]["N"]) == (SKU, "3")
    assert saida.metricas() == {"ReservasBaixadas": 2}


def test_the_mark_outlives_the_name_of_the_execution(sistema: Any) -> None:
    from datetime import UTC, datetime

    sistema.por_estoque(SKU, 10)
    reservar()
    momento = datetime(2026, 3, 1, 12, tzinfo=UTC)
    RepositorioBaixas(sistema.dynamodb, "cesta-estoque", "cesta-estoque-baixas", lambda: momento).baixar(SKU, "P1", 2)
    feita = marca(sistema)
    assert feita is not None
    assert int(feita["expiraEm"]["N"]) == int(momento.timestamp()) + VALIDADE_S
    assert VALIDADE_S >= 90 * 24 * 3600


def test_a_duplicate_takes_nothing_even_with_a_late_reservation(sistema: Any, saida: Any) -> None:
    sistema.por_estoque(SKU, 10)
    reservar()
    assert baixar(registro(), registro()) == []
    assert sistema.estoque(SKU) == (8, {})
    # The first attempt of the reserve lands now: nothing bars it, and the write-off must not take it for its own.
    assert reservar() == "RESERVADA"
    assert baixar(registro()) == []
    assert sistema.estoque(SKU) == (6, {"P1": 2})
    assert saida.metricas()["DuplicatasDescartadas"] == 2


def test_nothing_is_left_on_the_stock_item(sistema: Any) -> None:
    sistema.por_estoque(SKU, 10, reservas={"M": {}}, encerradas={"M": {}})
    antes = sistema.dynamodb.get_item(TableName="cesta-estoque", Key={"sku": {"S": SKU}})["Item"]
    reservar()
    baixar(registro())
    depois = sistema.dynamodb.get_item(TableName="cesta-estoque", Key={"sku": {"S": SKU}})["Item"]
    assert depois == {**antes, "saldo": {"N": "8"}}


@pytest.mark.parametrize("atributos", [{}, {"reservas": {"M": {}}}], ids=["no-map", "empty-map"])
def test_without_a_reservation_there_is_no_mark_and_somebody_is_told(
    sistema: Any, saida: Any, atributos: dict[str, Any]
) -> None:
    sistema.por_estoque(SKU, 10, **atributos)
    assert baixar(registro()) == []
    assert marca(sistema) is None
    assert saida.metricas() == {"BaixasSemReserva": 1}
    # It appears later: it is these units that were sold.
    reservar()
    assert baixar(registro()) == []
    assert sistema.estoque(SKU) == (8, {})


def test_without_a_product_there_is_no_mark(sistema: Any) -> None:
    assert baixar(registro()) == []
    assert marca(sistema) is None
    assert sistema.dynamodb.scan(TableName="cesta-estoque")["Count"] == 0


def test_what_is_held_leaves_not_what_the_order_says(sistema: Any) -> None:
    sistema.por_estoque(SKU, 10)
    reservar(quantidade=3)
    assert baixar(registro(quantidade="9")) == []
    assert sistema.estoque(SKU) == (7, {})
    feita = marca(sistema)
    assert feita is not None
    assert feita["quantidade"]["N"] == "3"


def test_a_release_after_the_write_off_moves_nothing(sistema: Any) -> None:
    sistema.por_estoque(SKU, 10)
    reservar()
    baixar(registro())
    assert liberar_estoque.handler({"pedidoId": "P1", "sku": SKU}, None)["quantidade"] == 0
    assert sistema.estoque(SKU) == (8, {})


@pytest.mark.parametrize("status", ["RESERVADO", "COMPENSANDO", "FALHOU_COMPENSADO"])
def test_only_confirmed_orders_are_written_off(sistema: Any, status: str) -> None:
    sistema.por_estoque(SKU, 10)
    reservar()
    assert baixar(registro(status=status)) == []
    assert sistema.estoque(SKU) == (8, {"P1": 2})


@pytest.mark.parametrize(
    "estrago",
    [{"quantidade": {"S": "2"}}, {"quantidade": {"N": "0"}}, {"quantidade": {"N": "1.5"}}, {"sku": {"S": "x y"}}],
)
def test_an_unreadable_record_fails_alone(sistema: Any, estrago: dict[str, Any]) -> None:
    sistema.por_estoque(SKU, 10)
    reservar("P1"), reservar("P3")
    assert baixar(registro("P1"), registro("P2", **estrago), registro("P3")) == ["seq-P2"]
    assert sistema.estoque(SKU) == (6, {})


# --- contention --------------------------------------------------------------------------------------------------


def cancelada(*codigos: str) -> dict[str, Any]:
    return {
        "Error": {"Code": "TransactionCanceledException", "Message": "x"},
        "CancellationReasons": [{"Code": codigo} for codigo in codigos],
    }


@pytest.fixture
def sem_espera(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits, written down instead of waited."""
    esperas: list[float] = []
    monkeypatch.setattr(conflito.time, "sleep", esperas.append)
    return esperas


def test_a_transaction_in_conflict_is_tried_again(
    sistema: Any, sem_espera: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    sistema.por_estoque(SKU, 10)
    reservar()
    conflitos = iter([cancelada("None", "TransactionConflict"), cancelada("None", "ThrottlingError")])
    escrever = sistema.dynamodb.transact_write_items

    def disputar(**argumentos: Any) -> Any:
        if (resposta := next(conflitos, None)) is not None:
            raise sistema.dynamodb.exceptions.TransactionCanceledException(resposta, "TransactWriteItems")
        return escrever(**argumentos)

    monkeypatch.setattr(sistema.dynamodb, "transact_write_items", disputar)
    baixas = RepositorioBaixas(sistema.dynamodb, "cesta-estoque", "cesta-estoque-baixas")
    assert baixas.baixar(SKU, "P1", 2) == Baixa(ResultadoBaixa.BAIXADA, 2)
    assert len(sem_espera) == 2


def test_endless_conflict_is_a_transient_error(
    sistema: Any, sem_espera: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def disputar(**argumentos: Any) -> Any:
        raise sistema.dynamodb.exceptions.TransactionCanceledException(
            cancelada("None", "TransactionConflict"), "TransactWriteItems"
        )

    monkeypatch.setattr(sistema.dynamodb, "transact_write_items", disputar)
    with pytest.raises(ReservaEmDisputaError):
        RepositorioBaixas(sistema.dynamodb, "cesta-estoque", "cesta-estoque-baixas").baixar(SKU, "P1", 2)
    assert sum(sem_espera) < 1


@pytest.mark.parametrize("conflitos", [1, len(conflito.ESPERAS_S)])
def test_a_reserve_waits_for_the_transaction_on_its_item(
    sistema: Any, sem_espera: list[float], monkeypatch: pytest.MonkeyPatch, conflitos: int
) -> None:
    sistema.por_estoque(SKU, 10, reservas={"M": {}}, encerradas={"M": {}})
    restantes = [conflitos]
    atualizar = sistema.dynamodb.update_item

    def disputar(**argumentos: Any) -> Any:
        if restantes[0]:
            restantes[0] -= 1
            raise ClientError({"Error": {"Code": "TransactionConflictException", "Message": "x"}}, "UpdateItem")
        return atualizar(**argumentos)

    monkeypatch.setattr(sistema.dynamodb, "update_item", disputar)
    RepositorioEstoque(sistema.dynamodb, "cesta-estoque").reservar(SKU, "P1", 2)
    assert sistema.estoque(SKU) == (8, {"P1": 2})
    assert len(sem_espera) == conflitos


def test_other_failures_are_not_waited_for(sem_espera: list[float]) -> None:
    def negar() -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "x"}}, "UpdateItem")

    with pytest.raises(ClientError):
        conflito.insistir(negar)
    assert sem_espera == []
