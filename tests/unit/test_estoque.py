"""Stock steps: one conditional write each, whole in the face of duplicates, early undos and late dos."""

import contextlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from comum.erros import PedidoInvalidoError
from comum.processo import esquecer
from estoque import liberar_estoque, reservar_estoque
from estoque.baixas import RepositorioBaixas, ResultadoBaixa
from estoque.erros import (
    EstoqueInsuficienteError,
    ProdutoInexistenteError,
    ReservaDivergenteError,
    ReservaEmDisputaError,
    ReservaEncerradaError,
)
from estoque.repositorio import JANELA_ENCERRADAS_S, LOTE_DE_PODA, RepositorioEstoque, ResultadoLiberacao

SKU = "CAFE-500G"
MAPAS = {"reservas": {"M": {}}, "encerradas": {"M": {}}}


def estado(pedido: str = "P1", quantidade: Any = 2, **extras: Any) -> dict[str, Any]:
    return {
        "pedidoId": pedido,
        "sku": SKU,
        "quantidade": quantidade,
        "valorCentavos": 14000,
        "cartaoToken": "tok-ok",
        "criadoEm": "2026-03-01T12:00:00.000Z",
        **extras,
    }


def reservar(pedido: str = "P1", quantidade: Any = 2, **extras: Any) -> str:
    resultado: str = reservar_estoque.handler(estado(pedido, quantidade, **extras), None)["resultado"]
    return resultado


def liberar(pedido: str = "P1", quantidade: Any = 2) -> tuple[str, int]:
    resposta = liberar_estoque.handler(estado(pedido, quantidade), None)
    return resposta["resultado"], resposta["quantidade"]


@pytest.mark.parametrize("mapas", [{}, {"reservas": {"M": {}}}, MAPAS], ids=["no-map", "only-reservas", "both"])
def test_reserve_and_release_with_and_without_maps(sistema: Any, mapas: dict[str, Any]) -> None:
    sistema.por_estoque(SKU, 10, **mapas)
    assert reservar() == "RESERVADA"
    assert sistema.estoque(SKU) == (8, {"P1": 2})
    assert liberar() == ("LIBERADA", 2)
    assert sistema.estoque(SKU) == (10, {})


def test_duplicates_have_one_effect_and_are_counted(sistema: Any, saida: Any) -> None:
    sistema.por_estoque(SKU, 10)
    assert [reservar() for _ in range(3)] == ["RESERVADA", "JA_RESERVADA", "JA_RESERVADA"]
    assert sistema.estoque(SKU) == (8, {"P1": 2})
    assert [liberar()[0] for _ in range(3)] == ["LIBERADA", "JA_ENCERRADA", "JA_ENCERRADA"]
    assert sistema.estoque(SKU) == (10, {})
    assert saida.metricas() == {"DuplicatasDescartadas": 4, "ReservasLiberadas": 1}


def test_duplicate_is_success_even_when_the_balance_ran_out(sistema: Any) -> None:
    sistema.por_estoque(SKU, 2)
    reservar()
    assert sistema.estoque(SKU)[0] == 0
    assert reservar() == "JA_RESERVADA"


def test_release_gives_back_what_is_held_not_what_the_event_says(sistema: Any) -> None:
    sistema.por_estoque(SKU, 10)
    reservar(quantidade=3)
    assert liberar(quantidade=9) == ("LIBERADA", 3)
    assert sistema.estoque(SKU) == (10, {})


@pytest.mark.parametrize("mapas", [{}, MAPAS], ids=["no-map", "both"])
def test_undo_before_do_is_success_and_bars_the_late_do(sistema: Any, mapas: dict[str, Any]) -> None:
    sistema.por_estoque(SKU, 10, **mapas)
    assert liberar() == ("NADA_A_LIBERAR", 0)
    with pytest.raises(ReservaEncerradaError):
        reservar()
    assert sistema.estoque(SKU) == (10, {})


