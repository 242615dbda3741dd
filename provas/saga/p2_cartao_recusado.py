"""Proof 2: the card is refused; the reservation goes back."""

from __future__ import annotations

from provas.execucao import ordem
from provas.saga._apoio import SALDO_INICIAL, ProvaDaSaga


class CartaoRecusado(ProvaDaSaga):
    numero = 2
    titulo = "Cartão recusado"
    o_que_prova = (
        "Quando o cartão é recusado, nada foi cobrado, e a única coisa a desfazer é a reserva: "
        "o estoque volta exatamente ao que era e o pedido diz por que falhou."
    )
    espera = "saldo igual ao de antes e LiberarEstoque executado"

    def executar(self) -> None:
        sku = self.criar_estoque()
        pedido_id = self.novo_pedido_id()
        self.publicar(self.entrada(pedido_id, sku, cartao="tok-forcar-recusa"))
        execucao = self.esperar_execucao(pedido_id)
        self.conferir("fim da execução", "SUCCEEDED", execucao.situacao)
        self.conferir_estoque("estoque igual ao de antes", sku, SALDO_INICIAL)
        self.conferir(
            "LiberarEstoque depois de CobrarPagamento",
            "CobrarPagamento antes de LiberarEstoque",
            " → ".join(execucao.estados),
            ordem(execucao.estados, "CobrarPagamento", "LiberarEstoque"),
        )
        self.conferir(
            "nada a estornar",
            "sem EstornarPagamento",
            " → ".join(execucao.estados),
            "EstornarPagamento" not in execucao.estados,
        )
        cobranca = execucao.visita("CobrarPagamento")
        erros = ", ".join(str(t.erro) for t in cobranca.tentativas) if cobranca else "nenhuma"
        self.conferir("a recusa é definitiva: uma tentativa só", "CartaoRecusadoError", erros)
        self.conferir("status do pedido", "FALHOU_COMPENSADO", self.status(pedido_id))
        motivo = (self.pedido(pedido_id) or {}).get("motivo", {})
        self.conferir("motivo registrado no pedido", "CartaoRecusadoError", motivo.get("erro"))
        self.conferir_dinheiro(pedido_id, 0, 0)
