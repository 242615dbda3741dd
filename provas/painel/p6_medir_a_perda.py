"""Proof 6 (medir-a-perda): the polling design and the panel, side by side, on the same order."""

from __future__ import annotations

from typing import Any, ClassVar

from provas.evidencia import Tabela
from provas.painel._apoio import BASICO, ProvaDoPainel


class MedirAPerda(ProvaDoPainel):
    numero: ClassVar[int] = 6
    titulo: ClassVar[str] = "Medir a perda: o que a consulta periódica nunca vê"
    o_que_prova: ClassVar[str] = (
        "O mesmo pedido, PENDENTE → SEPARADO → CANCELADO dentro de um intervalo de consulta. O desenho antigo mostra "
        "só CANCELADO e não avisa ninguém: não é um atraso, é uma perda. O painel mostra as duas e avisa."
    )
    espera: ClassVar[str] = "consulta periódica: CANCELADO, sem rastro de SEPARADO; painel: 2 transições e 1 alerta"
    exige: ClassVar[tuple[tuple[str, str], ...]] = (
        *BASICO,
        ("tabela_cache_polling", "desenho por consulta periódica: ligue habilitar_desenho_minimo"),
    )

    def executar(self) -> None:
        fila = self.assinar_reposicao()
        self._consultar()  # everything before this proof is already in the cache
        pedido = self.criar_pedido()
        self.ao_limpar(
            "cache da consulta", lambda: self._cache().delete_item(TableName=self._tabela(), Key=_chave(pedido))
        )
        self.mudar(pedido, "SEPARADO")
        self.mudar(pedido, "CANCELADO")
        self.passo("passa o intervalo: a consulta periódica roda")
        self._consultar()
        item = self._cache().get_item(TableName=self._tabela(), Key=_chave(pedido)).get("Item", {})
        texto = str(item)
        alertas = self.esperar_alerta(fila, pedido)
        transicoes = self.esperar_transicoes(pedido, 2)
        self.conferir("consulta periódica: status", "CANCELADO", item.get("status", {}).get("S"))
        self.conferir(
            "consulta periódica: rastro de SEPARADO", "nenhum", "SEPARADO" if "SEPARADO" in texto else "nenhum"
        )
        self.conferir("painel: transições", 2, len(transicoes))
        self.conferir("painel: SEPARADO está no registro", True, "SEPARADO" in [t["para"] for t in transicoes])
        self.conferir("alertas de reposição (só o painel avisa)", ["stream"], [a.get("origem") for a in alertas])
        self.mostrar(
            Tabela(
                "Lado a lado",
                ("", "Consulta a cada 2 minutos", "Painel"),
                (
                    ("Status mostrado", item.get("status", {}).get("S", "—"), "CANCELADO"),
                    ("Passou por SEPARADO?", "não há como saber", "sim, com instante e sequência"),
                    ("Equipe de estoque avisada?", "não", f"sim ({len(alertas)} alerta)"),
                    ("Espera até aparecer", "até 120 s", "segundos"),
                ),
            )
        )

    def _consultar(self) -> None:
        resposta = self.alvo.cliente("lambda").invoke(FunctionName=self.alvo.funcao("PainelPolling"), Payload=b"{}")
        self.exigir("consulta periódica rodou", None, resposta.get("FunctionError"))

    def _cache(self) -> Any:
        return self.alvo.cliente("dynamodb")

    def _tabela(self) -> str:
        return str(self.alvo.saida("tabela_cache_polling"))


def _chave(pedido: str) -> dict[str, dict[str, str]]:
    return {"PK": {"S": f"PEDIDO#{pedido}"}}
