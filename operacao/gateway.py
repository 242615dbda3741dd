"""``make gateway MODO=…``: takes the gateway stand-in down and brings it back, to see what happens meanwhile."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from operacao.alvos import alvo_em_operacao, dizendo_o_que_falhou
from provas.alvo import ALVOS, Alvo
from provas.erros import ErroDasProvas
from provas.saga._gateway import Livro

MODOS = {"normal": "NORMAL", "indisponivel": "INDISPONIVEL"}


@dizendo_o_que_falhou
def principal(argumentos: Sequence[str] | None = None, alvo: Alvo | None = None) -> int:
    """0 when the stand-in is in that mode, 2 when there is none or it does not answer. Production has none."""
    p = argparse.ArgumentParser(prog="make gateway", description="Derruba e levanta o gateway de mentira.")
    p.add_argument("modo", choices=MODOS)
    p.add_argument("--alvo", default=os.environ.get("ALVO") or "local", choices=ALVOS, help="padrão: %(default)s")
    lidos = p.parse_args(argumentos)
    try:
        onde = alvo or alvo_em_operacao(lidos.alvo, producao=False)
        Livro(onde).mudar_modo(MODOS[lidos.modo])
    except ErroDasProvas as erro:
        print(f"erro: {erro}", file=sys.stderr)
        return 2
    print(f"gateway de mentira do alvo {onde.nome}: {lidos.modo}")
    return 0


if __name__ == "__main__":
    sys.exit(principal())
