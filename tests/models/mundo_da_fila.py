"""The consumer's world for the queue model: moto tables, a gateway that honours keys, simulated time, and an axe.

Every call to DynamoDB and to the gateway is a boundary, before and after it. At a boundary a plan may kill the
process (nothing it does afterwards has an effect) or let another process take the same messages before this one goes
on.
"""

import datetime as dt_real
import json
import random
import types
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import boto3
import pytest
from moto import mock_aws

from comum.http_saida import RespostaJson
from fila import consumidor
from fila.efeitos import RepositorioDeEfeitos
from fila.erros import CobrancaSemRespostaError
from fila.gateway import ContaDaLoja
from fila.lote import ProcessadorDeLotes
from fila.processados import TabelaDeProcessados
from tests.models.mapeamento_sqs import FilaSQS, Handler, Interrompido, MapeamentoSQS, Mensagem, RelogioSimulado

Acao = Literal["morre", "duplicata", "zumbi"]
Tropeco = Literal["mudo_antes", "mudo_depois", "em_andamento", "erro_guardado", "abandonada"]
SALDO = 1000


@dataclass(frozen=True)
class PedidoDeTeste:
    """An order to send, and how the gateway treats it: refuses it, or stumbles before it answers."""

    id: str
    quantidade: int = 1
    valor: int = 1000
    item: str = "ITEM-1"
    recusado: bool = False
    tropecos: tuple[Tropeco, ...] = ()
    vezes: int = 1

    def corpo(self) -> str:
        """The message's body."""
        return json.dumps(
            {
                "pedidoId": self.id,
                "itemId": self.item,
                "quantidade": self.quantidade,
                "valorCentavos": self.valor,
                "lojaId": "recusa" if self.recusado else "loja-1",
                "recebidoEm": "2026-03-01T12:00:00.000Z",
            }
        )


@dataclass
class _Processo:
    plano: dict[int, Acao]
    mensagens: list[Mensagem]
    toques: int = 0
    morto: bool = False


class Fronteiras:
    """Counts the boundaries that the running process crosses and applies its plan."""

    def __init__(self) -> None:
        self.pilha: list[_Processo] = []
        self.outra_entrega: Callable[[list[Mensagem], Acao], None] = lambda _mensagens, _acao: None

    def toque(self, *_: Any, **__: Any) -> None:
        """One boundary."""
        if not self.pilha:
            return
        processo = self.pilha[-1]
        if processo.morto:
            raise Interrompido
        processo.toques += 1
        acao = processo.plano.get(processo.toques)
        if acao == "morre":
            processo.morto = True
            raise Interrompido
        if acao is not None:
            self.outra_entrega(processo.mensagens, acao)


class GatewayFalso:
    """The gateway's contract in memory: one result per key; ``movimentos`` is every charge that happened."""

    def __init__(self, fronteiras: Fronteiras, pedidos: dict[str, PedidoDeTeste], sem_chave: bool = False) -> None:
        self.fronteiras = fronteiras
        self.sem_chave = sem_chave
        self.tropecos = {p.id: list(p.tropecos) for p in pedidos.values()}
        self.resultados: dict[str, RespostaJson] = {}
        self.movimentos: list[tuple[str, int]] = []
        self.abandonadas: set[str] = set()  # keys whose look-up says "in progress" until charged again
        self.erros_guardados: set[str] = set()  # keys whose every charge answers 500, as Stripe replays a stored one

    def __call__(self, metodo: str, caminho: str, corpo: dict[str, Any] | None, chave: str | None) -> RespostaJson:
        """One call; the process may die before it arrives or before the answer does."""
        self.fronteiras.toque()
        if metodo == "GET":
            resposta = self._consultar(caminho)
        else:
            assert corpo is not None and chave is not None
            resposta = self._cobrar(corpo, chave)
        self.fronteiras.toque()
        return resposta

    def _cobrar(self, corpo: dict[str, Any], chave: str) -> RespostaJson:
        pedido = corpo["referencia"]
        pendentes = self.tropecos.get(pedido, [])
        tropeco = pendentes.pop(0) if pendentes else None
        if tropeco == "em_andamento":
            return RespostaJson(409, {"codigo": "EM_ANDAMENTO"})
        self.abandonadas.discard(chave)
        if tropeco == "abandonada":
            self.abandonadas.add(chave)
        if tropeco in ("mudo_antes", "abandonada"):
            raise CobrancaSemRespostaError("no answer", motivo="PRAZO")
        if self.sem_chave or chave not in self.resultados:
            if corpo["cartaoToken"] == "tok-recusa":
                self.resultados[chave] = RespostaJson(402, {"codigo": "CARTAO_RECUSADO"})
            else:
                self.movimentos.append((pedido, corpo["valorCentavos"]))
                self.resultados[chave] = RespostaJson(201, {"idTransacao": f"tx-{chave}", "status": "APROVADA"})
        if tropeco == "erro_guardado":
            self.erros_guardados.add(chave)
        if tropeco == "mudo_depois" or chave in self.erros_guardados:
            raise CobrancaSemRespostaError("no answer", motivo="PRAZO")
        return self.resultados[chave]

    def _consultar(self, caminho: str) -> RespostaJson:
        chave = caminho.rsplit("/", 1)[-1]
        if chave in self.abandonadas:
            return RespostaJson(200, {"status": "EM_ANDAMENTO"})
        guardada = self.resultados.get(chave)
        if guardada is None:
            return RespostaJson(404, {"status": 404, "codigo": "COBRANCA_INEXISTENTE"})
        return RespostaJson(200, guardada.corpo if guardada.status == 201 else {"status": "RECUSADA"})


