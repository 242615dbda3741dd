"""Proof 3: the same message delivered again has its effect once."""

from __future__ import annotations

from provas.evidencia import Tabela
from provas.fila._apoio import SALDO_INICIAL, VALOR_CENTAVOS, ProvaDaFila

ENTREGAS = 5


class Duplicada(ProvaDaFila):
    numero = 3
    titulo = "A mesma mensagem entregue de novo"
    o_que_prova = (
        "O SQS entrega ao menos uma vez. A mesma mensagem chega várias vezes, antes e depois de concluída, e o cliente "
        "é cobrado uma vez e o estoque sai uma vez."
    )
    espera = "um efeito, uma cobrança, uma unidade a menos, quantas forem as entregas"

    def executar(self) -> None:
        self.exigir_filas_vazias()
        item = self.criar_estoque()
        pedido_id = self.novo_pedido_id()
        self.encurtar_invisibilidade(12)
        corpo = self.corpo(pedido_id, item)
        self.enviar(*[corpo] * ENTREGAS)
        self._esperar_fim()
        self.conferir("pedido concluído", "CONCLUIDO", self.situacao(pedido_id))
        self.conferir("registro de idempotência", "COMPLETED", self.processado(pedido_id))
        self.enviar(corpo)
        self._esperar_fim()
        self.conferir("unidades debitadas", 1, SALDO_INICIAL - self.saldo(item))
        self.conferir("cobrado no gateway, em centavos", VALOR_CENTAVOS, self.cobrado(pedido_id))
        self.conferir("efeitos", {"CONCLUIDO": 1}, dict(self.efeitos_do_item(item)))
        self.conferir("nada na DLQ", 0, sum(self.profundidade(str(self.alvo.saida("fila_pedidos_dlq_url")))))
        movimentos = self.livro.movimentos(pedido_id)
        self.mostrar(
            Tabela("Livro do gateway", ("Ordem", "Movimento"), tuple((str(m.ordem), m.tipo) for m in movimentos))
        )

    def _esperar_fim(self) -> None:
        # Deliveries that met the first one at work come back after the invisibility.
        self.esperar_ate(
            lambda: sum(self.profundidade()),
            self.alvo.prazos.mensagem + 240,
            "todas as entregas consumidas",
            ate=lambda quantas: quantas == 0,
        )
