"""docs/custo.md, from what :mod:`operacao.custo` computes."""

from __future__ import annotations

from engine.settings import ROOT
from operacao.custo import (
    FALHAS_PADRAO,
    GB,
    MESES_GUARDADOS,
    Preco,
    Sistema,
    Tabela,
    conta_do_mes,
    linhas,
    vezes,
)

DOCUMENTO = ROOT / "docs" / "custo.md"
VOLUMES = (10, 3_200, 1_000_000)
CONSUMO = {
    "transicao": "state transitions",
    "lambda_requisicao": "function invocations",
    "lambda_gb_s": "GB-seconds",
    "dynamodb_escrita": "DynamoDB write units",
    "dynamodb_leitura": "DynamoDB read units",
    "sqs_requisicao": "SQS requests",
    "log_gb": "bytes logged",
}

_MODELO = """# Cost

Written by `make custo`; do not edit. US dollars a month of 30 days, {regiao}, list prices of {data}: no free tier, no
taxes, no support. `make custo PEDIDOS_DIA=500 FALHAS=3` prints another volume. {falhas:g} % of the orders are charged
and then undone, the longest of the usual paths; the others end well.
{meses}
A thousand orders: {mil[0]:.2f} on the good path and {mil[1]:.2f} compensated here; {mil[2]:.2f} and {mil[3]:.2f} in the
lab's design.

## What an order consumes

| | good | compensated | the lab's, good | the lab's, compensated |
|---|--:|--:|--:|--:|
{consumo}

Counts are measured on the real handlers and state machine (`medidas/contagens.json`, held by a test). Durations are of
the local engine, which is not Lambda's machine (`medidas/duracoes.json`). Not in it: cold starts, the gateway's price,
and a customer's questions (`GET /pedidos/{{id}}` is a request, an invocation and a read unit). Tables hold {guardados}
months of orders; log storage is counted uncompressed. Most of what an order logs is its execution's log, at level ALL
with data. Alarms, dashboards and polling are of the three systems together; orders and metrics are the saga's. Not in
it either: what the panel and the queue cost by use, and their metrics and the checks' (0.30 USD each a month).

The lab's design is its saga, with the same API, queue and starter around it. It is cheaper because it does less: no
Idempotency-Key, no order recorded before the saga, no history, no index by status, no write-off. Its compensated path
ends FAILED, with the stock still held ([departures](departures.md), rows 1 and 2). Its stock item grows: the reserve
counted here as one write unit consumes 284 at the 10,000th order of one SKU (`make medir-estoque`).

## Prices

No source of this region was found for {inconfirmados}: `nota` says where the figure comes from.

| what | US$ | per | source | nota |
|---|--:|--:|---|---|
{precos}
"""


def documento(tabela: Tabela, nosso: Sistema, lab: Sistema) -> str:
    """The text: the three volumes, what an order consumes, the prices."""
    caminhos = (nosso.feliz, nosso.compensado, lab.feliz, lab.compensado)
    return _MODELO.format(
        regiao=tabela.regiao,
        data=tabela.data,
        falhas=FALHAS_PADRAO,
        meses="".join(_mes(tabela, nosso, lab, volume) for volume in VOLUMES),
        mil=[sum(tabela.custo(vezes(caminho, 1000)).values()) for caminho in caminhos],
        consumo="\n".join(
            f"| {rotulo} | "
            + " | ".join(_numero(caminho[nome] * (GB if nome == "log_gb" else 1)) for caminho in caminhos)
            + " |"
            for nome, rotulo in CONSUMO.items()
        ),
        guardados=MESES_GUARDADOS,
        inconfirmados=", ".join(f"`{nome}`" for nome, preco in tabela.precos.items() if not preco.conferido),
        precos="\n".join(_preco(nome, preco) for nome, preco in tabela.precos.items()),
    )


def _mes(tabela: Tabela, nosso: Sistema, lab: Sistema, volume: int) -> str:
    conta = conta_do_mes(tabela, nosso, lab, volume, FALHAS_PADRAO)
    corpo = "\n".join(
        f"| {'**sum**' if nome == 'soma' else nome} | " + " | ".join(f"{valor:,.2f}" for valor in valores) + " |"
        for nome, valores in linhas(conta)
    )
    return f"""
## {volume:,} orders a day

| component | good orders | compensated | fixed | total | the lab's design |
|---|--:|--:|--:|--:|--:|
{corpo}
"""


def _numero(valor: float) -> str:
    return f"{valor:,.0f}" if valor >= 1000 else f"{valor:.4g}"


def _preco(nome: str, preco: Preco) -> str:
    valor = f"{preco.preco:.10f}".rstrip("0").rstrip(".")
    return f"| {nome} | {valor} | {preco.por:,} | <{preco.fonte}> | {preco.nota} |"
