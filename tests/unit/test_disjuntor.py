"""The circuit breaker over the mocked table, with many instances that share nothing else, on a clock of the tests."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from comum.erros import ConfiguracaoInvalidaError, ErroDeNegocio
from comum.http_saida import Prazo
from comum.processo import esquecer
from desenhos_minimos import gateway_simulado
from desenhos_minimos.gateway_tabela import Modo
from pagamentos.configuracao import ConfiguracaoPagamentos
from pagamentos.disjuntor import GatewayComDisjuntor
from pagamentos.disjuntor_tabela import Limites, TabelaDisjuntor
from pagamentos.erros import (
    CartaoRecusadoError,
    CobrancaCanceladaError,
    CobrancaDivergenteError,
    GatewayIndisponivelError,
    RespostaInesperadaGatewayError,
)
from pagamentos.porta import Cobranca, ResultadoEstorno, SituacaoCobranca
from tests.unit.apoio_unit import cliente
from tests.unit.conftest import criar_tabela
from tests.unit.test_pagamentos import cobrar, estornar, movimentos

LIMITES = Limites(falhas=5, janela_s=60, aberto_s=30, sonda_s=6)
FORA = GatewayIndisponivelError("down", motivo="HTTP_503")
APROVADA = Cobranca(SituacaoCobranca.APROVADA, "t-1")


class Relogio:
    """Epoch seconds that only a test moves."""

    def __init__(self) -> None:
        self.agora = time.time()

    def __call__(self) -> float:
        return self.agora


class GatewayFalso:
    """What reaches the gateway: every call is counted, and answered or refused as told."""

    def __init__(self) -> None:
        self.falha: BaseException | None = None
        self.chamadas: list[str] = []
        self.durante: Callable[[], None] = lambda: None

    def _atender(self, chave: str) -> None:
        self.chamadas.append(chave)
        falha = self.falha
        self.durante()
        if falha is not None:
            raise falha

    def cobrar(self, token_cobranca: str, *_: Any) -> Cobranca:
        self._atender(token_cobranca)
        return APROVADA

    def estornar(self, token_estorno: str, *_: Any) -> ResultadoEstorno:
        self._atender(token_estorno)
        return ResultadoEstorno.NADA_A_ESTORNAR

    def consultar(self, token_cobranca: str, *_: Any) -> None:
        self._atender(token_cobranca)


class Dynamo:
    """The client, its calls counted; conditional writes one at a time, as DynamoDB makes them and moto does not."""

    def __init__(self) -> None:
        self.real = cliente("dynamodb")
        self.leituras = self.escritas = 0
        self.erro_ao_ler: Exception | None = None
        self.erro_ao_escrever: Exception | None = None
        self._trava = threading.Lock()

    def get_item(self, **pedido: Any) -> Any:
        assert pedido["ConsistentRead"] is True
        self.leituras += 1
        if self.erro_ao_ler:
            raise self.erro_ao_ler
        with self._trava:
            return self.real.get_item(**pedido)

    def update_item(self, **pedido: Any) -> Any:
        self.escritas += 1
        if self.erro_ao_escrever:
            raise self.erro_ao_escrever
        with self._trava:
            return self.real.update_item(**pedido)


class Cena:
    """One gateway, one table, one clock, as many instances as asked."""

    def __init__(self) -> None:
        self.relogio, self.falso, self.dynamo = Relogio(), GatewayFalso(), Dynamo()
        self._numero = 0

    def instancia(self, limites: Limites = LIMITES) -> GatewayComDisjuntor:
        tabela = TabelaDisjuntor(lambda: self.dynamo, "cesta-disjuntor", limites, self.relogio)
        return GatewayComDisjuntor(self.falso, tabela)

    def cobrar(self, instancia: GatewayComDisjuntor | None = None, chave: str | None = None) -> str:
        """Charge under a new key; what came of it, in a word."""
        self._numero += 1
        try:
            (instancia or self.instancia()).cobrar(chave or f"chave-{self._numero}", 1, "tok-ok", "P", Prazo(4))
        except ErroDeNegocio as erro:
            return str(erro.detalhes.get("motivo", type(erro).__name__))
        return "ok"

    def cair(self) -> None:
        """Open the circuit of charges."""
        self.falso.falha = FORA
        for _ in range(LIMITES.falhas):
            assert self.cobrar() == "HTTP_503"
        assert self.estado() == "ABERTO"

    def item(self, operacao: str = "cobrar") -> dict[str, Any]:
        chave = {"operacao": {"S": operacao}}
        return cliente("dynamodb").get_item(TableName="cesta-disjuntor", Key=chave).get("Item", {})

    def estado(self, operacao: str = "cobrar") -> str:
        return str(self.item(operacao).get("estado", {}).get("S", "FECHADO"))


@pytest.fixture
def cena(aws: None) -> Cena:
    criar_tabela("cesta-disjuntor", "operacao")
    return Cena()


def test_during_an_outage_the_gateway_gets_the_probes_only_and_recovery_needs_no_one(cena: Cena, saida: Any) -> None:
    """Ten instances, one call a second each: 30 s of health, 120 s of outage, then health again."""
    instancias = [cena.instancia() for _ in range(10)]
    por_segundo: list[int] = []
    resultados: list[set[str]] = []
    for segundo in range(200):
        cena.falso.falha = FORA if 30 <= segundo < 150 else None
        antes = len(cena.falso.chamadas)
        resultados.append({cena.cobrar(instancia) for instancia in instancias})
        por_segundo.append(len(cena.falso.chamadas) - antes)
        cena.relogio.agora += 1

    assert por_segundo[:30] == [10] * 30
    assert por_segundo[30] == LIMITES.falhas, "opens within the first second"
    assert [s for s in range(31, 150) if por_segundo[s]] == [60, 90, 120], "one probe every 30 s"
    assert sum(por_segundo[31:150]) == 3
    assert all(r == {"DISJUNTOR_ABERTO"} for s, r in enumerate(resultados) if 30 < s < 150 and s % 30)
    assert resultados[150] == {"ok"}, "the first probe that is answered closes it, for every instance"
    assert por_segundo[150:] == [10] * 50
    transicoes = [linha["message"] for linha in saida.linhas() if linha["message"].startswith("circuit ")]
    assert [m for m in transicoes if "open: nothing was sent" not in m] == [
        "circuit opened: nothing is sent",
        *["circuit half-open: this call is the probe", "circuit opened: nothing is sent"] * 3,
        "circuit half-open: this call is the probe",
        "circuit closed: the gateway answers",
    ]
    assert saida.metricas()["DisjuntorAberto"] == 120 * 10 - LIMITES.falhas - 3 + 4


def test_the_same_outage_without_a_breaker_is_every_call(cena: Cena) -> None:
    cena.falso.falha = FORA
    sem = cena.instancia(Limites(falhas=10_000, janela_s=60, aberto_s=30, sonda_s=6))
    assert {cena.cobrar(sem) for _ in range(50)} == {"HTTP_503"}
    assert len(cena.falso.chamadas) == 50


def test_only_one_of_many_claims_the_probe(cena: Cena) -> None:
    cena.cair()
    cena.relogio.agora += LIMITES.aberto_s
    cena.falso.chamadas.clear()
    cena.falso.falha = None
    largada, resultados = threading.Barrier(24), []
    fim = threading.Event()
    cena.falso.durante = lambda: fim.wait(10) and None  # the probe lasts until every other call has been answered

    def correr(instancia: GatewayComDisjuntor) -> None:
        largada.wait()
        resultados.append(cena.cobrar(instancia))
        if len(resultados) == 23:
            fim.set()

    fios = [threading.Thread(target=correr, args=(cena.instancia(),)) for _ in range(24)]
    for fio in fios:
        fio.start()
    for fio in fios:
        fio.join(20)
    assert len(cena.falso.chamadas) == 1
    assert sorted(resultados) == ["DISJUNTOR_ABERTO"] * 23 + ["ok"]
    assert cena.estado() == "FECHADO"


def test_many_failing_at_once_open_it_once(cena: Cena, saida: Any) -> None:
    cena.falso.falha = FORA
    juntas = threading.Barrier(16)
    cena.falso.durante = lambda: juntas.wait(10) and None
    fios = [threading.Thread(target=cena.cobrar, args=(cena.instancia(), f"k{n}")) for n in range(16)]
    for fio in fios:
        fio.start()
    for fio in fios:
        fio.join(20)
    assert cena.estado() == "ABERTO"
    assert [linha["message"] for linha in saida.linhas()].count("circuit opened: nothing is sent") == 1
    assert "falhas" not in cena.item()


@pytest.mark.parametrize("desfecho", [FORA, None])
def test_a_probe_that_dies_is_replaced_and_has_no_say_later(cena: Cena, desfecho: Any) -> None:
    cena.cair()
    cena.relogio.agora += LIMITES.aberto_s
    visto: list[str] = []

    def pendurar() -> None:
        """The probe hangs: its lease ends, another takes its place and decides the opposite."""
        cena.falso.durante = lambda: None
        cena.falso.falha = None if desfecho is FORA else FORA
        visto.append(cena.cobrar())
        cena.relogio.agora += LIMITES.sonda_s
        visto.append(cena.cobrar())

    cena.falso.falha, cena.falso.durante = desfecho, pendurar
    cena.cobrar()
    esperado = ("ok", "FECHADO") if desfecho is FORA else ("HTTP_503", "ABERTO")
    assert visto == ["DISJUNTOR_ABERTO", esperado[0]]
    assert cena.estado() == esperado[1]


@pytest.mark.parametrize("fim", ["HTTP_503", "CREDENCIAL"])
def test_a_probe_past_its_lease_does_not_end_the_one_that_replaced_it(cena: Cena, fim: str) -> None:
    cena.cair()
    cena.falso.falha = GatewayIndisponivelError("x", motivo=fim)
    cena.relogio.agora += LIMITES.aberto_s
    segunda: list[str] = []

    def substituir() -> None:
        """While the first hangs, the second claims the probe; the first fails before the second is answered."""
        cena.relogio.agora += LIMITES.sonda_s
        cena.falso.falha, cena.falso.durante = None, esperar_a_primeira
        fio.start()
        assert chegou.wait(10)

    def esperar_a_primeira() -> None:
        chegou.set()
        falhar_a_primeira.wait(3)

    chegou, falhar_a_primeira = threading.Event(), threading.Event()
    fio = threading.Thread(target=lambda: segunda.append(cena.cobrar()))
    cena.falso.durante = substituir
    assert cena.cobrar() == fim
    assert cena.estado() == "MEIO_ABERTO", "the second still holds it"
    assert cena.cobrar() == "DISJUNTOR_ABERTO", "and it alone"
    falhar_a_primeira.set()
    fio.join(10)
    assert (segunda, cena.estado()) == (["ok"], "FECHADO")
    assert set(cena.item()) == {"operacao", "estado", "desde"}


def test_an_answer_between_the_last_failure_and_its_verdict_keeps_it_closed(cena: Cena) -> None:
    """The fifth failure is written, then an answer clears all five, then the fifth tries to open."""
    cena.falso.falha = FORA
    for _ in range(LIMITES.falhas - 1):
        cena.cobrar()
    escrever = cena.dynamo.update_item

    def responder_no_meio(**pedido: Any) -> Any:
        cena.dynamo.update_item = escrever
        feito = escrever(**pedido)
        cena.falso.falha = None
        assert cena.cobrar() == "ok"
        return feito

    cena.dynamo.update_item = responder_no_meio
    assert cena.cobrar() == "HTTP_503"
    assert cena.estado() == "FECHADO"


def test_a_failure_that_finds_the_window_gone_starts_another(cena: Cena) -> None:
    """It saw failures when it began; an answer cleared them while it was in flight."""
    cena.falso.falha = FORA
    cena.cobrar()

    def responder() -> None:
        cena.falso.falha, cena.falso.durante = None, lambda: None
        cena.cobrar()

    cena.falso.durante = responder
    cena.cobrar()
    item = cena.item()
    assert len(item["falhas"]["SS"]) == 1
    assert int(item["janelaAte"]["N"]) == int((cena.relogio() + LIMITES.janela_s) * 1000)


def test_a_failure_that_finds_it_open_writes_nothing_more(cena: Cena) -> None:
    def cair() -> None:
        cena.falso.durante = lambda: None
        cena.cair()
        cena.dynamo.escritas = 0

    cena.falso.falha, cena.falso.durante = FORA, cair
    assert cena.cobrar() == "HTTP_503"
    assert (cena.dynamo.escritas, cena.estado()) == (1, "ABERTO")
    assert "falhas" not in cena.item()


def test_a_failed_probe_opens_it_for_the_whole_time_again(cena: Cena) -> None:
    cena.cair()
    cena.relogio.agora += LIMITES.aberto_s
    assert cena.cobrar() == "HTTP_503"
    cena.relogio.agora += LIMITES.aberto_s - 0.1
    assert cena.cobrar() == "DISJUNTOR_ABERTO"
    cena.relogio.agora += 0.1
    assert cena.cobrar() == "HTTP_503"


@pytest.mark.parametrize(
    "resposta",
    [
        CartaoRecusadoError("x"),
        CobrancaCanceladaError("x"),
        CobrancaDivergenteError("x"),
        RespostaInesperadaGatewayError("x"),
        GatewayIndisponivelError("x", motivo="EM_ANDAMENTO"),
    ],
)
def test_a_refusal_is_an_answer(cena: Cena, resposta: Exception) -> None:
    """It never opens, it clears failures, and it closes when it answers the probe."""
    cena.falso.falha = FORA
    for _ in range(LIMITES.falhas - 1):
        cena.cobrar()
    cena.falso.falha = resposta
    for _ in range(LIMITES.falhas * 2):
        cena.cobrar()
    assert (cena.estado(), cena.item().get("falhas")) == ("FECHADO", None)
    cena.cair()
    cena.relogio.agora += LIMITES.aberto_s
    cena.falso.falha = resposta
    cena.cobrar()
    assert cena.estado() == "FECHADO"


@pytest.mark.parametrize("motivo", ["PRAZO", "HTTP_500", "HTTP_429", "NewConnectionError", "ProtocolError"])
def test_every_absence_of_an_answer_counts(cena: Cena, motivo: str) -> None:
    cena.falso.falha = GatewayIndisponivelError("x", motivo=motivo)
    for _ in range(LIMITES.falhas):
        assert cena.cobrar() == motivo
    assert cena.cobrar() == "DISJUNTOR_ABERTO"


@pytest.mark.parametrize("erro", [GatewayIndisponivelError("x", motivo="CREDENCIAL"), RuntimeError("bug")])
def test_a_failure_of_ours_says_nothing(cena: Cena, erro: Exception) -> None:
    """It neither opens nor clears nor closes, and the probe it spent is given back at once."""

    def tentar() -> None:
        with pytest.raises(type(erro)):
            cena.instancia().cobrar("k", 1, "tok-ok", "P", Prazo(4))

    cena.falso.falha = FORA
    for _ in range(LIMITES.falhas - 1):
        cena.cobrar()
    cena.falso.falha = erro
    for _ in range(LIMITES.falhas):
        tentar()
    assert len(cena.item()["falhas"]["SS"]) == LIMITES.falhas - 1
    cena.falso.falha = FORA
    cena.cobrar()
    assert cena.estado() == "ABERTO"
    cena.relogio.agora += LIMITES.aberto_s
    cena.falso.falha = erro
    tentar()
    assert cena.estado() == "MEIO_ABERTO"
    cena.falso.falha = None
    assert cena.cobrar() == "ok"
    assert cena.estado() == "FECHADO"


def test_retries_of_one_order_are_one_failure(cena: Cena) -> None:
    cena.falso.falha = FORA
    assert {cena.cobrar(chave="a-mesma") for _ in range(LIMITES.falhas * 4)} == {"HTTP_503"}
    assert cena.item()["falhas"]["SS"] == ["a-mesma"]


def test_slow_is_not_down_failures_far_apart_or_between_answers_do_not_open(cena: Cena) -> None:
    for _ in range(LIMITES.falhas * 3):
        cena.falso.falha = FORA
        cena.cobrar()
        cena.relogio.agora += LIMITES.janela_s / (LIMITES.falhas - 2)
    assert cena.estado() == "FECHADO"
    for _ in range(LIMITES.falhas * 3):
        cena.falso.falha = FORA
        cena.cobrar()
        cena.falso.falha = None
        assert cena.cobrar() == "ok"
    assert cena.estado() == "FECHADO"


def test_each_operation_has_its_own_circuit(cena: Cena) -> None:
    cena.cair()
    cena.falso.falha = None
    assert cena.instancia().estornar("e", "c", Prazo(4)) is ResultadoEstorno.NADA_A_ESTORNAR
    assert cena.instancia().consultar("c", Prazo(4)) is None
    cena.falso.falha = FORA
    for n in range(LIMITES.falhas):
        with pytest.raises(GatewayIndisponivelError):
            cena.instancia().consultar(f"c{n}", Prazo(4))
    assert (cena.estado("cobrar"), cena.estado("estornar"), cena.estado("consultar")) == ("ABERTO", "FECHADO", "ABERTO")


def test_it_costs_one_read_and_no_write_but_to_remember_a_failure(cena: Cena) -> None:
    def custo(acao: Callable[[], Any]) -> tuple[int, int]:
        cena.dynamo.leituras = cena.dynamo.escritas = 0
        acao()
        return cena.dynamo.leituras, cena.dynamo.escritas

    assert custo(cena.cobrar) == (1, 0)
    cena.falso.falha = FORA
    assert custo(cena.cobrar) == (1, 1)
    cena.falso.falha = None
    assert custo(cena.cobrar) == (1, 1), "clears the failure"
    assert custo(cena.cobrar) == (1, 0)
    cena.cair()
    assert custo(cena.cobrar) == (1, 0), "refused"
    cena.relogio.agora += LIMITES.aberto_s
    cena.falso.falha = None
    assert custo(cena.cobrar) == (1, 2), "claims the probe, closes"


FORA_DO_AR = [
    ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "GetItem"),
    ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetItem"),
    ReadTimeoutError(endpoint_url="http://x"),
]


@pytest.mark.parametrize("erro", FORA_DO_AR, ids=lambda e: type(e).__name__)
def test_without_the_table_calls_go_through_and_are_counted(cena: Cena, saida: Any, erro: Exception) -> None:
    cena.cair()
    cena.falso.falha = None
    cena.dynamo.erro_ao_ler = erro
    assert [cena.cobrar() for _ in range(3)] == ["ok"] * 3
    assert saida.metricas()["DisjuntorForaDeAlcance"] == 3
    cena.dynamo.erro_ao_ler = None
    assert cena.cobrar() == "DISJUNTOR_ABERTO"


@pytest.mark.parametrize("erro", FORA_DO_AR, ids=lambda e: type(e).__name__)
def test_without_writes_the_verdict_of_the_call_is_kept(cena: Cena, saida: Any, erro: Exception) -> None:
    cena.dynamo.erro_ao_escrever = erro
    cena.falso.falha = FORA
    assert cena.cobrar() == "HTTP_503"
    cena.dynamo.erro_ao_escrever = None
    cena.cair()
    cena.relogio.agora += LIMITES.aberto_s
    cena.dynamo.erro_ao_escrever = erro
    cena.falso.falha = None
    antes = len(cena.falso.chamadas)
    assert cena.cobrar() == "ok", "a probe nobody can claim must not stop sales for ever"
    assert len(cena.falso.chamadas) == antes + 1, "and is sent once"
    assert saida.metricas()["DisjuntorForaDeAlcance"] == 2


def test_too_late_to_send_says_nothing(cena: Cena) -> None:
    cena.cair()
    cena.dynamo.leituras = 0
    with pytest.raises(GatewayIndisponivelError):
        cena.instancia().cobrar("k", 1, "tok-ok", "P", Prazo(0))
    assert cena.dynamo.leituras == 0


@pytest.fixture
def fora_do_ar(gateway_no_ar: None) -> Iterator[None]:
    """The stand-in unavailable to everyone."""
    gateway_simulado._tabela().mudar_modo(Modo.INDISPONIVEL)
    yield
    gateway_simulado._tabela().mudar_modo(Modo.NORMAL)


def test_through_the_handlers_nothing_is_sent_and_the_refund_of_nothing_is_safe(
    fora_do_ar: None, monkeypatch: pytest.MonkeyPatch, saida: Any
) -> None:
    monkeypatch.setenv("DISJUNTOR_ABERTO_S", "3600")
    for n in range(5):
        with pytest.raises(GatewayIndisponivelError, match="no usable answer"):
            cobrar("tok-ok", f"Q{n}")
    gateway_simulado._tabela().mudar_modo(Modo.NORMAL)
    esquecer()  # another instance: what it knows comes from the table
    with pytest.raises(GatewayIndisponivelError) as falha:
        cobrar("tok-ok", "P1")
    assert falha.value.detalhes == {"motivo": "DISJUNTOR_ABERTO"}
    assert falha.value.__context__ is None
    assert movimentos("P1") == []
    assert estornar("tok-ok", "P1") == "NADA_A_ESTORNAR"
    assert movimentos("P1") == ["NADA_A_ESTORNAR"]
    emf = next(linha for linha in saida.tudo().splitlines() if '"DisjuntorAberto"' in linha)
    assert '"Namespace":"Cesta"' in emf.replace(" ", "")
    assert '"operacao":"cobrar"' in emf.replace(" ", "")
    assert '"Dimensions":[["service","operacao"]]' in emf.replace(" ", "") or '[["operacao","service"]]' in emf.replace(
        " ", ""
    )


@pytest.mark.parametrize(
    "mudanca",
    [{"DISJUNTOR_FALHAS": "0"}, {"DISJUNTOR_JANELA_S": "0"}, {"DISJUNTOR_ABERTO_S": "-1"}, {"TABELA_DISJUNTOR": ""}],
)
def test_settings_out_of_range_are_named(sistema: Any, mudanca: dict[str, str]) -> None:
    variaveis = sistema.variaveis() | mudanca
    with pytest.raises(ConfiguracaoInvalidaError, match=next(iter(mudanca))):
        ConfiguracaoPagamentos.do_ambiente(variaveis)
