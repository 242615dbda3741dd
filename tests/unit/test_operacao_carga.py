"""The load: bounded, sent to this machine only, and judged by what became of each order."""

from collections import Counter
from typing import Any

import boto3
import pytest

from operacao.carga import Carga, CargaError, Medida, Opcoes, comparacao, problemas
from provas.alvo import Alvo


def alvo(url: str) -> Alvo:
    return Alvo("local", {"url_api_fila": url}, None, {"sqs": None, "dynamodb": None})


def medida(desenho: str, status: dict[int, int], **campos: Any) -> Medida:
    amostras = [(float(n), s, 100.0 + n) for s, quantas in status.items() for n in range(quantas)]
    return Medida(desenho, amostras, 10.0, "ITEM", **campos)


@pytest.mark.parametrize(
    "campos", [{"total": 0}, {"total": 20_001}, {"concorrencia": 0}, {"concorrencia": 201}, {"ritmo_s": -1}]
)
def test_load_is_bounded(campos: dict[str, Any]) -> None:
    with pytest.raises(CargaError):
        Opcoes(**campos)


@pytest.mark.parametrize("host", ["api.example.com", "127.0.0.1.example.com", "10.0.0.1"])
def test_other_hosts_are_refused_unless_named(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    carga = Carga(alvo(f"https://{host}/api/pedidos"))
    with pytest.raises(CargaError, match="CARGA_HOST_PERMITIDO"):
        carga.url("fila")
    monkeypatch.setenv("CARGA_HOST_PERMITIDO", host)
    assert carga.url("fila") == f"https://{host}/api/pedidos"


def test_this_machine_is_allowed() -> None:
    assert Carga(alvo("http://127.0.0.1:4566/x")).url("fila") == "http://127.0.0.1:4566/x"


def test_perfect_run_has_no_problem() -> None:
    boa = medida("fila", {202: 50}, pedidos=Counter({"CONCLUIDO": 50}), saldo_final=0)
    assert problemas(boa, Opcoes(total=50)) == []


@pytest.mark.parametrize(
    ("status", "pedidos", "saldo", "trecho"),
    [
        ({202: 49, 503: 1}, {"CONCLUIDO": 49}, 1, "202"),
        ({202: 50}, {"CONCLUIDO": 49}, 1, "efeitos"),
        ({202: 50}, {"CONCLUIDO": 49, "ESTOQUE_DEBITADO": 1}, 0, "efeitos"),
        ({202: 50}, {"CONCLUIDO": 51}, -1, "efeitos"),
        ({202: 50}, {"CONCLUIDO": 50}, -1, "saldo"),
    ],
)
def test_each_kind_of_loss_is_seen(status: dict[int, int], pedidos: dict[str, int], saldo: int, trecho: str) -> None:
    achados = problemas(medida("fila", status, pedidos=Counter(pedidos), saldo_final=saldo), Opcoes(total=50))
    assert any(trecho in achado for achado in achados)


def test_comparison_counts_failures_and_needs_both_designs() -> None:
    sincrono, fila = medida("sincrono", {201: 79, 429: 21}), medida("fila", {202: 100})
    frases = comparacao([sincrono, fila])
    assert "21 de 100 no síncrono (21.0%), 0 de 100 com fila" in frases[0]
    assert comparacao([fila]) == []


def test_percentiles_of_few_and_many() -> None:
    assert medida("fila", {202: 1}).percentil(95) == 100.0
    assert medida("fila", {}).percentil(95) == 0.0
    assert medida("fila", {202: 101}).percentil(50) == pytest.approx(150.0)


def test_clean_up_takes_only_what_this_load_made(aws: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every table is left as it was: the ledger too, which the proofs read whole."""
    ddb = boto3.client("dynamodb")
    for tabela, chaves in (
        ("efeitos", ["pedidoId"]),
        ("processados", ["PedidoId"]),
        ("estoque", ["itemId"]),
        ("gateway", ["pk", "sk"]),
    ):
        ddb.create_table(
            TableName=tabela,
            KeySchema=[{"AttributeName": c, "KeyType": t} for c, t in zip(chaves, ("HASH", "RANGE"), strict=False)],
            AttributeDefinitions=[{"AttributeName": c, "AttributeType": "S"} for c in chaves],
            BillingMode="PAY_PER_REQUEST",
        )
    saidas = {"tabelas_fila": {t: t for t in ("efeitos", "processados", "estoque")}}
    lugar = Alvo("local", saidas, None, {"sqs": None, "dynamodb": ddb})
    monkeypatch.setattr(Alvo, "variavel", lambda *_: "gateway")
    carga = Carga(lugar)
    meu = carga.semear(30)
    for numero in range(60):
        pedido, item = f"p{numero}", meu if numero < 30 else "DE-OUTRO"
        ddb.put_item(TableName="efeitos", Item={"pedidoId": {"S": pedido}, "itemId": {"S": item}})
        ddb.put_item(TableName="processados", Item={"PedidoId": {"S": pedido}})
        ddb.put_item(
            TableName="gateway", Item={"pk": {"S": f"COBRANCA#fila-cobranca-{pedido}"}, "sk": {"S": "COBRANCA"}}
        )
        ddb.put_item(
            TableName="gateway",
            Item={
                "pk": {"S": "MOVIMENTOS"},
                "sk": {"S": f"{numero:012d}"},
                "movimento": {"S": "COBRANCA_APROVADA"},
                "pedidoId": {"S": pedido},
            },
        )
    assert carga.cobrancas(Medida("fila", [], 0.0, meu)) == (30, 30)
    carga.limpar()
    restam = {t: ddb.scan(TableName=t)["Count"] for t in ("efeitos", "processados", "estoque", "gateway")}
    assert restam == {"efeitos": 30, "processados": 30, "estoque": 0, "gateway": 60}
    assert {i["itemId"]["S"] for i in ddb.scan(TableName="efeitos")["Items"]} == {"DE-OUTRO"}
