import io
import os
import signal
import time
from typing import ClassVar

import pytest
from apoio_provas import ProvaCerta, RelogioFalso, alvo_falso, contexto
from rich.console import Console

from provas.__main__ import principal
from provas.alvo import Alvo
from provas.erros import EsperaEsgotadaError
from provas.executor import RelatorDeTerminal, executar, executar_uma
from provas.fila.p5_dlq import Dlq
from provas.selecao import Selecao


def prova(relogio=None):
    return ProvaCerta(contexto(relogio))


def test_a_wait_returns_the_value_as_soon_as_it_is_accepted():
    valores = iter([None, {"status": "RECEBIDO"}, {"status": "CONFIRMADO"}, {"status": "NUNCA"}])
    relogio = RelogioFalso()
    visto = prova(relogio).esperar_ate(
        lambda: next(valores), 10, "pedido CONFIRMADO", ate=lambda p: p and p["status"] == "CONFIRMADO"
    )
    assert visto == {"status": "CONFIRMADO"}
    assert len(relogio.sonecas) == 2


def test_a_wait_that_ends_says_what_it_waited_for_and_what_it_saw_last():
    relogio = RelogioFalso()
    with pytest.raises(EsperaEsgotadaError) as erro:
        prova(relogio).esperar_ate(lambda: {"status": "RECEBIDO"}, 3, "pedido CONFIRMADO", ate=lambda p: False)
    assert erro.value.esperado == "pedido CONFIRMADO em até 3 s"
    assert "RECEBIDO" in erro.value.visto
    assert relogio.agora == pytest.approx(3)


def test_a_wait_reads_once_more_at_the_limit():
    relogio = RelogioFalso()
    assert prova(relogio).esperar_ate(lambda: relogio.agora >= 2, 2, "dois segundos")


def test_what_the_condition_raises_is_not_swallowed():
    with pytest.raises(ZeroDivisionError):
        prova().esperar_ate(lambda: 1 / 0, 3, "nunca")


class ProvaErrada(ProvaCerta):
    numero = 2
    limpou: ClassVar[list] = []

    def executar(self):
        self.ao_limpar("primeiro", lambda: self.limpou.append("primeiro"))
        self.ao_limpar("quebrado", lambda: 1 / 0)
        self.ao_limpar("segundo", lambda: self.limpou.append("segundo"))
        self.conferir("saldo", 10, 9)
        self.exigir("status", "CONFIRMADO", "RECEBIDO")
        raise AssertionError("must not go on")


def test_a_failed_proof_keeps_what_it_saw_and_still_cleans_up_last_in_first_out():
    ProvaErrada.limpou = []
    r = executar_uma("saga", ProvaErrada, contexto())
    assert not r.passou
    assert [(c.descricao, c.esperado, c.visto) for c in r.falhas] == [
        ("saldo", "10", "9"),
        ("status", "CONFIRMADO", "RECEBIDO"),
    ]
    assert ProvaErrada.limpou == ["segundo", "primeiro"]
    assert any("quebrado" in e for e in r.erros)


def test_a_clean_up_that_fails_fails_the_proof():
    class Suja(ProvaCerta):
        def executar(self):
            super().executar()
            self.ao_limpar("item", lambda: 1 / 0)

    r = executar_uma("saga", Suja, contexto())
    assert not r.passou
    assert "item" in r.erros[0]


def test_a_proof_that_checks_nothing_does_not_pass():
    class Vazia(ProvaCerta):
        def executar(self):
            pass

    assert not executar_uma("saga", Vazia, contexto()).passou


def test_an_unexpected_error_fails_only_its_own_proof():
    class Quebrada(ProvaCerta):
        def executar(self):
            self.conferir("um", 1, 1)
            raise RuntimeError("boom")

    saida = io.StringIO()
    relator = RelatorDeTerminal(Console(file=saida, width=120))
    quebrada, certa = executar([("saga", Quebrada), ("saga", ProvaCerta)], alvo_falso(), relator)
    assert not quebrada.passou
    assert certa.passou
    assert "boom" in saida.getvalue()


def test_a_missing_output_fails_loud_instead_of_skipping():
    class Exigente(ProvaCerta):
        exige = (("nome_funcao_sincrono", "desenho mínimo ligado"),)

        def executar(self):
            raise AssertionError("must not run")

    r = executar_uma("saga", Exigente, contexto(nome_funcao_sincrono=None))
    assert not r.passou
    assert "nome_funcao_sincrono" in r.erros[0]
    assert "desenho mínimo ligado" in r.erros[0]


