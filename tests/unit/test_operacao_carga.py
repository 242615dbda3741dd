"""The load: bounded, sent to this machine only, and judged by what became of each order."""

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import boto3
import pytest

from operacao import carga
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
    destino = Carga(alvo(f"https://{host}/api/pedidos"))
    with pytest.raises(CargaError, match="CARGA_HOST_PERMITIDO"):
        destino.url("fila")
    monkeypatch.setenv("CARGA_HOST_PERMITIDO", host)
    assert destino.url("fila") == f"https://{host}/api/pedidos"


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
    feita = Carga(lugar)
    meu = feita.semear(30)
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
    assert feita.cobrancas(Medida("fila", [], 0.0, meu)) == (30, 30)
    feita.limpar()
    restam = {t: ddb.scan(TableName=t)["Count"] for t in ("efeitos", "processados", "estoque", "gateway")}
    assert restam == {"efeitos": 30, "processados": 30, "estoque": 0, "gateway": 60}
    assert {i["itemId"]["S"] for i in ddb.scan(TableName="efeitos")["Items"]} == {"DE-OUTRO"}


@pytest.mark.parametrize("sinal", [signal.SIGINT, signal.SIGTERM])
def test_a_load_that_is_stopped_stops_its_traffic_and_cleans_up(
    sinal: signal.Signals, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing goes on being sent after the clean-up, and the stand-in answers as fast as before."""
    antes = signal.getsignal(signal.SIGTERM)
    gerador = tmp_path / "gerador"
    gerador.write_text(
        f'#!/bin/sh\necho $$ > {tmp_path}/pid; trap "" INT; echo \'{{"enviadas": 1, "status": {{}}}}\'; exec sleep 60\n'
    )
    gerador.chmod(0o755)
    limpezas: list[bool] = []
    funcao = FuncaoFalsa()
    lugar = Alvo(
        "local",
        {"url_sincrono_fila": "http://127.0.0.1/x", "funcoes": {"GatewaySimulado": "g"}},
        None,
        {"sqs": None, "dynamodb": None, "lambda": funcao},
    )

    def vivo() -> bool:
        return Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()

    monkeypatch.setattr(carga, "PYTHON_DA_CARGA", gerador)
    monkeypatch.setattr(carga, "DESTINO", tmp_path)
    monkeypatch.setattr(Alvo, "carregar", lambda *_, **__: lugar)
    monkeypatch.setattr(Alvo, "conferir_no_ar", lambda _: None)
    monkeypatch.setattr(Carga, "semear", lambda *_: "ITEM")
    monkeypatch.setattr(Carga, "limpar", lambda _: limpezas.append(vivo()))
    monkeypatch.setattr(carga.Progress, "update", lambda *_, completed, **__: completed and os.kill(os.getpid(), sinal))
    try:
        assert carga.principal(["--desenhos", "sincrono"]) == 130
    finally:
        signal.signal(signal.SIGTERM, antes)
    assert limpezas == [False]
    assert funcao.atrasos == ["700", "50"]
    assert "Interrompida" in capsys.readouterr().out


def test_the_stand_in_is_put_back_even_if_it_was_still_changing() -> None:
    funcao = FuncaoFalsa(interromper_na=3)
    lugar = Alvo(
        "local", {"funcoes": {"GatewaySimulado": "g"}}, None, {"sqs": None, "dynamodb": None, "lambda": funcao}
    )
    with pytest.raises(KeyboardInterrupt), Carga(lugar).atraso_do_gateway(700):
        raise AssertionError("must not get here")
    assert funcao.atrasos == ["700", "50"]


class FuncaoFalsa:
    """Lambda with one function whose delay is 50 ms; Ctrl-C comes at one of the waits."""

    def __init__(self, interromper_na: int = 0) -> None:
        self.atrasos: list[str] = []
        self._esperas = 0
        self._interromper_na = interromper_na

    def get_waiter(self, _: str) -> "FuncaoFalsa":
        return self

    def wait(self, **_: Any) -> None:
        self._esperas += 1
        if self._esperas == self._interromper_na:
            raise KeyboardInterrupt

    def get_function_configuration(self, **_: Any) -> dict[str, Any]:
        return {"Environment": {"Variables": {"ATRASO_PADRAO_MS": (self.atrasos or ["50"])[-1]}}}

    def update_function_configuration(self, **mudanca: Any) -> None:
        self.atrasos.append(mudanca["Environment"]["Variables"]["ATRASO_PADRAO_MS"])
