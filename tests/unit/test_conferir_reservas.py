"""The check of reservations: each one by its order, healed when that is safe, reported when it is not."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from comum import conferencias, leitura_em_lote
from comum.leitura_em_lote import LeituraIncompletaError, ler_em_lote
from comum.processo import esquecer
from comum.relogio import agora, para_iso
from estoque import baixar_reserva, conferencia, conferir_reservas, leituras, reservar_estoque
from estoque.baixas import RepositorioBaixas
from estoque.conferencia import DE_PESSOA, DESFEITOS, EM_ANDAMENTO, Destino, destino
from estoque.erros import ReservaEmDisputaError
from estoque.leituras import PedidoLido
from estoque.repositorio import RepositorioEstoque
from pedidos.situacao import Status
from tests.unit.apoio_unit import Contexto

SKU = "CAFE-500G"
LIMITE = timedelta(seconds=900)
AGORA = datetime(2026, 3, 1, 12, tzinfo=UTC)
VELHO = para_iso(AGORA - LIMITE)
NOVO = para_iso(AGORA - LIMITE + timedelta(milliseconds=1))
LIMITE_DECISAO = timedelta(days=7)
ESQUECIDO = para_iso(AGORA - LIMITE_DECISAO)
QUASE = para_iso(AGORA - LIMITE_DECISAO + timedelta(milliseconds=1))


# --- the decision ------------------------------------------------------------------------------------------------


def test_every_status_of_the_table_has_a_decision() -> None:
    assert {*DESFEITOS, *DE_PESSOA, *EM_ANDAMENTO, conferencia.CONFIRMADO} == {*Status}


@pytest.mark.parametrize(
    ("status", "baixada", "atualizado", "esperado"),
    [
        ("CONFIRMADO", False, NOVO, Destino.BAIXAR),
        ("CONFIRMADO", True, NOVO, Destino.LIBERAR),
        ("FALHOU_SEM_RESERVA", False, NOVO, Destino.LIBERAR),
        ("FALHOU_COMPENSADO", False, NOVO, Destino.LIBERAR),
        ("REQUER_INTERVENCAO_HUMANA", False, VELHO, Destino.DEIXAR_COM_PESSOA),
        ("REQUER_INTERVENCAO_HUMANA", False, ESQUECIDO, Destino.DEIXAR_COM_PESSOA),  # its message is sent again
        ("ENCERRADO_MANUALMENTE", False, QUASE, Destino.DEIXAR_COM_PESSOA),
        ("ENCERRADO_MANUALMENTE", False, ESQUECIDO, Destino.COBRAR_DECISAO),
        ("ENCERRADO_MANUALMENTE", False, "", Destino.COBRAR_DECISAO),
        *((status, False, NOVO, Destino.ESPERAR) for status in sorted(EM_ANDAMENTO)),
        *((status, False, VELHO, Destino.RELATAR) for status in sorted(EM_ANDAMENTO)),
        ("RESERVADO", False, "", Destino.RELATAR),
        ("OUTRO", False, NOVO, Destino.RELATAR),
    ],
)
def test_a_reservation_goes_by_its_order(status: str, baixada: bool, atualizado: str, esperado: Destino) -> None:
    assert destino(SKU, PedidoLido(status, SKU, atualizado), baixada, LIMITE, LIMITE_DECISAO, AGORA) is esperado


def test_another_product_s_reservation_is_never_written_off() -> None:
    pedido = PedidoLido("CONFIRMADO", SKU, NOVO)
    assert destino("OUTRO", pedido, False, LIMITE, LIMITE_DECISAO, AGORA) is Destino.RELATAR


# --- the run -----------------------------------------------------------------------------------------------------


def reservar(pedido: str, quantidade: int = 2, sku: str = SKU) -> str:
    estado = {"pedidoId": pedido, "sku": sku, "quantidade": quantidade}
    return str(reservar_estoque.handler(estado, None)["resultado"])


def por_pedido(sistema: Any, pedido: str, status: str, ha: timedelta = timedelta(), sku: str = SKU) -> None:
    sistema.por_pedido(pedido, status, sku={"S": sku}, atualizadoEm={"S": para_iso(agora() - ha)})


def conferir(contexto: Any = None) -> dict[str, int]:
    """Run to the end of the table; the counts."""
    resposta = conferir_reservas.handler({}, contexto)
    assert resposta["completa"] is True
    contagem: dict[str, int] = resposta["contagem"]
    return {nome: quantas for nome, quantas in contagem.items() if nome != "ItensConferidos"}


@pytest.fixture
def adiantar(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Move the clock the check goes by."""

    def mover(quanto: timedelta) -> None:
        def relogio() -> datetime:
            return agora() + quanto

        for classe in (conferencia.ConferenciaDeReservas, conferencias.RepositorioConferencias):
            monkeypatch.setattr(classe.__init__, "__defaults__", (relogio,))

    return mover


