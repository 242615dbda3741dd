"""Proof 2: two changes one right after the other."""

from __future__ import annotations

from typing import ClassVar

from provas.painel._apoio import ProvaDoPainel


class DuasMudancas(ProvaDoPainel):
    numero: ClassVar[int] = 2
    titulo: ClassVar[str] = "Duas mudanças seguidas: nenhuma se perde"
    o_que_prova: ClassVar[str] = (
        "Um pedido que passa por SEPARADO e é cancelado logo em seguida deixa as duas transições gravadas, e a loja é "
        "avisada para devolver o produto à prateleira."
    )
    espera: ClassVar[str] = "exatamente 2 itens TRANSICAO, o estado atual CANCELADO e um alerta"

    def executar(self) -> None:
        fila = self.assinar_reposicao()
        pedido = self.criar_pedido()
        self.passo("PENDENTE → SEPARADO → CANCELADO, sem pausa")
        self.mudar(pedido, "SEPARADO")
        self.mudar(pedido, "CANCELADO")
        alertas = self.esperar_alerta(fila, pedido)
        transicoes = self.esperar_transicoes(pedido, 2)
        self.conferir("itens TRANSICAO do pedido", 2, len(transicoes))
        self.conferir(
            "transições",
            "PENDENTE→SEPARADO, SEPARADO→CANCELADO",
            ", ".join(f"{t['de']}→{t['para']}" for t in transicoes),
        )
        self.conferir("estado atual", ["CANCELADO"], [atual["status"] for atual in self.itens(pedido, "ATUAL")])
        self.conferir("alertas de reposição", 1, len(alertas))
        self.conferir(
            "texto do alerta",
            "Pedido cancelado apos separado — reposicao de estoque",
            alertas[0].get("mensagem"),
        )
        self.conferir("loja do alerta", self.loja, alertas[0].get("loja"))
