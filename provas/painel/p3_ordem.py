"""Proof 3: the order inside one key. The status changes each time: a change of anything else would write nothing."""

from __future__ import annotations

from typing import ClassVar

from provas.painel._apoio import ProvaDoPainel

CAMINHO = ("SEPARADO", "PENDENTE", "SEPARADO", "EM_ENTREGA", "SEPARADO", "EM_ENTREGA", "ENTREGUE")


class Ordem(ProvaDoPainel):
    numero: ClassVar[int] = 3
    titulo: ClassVar[str] = "A ordem de cada pedido é a ordem das escritas"
    o_que_prova: ClassVar[str] = (
        "Dois pedidos mudam de status intercalados, sete vezes cada um. O registro de cada pedido, na ordem da chave, "
        "repete a ordem em que a origem escreveu."
    )
    espera: ClassVar[str] = "sequências crescentes e status na ordem escrita, nos dois pedidos"

    def executar(self) -> None:
        pedidos = (self.criar_pedido(), self.criar_pedido())
        self.passo("mudando dois pedidos, intercalados")
        for status in CAMINHO:
            for pedido in pedidos:
                self.mudar(pedido, status)
        for qual, pedido in enumerate(pedidos, 1):
            transicoes = self.esperar_transicoes(pedido, len(CAMINHO))
            self.conferir(f"pedido {qual}: status na ordem da chave", list(CAMINHO), [t["para"] for t in transicoes])
            numeros = [int(t["sequencia"]) for t in transicoes]
            self.conferir(f"pedido {qual}: sequências crescentes", sorted(set(numeros)), numeros)
            self.conferir(
                f"pedido {qual}: cada transição começa onde a anterior terminou",
                ["PENDENTE", *CAMINHO[:-1]],
                [t["de"] for t in transicoes],
            )