@pytest.mark.parametrize("status", sorted(DESFEITOS))
def test_a_reservation_of_an_undone_order_is_released(sistema: Any, saida: Any, status: str) -> None:
    sistema.por_estoque(SKU, 10)
    reservar("P1")
    por_pedido(sistema, "P1", status)
    assert conferir() == {"OrfasLiberadas": 1}
    assert sistema.estoque(SKU) == (10, {})
    assert conferir() == {}
    assert saida.metricas()["OrfasLiberadas"] == 1


def test_the_incident_of_the_lab_heals(sistema: Any, adiantar: Callable[[timedelta], None]) -> None:
    """Killed between reserve and write: the stock shows the reservation, the order never existed."""
    sistema.por_estoque(SKU, 10)
    reservar("P1")
    assert conferir() == {}
    adiantar(LIMITE - timedelta(seconds=2))
    assert conferir() == {}
    assert sistema.estoque(SKU) == (8, {"P1": 2})
    adiantar(LIMITE)
    assert conferir() == {"OrfasLiberadas": 1}
    assert sistema.estoque(SKU) == (10, {})


def test_an_order_that_appears_meanwhile_is_not_an_orphan(sistema: Any, adiantar: Callable[[timedelta], None]) -> None:
    sistema.por_estoque(SKU, 10)
    reservar("P1")
    conferir()
    adiantar(LIMITE)
    por_pedido(sistema, "P1", "RESERVADO", -LIMITE)
    assert conferir() == {}
    assert sistema.estoque(SKU) == (8, {"P1": 2})


def test_what_the_stream_missed_is_written_off(sistema: Any) -> None:
    sistema.por_estoque(SKU, 10)
    reservar("P1"), reservar("P2")
    por_pedido(sistema, "P1", "CONFIRMADO", ha=LIMITE)
    por_pedido(sistema, "P2", "CONFIRMADO")
    assert conferir() == {"BaixasTardias": 1, "ReservasBaixadas": 1}
    assert sistema.estoque(SKU) == (6, {})
    assert RepositorioBaixas(sistema.dynamodb, "cesta-estoque", "cesta-estoque-baixas").registradas(
        ["P1", "P2", "P3"]
    ) == {"P1", "P2"}


def test_a_reserve_that_lands_after_the_write_off_goes_back_to_the_balance(sistema: Any) -> None:
    sistema.por_estoque(SKU, 10)
    reservar("P1")
    por_pedido(sistema, "P1", "CONFIRMADO")
    imagem = sistema.pedido("P1") | {"quantidade": {"N": "2"}}
    registro = {"eventSource": "aws:dynamodb", "dynamodb": {"NewImage": imagem, "SequenceNumber": "1"}}
    assert baixar_reserva.handler({"Records": [registro]}, None) == {"batchItemFailures": []}
    reservar("P1")
    assert sistema.estoque(SKU) == (6, {"P1": 2})
    assert conferir() == {"OrfasLiberadas": 1}
    assert sistema.estoque(SKU) == (8, {})


@pytest.mark.parametrize("status", sorted(EM_ANDAMENTO))
def test_an_order_that_does_not_move_is_reported_and_left(sistema: Any, saida: Any, status: str) -> None:
    sistema.por_estoque(SKU, 10)
    reservar("P1"), reservar("P2")
    por_pedido(sistema, "P1", status, ha=LIMITE)
    por_pedido(sistema, "P2", status)
    assert conferir() == {"ReservasPresas": 1}
    assert sistema.estoque(SKU) == (6, {"P1": 2, "P2": 2})
    assert saida.metricas()["ReservasPresas"] == 1
    [relato] = [linha for linha in saida.linhas() if linha["level"] == "ERROR"]
    assert (relato["pedidoId"], relato["status"], relato["sku"]) == ("P1", status, SKU)


