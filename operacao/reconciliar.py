"""``scripts/reconciliar.sh``: compares the source with the panel and marks what an outage beyond 24 h hid."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from operacao.alvos import alvo_em_operacao, dizendo_o_que_falhou
from provas.alvo import ALVOS, Alvo
from provas.erros import AlvoNaoImplantadoError

RODADAS = 200
_LINHAS = (
    ("conferidos", "pedidos conferidos"),
    ("igual", "iguais na origem e no painel"),
    ("semTransicao", "nunca mudaram de status"),
    ("painelAdiante", "mudaram durante a conferência: o painel já está adiante"),
    ("aguardandoStream", "mudaram há pouco: o stream ainda pode entregar"),
    ("lacunas", "lacunas"),
    ("antesDoPainel", "  mudaram pela última vez antes de o painel existir"),
    ("reposicaoCerta", "  vistos separados e agora cancelados (loja avisada)"),
    ("reposicaoTalvez", "  cancelados que podem ter sido separados (loja deve conferir)"),
    ("mudouEnquantoConferia", "mudaram durante a conferência: ficam para a próxima"),
    ("ilegiveis", "itens da origem que não puderam ser lidos"),
)


def relatar(resultado: dict[str, Any]) -> str:
    """What was found, in Portuguese."""
    contagem = resultado["contagem"]
    linhas = [f"{contagem.get(nome, 0):>9}  {texto}" for nome, texto in _LINHAS if contagem.get(nome)]
    if resultado["exemplos"]:
        linhas.append("Pedidos com lacuna: " + ", ".join(resultado["exemplos"]))
    if resultado["simulada"]:
        linhas.append("Nada foi gravado (simulação).")
    if resultado.get("repetirApos"):
        linhas.append(f"Será repetida sozinha, uma vez, depois de {resultado['repetirApos']}.")
    return "\n".join(linhas) or "Nenhum pedido na origem."


def reconciliar(alvo: Alvo, evento: dict[str, Any]) -> dict[str, Any]:
    """Call the function until it says it finished; each call goes on where the last one stopped."""
    for _ in range(RODADAS):
        resposta = alvo.cliente("lambda").invoke(
            FunctionName=alvo.funcao("ReconciliarPainel"), Payload=json.dumps(evento).encode()
        )
        corpo: dict[str, Any] = json.loads(resposta["Payload"].read() or b"{}")
        if resposta.get("FunctionError"):
            raise RuntimeError(f"{corpo.get('errorType')}: {corpo.get('errorMessage')}")
        if corpo["concluida"] or corpo["simulada"]:
            return corpo
        print(f"  … {corpo['contagem'].get('conferidos', 0)} conferidos", file=sys.stderr)
        evento = {**evento, "recomecar": False}
    raise RuntimeError("a reconciliação não terminou; rode de novo para continuar de onde parou")


@dizendo_o_que_falhou
def principal(argumentos: Sequence[str] | None = None) -> int:
    """0 when it finished, 2 when it could not run."""
    p = argparse.ArgumentParser(prog="scripts/reconciliar.sh", description="Compara a origem com o painel.")
    p.add_argument("--alvo", default="local", choices=ALVOS)
    p.add_argument("--loja", help="só uma loja (padrão: todas)")
    p.add_argument("--simular", action="store_true", help="conta e não grava nada")
    p.add_argument("--continuar", action="store_true", help="continua a última que não terminou")
    p.add_argument("--carencia", type=int, help="segundos desde a última mudança para chamar de lacuna (padrão: 25 h)")
    lidos = p.parse_args(argumentos)
    evento: dict[str, Any] = {"simular": lidos.simular, "recomecar": not lidos.continuar}
    if lidos.loja:
        evento["loja"] = lidos.loja
    if lidos.carencia is not None:
        evento["carenciaSegundos"] = lidos.carencia
    try:
        alvo = alvo_em_operacao(lidos.alvo)
        print(relatar(reconciliar(alvo, evento)))
    except (AlvoNaoImplantadoError, RuntimeError) as erro:
        print(erro, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(principal())
