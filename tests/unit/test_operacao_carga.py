"""The load: bounded, sent to this machine only, and judged by what became of each order."""

from collections import Counter
from typing import Any

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
