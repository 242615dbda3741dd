"""The check of charges: money held for an order that is not confirmed ends in a person's hands, once."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from comum.http_saida import Prazo
from comum.processo import esquecer
from comum.relogio import agora, para_iso
from operacao.intervencao_fila import Corpo
from pagamentos import conferencia, conferir_cobrancas, fabrica, pedidos_por_status
from pagamentos.conferencia import DESFEITOS, EM_ANDAMENTO, ESPERA, ESPERADOS
from pagamentos.erros import GatewayIndisponivelError, RespostaInesperadaGatewayError
from pagamentos.fila_humana import FilaHumana
from pagamentos.porta import Cobranca, SituacaoCobranca
from pedidos.situacao import Status
from tests.unit.apoio_unit import Contexto

LIMITE = timedelta(seconds=1800)
JANELA = timedelta(days=3)


class GatewayFalso:
    """Answers by pedidoId; a class of error is raised."""

    def __init__(self) -> None:
        self.cobrancas: dict[str, SituacaoCobranca | type[Exception]] = {}
        self.perguntas: list[str] = []
        self.ao_perguntar: Callable[[str], None] = lambda pedido: None

    def consultar(self, token_cobranca: str, prazo: Prazo) -> Cobranca | None:
        pedido = token_cobranca.removeprefix("cesta-cobranca-")
        self.perguntas.append(pedido)
        self.ao_perguntar(pedido)
        resposta = self.cobrancas.get(pedido)
        if isinstance(resposta, type):
            raise resposta("injected")
        return None if resposta is None else Cobranca(resposta, "tx-1")


@pytest.fixture
def gateway(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> GatewayFalso:
    falso = GatewayFalso()
    monkeypatch.setattr(fabrica, "gateway", lambda configuracao: falso)
    return falso


def por_pedido(sistema: Any, pedido: str, status: str, ha: timedelta = LIMITE + timedelta(seconds=1)) -> None:
    sistema.por_pedido(pedido, status, atualizadoEm={"S": para_iso(agora() - ha)})


def conferir(contexto: Any = None) -> dict[str, Any]:
    resposta: dict[str, Any] = conferir_cobrancas.handler({}, contexto)
    return resposta


def mensagens(sistema: Any) -> list[dict[str, Any]]:
    """Messages waiting for a person."""
    recebidas = sistema.sqs.receive_message(
        QueueUrl=sistema.url_fila_humana, MaxNumberOfMessages=10, VisibilityTimeout=0
    )
    return [json.loads(mensagem["Body"]) for mensagem in recebidas.get("Messages", [])]


def test_every_status_of_the_table_has_a_decision() -> None:
    assert Counter([*EM_ANDAMENTO, *DESFEITOS, *ESPERADOS]) == Counter([*Status])


@pytest.mark.parametrize("status", [*EM_ANDAMENTO, *DESFEITOS])
def test_an_orphan_charge_goes_to_a_person_once(sistema: Any, gateway: GatewayFalso, saida: Any, status: str) -> None:
    por_pedido(sistema, "P1", status)
    gateway.cobrancas["P1"] = SituacaoCobranca.APROVADA
    assert conferir() == {"completa": True, "contagem": {"CobrancasConferidas": 1, "CobrancasOrfas": 1}}
    assert conferir() == {"completa": True, "contagem": {"CobrancasConferidas": 1}}
    [mensagem] = mensagens(sistema)
    assert mensagem["pedidoId"] == "P1"
    assert mensagem["executionArn"] == f"{sistema.arn_maquina.replace(':stateMachine:', ':execution:')}:P1"
    assert (mensagem["passo"], mensagem["passoCompensacao"]) == ("conferir_cobrancas", "EstornarPagamento")
    assert mensagem["compensacoesPendentes"] == ["EstornarPagamento", "LiberarEstoque"]
    assert mensagem["erroOriginal"]["Error"] == mensagem["erroDaCompensacao"]["Error"] == "CobrancaOrfa"
    assert status in mensagem["erroOriginal"]["Cause"]
    assert saida.metricas()["CobrancasOrfas"] == 1


def test_the_message_has_the_fields_of_the_saga_s() -> None:
    from engine.settings import ROOT

    def estados(no: Any) -> Any:
        if isinstance(no, dict):
            yield from ([no["MessageBody"]] if "MessageBody" in no else [])
            for valor in no.values():
                yield from estados(valor)
        elif isinstance(no, list):
            for valor in no:
                yield from estados(valor)

    [da_saga] = estados(json.loads((ROOT / "asl" / "saga-pedido.asl.json").read_text()))
    enviadas: list[str] = []

    class Sqs:
        def send_message(self, **argumentos: str) -> None:
            enviadas.append(argumentos["MessageBody"])

    FilaHumana(Sqs(), "url", "arn:aws:states:x:1:stateMachine:m").avisar_cobranca_orfa("P1", "RESERVADO")
    assert set(json.loads(enviadas[0])) == {campo.removesuffix(".$") for campo in da_saga}


@pytest.mark.parametrize(
    "situacao", [None, SituacaoCobranca.RECUSADA, SituacaoCobranca.ESTORNADA, SituacaoCobranca.EM_ANDAMENTO]
)
def test_an_order_without_an_approved_charge_is_left(
    sistema: Any, gateway: GatewayFalso, situacao: SituacaoCobranca | None
) -> None:
    por_pedido(sistema, "P1", "FALHOU_COMPENSADO")
    if situacao is not None:
        gateway.cobrancas["P1"] = situacao
    assert conferir()["contagem"] == {"CobrancasConferidas": 1}
    assert mensagens(sistema) == []


@pytest.mark.parametrize("status", sorted(ESPERADOS))
def test_where_a_charge_belongs_or_a_person_knows_nobody_is_asked(
    sistema: Any, gateway: GatewayFalso, status: str
) -> None:
    por_pedido(sistema, "P1", status)
    gateway.cobrancas["P1"] = SituacaoCobranca.APROVADA
    conferir()
    assert gateway.perguntas == []
    assert mensagens(sistema) == []


def test_only_old_orders_and_not_too_old_failures_are_asked_about(sistema: Any, gateway: GatewayFalso) -> None:
    um = timedelta(seconds=60)
    por_pedido(sistema, "NOVO", "RESERVADO", LIMITE - um)
    por_pedido(sistema, "PARADO", "RESERVADO", timedelta(days=400))
    por_pedido(sistema, "FALHOU", "FALHOU_COMPENSADO", JANELA - um)
    por_pedido(sistema, "ANTIGO", "FALHOU_COMPENSADO", JANELA + um)
    conferir()
    assert gateway.perguntas == ["PARADO", "FALHOU"]


@pytest.mark.parametrize(("novo", "ha"), [("CONFIRMADO", LIMITE * 2), ("COMPENSANDO", timedelta(0))])
def test_an_order_that_moves_while_the_gateway_is_asked_is_left(
    sistema: Any, gateway: GatewayFalso, novo: str, ha: timedelta
) -> None:
    por_pedido(sistema, "P1", "RESERVADO")
    gateway.cobrancas["P1"] = SituacaoCobranca.APROVADA
    gateway.ao_perguntar = lambda pedido: por_pedido(sistema, pedido, novo, ha)
    assert "CobrancasOrfas" not in conferir()["contagem"]
    assert mensagens(sistema) == []


def morrer_antes_de_marcar(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that sends its message and is killed before it remembers that."""

    def morrer(self: Any, coisa: str, validade_s: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as sabotagem:
        sabotagem.setattr(conferencia.RepositorioConferencias, "registrar_aviso", morrer)
        with pytest.raises(KeyboardInterrupt):
            conferir()


def test_dying_between_message_and_mark_repeats_the_message(
    sistema: Any, gateway: GatewayFalso, monkeypatch: pytest.MonkeyPatch
) -> None:
    por_pedido(sistema, "P1", "RESERVADO")
    gateway.cobrancas["P1"] = SituacaoCobranca.APROVADA
    morrer_antes_de_marcar(monkeypatch)
    conferir(), conferir()
    primeira, segunda = mensagens(sistema)
    assert primeira == segunda


# --- before a message expires ------------------------------------------------------------------------------------

REAVISO = timedelta(days=13)
SEGUNDO = timedelta(seconds=1)
UM_MINUTO = timedelta(minutes=1)


@pytest.fixture
def avancar(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Let this much time pass, for the check and for its memory."""
    passado = timedelta(0)
    for classe in (conferencia.ConferenciaDeCobrancas, conferencia.RepositorioConferencias):
        *outros, _ = classe.__init__.__defaults__ or ()
        monkeypatch.setattr(classe.__init__, "__defaults__", (*outros, lambda: agora() + passado))

    def passar(quanto: timedelta) -> None:
        nonlocal passado
        passado += quanto

    return passar


def recolher(sistema: Any) -> list[dict[str, Any]]:
    """The messages there are, which then are no more: they expired."""
    recebidas = sistema.sqs.receive_message(QueueUrl=sistema.url_fila_humana, MaxNumberOfMessages=10)
    for mensagem in recebidas.get("Messages", []):
        sistema.sqs.delete_message(QueueUrl=sistema.url_fila_humana, ReceiptHandle=mensagem["ReceiptHandle"])
    return [json.loads(mensagem["Body"]) for mensagem in recebidas.get("Messages", [])]


@pytest.mark.parametrize("status", [*EM_ANDAMENTO, *DESFEITOS])
def test_a_charge_nobody_refunds_is_told_again_for_ever_once_in_a_window(
    sistema: Any, gateway: GatewayFalso, avancar: Callable[[timedelta], None], status: str
) -> None:
    """A failed order too, which by then the walk has long left behind."""
    por_pedido(sistema, "P1", status)
    gateway.cobrancas["P1"] = SituacaoCobranca.APROVADA
    assert conferir()["contagem"]["CobrancasOrfas"] == 1
    [primeira] = recolher(sistema)
    for _ in range(3):
        avancar(REAVISO - UM_MINUTO)
        conferir()
        assert recolher(sistema) == []
        avancar(UM_MINUTO)
        assert conferir()["contagem"]["AvisosRepetidos"] == 1
        assert recolher(sistema) == [primeira]
        conferir()
        assert recolher(sistema) == []


@pytest.mark.parametrize(
    ("status", "situacao"),
    [("FALHOU_COMPENSADO", SituacaoCobranca.ESTORNADA), ("CONFIRMADO", SituacaoCobranca.APROVADA)],
)
def test_what_was_resolved_is_not_told_again_nor_asked_about_for_ever(
    sistema: Any,
    gateway: GatewayFalso,
    avancar: Callable[[timedelta], None],
    status: str,
    situacao: SituacaoCobranca,
) -> None:
    por_pedido(sistema, "P1", "FALHOU_COMPENSADO")
    gateway.cobrancas["P1"] = SituacaoCobranca.APROVADA
    conferir()
    recolher(sistema)
    por_pedido(sistema, "P1", status)
    gateway.cobrancas["P1"] = situacao
    avancar(REAVISO)
    conferir()
    perguntas = len(gateway.perguntas)
    conferir()
    avancar(REAVISO)
    conferir()
    assert recolher(sistema) == []
    assert len(gateway.perguntas) == perguntas


def test_a_notice_the_gateway_cannot_be_asked_about_is_repeated(
    sistema: Any, gateway: GatewayFalso, avancar: Callable[[timedelta], None]
) -> None:
    por_pedido(sistema, "P1", "FALHOU_COMPENSADO")
    gateway.cobrancas["P1"] = SituacaoCobranca.APROVADA
    conferir()
    avancar(REAVISO)
    gateway.cobrancas["P1"] = GatewayIndisponivelError
    assert conferir() == {"completa": False, "contagem": {"ConferenciasInterrompidas": 1}}
    assert len(recolher(sistema)) == 1
    gateway.cobrancas["P1"] = RespostaInesperadaGatewayError
    assert conferir()["contagem"]["AvisosRepetidos"] == 1
    assert len(recolher(sistema)) == 1


@pytest.mark.parametrize(
    ("situacao", "pendentes"),
    [
        (SituacaoCobranca.APROVADA, ["EstornarPagamento", "LiberarEstoque"]),
        (SituacaoCobranca.EM_ANDAMENTO, ["EstornarPagamento", "LiberarEstoque"]),
        (RespostaInesperadaGatewayError, ["EstornarPagamento", "LiberarEstoque"]),
        (None, ["EstornarPagamento", "LiberarEstoque"]),
        (SituacaoCobranca.ESTORNADA, ["LiberarEstoque"]),
        (SituacaoCobranca.RECUSADA, ["LiberarEstoque"]),
    ],
)
def test_an_order_that_waits_for_a_person_is_told_again_before_the_saga_s_message_expires(
    sistema: Any, gateway: GatewayFalso, avancar: Callable[[timedelta], None], situacao: Any, pendentes: list[str]
) -> None:
    esperando = para_iso(agora())
    motivo = {"M": {"erro": {"S": "CartaoRecusadoError"}, "causa": {"S": "x"}}}
    sistema.por_pedido("P1", ESPERA, atualizadoEm={"S": esperando}, motivo=motivo)
    if situacao is not None:
        gateway.cobrancas["P1"] = situacao
    avancar(REAVISO - UM_MINUTO)
    conferir()
    assert (recolher(sistema), gateway.perguntas) == ([], [])
    for _ in range(3):
        avancar(UM_MINUTO)
        assert conferir()["contagem"]["AvisosRepetidos"] == 1
        [mensagem] = recolher(sistema)
        lida = Corpo.model_validate(mensagem)
        assert (lida.pedidoId, list(lida.compensacoesPendentes)) == ("P1", pendentes)
        assert (lida.passo, lida.passoCompensacao) == ("conferir_cobrancas", pendentes[0])
        assert str(lida.erroOriginal) == "CartaoRecusadoError"
        assert str(lida.erroDaCompensacao) == f"EsperaSemDecisao: o pedido espera uma pessoa desde {esperando}"
        assert len(mensagem) == 7
        avancar(REAVISO - UM_MINUTO)
        perguntas = len(gateway.perguntas)
        assert conferir() == {"completa": True, "contagem": {}}, "once in a window, and without asking"
        assert (recolher(sistema), len(gateway.perguntas)) == ([], perguntas)


def test_an_order_taken_by_a_person_after_a_notice_is_told_again_when_the_notice_is_old(
    sistema: Any, gateway: GatewayFalso, avancar: Callable[[timedelta], None]
) -> None:
    por_pedido(sistema, "P1", "RESERVADO")
    gateway.cobrancas["P1"] = SituacaoCobranca.APROVADA
    conferir()
    recolher(sistema)
    avancar(REAVISO)
    sistema.por_pedido("P1", ESPERA, atualizadoEm={"S": para_iso(agora() + REAVISO - UM_MINUTO)})
    conferir()
    [mensagem] = recolher(sistema)
    assert mensagem["erroDaCompensacao"]["Error"] == "EsperaSemDecisao"


@pytest.mark.parametrize("maximo", [1, 2, 5])
def test_repeating_is_bounded_paged_and_goes_on_where_it_stopped(
    sistema: Any,
    gateway: GatewayFalso,
    avancar: Callable[[timedelta], None],
    monkeypatch: pytest.MonkeyPatch,
    maximo: int,
) -> None:
    monkeypatch.setattr(pedidos_por_status, "PAGINA", 2)
    nomes = [f"P{n}" for n in range(8)]
    for nome in nomes:
        por_pedido(sistema, nome, "FALHOU_COMPENSADO" if nome < "P4" else ESPERA)
        gateway.cobrancas[nome] = SituacaoCobranca.APROVADA
    conferir()
    recolher(sistema)
    monkeypatch.setenv("MAXIMO_CONSULTAS", str(maximo))
    esquecer()
    avancar(REAVISO)
    for _ in range(2):
        gateway.perguntas.clear()
        rodadas = []
        while not rodadas or not rodadas[-1]["completa"]:
            rodadas.append(conferir())
        assert sorted(gateway.perguntas) == nomes
        assert all(rodada["contagem"].get("CobrancasConferidas", 0) <= maximo for rodada in rodadas)
        assert sum(rodada["contagem"].get("AvisosRepetidos", 0) for rodada in rodadas) == len(nomes)
        avancar(REAVISO)


def test_dying_between_a_repeated_message_and_its_mark_sends_it_once_more(
    sistema: Any, gateway: GatewayFalso, avancar: Callable[[timedelta], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    por_pedido(sistema, "P1", ESPERA, REAVISO + SEGUNDO)
    morrer_antes_de_marcar(monkeypatch)
    conferir(), conferir()
    assert len(recolher(sistema)) == 2


# --- bounds and outages ------------------------------------------------------------------------------------------


@pytest.fixture
def doze_pedidos(sistema: Any, gateway: GatewayFalso, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Twelve orders over three statuses, read two at a time, in the order of the walk."""
    monkeypatch.setattr(pedidos_por_status, "PAGINA", 2)
    nomes = []
    for posicao, status in enumerate(["RESERVADO"] * 5 + ["COMPENSANDO"] * 3 + ["FALHOU_COMPENSADO"] * 4):
        nomes.append(f"P{posicao:02d}")
        por_pedido(sistema, nomes[-1], status, LIMITE * 2 - timedelta(seconds=posicao))
    return nomes


@pytest.mark.parametrize("maximo", [1, 2, 3, 5, 7])
def test_runs_are_bounded_and_ask_about_each_order_once(
    doze_pedidos: list[str], gateway: GatewayFalso, monkeypatch: pytest.MonkeyPatch, maximo: int
) -> None:
    monkeypatch.setenv("MAXIMO_CONSULTAS", str(maximo))
    esquecer()
    rodadas = -(-len(doze_pedidos) // maximo)
    completas = [conferir()["completa"] for _ in range(rodadas)]
    assert gateway.perguntas == doze_pedidos
    # A bound met at the very last order is only known not to be the end by the next run.
    if not completas[-1]:
        assert conferir() == {"completa": True, "contagem": {}}
    assert completas[:-1] == [False] * (rodadas - 1)


def test_without_time_nothing_is_asked(doze_pedidos: list[str], gateway: GatewayFalso) -> None:
    assert conferir(Contexto(restante_s=5))["completa"] is False
    assert gateway.perguntas == []


def test_an_outage_stops_the_run_and_skips_nobody(doze_pedidos: list[str], gateway: GatewayFalso, saida: Any) -> None:
    gateway.cobrancas["P06"] = GatewayIndisponivelError
    assert conferir() == {
        "completa": False,
        "contagem": {"CobrancasConferidas": 6, "ConferenciasInterrompidas": 1},
    }
    assert saida.metricas()["ConferenciasInterrompidas"] == 1
    del gateway.cobrancas["P06"]
    assert conferir()["completa"] is True
    assert gateway.perguntas == [*doze_pedidos[:7], *doze_pedidos[6:]]


def test_an_answer_outside_the_contract_stops_nobody_else(doze_pedidos: list[str], gateway: GatewayFalso) -> None:
    gateway.cobrancas["P06"] = RespostaInesperadaGatewayError
    assert conferir()["contagem"] == {"CobrancasConferidas": 12, "ConferenciasComFalha": 1}
    assert gateway.perguntas == doze_pedidos


def test_a_cursor_that_left_the_window_starts_at_the_window(
    doze_pedidos: list[str], gateway: GatewayFalso, sistema: Any
) -> None:
    parado = {"pedidoId": "P00", "status": "FALHOU_COMPENSADO", "atualizadoEm": "2020-01-01T00:00:00.000Z"}
    memoria = conferencia.RepositorioConferencias(sistema.dynamodb, "cesta-conferencias")
    memoria.gravar_cursor("conferir_cobrancas", {"status": "FALHOU_COMPENSADO", "depoisDe": parado})
    assert conferir()["completa"] is True
    assert gateway.perguntas == doze_pedidos[8:]


def test_the_walk_goes_on_among_the_orders_that_wait(
    doze_pedidos: list[str], gateway: GatewayFalso, sistema: Any
) -> None:
    por_pedido(sistema, "Q1", ESPERA, REAVISO + UM_MINUTO)
    por_pedido(sistema, "Q2", ESPERA, REAVISO + SEGUNDO)
    parado = {"pedidoId": "Q1", "status": ESPERA, "atualizadoEm": para_iso(agora() - REAVISO - UM_MINUTO)}
    memoria = conferencia.RepositorioConferencias(sistema.dynamodb, "cesta-conferencias")
    memoria.gravar_cursor("conferir_cobrancas", {"status": ESPERA, "depoisDe": parado})
    assert conferir()["completa"] is True
    assert gateway.perguntas == ["Q2"]
