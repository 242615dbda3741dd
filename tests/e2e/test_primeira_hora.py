"""docs/primeira-hora.md, typed as it says from the first order to the end of the alarm, prints what it says."""

from __future__ import annotations

import json
import os
import re
import time

import pytest

from provas.alvo import RAIZ, Alvo
from tests.comando import digitar

pytestmark = [pytest.mark.e2e, pytest.mark.incidente, pytest.mark.timeout(600)]

PACIENCIA_S = 120
"""The document says to ask again; on a busy machine an alarm takes its time."""


def passos() -> list[tuple[list[str], list[str]]]:
    """(commands, lines that the last of them prints) of sections 2 to 7, in order."""
    texto = (RAIZ / "docs" / "primeira-hora.md").read_text()
    trecho = texto[texto.index("## 2.") : texto.index("## 8.")]
    achados: list[tuple[list[str], list[str]]] = []
    for bloco in re.findall(r"^```\n(.*?)^```", trecho, flags=re.MULTILINE | re.DOTALL):
        linhas = bloco.replace("\\\n", " ").splitlines()
        if linhas[0].startswith(("make ", "curl ", "scripts/")):
            achados.append((linhas, []))
        else:
            achados[-1][1].extend(linhas)
    return achados


def test_each_command_prints_what_the_document_says(alvo: Alvo, bancada) -> None:
    bancada.ao_limpar("gateway de volta", lambda: bancada.livro.mudar_modo("NORMAL"))
    ambiente = {**os.environ, "API": str(alvo.saida("url_api"))}
    pedido_id = "01…"

    def dito_por(comando: str) -> str:
        feito = digitar(["bash", "-c", comando.replace("01…", pedido_id)], ambiente=ambiente)
        return feito.stdout + feito.stderr

    dito_por("make semear")
    assert len(passos()) >= 9
    for comandos, ditas in passos():
        for comando in comandos:
            saida = dito_por(comando)
            if comando.startswith("curl"):
                pedido_id = json.loads(saida)["pedidoId"]
                bancada.adotar_pedido(pedido_id)
        esperadas = [
            re.compile(re.escape(dita.replace("01…", pedido_id)).replace("…", ".*") + r"\s*$", re.MULTILINE)
            for dita in ditas
        ]
        fim = time.monotonic() + PACIENCIA_S
        while not all(e.search(saida) for e in esperadas) and time.monotonic() < fim:
            if comandos[-1].startswith("curl"):
                break  # repeating it would be another order
            time.sleep(2)
            saida = dito_por(comandos[-1])
        faltam = [e.pattern for e in esperadas if not e.search(saida)]
        assert faltam == [], f"{comandos[-1]}\n{saida}"