def test_evidence_is_gathered_before_the_clean_up_even_after_a_failure():
    ordem = []

    class Ordenada(ProvaCerta):
        def executar(self):
            self.ao_limpar("x", lambda: ordem.append("limpou"))
            self.exigir("x", 1, 2)

        def recolher(self):
            ordem.append("recolheu")

    assert not executar_uma("saga", Ordenada, contexto()).passou
    assert ordem == ["recolheu", "limpou"]


def test_plain_output_names_each_step_once_and_shows_expected_and_seen():
    saida = io.StringIO()
    relator = RelatorDeTerminal(Console(file=saida, width=120))
    relator.comecou("saga", ProvaCerta, 1, 1)
    relator.passo("esperando: x")
    relator.passo("esperando: x")
    ProvaErrada.limpou = []
    relator.terminou(executar_uma("saga", ProvaErrada, contexto()))
    texto = saida.getvalue()
    assert texto.count("esperando: x") == 1
    assert "esperado: CONFIRMADO" in texto
    assert "visto:    RECEBIDO" in texto
    assert "FALHOU" in texto


class ProvaInterrompida(ProvaCerta):
    desfeito: ClassVar[list] = []
    sinal: ClassVar = KeyboardInterrupt

    def executar(self):
        self.ao_limpar("religar o consumidor", lambda: self.desfeito.append("religou"))
        self.ao_limpar("quebrado", lambda: 1 / 0)
        self.ao_limpar("invisibilidade", lambda: self.desfeito.append("60 s"))
        if self.sinal is signal.SIGTERM:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        raise self.sinal


@pytest.mark.parametrize("excecao", [KeyboardInterrupt, SystemExit])
def test_a_stopped_proof_undoes_everything_and_stops_the_others(excecao, monkeypatch):
    monkeypatch.setattr(ProvaInterrompida, "desfeito", [])
    monkeypatch.setattr(ProvaInterrompida, "sinal", excecao)
    relator = RelatorDeTerminal(Console(file=io.StringIO()))
    with pytest.raises(excecao) as parada:
        executar([("saga", ProvaInterrompida), ("saga", ProvaErrada)], alvo_falso(), relator)
    assert ProvaInterrompida.desfeito == ["60 s", "religou"]
    assert ["quebrado" in nota for nota in parada.value.__notes__] == [True]


def test_a_clean_up_that_is_stopped_gives_up_only_the_undo_that_was_running():
    desfeito = []

    def presa():
        raise KeyboardInterrupt

    class Presa(ProvaCerta):
        def executar(self):
            self.ao_limpar("primeira", lambda: desfeito.append("primeira"))
            self.ao_limpar("presa", presa)

    with pytest.raises(KeyboardInterrupt) as parada:
        executar_uma("saga", Presa, contexto())
    assert desfeito == ["primeira"]
    assert parada.value.__notes__ == ["não foi possível limpar (presa): interrompido"]


@pytest.mark.parametrize("sinal", [KeyboardInterrupt, signal.SIGTERM])
def test_the_command_stopped_says_what_was_left_and_is_neither_passed_nor_failed(sinal, monkeypatch, tmp_path, capsys):
    antes = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(ProvaInterrompida, "desfeito", [])
    monkeypatch.setattr(ProvaInterrompida, "sinal", sinal)
    monkeypatch.setattr(Selecao, "provas", lambda _: [("saga", ProvaInterrompida)])
    monkeypatch.setattr(Alvo, "carregar", lambda _: alvo_falso())
    monkeypatch.setattr(Alvo, "conferir_no_ar", lambda _: None)
    monkeypatch.setenv("CESTA_DIR_BUILD", str(tmp_path))
    try:
        assert principal(["saga"]) == 130
    finally:
        signal.signal(signal.SIGTERM, antes)
    assert ProvaInterrompida.desfeito == ["60 s", "religou"]
    dito = capsys.readouterr().err
    assert "não foi possível limpar (quebrado)" in dito
    assert "Interrompido: o que está acima ficou por desfazer" in dito
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("onde_aparece", ["principal", "dlq"])
def test_a_message_in_flight_when_a_proof_is_stopped_is_waited_for(onde_aparece, monkeypatch):
    """Left alone it would reach the DLQ minutes later and ring an alarm that is about nothing."""
    prova = Dlq(contexto(RelogioFalso(), fila_pedidos_url="principal", fila_pedidos_dlq_url="dlq"))
    em_voo, pedidas = [True, True], []

    def retirar(url, mensagem):
        pedidas.append(url)
        if em_voo:
            em_voo.pop()
            return None
        return {"MessageId": mensagem}

    monkeypatch.setattr(prova, "profundidade", lambda url: (0, int(url == onde_aparece)))
    monkeypatch.setattr(prova, "retirar_mensagem", retirar)
    prova._retirar_das_filas("m")
    assert pedidas == [onde_aparece] * 3
