"""Proof 2: the backlog grows while nobody consumes, and drains to zero with nothing lost."""

from __future__ import annotations

from provas.fila._apoio import INVISIBILIDADE_S, ProvaDaFila

PEDIDOS = 40


class Esvazia(ProvaDaFila):
    numero = 2
    titulo = "A fila cresce e esvazia"
    o_que_prova = (
        "Com o consumidor parado, a loja continua vendendo: os pedidos esperam na fila. Quando ele volta, a fila "
        "esvazia e nenhum pedido se perdeu nem se repetiu."
    )
    espera = "a fila guarda todos os pedidos, depois chega a zero, e os efeitos são exatamente eles"

    def executar(self) -> None:
        self.exigir_filas_vazias()
        item = self.criar_estoque()
        self.encurtar_invisibilidade(INVISIBILIDADE_S)
        self.parar_consumidor()
        respostas = [self.postar(item) for _ in range(PEDIDOS)]
        pedidos = [corpo["pedidoId"] for status, corpo in respostas if status == 202]
        for pedido_id in pedidos:
            self.adotar_pedido(pedido_id)
        self.exigir("aceitos com o consumidor parado", PEDIDOS, len(set(pedidos)))
        esperando = self.esperar_ate(
            lambda: sum(self.profundidade()),
            self.alvo.prazos.mensagem,
            "os pedidos na fila",
            ate=lambda quantos: quantos >= PEDIDOS,
        )
        self.conferir("pedidos esperando na fila", PEDIDOS, esperando)
        self.conferir("nada aconteceu ainda", {}, dict(self.efeitos_do_item(item)))
        self.ligar_consumidor()
        self.esperar_ate(
            lambda: sum(self.profundidade()),
            self.alvo.prazos.mensagem + 240,
            "a fila vazia",
            ate=lambda quantos: quantos == 0,
        )
        self.conferir("efeitos = pedidos, todos concluídos", {"CONCLUIDO": PEDIDOS}, dict(self.efeitos_do_item(item)))
        self.conferir("cada pedido aceito tem o seu efeito", {"CONCLUIDO"}, {self.situacao(p) for p in pedidos})
        self.conferir("nada na DLQ", 0, sum(self.profundidade(str(self.alvo.saida("fila_pedidos_dlq_url")))))
