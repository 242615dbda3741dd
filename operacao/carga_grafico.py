"""Picture of a comparison (matplotlib, SVG). Runs in ``.venvs/carga``: ``python -m operacao.carga_grafico in.json
out.svg``.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

CORES = {"ok": "#2a9d5c", "falha": "#c0392b", "sincrono": "#b45f06", "fila": "#1f5fa8", "fundo": "#8fb3dd"}
NOMES = {"sincrono": "Síncrono", "fila": "Com fila"}


def desenhar(resultado: dict[str, Any], destino: Path) -> None:
    """Draw answers per second of each design, latency of both, and the queue's depth, into an SVG."""
    desenhos = [nome for nome in ("sincrono", "fila") if nome in resultado["desenhos"]]
    figura, eixos = plt.subplots(2, 2, figsize=(12, 7.5), constrained_layout=True)
    figura.suptitle(
        f"{resultado['total']} pedidos, {resultado['concorrencia']} clientes, gateway de {resultado['atraso_ms']} ms"
    )
    teto = 1.0
    for nome, eixo in zip(desenhos, eixos[0], strict=False):
        amostras = resultado["desenhos"][nome]["amostras"]
        certas = Counter(int(t) for t, status, _ in amostras if 200 <= status < 300)
        falhas = Counter(int(t) for t, status, _ in amostras if not 200 <= status < 300)
        segundos = range(int(max((t for t, _, _ in amostras), default=0)) + 1)
        eixo.bar(segundos, [certas[s] for s in segundos], 1.0, color=CORES["ok"], label="aceitas")
        eixo.bar(
            segundos,
            [falhas[s] for s in segundos],
            1.0,
            bottom=[certas[s] for s in segundos],
            color=CORES["falha"],
            label="falhas",
        )
        eixo.set(title=f"{NOMES[nome]}: respostas por segundo", xlabel="segundos", ylabel="respostas/s")
        eixo.legend(loc="upper right")
        teto = max([teto] + [certas[s] + falhas[s] for s in segundos])
    for eixo in eixos[0]:
        eixo.set_ylim(0, teto * 1.15)
    for nome in desenhos:
        tempos = sorted(ms for _, _, ms in resultado["desenhos"][nome]["amostras"])
        if tempos:
            eixos[1][0].plot(
                tempos, [(i + 1) / len(tempos) * 100 for i in range(len(tempos))], color=CORES[nome], label=NOMES[nome]
            )
    eixos[1][0].set(
        title="Tempo de resposta", xlabel="milissegundos (escala log)", ylabel="% até este tempo", xscale="log"
    )
    eixos[1][0].axvline(resultado["atraso_ms"], color="#888", linestyle=":", label="tempo do gateway")
    eixos[1][0].legend(loc="lower right")
    fila = resultado["desenhos"].get("fila", {}).get("profundidade", [])
    if fila:
        tempos_fila = [p[0] for p in fila]
        eixos[1][1].stackplot(
            tempos_fila,
            [p[2] for p in fila],
            [p[1] for p in fila],
            labels=["em processamento", "esperando"],
            colors=[CORES["fundo"], CORES["fila"]],
        )
        eixos[1][1].legend(loc="upper right")
    eixos[1][1].set(title="A fila absorve o pico e esvazia", xlabel="segundos", ylabel="pedidos na fila")
    figura.savefig(destino, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    desenhar(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2]))
