import pytest

from provas.erros import UsoInvalidoError
from provas.registro import provas_de
from provas.selecao import Selecao, analisar


@pytest.mark.parametrize(
    ("argumentos", "esperada"),
    [
        ([], Selecao(("saga",), (), "local")),
        (["3", "5"], Selecao(("saga",), (3, 5), "local")),
        (["saga"], Selecao(("saga",), (), "local")),
        (["5", "3", "3"], Selecao(("saga",), (3, 5), "local")),
        (["painel", "2", "--alvo", "aws"], Selecao(("painel",), (2,), "aws")),
        (["--alvo", "localstack", "fila", "1"], Selecao(("fila",), (1,), "localstack")),
        (["2", "--alvo=aws", "saga"], Selecao(("saga",), (2,), "aws")),
        (["saga", "painel", "fila"], Selecao(("saga", "painel", "fila"), (), "local")),
    ],
)
def test_reads_systems_numbers_and_target_in_any_order(monkeypatch, argumentos, esperada):
    monkeypatch.delenv("ALVO", raising=False)
    assert analisar(argumentos) == esperada


@pytest.mark.parametrize(
    ("argumentos", "trecho"),
    [
        (["sagas"], "sagas"),
        (["0"], "'0'"),
        (["-3"], "-3"),
        (["²"], "²"),
        (["--alvo", "producao"], "producao"),
        (["--alvo"], "--alvo"),
        (["saga", "painel", "1"], "um sistema"),
    ],
)
def test_refuses_what_it_does_not_understand(argumentos, trecho):
    with pytest.raises(UsoInvalidoError, match=trecho):
        analisar(argumentos)


def test_the_target_may_come_from_make(monkeypatch):
    monkeypatch.setenv("ALVO", "localstack")
    assert analisar(["1"]).alvo == "localstack"


def test_a_number_the_system_does_not_have_is_refused_with_those_it_has():
    with pytest.raises(UsoInvalidoError, match=r"prova 99; tem: 1, 2, 3, 4, 5, 6"):
        analisar(["1", "99"]).provas()


def test_the_saga_has_its_six_proofs_one_a_file_in_order():
    provas = provas_de("saga")
    assert list(provas) == [1, 2, 3, 4, 5, 6]
    assert len({c.__module__ for c in provas.values()}) == 6
    assert [c.numero for _, c in analisar(["6", "2"]).provas()] == [2, 6]


def test_every_proof_says_what_it_proves_and_when_it_passes():
    for classe in provas_de("saga").values():
        assert min(len(classe.titulo), len(classe.o_que_prova), len(classe.espera)) > 10
