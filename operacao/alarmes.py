"""``make alarmes``: which alarms of the target are ringing, since when, and where the runbook speaks of them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC
from typing import Any

from operacao.alvos import alvo_em_operacao, dizendo_o_que_falhou, nosso
from provas.alvo import ALVOS, Alvo
from provas.erros import ErroDasProvas


def tocando(alvo: Alvo) -> list[dict[str, Any]]:
    """This system's alarms in ALARM, the one that rang first on top."""
    paginas = alvo.cliente("cloudwatch").get_paginator("describe_alarms").paginate(StateValue="ALARM")
    alarmes = [a for p in paginas for a in p["MetricAlarms"] if nosso(a["AlarmName"])]
    return sorted(alarmes, key=lambda a: a["StateUpdatedTimestamp"])


@dizendo_o_que_falhou
def principal(argumentos: Sequence[str] | None = None, alvo: Alvo | None = None) -> int:
    """0 when the alarms could be read, ringing or not; 2 when there is no target or it stopped answering."""
    p = argparse.ArgumentParser(prog="make alarmes", description="Os alarmes que estão tocando; só lê.")
    p.add_argument("--alvo", default=os.environ.get("ALVO") or "local", choices=ALVOS, help="padrão: %(default)s")
    lidos = p.parse_args(argumentos)
    try:
        alarmes = tocando(alvo or alvo_em_operacao(lidos.alvo))
    except ErroDasProvas as erro:
        print(f"erro: {erro}", file=sys.stderr)
        return 2
    if not alarmes:
        print("Nenhum alarme está tocando.")
    for alarme in alarmes:
        desde = alarme["StateUpdatedTimestamp"].astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        print(f"{alarme['AlarmName']}  desde {desde}")
        print(f"  {alarme.get('AlarmDescription', '')}")
        print(f"  o que fazer: docs/runbook.md, seção {alarme['AlarmName']}")
    return 0


if __name__ == "__main__":
    sys.exit(principal())
