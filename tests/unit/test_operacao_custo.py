"""make custo: the arithmetic against a case small enough to do by hand, its inputs, and the page it writes."""

import json
from pathlib import Path

import pytest

from engine.settings import ROOT
from operacao import custo, custo_documento
from operacao.custo import CustoError, Preco, Sistema, Tabela, conta_do_mes, do_pedido, gb_s_por_invocacao

TABELA = Tabela(
    "sa-east-1",
    "2026-01-01",
    {
        "transicao": Preco("Step Functions", 0.05, 1000, 4000, True, "x"),
        "lambda_requisicao": Preco("Lambda", 0.2, 1_000_000, 0, True, "x"),
        "lambda_gb_s": Preco("Lambda", 0.00001, 1, 0, True, "x"),
        "alarme": Preco("CloudWatch", 0.1, 1, 10, True, "x"),
    },
)
NOSSO = Sistema(
    feliz={"transicao": 4, "lambda_requisicao": 6, "lambda_gb_s": 0.1},
    compensado={"transicao": 10, "lambda_requisicao": 9, "lambda_gb_s": 0.2},
    fixo={"alarme": 46},
)
LAB = Sistema(feliz={"transicao": 3}, compensado={"transicao": 12}, fixo={"alarme": 1})


def test_a_month_done_by_hand() -> None:
    # 100 orders a day are 3,000 a month: 2,700 good and 300 compensated.
    conta = conta_do_mes(TABELA, NOSSO, LAB, 100, 10)

    # 10,800 and 3,000 transitions; 16,200 and 2,700 requests; 270 and 60 GB-seconds; 46 alarms.
    assert conta.feliz == pytest.approx({"Step Functions": 0.54, "Lambda": 0.00594, "CloudWatch": 0})
    assert conta.compensado == pytest.approx({"Step Functions": 0.15, "Lambda": 0.00114, "CloudWatch": 0})
    assert conta.fixo == pytest.approx({"Step Functions": 0, "Lambda": 0, "CloudWatch": 4.6})
    assert conta.total == pytest.approx({"Step Functions": 0.69, "Lambda": 0.00708, "CloudWatch": 4.6})
    # 2,700 x 3 and 300 x 12 transitions, one alarm.
    assert conta.lab == pytest.approx({"Step Functions": 0.585, "Lambda": 0, "CloudWatch": 0.1})


def test_the_free_tier_is_of_the_whole_month_and_only_when_asked() -> None:
    conta = conta_do_mes(TABELA, NOSSO, LAB, 100, 10, franquia=True)

    assert conta.total["Step Functions"] == pytest.approx((13_800 - 4_000) * 0.05 / 1000)
    assert conta.total["CloudWatch"] == pytest.approx(36 * 0.1)
    assert conta.lab["CloudWatch"] == 0, "never below zero"
    assert conta.feliz["Step Functions"] == pytest.approx(0.54)


def test_what_one_order_consumes() -> None:
    contagem = {
        "transicoes": 5,
        "invocacoes": {"a": 2, "b": 1},
        "unidades_de_escrita": 15,
        "unidades_de_leitura": 0.5,
        "bytes_de_log_das_funcoes": 1000,
        "bytes_de_log_da_maquina": 2000,
        "mensagens_para_pessoas": 1,
        "bytes_guardados": 500,
    }
    quantidades = do_pedido(contagem, {"a": 0.01, "b": 0.03})

    gigabyte = 1024**3
    assert quantidades == pytest.approx(
        {
            "transicao": 5,
            "lambda_requisicao": 3,
            "lambda_gb_s": 0.05,
            "dynamodb_escrita": 15,
            "dynamodb_leitura": 0.5,
            "dynamodb_gb_mes": 12 * 500 / gigabyte,
            "dynamodb_pitr_gb_mes": 12 * 500 / gigabyte,
            "sqs_requisicao": 6,
            "sns_publicacao": 1,
            "sns_email": 1,
            "api_requisicao": 1,
            "log_gb": 3260 / gigabyte,
            "log_gb_mes": 3260 / gigabyte,
        }
    )


