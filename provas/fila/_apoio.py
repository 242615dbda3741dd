"""What the queue's proofs share: orders of their own, the queue and its mapping, stock, effects, and the clean-up."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from datetime import UTC, datetime
from typing import Any, ClassVar

from provas.base import Contexto, Prova
from provas.saga._gateway import Livro

BASICO = (
    ("fila_pedidos_url", "fila de pedidos"),
    ("fila_pedidos_dlq_url", "DLQ da fila"),
    ("url_api_fila", "API da fila"),
    ("tabelas_fila", "tabelas da fila"),
    ("url_gateway_simulado", "gateway simulado: ligue habilitar_gateway_simulado"),
)
SALDO_INICIAL = 500
INVISIBILIDADE_S = 30
"""For the proofs that charge many orders at once: while as many cold gateways start on a small machine nothing is
charged, and five receives must outlast that."""
ULTIMA_LEITURA_S = 15  # longer than the mapping's batching window (5 s)
VALOR_CENTAVOS = 1_990


class ProvaDaFila(Prova):
    """Base of the queue's proofs: every id is new in each run, and everything made is registered to be removed."""

    exige: ClassVar[tuple[tuple[str, str], ...]] = BASICO

    def __init__(self, contexto: Contexto) -> None:
        super().__init__(contexto)
        self.livro = Livro(self.alvo)
        self._sqs = self.alvo.cliente("sqs")
        self._ddb = self.alvo.cliente("dynamodb")

    # -- making things --------------------------------------------------------------

    def criar_estoque(self, saldo: int = SALDO_INICIAL) -> str:
        """A stock item of this proof alone; returns its id."""
        item = f"PROVA{self.numero}-{uuid.uuid4().hex[:12].upper()}"
        tabela = self.alvo.saida("tabelas_fila")["estoque"]
        self._ddb.put_item(TableName=tabela, Item={"itemId": {"S": item}, "saldo": {"N": str(saldo)}})
        chave = {"itemId": {"S": item}}
        self.ao_limpar(f"estoque {item}", lambda: self._ddb.delete_item(TableName=tabela, Key=chave))
        return item

    def novo_pedido_id(self) -> str:
        """An id nobody used, with the clean-up of what its order leaves behind."""
        pedido_id = str(uuid.uuid4())
        self.adotar_pedido(pedido_id)
        return pedido_id

    def adotar_pedido(self, pedido_id: str) -> None:
        """Register the clean-up of an order."""
        self.ao_limpar(f"pedido {pedido_id}", lambda: self._apagar_pedido(pedido_id))

    def corpo(self, pedido_id: str, item: str, **campos: Any) -> str:
        """A message's body, as the API writes it."""
        agora = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return json.dumps(
            {
                "pedidoId": pedido_id,
                "itemId": item,
                "quantidade": 1,
                "valorCentavos": VALOR_CENTAVOS,
                "lojaId": "loja-prova",
                "recebidoEm": agora,
                **campos,
            }
        )

    def enviar(self, *corpos: str) -> list[str]:
        """Put bodies straight on the queue, up to 10 in one call; returns their message ids, in order."""
        entradas = [{"Id": str(n), "MessageBody": corpo} for n, corpo in enumerate(corpos)]
        resposta = self._sqs.send_message_batch(QueueUrl=self.alvo.saida("fila_pedidos_url"), Entries=entradas)
        ids = {enviada["Id"]: str(enviada["MessageId"]) for enviada in resposta["Successful"]}
        return [ids[str(n)] for n in range(len(corpos))]

    def postar(self, item: str, **cabecalhos: str) -> tuple[int, dict[str, Any]]:
        """POST an order to the API; status and body."""
        resposta = self.alvo.http.request(
            "POST",
            str(self.alvo.saida("url_api_fila")),
            body=json.dumps({"itemId": item, "quantidade": 1, "valorCentavos": VALOR_CENTAVOS, "lojaId": "loja-prova"}),
            headers={"Content-Type": "application/json", **cabecalhos},
        )
        return resposta.status, json.loads(resposta.data)

    # -- reading things -------------------------------------------------------------

    def profundidade(self, url: str | None = None) -> tuple[int, int]:
        """(waiting, being worked on) messages of a queue; the main one by default."""
        lidos = self._sqs.get_queue_attributes(
            QueueUrl=url or self.alvo.saida("fila_pedidos_url"),
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )["Attributes"]
        return int(lidos["ApproximateNumberOfMessages"]), int(lidos["ApproximateNumberOfMessagesNotVisible"])

    def situacao(self, pedido_id: str) -> str:
        """The effect's situation, or "ausente"."""
        item = self._ddb.get_item(
            TableName=self.alvo.saida("tabelas_fila")["efeitos"],
            Key={"pedidoId": {"S": pedido_id}},
            ConsistentRead=True,
        ).get("Item")
        return str(item["situacao"]["S"]) if item else "ausente"

    def efeitos_do_item(self, item: str) -> Counter[str]:
        """Effects of a stock item's orders, by situation."""
        paginas = self._ddb.get_paginator("scan").paginate(
            TableName=self.alvo.saida("tabelas_fila")["efeitos"],
            ConsistentRead=True,
            ProjectionExpression="situacao",
            FilterExpression="itemId = :item",
            ExpressionAttributeValues={":item": {"S": item}},
        )
        return Counter(str(lido["situacao"]["S"]) for pagina in paginas for lido in pagina["Items"])

    def saldo(self, item: str) -> int:
        """Units left of a stock item."""
        lido = self._ddb.get_item(
            TableName=self.alvo.saida("tabelas_fila")["estoque"], Key={"itemId": {"S": item}}, ConsistentRead=True
        )
        return int(lido["Item"]["saldo"]["N"])

    def cobrado(self, pedido_id: str) -> int:
        """Centavos taken for the order, by the gateway's ledger."""
        return sum(movimento.dinheiro for movimento in self.livro.movimentos(pedido_id))

    def processado(self, pedido_id: str) -> str:
        """Powertools' record of the order (INPROGRESS, COMPLETED), or "ausente"."""
        item = self._ddb.get_item(
            TableName=self.alvo.saida("tabelas_fila")["processados"],
            Key={"PedidoId": {"S": pedido_id}},
            ConsistentRead=True,
        ).get("Item")
        return str(item["Situacao"]["S"]) if item else "ausente"

    # -- the mapping and the queue's clock ------------------------------------------

    def exigir_filas_vazias(self) -> None:
        """Start only when neither queue holds anything of others: depths and the alarm are theirs too."""
        for nome, saida in (("fila de pedidos", "fila_pedidos_url"), ("DLQ", "fila_pedidos_dlq_url")):
            url = str(self.alvo.saida(saida))
            limite = 330.0 if saida == "fila_pedidos_url" else 5.0
            self.esperar_ate(
                lambda url=url: sum(self.profundidade(url)),  # type: ignore[misc]  # of a default, mypy infers nothing
                limite,
                f"{nome} vazia antes de começar (o que está lá é de outros pedidos; veja scripts/dlq.sh listar)",
                ate=lambda quantas: quantas == 0,
            )

    def parar_consumidor(self) -> None:
        """Switch the mapping off until :meth:`ligar_consumidor`, or the clean-up."""
        self.ao_limpar("religar o consumidor", self.ligar_consumidor)
        self._ligar(False)

    def ligar_consumidor(self) -> None:
        """Switch the mapping on."""
        self._ligar(True)

    def _ligar(self, ligado: bool) -> None:
        cliente, mapeamento = self.alvo.cliente("lambda"), str(self.alvo.saida("id_mapeamento_fila"))
        esperado = "Enabled" if ligado else "Disabled"
        if cliente.get_event_source_mapping(UUID=mapeamento)["State"] != esperado:
            cliente.update_event_source_mapping(UUID=mapeamento, Enabled=ligado)
        self.esperar_ate(
            lambda: cliente.get_event_source_mapping(UUID=mapeamento)["State"],
            120,
            "consumidor ligado" if ligado else "consumidor parado",
            ate=lambda estado: estado == esperado,
        )
        if not ligado and self.alvo.nome == "localstack":
            # The worker that LocalStack replaced ends its last poll after the mapping already says Disabled.
            fim = time.monotonic() + ULTIMA_LEITURA_S
            self.esperar_ate(lambda: time.monotonic() > fim, 2 * ULTIMA_LEITURA_S, "a última leitura do consumidor")

    def encurtar_invisibilidade(self, segundos: int) -> None:
        """Make failed messages come back sooner, until the clean-up: the wait shrinks, not the number of receives."""
        url = self.alvo.saida("fila_pedidos_url")
        atual = self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])["Attributes"]
        self.conferir("invisibilidade implantada", "60 s", f"{atual['VisibilityTimeout']} s")

        def mudar(valor: str) -> None:
            self._sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": valor})

        self.ao_limpar("devolver a invisibilidade a 60 s", lambda: mudar("60"))
        mudar(str(segundos))
        self.anotar(
            f"Durante a prova a invisibilidade da fila foi encurtada de 60 s para {segundos} s, só para esperar menos; "
            "o número de recebimentos é o mesmo."
        )

    # -- clean-up -------------------------------------------------------------------

    def _apagar_pedido(self, pedido_id: str) -> None:
        tabelas = self.alvo.saida("tabelas_fila")
        self._ddb.delete_item(TableName=tabelas["efeitos"], Key={"pedidoId": {"S": pedido_id}})
        self._ddb.delete_item(TableName=tabelas["processados"], Key={"PedidoId": {"S": pedido_id}})
        gateway = self.alvo.variavel("GatewaySimulado", "TABELA_GATEWAY")
        cobranca = f"COBRANCA#fila-cobranca-{pedido_id}"
        chaves = [("MOVIMENTOS", f"{m.ordem:012d}") for m in self.livro.movimentos(pedido_id)]
        for pk, sk in [*chaves, (cobranca, "COBRANCA"), (cobranca, "TENTATIVAS")]:
            self._ddb.delete_item(TableName=gateway, Key={"pk": {"S": pk}, "sk": {"S": sk}})

    def retirar_mensagem(self, url: str, id_mensagem: str) -> dict[str, Any] | None:
        """Receive and delete one message by its id, giving back whatever else came along; None when not there now."""
        recebidas = self._sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=30, WaitTimeSeconds=1, AttributeNames=["All"]
        ).get("Messages", [])
        achada = None
        for mensagem in recebidas:
            if mensagem["MessageId"] == id_mensagem:
                achada = mensagem
                self._sqs.delete_message(QueueUrl=url, ReceiptHandle=mensagem["ReceiptHandle"])
            else:
                self._sqs.change_message_visibility(
                    QueueUrl=url, ReceiptHandle=mensagem["ReceiptHandle"], VisibilityTimeout=0
                )
        return achada
