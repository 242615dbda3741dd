"""One run of the bench as ``docs/bench.md``."""

from __future__ import annotations

from typing import Any

METAS = {"post": 1.5, "saga": 1.3, "importacao": 1.6, "pacote_mb": 30}
"""Ratios, and megabytes, that a run must not pass."""

_MODELO = """# Speed

Written by `make bench`; every ratio is within one run, system and floor taking turns. The floor is a function that does
nothing, behind the same API and, in the same state machine, in the place of every function; the writes that the machine
makes itself are real in both.

The ratio of a POST moves by about a tenth with how fast the machine happens to be. In each invocation the engine waits
5 ms for more of the function's log, which no machine shortens; what remains is computing, and about twice as much of it
here as on the floor. The readings are taken in three stretches of the run; repeat a run that misses by less.

{quando}: {processador}, {nucleos} cores, {sistema}, Python {python}, load {carga_no_inicio} at the start. Local engine.

| what | here, ms: median (quartiles) | floor, ms | ratio | target |
|---|---|---|---|---|
{comparacoes}

| `POST /pedidos`, in flight | here, a second (p50, p95 ms) | floor | of the floor's throughput |
|---|---|---|---|
{vazoes}

Import, in the functions' environment: the floor (`import boto3` and one client) takes {piso_ms:.0f} ms; the slowest
handler may take {meta_importacao} times as long. The second ratio adds the handler's first client, made when called.

| handler | ms (half the interquartile range) | ratio | with its first client |
|---|---|---|---|
{importacoes}

Package: {pacote} MB unzipped, without the SDK (target ≤ {meta_pacote} MB).

Reserve and write-off of one order on one SKU, on DynamoDB Local (which charges each item of a transaction 4 units,
where the service documents 2):

| order | write units | stock item, bytes |
|---|---|---|
{leituras}

What else an order consumes does not depend on its SKU: `medidas/contagens.json`.
"""


def documento(medidas: dict[str, Any]) -> str:
    """The text, from what :func:`medidas.bench.medir` measured."""
    comparadas = {
        "`POST /pedidos`": ("post", f"≤ {METAS['post']}"),
        "the same with `Idempotency-Key`: two writes more": ("post_com_chave", ""),
        "happy saga, with a gateway that answers at once": ("saga", f"≤ {METAS['saga']}"),
        "the same with the gateway stand-in, a function with its own API and table": ("saga_simulado", ""),
    }
    importadas = medidas["importacao"]
    return _MODELO.format(
        **medidas["maquina"],
        comparacoes="\n".join(_comparacao(nome, medidas[chave], meta) for nome, (chave, meta) in comparadas.items()),
        vazoes="\n".join(_vazao(quantos, lados) for quantos, lados in medidas["vazao"].items()),
        piso_ms=importadas["piso_ms"],
        meta_importacao=METAS["importacao"],
        importacoes="\n".join(
            f"| {um['handler']} | {um['ms']:.0f} (± {um['espalhamento'] / 2:.0%}) | {um['razao']:.2f} "
            f"| {um['com_cliente']:.2f} |"
            for um in importadas["handlers"]
        ),
        pacote=medidas["pacote"]["mb"],
        meta_pacote=METAS["pacote_mb"],
        leituras="\n".join(
            f"| {lida['pedido']:,} | {lida['unidades']:g} | {lida['bytes']} |"
            for lida in medidas["capacidade"]["leituras"]
        ),
    )


def _comparacao(nome: str, comparacao: dict[str, Any], meta: str) -> str:
    lados = [
        f"{lado['mediana_ms']:.1f} ({lado['q1_ms']:.1f} to {lado['q3_ms']:.1f})"
        for lado in (comparacao["nosso"], comparacao["piso"])
    ]
    return f"| {nome} | {lados[0]} | {lados[1]} | {comparacao['razao']:.2f} | {meta} |"


def _vazao(quantos: str, lados: dict[str, Any]) -> str:
    nosso, chao = (
        f"{lado['por_segundo']} ({lado['p50_ms']}, {lado['p95_ms']})"
        + (f", {lado['recusados']} refused" if lado["recusados"] else "")
        for lado in (lados["nosso"], lados["piso"])
    )
    parte = lados["nosso"]["por_segundo"] / lados["piso"]["por_segundo"]
    return f"| {quantos} | {nosso} | {chao} | {parte:.0%} |"
