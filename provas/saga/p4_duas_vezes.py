"""Proof 4: the same order started twice; one execution, one effect.

AWS answers an identical second StartExecution with 200 and the same ARN while the first runs, and with
ExecutionAlreadyExists once it closed; the local engine always answers ExecutionAlreadyExists. What must hold on all
three targets is one execution and one effect: both answers are accepted while it runs, and only the refusal after.
"""

from __future__ import annotations

from botocore.exceptions import ClientError

from provas.saga._apoio import QUANTIDADE, SALDO_INICIAL, VALOR_CENTAVOS, ProvaDaSaga

MESMA = "a mesma execução"
JA_EXISTE = "ExecutionAlreadyExists"


class DuasVezes(ProvaDaSaga):
    numero = 4
    titulo = "O mesmo pedido iniciado duas vezes"
    o_que_prova = (
        "Filas entregam a mesma mensagem mais de uma vez. Iniciar a saga de novo para o mesmo pedido — com ela em "
        "andamento, depois de terminada, ou por mensagens repetidas — não cria outra execução, não cobra "
        "e não reserva de novo."
    )
    espera = "uma execução e um efeito, por qualquer caminho"

    def executar(self) -> None:
        sku = self.criar_estoque()
        self._iniciar_diretamente(sku)
        self._repetir_mensagem(sku)
        saldo, _ = self.estoque(sku)
        self.conferir("saldo do estoque depois dos dois pedidos", SALDO_INICIAL - 2 * QUANTIDADE, saldo)

    def _iniciar_diretamente(self, sku: str) -> None:
        pedido_id = self.novo_pedido_id()
        # Unavailable twice before it approves: the execution is certainly still running at the second call.
        entrada = self.entrada(pedido_id, sku, cartao="tok-indisponivel-2x")
        primeira = self._iniciar(pedido_id, entrada)
        self.exigir("primeira chamada a StartExecution", MESMA, primeira)
        segunda = self._iniciar(pedido_id, entrada)
        durante = self.situacao_execucao(pedido_id)
        self.conferir(
            "segunda chamada, igual, com a saga em andamento",
            f"{MESMA} ou {JA_EXISTE}",
            f"{segunda} (execução {durante})",
            segunda in (MESMA, JA_EXISTE) and durante == "RUNNING",
        )
        execucao = self.esperar_execucao(pedido_id)
        self.conferir("fim da execução", "SUCCEEDED", execucao.situacao)
        self.conferir("terceira chamada, igual, depois de terminada", JA_EXISTE, self._iniciar(pedido_id, entrada))
        self._um_efeito("chamadas diretas", pedido_id)

    def _repetir_mensagem(self, sku: str) -> None:
        pedido_id = self.novo_pedido_id()
        entrada = self.entrada(pedido_id, sku)
        self.publicar(entrada)
        self.publicar(entrada)
        self.esperar_execucao(pedido_id)
        self.publicar(entrada)
        self._esperar_fila_vazia()
        self._um_efeito("mensagem repetida na fila", pedido_id)
        historico = (self.pedido(pedido_id) or {}).get("historico", [])
        self.conferir(
            "mensagem repetida na fila: histórico do pedido",
            "RECEBIDO → RESERVADO → CONFIRMADO",
            " → ".join(str(h["status"]) for h in historico),
        )

    def _um_efeito(self, qual: str, pedido_id: str) -> None:
        self.conferir(f"{qual}: execuções com este nome", 1, self.quantas_execucoes(pedido_id))
        self.conferir(f"{qual}: status do pedido", "CONFIRMADO", self.status(pedido_id))
        execucao = self.execucao(pedido_id)
        self.conferir(
            f"{qual}: vezes em que ReservarEstoque foi visitado", 1, execucao.estados.count("ReservarEstoque")
        )
        self.conferir_dinheiro(pedido_id, VALOR_CENTAVOS, 0)

    def _iniciar(self, pedido_id: str, entrada: str) -> str:
        """Call StartExecution and name the answer: the same execution, another one, or the error code."""
        try:
            resposta = self.alvo.cliente("stepfunctions").start_execution(
                stateMachineArn=self.alvo.saida("arn_maquina_saga"), name=pedido_id, input=entrada
            )
        except ClientError as erro:
            return str(erro.response["Error"]["Code"])
        arn = str(resposta["executionArn"])
        return MESMA if arn == self.arn_execucao(pedido_id) else f"outra execução ({arn})"

    def _esperar_fila_vazia(self) -> None:
        """The counters are approximate on AWS: empty means three empty readings in a row."""
        seguidas = 0

        def vazias(quantas: int) -> bool:
            nonlocal seguidas
            seguidas = 0 if quantas else seguidas + 1
            return seguidas >= 3

        self.esperar_ate(self._mensagens_na_fila, self.alvo.prazos.mensagem * 2, "as três mensagens consumidas", vazias)

    def _mensagens_na_fila(self) -> int:
        """Messages waiting or being processed in the input queue."""
        lidos = self.alvo.cliente("sqs").get_queue_attributes(
            QueueUrl=self.alvo.saida("url_fila_pedidos_criados"),
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )["Attributes"]
        return sum(int(v) for v in lidos.values())
