import pytest
from apoio_provas import em, entrou, evento, historico_aws, historico_local, saiu

from provas.evidencia import Situacao
from provas.execucao import faixas_dos_estados, ler_historico, ordem


def test_reads_states_attempts_and_errors_of_the_local_engine():
    e = ler_historico(historico_local())
    assert e.situacao == "SUCCEEDED"
    assert e.estados == ["CobrarPagamento", "ConfirmarPedido", "EstornarPagamento"]
    cobranca = e.visita("CobrarPagamento")
    assert [t.erro for t in cobranca.tentativas] == ["GatewayIndisponivelError", None]
    assert not cobranca.falhou
    assert e.visita("ConfirmarPedido").falhou
    assert e.visita("Outro") is None


def test_reads_the_events_aws_writes_for_a_direct_lambda_arn():
    e = ler_historico(historico_aws())
    assert e.situacao == "FAILED"
    assert [t.erro for t in e.visita("CobrarPagamento").tentativas] == ["GatewayIndisponivelError", "States.Timeout"]
    assert len(e.visita("MarcarCompensando").tentativas) == 1


def test_an_open_execution_has_no_end():
    e = ler_historico(historico_local()[:3])
    assert (e.situacao, e.fim) == ("RUNNING", None)
    assert faixas_dos_estados(e, em(2))[0].trechos[0].fim == em(2)


@pytest.mark.parametrize("eventos", [[], [evento("TaskStateEntered", 0)]])
def test_a_history_without_its_beginning_is_refused(eventos):
    with pytest.raises(ValueError, match="history"):
        ler_historico(eventos)


def test_rows_show_each_attempt_and_the_wait_between_them():
    faixa = faixas_dos_estados(ler_historico(historico_local()))[0]
    assert [t.situacao for t in faixa.trechos] == [Situacao.FALHA, Situacao.ESPERA, Situacao.SUCESSO]
    espera = faixa.trechos[1]
    assert (espera.inicio, espera.fim) == (em(0.2), em(0.5))
    assert "0.30 s" in espera.detalhe


def test_choices_and_passes_are_read_but_not_drawn():
    eventos = [
        historico_local()[0],
        evento("ParallelStateEntered", 0.1, stateEnteredEventDetails={"name": "ParaFilaHumana"}),
        evento("ChoiceStateEntered", 0.2, stateEnteredEventDetails={"name": "OndeParou"}),
        evento("ChoiceStateExited", 0.2, stateExitedEventDetails={"name": "OndeParou"}),
        entrou("EnviarParaFilaHumana", 0.3),
        evento("TaskScheduled", 0.3),
        evento("TaskSucceeded", 0.4),
        saiu("EnviarParaFilaHumana", 0.4),
        evento("ParallelStateExited", 0.5, stateExitedEventDetails={"name": "ParaFilaHumana"}),
    ]
    e = ler_historico(eventos)
    assert e.estados == ["ParaFilaHumana", "OndeParou", "EnviarParaFilaHumana"]
    faixas = faixas_dos_estados(e, em(1))
    assert [f.nome for f in faixas] == ["ParaFilaHumana", "EnviarParaFilaHumana"]
    assert (faixas[0].trechos[0].inicio, faixas[0].trechos[0].fim) == (em(0.1), em(0.5))


def test_order_needs_both_and_the_right_way_round():
    estados = ["EstornarPagamento", "LiberarEstoque"]
    assert ordem(estados, "EstornarPagamento", "LiberarEstoque")
    assert not ordem(estados[::-1], "EstornarPagamento", "LiberarEstoque")
    assert not ordem(["LiberarEstoque"], "EstornarPagamento", "LiberarEstoque")
    assert not ordem(["EstornarPagamento"], "EstornarPagamento", "LiberarEstoque")
