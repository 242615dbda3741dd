"""``python -m provas``: exit status 0 when every proof passed, 1 when one failed, 2 when they could not be run.

Stopped by Ctrl-C or SIGTERM it cleans up first, and the status is 130.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import Console

from provas.alvo import RAIZ, Alvo, pasta_construida
from provas.erros import AlvoNaoImplantadoError, UsoInvalidoError
from provas.executor import RelatorDeTerminal, executar
from provas.relatorio import gerar
from provas.selecao import analisar


def principal(argumentos: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; returns the exit status."""
    erros = Console(stderr=True, highlight=False)
    try:
        selecao = analisar(sys.argv[1:] if argumentos is None else argumentos)
        escolhidas = selecao.provas()
        alvo = Alvo.carregar(selecao.alvo)
        alvo.conferir_no_ar()
    except (UsoInvalidoError, AlvoNaoImplantadoError) as erro:
        erros.print(str(erro), markup=False, soft_wrap=True)
        return 2
    inicio = datetime.now(UTC)
    relator = RelatorDeTerminal()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # who is told to end cleans up too
    try:
        with relator.ligado():
            resultados = executar(escolhidas, alvo, relator)
    except KeyboardInterrupt as interrupcao:
        restos = getattr(interrupcao, "__notes__", [])
        for resto in restos:
            erros.print(resto, markup=False, soft_wrap=True)
        fim = "o que está acima ficou por desfazer" if restos else "o que a prova em curso mudou foi desfeito"
        erros.print(f"Interrompido: {fim}, e nenhum relatório foi escrito.", markup=False, soft_wrap=True)
        return 130
    relator.tabela(resultados)
    arquivo = pasta_construida() / "provas" / "relatorio.html"
    arquivo.parent.mkdir(parents=True, exist_ok=True)
    arquivo.write_text(gerar(resultados, alvo.nome, inicio), encoding="utf-8")
    passaram = sum(r.passou for r in resultados)
    relator.console.print(f"{passaram} de {len(resultados)} provas passaram no alvo {alvo.nome}.", markup=False)
    relator.console.print(
        f"Relatório: {arquivo.relative_to(RAIZ) if arquivo.is_relative_to(RAIZ) else arquivo}", markup=False
    )
    return 0 if passaram == len(resultados) else 1


if __name__ == "__main__":
    sys.exit(principal())