@dataclass
class Mundo:
    """One scenario: tables of its own, queue, DLQ, gateway."""

    cliente: Any
    fronteiras: Fronteiras
    relogio: RelogioSimulado
    pedidos: list[PedidoDeTeste]
    sorte: random.Random = field(default_factory=lambda: random.Random(0))
    saldo: int = SALDO
    max_recebimentos: int = 5
    sem_chave: bool = False
    fabrica: "Callable[[Mundo], Handler] | None" = None
    planos: list[dict[int, Acao]] = field(default_factory=list)
    prefixo: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    def __post_init__(self) -> None:
        self.dlq = FilaSQS("dlq", self.relogio)
        self.fila = FilaSQS("pedidos", self.relogio, 60, self.max_recebimentos, self.dlq)
        self.gateway = GatewayFalso(self.fronteiras, {p.id: p for p in self.pedidos}, self.sem_chave)
        self.mapeamento = MapeamentoSQS(self.fila, self.invocar, self.sorte)
        self.invocacoes = 0
        self.fronteiras.outra_entrega = self._outra_entrega
        for tabela, chave in (("processados", "PedidoId"), ("efeitos", "pedidoId"), ("estoque", "itemId")):
            self.cliente.create_table(
                TableName=self.tabela(tabela),
                KeySchema=[{"AttributeName": chave, "KeyType": "HASH"}],
                AttributeDefinitions=[{"AttributeName": chave, "AttributeType": "S"}],
                BillingMode="PAY_PER_REQUEST",
            )
        for item in sorted({p.item for p in self.pedidos}):
            self.cliente.put_item(
                TableName=self.tabela("estoque"), Item={"itemId": {"S": item}, "saldo": {"N": str(self.saldo)}}
            )

    def tabela(self, nome: str) -> str:
        """Name of one of this scenario's tables."""
        return f"{self.prefixo}-{nome}"

    def enviar_pedidos(self) -> None:
        """Send every order, as many times as it says."""
        for pedido in self.pedidos:
            for _ in range(pedido.vezes):
                self.fila.enviar(pedido.corpo(), {"PedidoId": pedido.id})

    def invocar(self, evento: dict[str, Any], contexto: Any) -> Any:
        """The real handler in a process of its own, which dies as the plan says."""
        plano = self.planos[self.invocacoes] if self.invocacoes < len(self.planos) else {}
        self.invocacoes += 1
        recibos = {r["receiptHandle"] for r in evento["Records"]}
        processo = _Processo(plano, [m for m in self.fila.mensagens if m.recibo in recibos])
        self.fronteiras.pilha.append(processo)
        try:
            resposta = (self.fabrica(self) if self.fabrica else self._handler_real)(evento, contexto)
            self.fronteiras.toque()  # the answer may be lost too
            return resposta
        finally:
            self.fronteiras.pilha.pop()

    def _handler_real(self, evento: dict[str, Any], contexto: Any) -> Any:
        executor = ThreadPoolExecutor(1)  # one thread: a plan means the same thing each time it runs
        processador = ProcessadorDeLotes(
            TabelaDeProcessados(self.tabela("processados"), self.cliente),
            RepositorioDeEfeitos(self.cliente, self.tabela("efeitos"), self.tabela("estoque"), dormir=lambda _s: None),
            ContaDaLoja(self.gateway),
            executor,
            minimo_ms=0,
            agora=self.relogio,
        )
        with pytest.MonkeyPatch.context() as troca:
            troca.setattr(consumidor, "processador", lambda: processador)
            try:
                return consumidor.handler(evento, contexto)
            finally:
                executor.shutdown(wait=True, cancel_futures=True)

    def _outra_entrega(self, mensagens: list[Mensagem], acao: Acao) -> None:
        """Another process gets the same messages now: at once, or after the invisibility of the first ended."""
        if acao == "zumbi":
            self.relogio.avancar(self.fila.visibilidade_s + 1)
        vivas = [m for m in mensagens if m in self.fila.mensagens]
        entregues = [m for m in vivas if m.recebimentos < self.max_recebimentos]
        if entregues:
            self.mapeamento.invocar([self.fila._entregar(m) for m in entregues])

    # -- what is checked ---------------------------------------------------------------

    def efeitos(self) -> dict[str, dict[str, Any]]:
        """Effects by order id."""
        itens = self.cliente.scan(TableName=self.tabela("efeitos"), ConsistentRead=True)["Items"]
        return {i["pedidoId"]["S"]: {k: next(iter(v.values())) for k, v in i.items()} for i in itens}

    def saldos(self) -> dict[str, int]:
        """Stock by item."""
        itens = self.cliente.scan(TableName=self.tabela("estoque"), ConsistentRead=True)["Items"]
        return {i["itemId"]["S"]: int(i["saldo"]["N"]) for i in itens}

    def conferir_dinheiro_e_estoque(self) -> None:
        """Each accepted order charged and debited exactly once, each refused one not at all. Needs ample stock."""
        aceitos = [p for p in self.pedidos if not p.recusado]
        assert sorted(self.gateway.movimentos) == sorted((p.id, p.valor) for p in aceitos)
        esperado = {p.item: self.saldo for p in self.pedidos}
        for pedido in aceitos:
            esperado[pedido.item] -= pedido.quantidade
        assert self.saldos() == esperado

    def conferir_efeitos(self) -> None:
        """Effects are exactly the distinct orders, each with its outcome."""
        esperado = {p.id: "RECUSADO" if p.recusado else "CONCLUIDO" for p in self.pedidos}
        assert {i: e["situacao"] for i, e in self.efeitos().items()} == esperado