def test_do_after_undo_is_refused(sistema: Any) -> None:
    sistema.por_estoque(SKU, 10)
    reservar()
    liberar()
    with pytest.raises(ReservaEncerradaError):
        reservar()
    assert sistema.estoque(SKU) == (10, {})
    assert reservar("P2") == "RESERVADA"


def test_reserve_that_lands_between_the_two_writes_of_a_release_is_released(
    sistema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sistema.por_estoque(SKU, 10, **MAPAS)
    repositorio = RepositorioEstoque(sistema.dynamodb, "cesta-estoque")
    barrar = repositorio._barrar
    chegadas = iter([True])

    def chegar_antes(sku: str, pedido_id: str) -> bool:
        if next(chegadas, False):
            repositorio.reservar(sku, pedido_id, 2)
        return barrar(sku, pedido_id)

    monkeypatch.setattr(repositorio, "_barrar", chegar_antes)
    assert repositorio.liberar(SKU, "P1").resultado is ResultadoLiberacao.LIBERADA
    assert sistema.estoque(SKU) == (10, {})


def test_product_deleted_between_the_two_writes_of_a_release_stays_deleted(
    sistema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sistema.por_estoque(SKU, 10, **MAPAS)
    repositorio = RepositorioEstoque(sistema.dynamodb, "cesta-estoque")
    barrar = repositorio._barrar

    def apagar_antes(sku: str, pedido_id: str) -> bool:
        sistema.dynamodb.delete_item(TableName="cesta-estoque", Key={"sku": {"S": sku}})
        return barrar(sku, pedido_id)

    monkeypatch.setattr(repositorio, "_barrar", apagar_antes)
    assert repositorio.liberar(SKU, "P1").resultado is ResultadoLiberacao.NADA_A_LIBERAR
    assert sistema.dynamodb.scan(TableName="cesta-estoque")["Count"] == 0


def test_endless_dispute_is_a_transient_error(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sistema.por_estoque(SKU, 10, **MAPAS)
    repositorio = RepositorioEstoque(sistema.dynamodb, "cesta-estoque")
    monkeypatch.setattr(repositorio, "_barrar", lambda sku, pedido_id: False)
    with pytest.raises(ReservaEmDisputaError):
        repositorio.liberar(SKU, "P1")


def test_refusals_name_what_happened(sistema: Any, saida: Any) -> None:
    sistema.por_estoque(SKU, 1)
    with pytest.raises(EstoqueInsuficienteError):
        reservar()
    assert sistema.estoque(SKU) == (1, {})
    with pytest.raises(ProdutoInexistenteError):
        reservar(sku="NAO-EXISTE")
    assert saida.metricas() == {"EstoqueInsuficiente": 1}
    assert sistema.dynamodb.scan(TableName="cesta-estoque")["Count"] == 1


def test_release_of_an_unknown_product_creates_nothing(sistema: Any) -> None:
    assert liberar() == ("NADA_A_LIBERAR", 0)
    assert sistema.dynamodb.scan(TableName="cesta-estoque")["Count"] == 0


def test_other_quantity_is_not_a_duplicate(sistema: Any) -> None:
    sistema.por_estoque(SKU, 10)
    reservar(quantidade=2)
    with pytest.raises(ReservaDivergenteError):
        reservar(quantidade=3)
    assert sistema.estoque(SKU) == (8, {"P1": 2})


@pytest.mark.parametrize("quantidade", [0, -1, "2", 1.5, None, True])
def test_bad_quantity_never_reaches_the_table(sistema: Any, quantidade: Any) -> None:
    sistema.por_estoque(SKU, 10)
    with pytest.raises(PedidoInvalidoError) as recusa:
        reservar(quantidade=quantidade)
    assert recusa.value.detalhes["campos"] == "quantidade"
    assert sistema.estoque(SKU) == (10, {})


@pytest.mark.parametrize("evento", [None, [], "x", {}, {"pedidoId": "P1"}])
def test_unreadable_state_is_named(sistema: Any, evento: Any) -> None:
    for handler in (reservar_estoque.handler, liberar_estoque.handler):
        with pytest.raises(PedidoInvalidoError):
            handler(evento, None)


def test_barriers_do_not_grow_the_item_for_ever(sistema: Any) -> None:
    sistema.por_estoque(SKU, 1000)
    agora = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for posicao in range(LOTE_DE_PODA * 5):
        momento = agora + timedelta(seconds=posicao * 10)
        repositorio = RepositorioEstoque(sistema.dynamodb, "cesta-estoque", lambda momento=momento: momento)
        repositorio.reservar(SKU, f"P{posicao}", 1)
        repositorio.liberar(SKU, f"P{posicao}")
        item = sistema.dynamodb.get_item(TableName="cesta-estoque", Key={"sku": {"S": SKU}})["Item"]
        encerradas = item["encerradas"]["M"]
        assert len(encerradas) <= LOTE_DE_PODA + JANELA_ENCERRADAS_S // 10 + 2
        assert f"P{posicao}" in encerradas
    assert sistema.estoque(SKU) == (1000, {})


ORDENS = st.lists(
    st.tuples(
        st.sampled_from(["reservar", "liberar", "baixar"]), st.sampled_from(["P1", "P2", "P3"]), st.integers(1, 4)
    ),
    max_size=30,
)


@given(ordens=ORDENS, saldo=st.integers(0, 6), com_mapas=st.booleans())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_interleaving_keeps_every_unit(
    sistema: Any, ordens: list[tuple[str, str, int]], saldo: int, com_mapas: bool
) -> None:
    """Balance + reservations + what left = what there was; nothing is ever negative; no order is undone then redone."""
    esquecer()
    sistema.por_estoque(SKU, saldo, **(MAPAS if com_mapas else {}))
    for pedido in ("P1", "P2", "P3"):
        sistema.dynamodb.delete_item(TableName="cesta-estoque-baixas", Key={"pedidoId": {"S": pedido}})
    baixas = RepositorioBaixas(sistema.dynamodb, "cesta-estoque", "cesta-estoque-baixas")
    baixadas = 0
    encerrados: set[str] = set()
    for operacao, pedido, quantidade in ordens:
        if operacao == "reservar":
            with contextlib.suppress(EstoqueInsuficienteError, ReservaDivergenteError, ReservaEncerradaError):
                reservar(pedido, quantidade)
        elif operacao == "liberar":
            liberar(pedido)
            encerrados.add(pedido)
        else:
            baixa = baixas.baixar(SKU, pedido, quantidade)
            baixadas += baixa.quantidade
            assert (baixa.resultado is ResultadoBaixa.BAIXADA) == (baixa.quantidade > 0)
        atual, reservas = sistema.estoque(SKU)
        assert atual >= 0
        assert all(unidades > 0 for unidades in reservas.values())
        assert atual + sum(reservas.values()) + baixadas == saldo
        assert not encerrados & set(reservas)


def test_the_two_maps_are_made_from_two_values(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The local engine keeps the map it is given: one for both would make a barrier look like a reservation."""
    sistema.por_estoque(SKU, 10)
    escritas: list[dict[str, Any]] = []
    atualizar = sistema.dynamodb.update_item

    def espiar(**argumentos: Any) -> Any:
        escritas.append(argumentos)
        return atualizar(**argumentos)

    monkeypatch.setattr(sistema.dynamodb, "update_item", espiar)
    RepositorioEstoque(sistema.dynamodb, "cesta-estoque").reservar(SKU, "P1", 1)
    [criacao] = [escrita for escrita in escritas if "if_not_exists(reservas" in escrita["UpdateExpression"]]
    assert len(criacao["ExpressionAttributeValues"]) == 2
