"""Proof 1: from the write at the source to the manager's list."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from provas.painel._apoio import LIMITE_REACAO_S, ProvaDoPainel


class Reacao(ProvaDoPainel):
    numero: ClassVar[int] = 1
    titulo: ClassVar[str] = "O painel reage em segundos"
    o_que_prova: ClassVar[str] = (
        "Uma mudança de status na origem aparece na lista do gerente em menos de 10 s. No desenho por consulta a cada "
        "2 minutos, a espera chega a 120 s."
    )
    espera: ClassVar[str] = "a API do painel mostra o novo status em menos de 10 s, três vezes seguidas"

    def executar(self) -> None:
        pedido = self.criar_pedido()
        tempos = []
        for status in ("SEPARADO", "EM_ENTREGA", "ENTREGUE"):
            self.passo(f"mudando para {status}")
            comeco = time.monotonic()
            self.mudar(pedido, status)
            self._esperar_na_lista(pedido, status)
            tempos.append(time.monotonic() - comeco)
            self.conferir(
                f"tempo até a lista mostrar {status}",
                f"menos de {LIMITE_REACAO_S:.0f} s",
                f"{tempos[-1]:.1f} s",
                tempos[-1] < LIMITE_REACAO_S,
            )
        self.anotar(f"Reação: {', '.join(f'{t:.1f} s' for t in tempos)} (da escrita até a API do painel mostrar).")

    def _esperar_na_lista(self, pedido: str, status: str) -> None:
        def mostra(visto: dict[str, Any] | None) -> bool:
            return visto is not None and visto["status"] == status

        self.esperar_ate(
            lambda: self.na_api(pedido), self.alvo.prazos.mensagem, f"{status} na lista do painel", ate=mostra
        )
