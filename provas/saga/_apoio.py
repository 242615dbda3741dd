"""What the six proofs share: an order of their own, the queue, the execution, the stock, and the clean-up of it all."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from botocore.exceptions import ClientError
from ulid import ULID

from provas.base import Contexto, Prova
from provas.erros import SaidaAusenteError
from provas.evidencia import Faixa, LinhaDoTempo, Marco, Situacao
from provas.execucao import Execucao, faixas_dos_estados, ler_historico
from provas.saga._gateway import Livro, Movimento, faixas_do_gateway, reais, saldo_liquido

BASICO = (
    ("arn_maquina_saga", "máquina de estados da saga"),
    ("url_fila_pedidos_criados", "fila de entrada da saga"),
    ("tabela_pedidos", "tabela de pedidos"),
    ("tabela_estoque", "tabela de estoque"),
    ("url_gateway_simulado", "gateway simulado: ligue habilitar_gateway_simulado"),
)
FINAIS = {
    "CONFIRMADO",
    "FALHOU_SEM_RESERVA",
    "FALHOU_COMPENSADO",
    "REQUER_INTERVENCAO_HUMANA",
    "ENCERRADO_MANUALMENTE",
}
SALDO_INICIAL = 10
QUANTIDADE = 2
VALOR_CENTAVOS = 14_000  # the average ticket, R$ 140,00


class ProvaDaSaga(Prova):
    """Base of the saga's proofs: every id is new in each run, and everything made is registered to be removed."""

    exige: ClassVar[tuple[tuple[str, str], ...]] = BASICO

    def __init__(self, contexto: Contexto) -> None:
        super().__init__(contexto)
        self.livro = Livro(self.alvo)
        self.pedidos_desenhados: list[str] = []
        self._mensagens_tratadas: set[str] = set()
        self._marcos_extras: dict[str, list[tuple[str, Marco]]] = {}

    # -- making things --------------------------------------------------------------

    def novo_pedido_id(self) -> str:
        """A pedidoId nobody used, with the clean-up of everything that the order may leave behind."""
        pedido_id = f"prova{self.numero}-{ULID()}"
        self.adotar_pedido(pedido_id)
        return pedido_id

    def adotar_pedido(self, pedido_id: str) -> None:
        """Register the clean-up of an order and draw it in the report."""
        self.pedidos_desenhados.append(pedido_id)
        self.ao_limpar(f"pedido {pedido_id}", lambda: self._apagar_pedido(pedido_id))

    def criar_estoque(self, saldo: int = SALDO_INICIAL) -> str:
        """A stock item of this proof alone; returns its sku."""
        sku = f"PROVA{self.numero}-{ULID()}"
        self.alvo.cliente("dynamodb").put_item(
            TableName=self.alvo.saida("tabela_estoque"),
            Item={"sku": {"S": sku}, "saldo": {"N": str(saldo)}, "reservas": {"M": {}}},
            ConditionExpression="attribute_not_exists(sku)",
        )
        self.ao_limpar(
            f"estoque {sku}",
            lambda: self.alvo.cliente("dynamodb").delete_item(
                TableName=self.alvo.saida("tabela_estoque"), Key={"sku": {"S": sku}}
            ),
        )
        return sku

    def entrada(self, pedido_id: str, sku: str, cartao: str = "tok-ok", **marcas: bool) -> str:
        """The saga's input as its canonical JSON (sorted keys, no spaces)."""
        agora = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        campos = {
            "pedidoId": pedido_id,
            "sku": sku,
            "quantidade": QUANTIDADE,
            "valorCentavos": VALOR_CENTAVOS,
            "cartaoToken": cartao,
            "criadoEm": agora,
            **{nome: True for nome, ligada in marcas.items() if ligada},
        }
        return json.dumps(campos, sort_keys=True, separators=(",", ":"))

    def publicar(self, entrada: str) -> None:
        """Put the order in the input queue, as the API does."""
        self.alvo.cliente("sqs").send_message(QueueUrl=self.alvo.saida("url_fila_pedidos_criados"), MessageBody=entrada)

    def exigir_injecao(self, *funcoes: str) -> None:
        """Stop unless the deployed functions accept forced failures.

        Raises
        ------
        SaidaAusenteError
            Injection is off; the message says what to set.
        """
        for funcao in funcoes:
            if self.alvo.variavel(funcao, "PERMITIR_INJECAO_FALHAS").lower() != "true":
                raise SaidaAusenteError(
                    f"A injeção de falhas está desligada em {self.alvo.funcao(funcao)}, e esta prova precisa dela. "
                    "Ponha permitir_injecao_falhas = true nas variáveis do alvo e rode: "
                    f"make deploy ALVO={self.alvo.nome}"
                )

    # -- reading things -------------------------------------------------------------

    def pedido(self, pedido_id: str) -> dict[str, Any] | None:
        """The order's item in plain values, or None."""
        return self._item("tabela_pedidos", "pedidoId", pedido_id)

    def status(self, pedido_id: str) -> str:
        """The order's status, or "ausente"."""
        return str((self.pedido(pedido_id) or {}).get("status", "ausente"))

    def estoque(self, sku: str) -> tuple[int, dict[str, int]]:
        """(balance, reservations by order) of a stock item."""
        item = self._item("tabela_estoque", "sku", sku) or {}
        reservas = {
            k: int(v["quantidade"] if isinstance(v, Mapping) else v) for k, v in item.get("reservas", {}).items()
        }
        return int(item.get("saldo", -1)), reservas

    def movimentos(self, pedido_id: str) -> list[Movimento]:
        """The gateway's ledger for the order."""
        return self.livro.movimentos(pedido_id)

    def arn_execucao(self, pedido_id: str) -> str:
        """ARN of the execution named after the order."""
        maquina = str(self.alvo.saida("arn_maquina_saga"))
        return f"{maquina.replace(':stateMachine:', ':execution:')}:{pedido_id}"

    def situacao_execucao(self, pedido_id: str) -> str:
        """Status of the execution, or "inexistente"."""
        try:
            lida = self.alvo.cliente("stepfunctions").describe_execution(executionArn=self.arn_execucao(pedido_id))
        except ClientError as erro:
            if erro.response["Error"]["Code"] == "ExecutionDoesNotExist":
                return "inexistente"
            raise
        return str(lida["status"])

    def execucao(self, pedido_id: str) -> Execucao:
        """The execution read from its history."""
        paginas = self.alvo.cliente("stepfunctions").get_paginator("get_execution_history")
        eventos = (
            e
            for pagina in paginas.paginate(executionArn=self.arn_execucao(pedido_id), includeExecutionData=True)
            for e in pagina["events"]
        )
        return ler_historico(eventos)

    def quantas_execucoes(self, pedido_id: str) -> int:
        """How many executions of the saga carry this name."""
        paginas = self.alvo.cliente("stepfunctions").get_paginator("list_executions")
        return sum(
            e["name"] == pedido_id
            for pagina in paginas.paginate(stateMachineArn=self.alvo.saida("arn_maquina_saga"))
            for e in pagina["executions"]
        )

    def mensagem_humana(self, pedido_id: str) -> dict[str, Any] | None:
        """The order's message in the human queue, or None; whatever is not this order's is given back at once."""
        sqs, url = self.alvo.cliente("sqs"), self.alvo.saida("url_fila_compensacao_falhou")
        recebidas = sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1, MessageSystemAttributeNames=["SentTimestamp"]
        ).get("Messages", [])
        achada = None
        for m in recebidas:
            if achada is None and json.loads(m["Body"]).get("pedidoId") == pedido_id:
                achada = m
            else:
                sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=m["ReceiptHandle"], VisibilityTimeout=0)
        return achada

    def apagar_mensagem_humana(self, mensagem: Mapping[str, Any]) -> None:
        """Delete a message of the human queue received by this proof."""
        self.alvo.cliente("sqs").delete_message(
            QueueUrl=self.alvo.saida("url_fila_compensacao_falhou"), ReceiptHandle=mensagem["ReceiptHandle"]
        )
        self._mensagens_tratadas.add(json.loads(mensagem["Body"])["pedidoId"])

    # -- waits ----------------------------------------------------------------------

    def esperar_execucao(self, pedido_id: str) -> Execucao:
        """Wait until the execution closes and read it."""
        self.esperar_ate(
            lambda: self.situacao_execucao(pedido_id),
            self.alvo.prazos.mensagem + self.alvo.prazos.execucao,
            "a saga do pedido terminar",
            ate=lambda s: s not in ("RUNNING", "inexistente"),
        )
        return self.execucao(pedido_id)

    def conferir_dinheiro(self, pedido_id: str, cobrado: int, estornado: int) -> list[Movimento]:
        """Compare what the ledger moved with what it should have; returns the ledger."""
        movimentos = self.movimentos(pedido_id)
        self.conferir(
            "movimentos de dinheiro no gateway, em ordem",
            _descrever([v for v in (cobrado, -estornado) if v]),
            _descrever([m.dinheiro for m in movimentos if m.dinheiro]),
        )
        self.conferir("o cliente paga no fim", reais(cobrado - estornado), reais(saldo_liquido(movimentos)))
        return movimentos

    def conferir_estoque(self, descricao: str, sku: str, saldo: int, reservas: Mapping[str, int] | None = None) -> None:
        """Compare the balance and the reservations of a stock item, in words."""
        self.conferir(descricao, _em_palavras(saldo, reservas or {}), _em_palavras(*self.estoque(sku)))

    # -- evidence -------------------------------------------------------------------

    def marcar(self, pedido_id: str, faixa: str, marco: Marco) -> None:
        """Add an instant of its own row ("Filas e avisos") to the order's picture."""
        self._marcos_extras.setdefault(pedido_id, []).append((faixa, marco))

    def recolher(self) -> None:
        for pedido_id in self.pedidos_desenhados:
            if self.situacao_execucao(pedido_id) != "inexistente":
                self.mostrar(self._linha_do_tempo(pedido_id))

    def _linha_do_tempo(self, pedido_id: str) -> LinhaDoTempo:
        execucao = self.execucao(pedido_id)
        movimentos = self.movimentos(pedido_id)
        status = self._faixa_status(pedido_id)
        extras: dict[str, list[Marco]] = {}
        for nome, marco in self._marcos_extras.get(pedido_id, []):
            extras.setdefault(nome, []).append(marco)
        faixas = (
            *faixas_dos_estados(execucao),
            *faixas_do_gateway(movimentos),
            *((status,) if status else ()),
            *(Faixa(nome, "Filas e avisos", marcos=tuple(m)) for nome, m in extras.items()),
        )
        falhas = [v.estado for v in execucao.visitas if v.falhou]
        pago = reais(saldo_liquido(movimentos))
        descricao = (
            f"A execução passou por {', '.join(execucao.estados)}. "
            + (f"Falharam: {', '.join(falhas)}. " if falhas else "Nenhum estado falhou. ")
            + f"O gateway registrou {len(movimentos)} movimento(s); o cliente paga no fim {pago}."
        )
        return LinhaDoTempo(f"Linha do tempo do pedido {pedido_id}", descricao, faixas)

    def _faixa_status(self, pedido_id: str) -> Faixa | None:
        historico = (self.pedido(pedido_id) or {}).get("historico", [])
        marcos = tuple(
            Marco(datetime.fromisoformat(str(h["em"])), _cor(str(h["status"])), str(h["status"]), str(h["passo"]))
            for h in historico
        )
        return Faixa("Status do pedido", "O que o cliente vê", marcos=marcos) if marcos else None

    # -- internals ------------------------------------------------------------------

    def _item(self, tabela: str, chave: str, valor: str) -> dict[str, Any] | None:
        from boto3.dynamodb.types import TypeDeserializer

        lido = self.alvo.cliente("dynamodb").get_item(
            TableName=self.alvo.saida(tabela), Key={chave: {"S": valor}}, ConsistentRead=True
        )
        item = lido.get("Item")
        return None if item is None else {k: TypeDeserializer().deserialize(v) for k, v in item.items()}

    def _apagar_pedido(self, pedido_id: str) -> None:
        """Stop the execution if it still runs, then remove the order, its call for a person and its ledger."""
        chamou_alguem = self.status(pedido_id) == "REQUER_INTERVENCAO_HUMANA"
        if self.situacao_execucao(pedido_id) == "RUNNING":
            try:
                self.alvo.cliente("stepfunctions").stop_execution(
                    executionArn=self.arn_execucao(pedido_id), cause="proof clean-up"
                )
            except ClientError:
                if self.situacao_execucao(pedido_id) == "RUNNING":  # else it ended in between
                    raise
            fim = time.monotonic() + 15
            while self.situacao_execucao(pedido_id) == "RUNNING" and time.monotonic() < fim:
                time.sleep(0.1)
        self._apagar_baixa(pedido_id)
        self.alvo.cliente("dynamodb").delete_item(
            TableName=self.alvo.saida("tabela_pedidos"), Key={"pedidoId": {"S": pedido_id}}
        )
        if self.alvo.tem("url_gateway_simulado"):
            self.livro.apagar(pedido_id)
        if chamou_alguem and pedido_id not in self._mensagens_tratadas:
            deixada = self.esperar_ate(
                lambda: self.mensagem_humana(pedido_id), self.alvo.prazos.mensagem, "fila humana"
            )
            self.apagar_mensagem_humana(deixada)

    def _apagar_baixa(self, pedido_id: str) -> None:
        """Remove the mark of the order's write-off, once it came: without the product it would be a sale of nothing."""
        pedido = self.pedido(pedido_id)
        if pedido is None or not self.alvo.tem("tabela_estoque_baixas"):
            return
        if pedido.get("status") == "CONFIRMADO" and self.situacao_execucao(pedido_id) == "SUCCEEDED":
            fim = time.monotonic() + self.alvo.prazos.mensagem
            while pedido_id in self.estoque(str(pedido.get("sku")))[1] and time.monotonic() < fim:
                time.sleep(0.2)
        self.alvo.cliente("dynamodb").delete_item(
            TableName=self.alvo.saida("tabela_estoque_baixas"), Key={"pedidoId": {"S": pedido_id}}
        )


def _descrever(dinheiro: list[int]) -> str:
    return ", depois ".join(f"{'cobra' if v > 0 else 'devolve'} {reais(abs(v))}" for v in dinheiro) or "nenhum"


def _em_palavras(saldo: int, reservas: Mapping[str, int]) -> str:
    presas = ", ".join(f"{quantas} para {dono}" for dono, quantas in sorted(reservas.items()))
    return f"saldo {saldo}; reservas: {presas or 'nenhuma'}"


def _cor(status: str) -> Situacao:
    if status == "CONFIRMADO":
        return Situacao.SUCESSO
    return Situacao.FALHA if status.startswith("FALHOU") or status == "REQUER_INTERVENCAO_HUMANA" else Situacao.NEUTRO