@pytest.mark.parametrize("status", sorted(DE_PESSOA))
def test_what_a_person_has_is_left_to_the_person(sistema: Any, status: str) -> None:
    sistema.por_estoque(SKU, 10)
    reservar("P1")
    por_pedido(sistema, "P1", status, ha=timedelta(days=3))
    assert conferir() == {"ReservasComPessoa": 1}
    assert sistema.estoque(SKU) == (8, {"P1": 2})


def test_units_left_undecided_are_asked_about_until_they_are_decided(sistema: Any, saida: Any) -> None:
    sistema.por_estoque(SKU, 10)
    reservar("P1"), reservar("P2")
    por_pedido(sistema, "P1", "ENCERRADO_MANUALMENTE", ha=LIMITE_DECISAO)
    por_pedido(sistema, "P2", "ENCERRADO_MANUALMENTE", ha=LIMITE_DECISAO - timedelta(minutes=1))
    for _ in range(2):
        assert conferir() == {"ReservasSemDecisao": 1, "ReservasComPessoa": 1}
    assert sistema.estoque(SKU) == (6, {"P1": 2, "P2": 2})
    assert saida.metricas()["ReservasSemDecisao"] == 2
    relatos = [linha for linha in saida.linhas() if linha["message"] == "units of an ended order wait for a decision"]
    assert [(r["pedidoId"], r["sku"], r["quantidade"]) for r in relatos] == [("P1", SKU, 2)] * 2
    RepositorioEstoque(sistema.dynamodb, "cesta-estoque").liberar(SKU, "P1")  # a person decides
    assert conferir() == {"ReservasComPessoa": 1}


def test_an_unreadable_item_does_not_stop_the_others(sistema: Any) -> None:
    for posicao in range(4):
        sistema.por_estoque(f"SKU-{posicao}", 10)
        reservar(f"P{posicao}", sku=f"SKU-{posicao}")
        por_pedido(sistema, f"P{posicao}", "FALHOU_COMPENSADO")
    sistema.por_estoque("ESTRAGADO", 10, reservas={"M": {"P9": {"S": "dois"}}})
    sistema.por_estoque("ESTRAGADO-2", 10, reservas={"L": []})
    assert conferir() == {"OrfasLiberadas": 4, "ConferenciasComFalha": 2}


