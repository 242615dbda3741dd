import pytest
from apoio_provas import em

from provas.erros import ProvaFalhouError
from provas.evidencia import Situacao
from provas.saga._gateway import faixas_do_gateway, ler_movimento, reais, saldo_liquido


def linha(ordem, movimento, valor=14_000):
    return ler_movimento(
        {"ordem": ordem, "movimento": movimento, "pedidoId": "p", "tokenCobranca": "t", "valorCentavos": valor,
         "em": em(ordem).isoformat()}
    )  # fmt: skip


def test_only_an_approved_charge_and_a_refund_move_money():
    livro = [linha(1, "COBRANCA_RECUSADA"), linha(2, "COBRANCA_APROVADA"), linha(3, "COBRANCA_BLOQUEADA")]
    assert [m.dinheiro for m in livro] == [0, 14_000, 0]
    assert saldo_liquido(livro) == 14_000
    assert saldo_liquido([*livro, linha(4, "ESTORNO")]) == 0
    assert saldo_liquido([linha(1, "NADA_A_ESTORNAR", 0)]) == 0


def test_a_line_of_an_unknown_kind_is_refused():
    with pytest.raises(ProvaFalhouError, match="CHARGEBACK"):
        linha(1, "CHARGEBACK")


def test_each_kind_gets_its_row_and_its_sign():
    cobrancas, estornos = faixas_do_gateway([linha(1, "COBRANCA_RECUSADA"), linha(2, "ESTORNO")])
    assert cobrancas.marcos[0].situacao is Situacao.FALHA
    assert (estornos.marcos[0].situacao, estornos.marcos[0].rotulo) == (Situacao.SUCESSO, "devolveu R$ 140,00")


@pytest.mark.parametrize(
    ("centavos", "texto"), [(0, "R$ 0,00"), (5, "R$ 0,05"), (14_000, "R$ 140,00"), (-123_456_78, "-R$ 123.456,78")]
)
def test_money_reads_as_brazilians_write_it(centavos, texto):
    assert reais(centavos) == texto