def test_gb_seconds_come_from_duration_and_memory() -> None:
    gb_s = gb_s_por_invocacao({"cesta-criar-pedido": 100.0, "cesta-iniciar-saga": 20.0})

    assert gb_s["cesta-criar-pedido"] == pytest.approx(0.1 * 0.5), "512 MB for a tenth of a second"
    assert gb_s["cesta-iniciar-saga"] == pytest.approx(0.02 * 0.25)
    assert gb_s["cesta-estornar-pagamento"] == pytest.approx(0.1 * 0.25), "not measured: the longest"


@pytest.mark.parametrize(
    ("argumentos", "diz"),
    [
        (["--pedidos-dia", "-1"], "PEDIDOS_DIA"),
        (["--pedidos-dia", "1.5"], "PEDIDOS_DIA"),
        (["--pedidos-dia", "dez"], "PEDIDOS_DIA"),
        (["--pedidos-dia", "9" * 320], "PEDIDOS_DIA"),
        (["--pedidos-dia", "9" * 5000], "PEDIDOS_DIA"),
        (["--pedidos-dia", "10", "--falhas", "-0.1"], "FALHAS"),
        (["--pedidos-dia", "10", "--falhas", "100.1"], "FALHAS"),
        (["--pedidos-dia", "10", "--falhas", "nan"], "FALHAS"),
        (["--pedidos-dia", "10", "--falhas", "poucas"], "FALHAS"),
        (["--pedidos-dia", "10", "--falhas", "\N{ARABIC-INDIC DIGIT THREE}"], "FALHAS"),
        (["--pedidos-dia", "10", "--falhas", "1_0"], "FALHAS"),
        (["--pedidos-dia", "10", "--franquia", "talvez"], "--franquia"),
        (["--falhas", "5"], "FALHAS pede PEDIDOS_DIA"),
    ],
)
def test_what_is_no_number_is_refused_by_name(
    argumentos: list[str], diz: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as saida:
        custo.principal(argumentos)

    assert saida.value.code == 2
    assert diz in capsys.readouterr().err


@pytest.mark.parametrize(
    "argumentos", [["--pedidos-dia", "0"], ["--pedidos-dia", "10", "--falhas", "100"], ["--pedidos-dia", "9" * 9]]
)
def test_the_ends_are_accepted(argumentos: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert custo.principal(argumentos) == 0
    assert "Step Functions" in capsys.readouterr().out


def test_a_missing_price_or_a_broken_table_is_said(tmp_path: Path) -> None:
    with pytest.raises(CustoError, match="gigawatts"):
        TABELA.custo({"gigawatts": 1.21})
    with pytest.raises(CustoError, match="não serve"):
        Tabela.ler(tmp_path / "precos.toml")
    (tmp_path / "precos.toml").write_text(
        'regiao = "r"\ndata = "d"\n[a]\ncomponente = "c"\npreco = -1\npor = 1\nfranquia = 0\n'
        'conferido = true\nfonte = "f"\n'
    )
    with pytest.raises(CustoError, match="negativo"):
        Tabela.ler(tmp_path / "precos.toml")


def test_every_price_says_its_source_and_what_was_not_found_says_so() -> None:
    for nome, preco in Tabela.ler().precos.items():
        assert preco.fonte.startswith("https://"), nome
        assert preco.conferido or preco.nota, f"{nome}: not confirmed, and the file does not say where it comes from"


def test_the_page_is_what_the_counts_and_prices_say() -> None:
    escrita = custo_documento.DOCUMENTO.read_text()

    assert escrita == custo_documento.documento(Tabela.ler(), *custo.sistemas()), "run: make custo"
    assert all(f"## {volume:,} orders a day" in escrita for volume in (10, 3_200, 1_000_000))


def test_the_lab_is_priced_by_its_own_listing() -> None:
    registrado = json.loads((ROOT / "medidas" / "contagens.json").read_text())["lab"]
    _, lab = custo.sistemas()

    assert registrado["estados"] == 9
    assert lab.feliz["transicao"] == registrado["feliz"]["transicoes"] == 3
    assert lab.feliz["lambda_requisicao"] == 5, "its three steps, the API and the starter"
