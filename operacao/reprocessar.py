"""``scripts/reprocessar.sh``: brings back what the consumer's mapping discarded, and says plainly what it could not."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from operacao.alvos import alvo_em_operacao, dizendo_o_que_falhou
from provas.alvo import ALVOS, Alvo
from provas.erros import AlvoNaoImplantadoError

RODADAS = 50
_FRASES = {
    "reprocessada": "reprocessada: {transicoes} transições de {registros} registros",
    "falhou": "ainda falha ({motivo}) nos registros {falhas}; a mensagem ficou na fila",
    "vencida": "passaram as 24 h do stream: estes registros não existem mais; a mensagem ficou na fila",
    "invalida": "não é uma mensagem de falha do consumidor ({motivo}); ficou na fila",
}


def relatar(mensagem: dict[str, Any]) -> str:
    """One Portuguese line about one message."""
    return f"  {mensagem['id'][:8]}  " + _FRASES[mensagem["desfecho"]].format(
        **{**mensagem, "falhas": ", ".join(mensagem["falhas"])}
    )


def reprocessar(alvo: Alvo, encerrar_vencidas: bool) -> Iterator[dict[str, Any]]:
    """Call the function until the queue has nothing more to give; one report per message, as they come."""
    for _ in range(RODADAS):
        resposta = alvo.cliente("lambda").invoke(
            FunctionName=alvo.funcao("ReprocessarDlq"),
            Payload=json.dumps({"maximo": 20, "encerrarVencidas": encerrar_vencidas}).encode(),
        )
        corpo = json.loads(resposta["Payload"].read() or b"{}")
        if resposta.get("FunctionError"):
            raise RuntimeError(f"{corpo.get('errorType')}: {corpo.get('errorMessage')}")
        if not corpo["mensagens"]:
            return
        yield from corpo["mensagens"]


@dizendo_o_que_falhou
def principal(argumentos: Sequence[str] | None = None) -> int:
    """0 when nothing is left to do, 1 when some message stayed in the queue, 2 when it could not run."""
    p = argparse.ArgumentParser(prog="scripts/reprocessar.sh", description="Reprocessa a fila de falhas do painel.")
    p.add_argument("--alvo", default="local", choices=ALVOS)
    p.add_argument(
        "--encerrar-vencidas",
        action="store_true",
        help="apaga as mensagens cujos registros o stream já descartou (só depois de reconciliar)",
    )
    lidos = p.parse_args(argumentos)
    relatos = []
    try:
        for relato in reprocessar(alvo_em_operacao(lidos.alvo), lidos.encerrar_vencidas):
            print(relatar(relato))
            relatos.append(relato)
    except (AlvoNaoImplantadoError, RuntimeError) as erro:
        print(erro, file=sys.stderr)
        return 2
    if not relatos:
        print("A fila de falhas está vazia (ou suas mensagens estão com outra pessoa há menos de 12 minutos).")
        return 0
    vencidas = any(relato["desfecho"] == "vencida" for relato in relatos)
    if vencidas and not lidos.encerrar_vencidas:
        print(
            "Há registros perdidos no stream. Marque as lacunas com scripts/reconciliar.sh; depois, "
            "scripts/reprocessar.sh --encerrar-vencidas tira estas mensagens da fila."
        )
    pendentes = [r for r in relatos if r["desfecho"] in ("falhou", "invalida")]
    return 1 if pendentes or (vencidas and not lidos.encerrar_vencidas) else 0


if __name__ == "__main__":
    sys.exit(principal())
