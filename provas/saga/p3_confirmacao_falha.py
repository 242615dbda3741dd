"""Proof 3: the confirmation fails after the charge; the refund comes before the release."""

from __future__ import annotations

from provas.execucao import ordem
from provas.saga._apoio import SALDO_INICIAL, VALOR_CENTAVOS, ProvaDaSaga


class ConfirmacaoFalha(ProvaDaSaga):
    numero = 3
    titulo = "A confirmação falha depois da cobrança"
    o_que_prova = (
        "Quando algo falha com o cliente já cobrado, a saga desfaz na ordem inversa: primeiro devolve o dinheiro, "
        "depois devolve o estoque. A ordem é lida em dois lugares independentes: o histórico da execução e o livro "
        "do gateway."
    )
    espera = "EstornarPagamento antes de LiberarEstoque no histórico e cobrança antes do estorno no gateway"

    def executar(self) -> None:
        self.exigir_injecao("IniciarSaga", "ConfirmarPedido")
        sku = self.criar_estoque()
        pedido_id = self.novo_pedido_id()
        self.publicar(self.entrada(pedido_id, sku, forcarFalhaConfirmar=True))
        execucao = self.esperar_execucao(pedido_id)
        estados = execucao.estados
        self.conferir("fim da execução", "SUCCEEDED", execucao.situacao)
        self.conferir(
            "ordem da compensação no histórico",
            "EstornarPagamento antes de LiberarEstoque",
            " → ".join(estados),
            ordem(estados, "ConfirmarPedido", "EstornarPagamento")
            and ordem(estados, "EstornarPagamento", "LiberarEstoque"),
        )
        confirmacao = execucao.visita("ConfirmarPedido")
        self.conferir(
            "a confirmação foi tentada e repetida antes de desistir",
            "3 tentativas com erro",
            f"{len(confirmacao.tentativas) if confirmacao else 0} tentativas com erro",
            confirmacao is not None and confirmacao.falhou and len(confirmacao.tentativas) == 3,
        )
        movimentos = self.conferir_dinheiro(pedido_id, VALOR_CENTAVOS, VALOR_CENTAVOS)
        estorno = next((m for m in movimentos if m.dinheiro < 0), None)
        liberacao = execucao.visita("LiberarEstoque")
        if estorno and liberacao and liberacao.tentativas and liberacao.tentativas[-1].fim:
            fim = liberacao.tentativas[-1].fim
            self.conferir(
                "o estorno no gateway vem antes da liberação no histórico",
                "estorno antes",
                f"estorno {(fim - estorno.em).total_seconds():.3f} s antes do fim da liberação".replace(".", ","),
                estorno.em <= fim,
            )
        self.conferir("status do pedido", "FALHOU_COMPENSADO", self.status(pedido_id))
        self.conferir_estoque("estoque igual ao de antes", sku, SALDO_INICIAL)
