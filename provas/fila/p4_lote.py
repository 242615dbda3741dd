"""Proof 4: one malformed message among nine valid; only it comes back."""

from __future__ import annotations

from provas.fila._apoio import INVISIBILIDADE_S, SALDO_INICIAL, VALOR_CENTAVOS, ProvaDaFila


class Lote(ProvaDaFila):
    numero = 4
    titulo = "Uma mensagem malformada entre nove válidas"
    o_que_prova = (
        "As dez chegam no mesmo lote. As nove válidas têm seu efeito e saem da fila; só a malformada volta, sem "
        "arrastar as outras para uma nova tentativa."
    )
    espera = "nove pedidos concluídos uma vez; só a malformada continua na fila"

    def executar(self) -> None:
        self.exigir_filas_vazias()
        item = self.criar_estoque()
        pedidos = [self.novo_pedido_id() for _ in range(9)]
        corpos = [self.corpo(pedido_id, item) for pedido_id in pedidos]
        corpos.insert(4, self.corpo(self.novo_pedido_id(), item, quantidade=0))
        self.encurtar_invisibilidade(INVISIBILIDADE_S)
        self.parar_consumidor()
        malformada = self.enviar(*corpos)[4]
        fila = str(self.alvo.saida("fila_pedidos_url"))
        self.ao_limpar("mensagem malformada", lambda: self._retirar(fila, malformada))
        self.ligar_consumidor()
        self.esperar_ate(
            lambda: sum(self.situacao(p) == "CONCLUIDO" for p in pedidos),
            self.alvo.prazos.mensagem + 120,
            "as nove válidas concluídas",
            ate=lambda quantas: quantas == 9,
        )
        restam = self.esperar_ate(
            lambda: sum(self.profundidade()), 30, "só a malformada na fila", ate=lambda quantas: quantas == 1
        )
        self.conferir("mensagens que voltam", 1, restam)
        self.conferir("efeitos", {"CONCLUIDO": 9}, dict(self.efeitos_do_item(item)))
        self.conferir("unidades debitadas", 9, SALDO_INICIAL - self.saldo(item))
        self.conferir("cobrado das nove, em centavos", 9 * VALOR_CENTAVOS, sum(self.cobrado(p) for p in pedidos))
        self.passo("tirando a malformada da fila")
        self.parar_consumidor()
        achada = self._retirar(fila, malformada)
        self.conferir("a que voltou é a malformada", malformada, achada)

    def _retirar(self, fila: str, malformada: str) -> str:
        """Take the malformed message out once it is visible again; its id, or "outra" when it is not there."""
        if sum(self.profundidade()) == 0:
            return "nenhuma"
        achada = self.esperar_ate(lambda: self.retirar_mensagem(fila, malformada), 60, "a malformada visível outra vez")
        return str(achada["MessageId"]) if achada else "outra"