def test_a_reservation_in_dispute_is_left_for_the_next_run(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sistema.por_estoque(SKU, 10)
    reservar("P1"), reservar("P2")
    por_pedido(sistema, "P1", "FALHOU_COMPENSADO"), por_pedido(sistema, "P2", "FALHOU_COMPENSADO")
    liberar = RepositorioEstoque.liberar

    def disputar(self: RepositorioEstoque, sku: str, pedido_id: str) -> Any:
        if pedido_id == "P1":
            raise ReservaEmDisputaError("x")
        return liberar(self, sku, pedido_id)

    monkeypatch.setattr(RepositorioEstoque, "liberar", disputar)
    assert conferir() == {"OrfasLiberadas": 1, "ConferenciasComFalha": 1}
    monkeypatch.setattr(RepositorioEstoque, "liberar", liberar)
    assert conferir() == {"OrfasLiberadas": 1}


def test_more_reservations_than_one_read_takes(sistema: Any) -> None:
    pedidos = [f"P{posicao:03d}" for posicao in range(conferencia.LOTE + 5)]
    sistema.por_estoque(SKU, 0, reservas={"M": {pedido: {"N": "1"} for pedido in pedidos}}, encerradas={"M": {}})
    for pedido in pedidos:
        por_pedido(sistema, pedido, "FALHOU_COMPENSADO")
    assert conferir() == {"OrfasLiberadas": len(pedidos)}
    assert sistema.estoque(SKU) == (len(pedidos), {})


# --- bounds ------------------------------------------------------------------------------------------------------


@pytest.fixture
def vinte_orfas(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Twenty products, each with an orphan, read five at a time."""
    monkeypatch.setattr(leituras, "PAGINA", 5)
    for posicao in range(20):
        sistema.por_estoque(f"SKU-{posicao:02d}", 9, reservas={"M": {"P1": {"N": "1"}}}, encerradas={"M": {}})
    por_pedido(sistema, "P1", "FALHOU_COMPENSADO")
    return sistema


def test_runs_are_bounded_and_go_on_where_the_last_one_stopped(
    vinte_orfas: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAXIMO_ITENS_CONFERIDOS", "7")
    esquecer()
    respostas = [conferir_reservas.handler({}, None) for _ in range(3)]
    assert [resposta["completa"] for resposta in respostas] == [False, False, True]
    assert [resposta["contagem"]["ItensConferidos"] for resposta in respostas] == [7, 7, 6]
    assert all(vinte_orfas.estoque(f"SKU-{posicao:02d}") == (10, {}) for posicao in range(20))
    # And from the beginning again.
    assert conferir_reservas.handler({}, None)["contagem"] == {"ItensConferidos": 7}


def test_a_run_ends_before_its_time_and_always_moves_on(vinte_orfas: Any) -> None:
    respostas = [conferir_reservas.handler({}, Contexto(restante_s=1)) for _ in range(20)]
    assert [resposta["contagem"]["ItensConferidos"] for resposta in respostas] == [1] * 20
    assert respostas[-1]["completa"] is True


def test_a_product_with_more_than_fits_in_a_run_is_finished_by_the_next_ones(
    sistema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conferencia, "LOTE", 10)
    pedidos = [f"P{posicao:02d}" for posicao in range(25)]
    sistema.por_estoque(SKU, 0, reservas={"M": {pedido: {"N": "1"} for pedido in pedidos}}, encerradas={"M": {}})
    for pedido in pedidos:
        por_pedido(sistema, pedido, "FALHOU_COMPENSADO")

    respostas = [conferir_reservas.handler({}, Contexto(restante_s=1)) for _ in range(3)]

    assert [resposta["contagem"]["OrfasLiberadas"] for resposta in respostas] == [10, 10, 5]
    assert [resposta["completa"] for resposta in respostas] == [False, False, True]
    assert sistema.estoque(SKU) == (25, {})


def test_a_run_that_dies_loses_no_more_than_a_page(vinte_orfas: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    conferido = conferencia.ConferenciaDeReservas._conferir
    vistos: list[str] = []

    def morrer_no_oitavo(self: Any, item: Any, ha_tempo: Any) -> bool:
        if len(vistos) == 7:
            raise KeyboardInterrupt
        vistos.append(item.sku)
        return conferido(self, item, ha_tempo)

    monkeypatch.setattr(conferencia.ConferenciaDeReservas, "_conferir", morrer_no_oitavo)
    with pytest.raises(KeyboardInterrupt):
        conferir_reservas.handler({}, None)
    monkeypatch.setattr(conferencia.ConferenciaDeReservas, "_conferir", conferido)
    resposta = conferir_reservas.handler({}, None)
    assert resposta["contagem"] == {"ItensConferidos": 15, "OrfasLiberadas": 13}
    assert resposta["completa"] is True


def test_what_is_left_unread_is_asked_for_again_and_then_given_up(
    sistema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leitura_em_lote.time, "sleep", lambda segundos: None)
    for pedido in ("P1", "P2"):
        por_pedido(sistema, pedido, "CONFIRMADO")
    ler = sistema.dynamodb.batch_get_item
    falta = [3]

    def pela_metade(**argumentos: Any) -> Any:
        pedido = argumentos["RequestItems"]["cesta-pedidos"]
        if falta[0]:
            falta[0] -= 1
            deixadas = {"cesta-pedidos": pedido | {"Keys": pedido["Keys"][1:]}}
            feita = ler(RequestItems={"cesta-pedidos": pedido | {"Keys": pedido["Keys"][:1]}})
            return feita | {"UnprocessedKeys": deixadas if pedido["Keys"][1:] else {}}
        return ler(**argumentos)

    monkeypatch.setattr(sistema.dynamodb, "batch_get_item", pela_metade)
    campos = ("pedidoId", "status")
    lidos = ler_em_lote(sistema.dynamodb, "cesta-pedidos", "pedidoId", ["P1", "P2", "P1", "P3"], campos)
    assert sorted(item["pedidoId"]["S"] for item in lidos) == ["P1", "P2"]

    monkeypatch.setattr(
        sistema.dynamodb,
        "batch_get_item",
        lambda **argumentos: {"Responses": {}, "UnprocessedKeys": argumentos["RequestItems"]},
    )
    with pytest.raises(LeituraIncompletaError):
        ler_em_lote(sistema.dynamodb, "cesta-pedidos", "pedidoId", ["P1"], campos)
