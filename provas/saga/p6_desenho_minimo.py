"""Proof 6: the minimal architecture dies between the reserve and the write; the two services disagree for ever."""

from __future__ import annotations

import json
from typing import ClassVar

from provas.evidencia import Tabela
from provas.saga._apoio import QUANTIDADE, SALDO_INICIAL, ProvaDaSaga


class DesenhoMinimo(ProvaDaSaga):
    numero = 6
    titulo = "O desenho mínimo morre entre a reserva e a gravação"
    o_que_prova = (
        "É o defeito que a saga elimina, visto acontecer: no desenho síncrono, o processo morre depois de reservar e "
        "antes de gravar o pedido, e o estoque fica preso a um pedido que não existe. Ninguém é avisado e "
        "nada o desfaz."
    )
    espera = "o estoque mostra a reserva e Pedidos não tem o item: os dois discordam"
    exige: ClassVar = (
        ("nome_funcao_sincrono", "desenho mínimo: ligue habilitar_desenho_minimo"),
        ("tabela_pedidos", "tabela de pedidos"),
        ("tabela_estoque", "tabela de estoque"),
        ("arn_maquina_saga", "máquina de estados da saga"),
    )

    def executar(self) -> None:
        self.exigir_injecao("CriarPedidoSincrono")
        sku = self.criar_estoque()
        pedido_id = self.novo_pedido_id()
        evento = {**json.loads(self.entrada(pedido_id, sku)), "forcarInterrupcaoAposReserva": True}
        self.passo("invocando o desenho mínimo com interrupção depois da reserva")
        resposta = self.alvo.cliente("lambda").invoke(
            FunctionName=self.alvo.saida("nome_funcao_sincrono"), Payload=json.dumps(evento).encode()
        )
        erro = json.loads(resposta["Payload"].read() or b"{}")
        self.conferir(
            "o processo morre no meio da invocação",
            "Runtime.ExitError",
            erro.get("errorType"),
            bool(resposta.get("FunctionError")) and erro.get("errorType") == "Runtime.ExitError",
        )
        self.conferir_estoque("o estoque mostra a reserva", sku, SALDO_INICIAL - QUANTIDADE, {pedido_id: QUANTIDADE})
        self.conferir("Pedidos não tem o item", "ausente", self.status(pedido_id))
        saldo, reservas = self.estoque(sku)
        dono = ", ".join(f"{quantas} unidades presas ao pedido {p}" for p, quantas in reservas.items())
        self.mostrar(
            Tabela(
                "O que cada serviço diz depois da queda",
                ("Serviço", "O que diz"),
                (
                    ("Estoque", f"saldo {saldo}; {dono or 'nada preso'}"),
                    ("Pedidos", f"o pedido {pedido_id} não existe" if self.pedido(pedido_id) is None else "existe"),
                ),
            )
        )