@contextmanager
def aws_simulada() -> Iterator[tuple[Any, Fronteiras]]:
    """moto and one client whose every call is two boundaries."""
    with pytest.MonkeyPatch.context() as troca, mock_aws():
        for nome in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            troca.setenv(nome, "testing")
        troca.delenv("AWS_ENDPOINT_URL", raising=False)
        fronteiras = Fronteiras()
        cliente = boto3.client("dynamodb", region_name="sa-east-1")
        cliente.meta.events.register("before-call.dynamodb", fronteiras.toque)
        cliente.meta.events.register("after-call.dynamodb", fronteiras.toque)
        yield cliente, fronteiras


@contextmanager
def tempo_do_powertools(relogio: RelogioSimulado) -> Iterator[None]:
    """Powertools' idempotency reads simulated time."""
    from aws_lambda_powertools.utilities.idempotency import base
    from aws_lambda_powertools.utilities.idempotency.persistence import base as persistencia
    from aws_lambda_powertools.utilities.idempotency.persistence import datarecord, dynamodb

    class DataSimulada(dt_real.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> dt_real.datetime:
            return relogio()

    simulado = types.SimpleNamespace(**{**vars(dt_real), "datetime": DataSimulada})
    with pytest.MonkeyPatch.context() as troca:
        for modulo in (base, persistencia, datarecord, dynamodb):
            troca.setattr(modulo, "dt", simulado)
        yield
