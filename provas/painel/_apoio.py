"""What the panel's proofs share: an order of their own, what the panel shows, the stores' topic, and the clean-up."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import quote

from ulid import ULID

from operacao.loja_simulada import LojaSimulada
from provas.base import Contexto, Prova
from provas.erros import ProvaFalhouError
from provas.evidencia import Faixa, LinhaDoTempo, Marco, Situacao, Tabela

LIMITE_REACAO_S = 10.0
BASICO = (
    ("stream_arn", "stream de pedidos_cadencia"),
    ("tabela_pedidos_cadencia", "tabela de pedidos"),
    ("tabela_painel_operacao", "tabela do painel"),
    ("url_api_painel", "API do painel"),
    ("arn_topico_reposicao", "tópico de reposição"),
)
Item = dict[str, str]


class ProvaDoPainel(Prova):
    """Base of the panel's proofs: a store and orders nobody else uses, removed at the end."""

    exige: ClassVar[tuple[tuple[str, str], ...]] = BASICO

    def __init__(self, contexto: Contexto) -> None:
        super().__init__(contexto)
        self.loja = f"PROVA{self.numero}-{str(ULID())[-10:]}"
        self._pedidos: list[str] = []
        self._escritas: dict[str, list[tuple[str, str]]] = {}

    # -- the source -----------------------------------------------------------------

    @property
    def origem(self) -> LojaSimulada:
        return LojaSimulada(self.alvo.cliente("dynamodb"), self.alvo.saida("tabela_pedidos_cadencia"))

    def criar_pedido(self) -> str:
        """A new order, PENDENTE, with the clean-up of what it leaves in both tables."""
        pedido = f"prova{self.numero}-{ULID()}"
        self.ao_limpar(f"pedido {pedido}", lambda: self._apagar(pedido))
        self._escritas[pedido] = [("PENDENTE", self.origem.criar(pedido, self.loja))]
        self._pedidos.append(pedido)
        return pedido

    def mudar(self, pedido: str, status: str) -> None:
        """Change the order's status at the source."""
        self._escritas[pedido].append((status, self.origem.mudar(pedido, status)))

    # -- the panel ------------------------------------------------------------------

    def itens(self, pedido: str, prefixo: str = "TRANSICAO#") -> list[Item]:
        """Items of the order in painel_operacao whose key starts with ``prefixo``, in key order."""
        resposta = self.alvo.cliente("dynamodb").query(
            TableName=self.alvo.saida("tabela_painel_operacao"),
            KeyConditionExpression="PK = :pk AND begins_with(SK, :sk)",
            ExpressionAttributeValues={":pk": {"S": f"PEDIDO#{pedido}"}, ":sk": {"S": prefixo}},
            ConsistentRead=True,
        )
        return [{nome: str(next(iter(valor.values()))) for nome, valor in item.items()} for item in resposta["Items"]]

    def esperar_transicoes(self, pedido: str, quantas: int) -> list[Item]:
        """Wait until the order has at least that many transitions."""
        return self.esperar_ate(
            lambda: self.itens(pedido),
            self.alvo.prazos.mensagem,
            f"{quantas} transições do pedido no painel",
            ate=lambda vistas: len(vistas) >= quantas,
        )

    def na_api(self, pedido: str) -> dict[str, Any] | None:
        """The order as the manager's list shows it; None while it is not there."""
        url = f"{self.alvo.saida('url_api_painel')}/painel/lojas/{quote(self.loja)}/pedidos"
        resposta = self.alvo.http.request("GET", url, headers=self._credencial())
        if resposta.status != 200:
            raise ProvaFalhouError("200 na lista do painel", str(resposta.status))
        return next((p for p in json.loads(resposta.data)["pedidos"] if p["pedidoId"] == pedido), None)

    @staticmethod
    def _credencial() -> dict[str, str]:
        # Where sign-in is on, a token of somebody who may see every store.
        ficha = os.environ.get("CESTA_FICHA_PAINEL", "")
        return {"Authorization": f"Bearer {ficha}"} if ficha else {}

    # -- the stores' topic ----------------------------------------------------------

    def assinar_reposicao(self) -> str:
        """Subscribe a queue of this proof to the restock topic; returns its URL."""
        self._alertas: list[dict[str, Any]] = []
        return self.assinar(self.alvo.saida("arn_topico_reposicao"), "ffv-lab")

    def alertas(self, url: str, pedido: str) -> list[dict[str, Any]]:
        """Restock alerts of the order received so far, each delivery once."""
        sqs = self.alvo.cliente("sqs")
        while mensagens := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            for mensagem in mensagens:
                self._alertas.append(json.loads(json.loads(mensagem["Body"])["Message"]))
                sqs.delete_message(QueueUrl=url, ReceiptHandle=mensagem["ReceiptHandle"])
        return [alerta for alerta in self._alertas if alerta["pedidoId"] == pedido]

    def esperar_alerta(self, url: str, pedido: str) -> list[dict[str, Any]]:
        """Wait for the order's first alert."""
        return self.esperar_ate(
            lambda: self.alertas(url, pedido), self.alvo.prazos.mensagem, "alerta de reposição no tópico"
        )

    # -- evidence -------------------------------------------------------------------

    def recolher(self) -> None:
        for pedido in self._pedidos[:3]:
            self._desenhar(pedido)

    def _desenhar(self, pedido: str) -> None:
        transicoes = self.itens(pedido)
        if not transicoes:
            return
        origem = tuple(Marco(_em(quando), Situacao.NEUTRO, status) for status, quando in self._escritas[pedido])
        painel = tuple(
            Marco(_em(t["gravadoEm"]), Situacao.SUCESSO, t["para"], f"{t['de']} → {t['para']}") for t in transicoes
        )
        alertas = tuple(
            Marco(_em(t["publicadoEm"]), Situacao.FALHA, "alerta", "Pedido cancelado apos separado")
            for t in transicoes
            if "publicadoEm" in t
        )
        self.mostrar(
            LinhaDoTempo(
                f"Pedido {pedido}",
                f"{len(origem)} escritas na origem e {len(painel)} transições no painel, na mesma ordem.",
                (
                    Faixa("Origem", "Tabela", marcos=origem),
                    Faixa("Painel", marcos=painel),
                    Faixa("Alerta", marcos=alertas),
                ),
            )
        )
        self.mostrar(
            Tabela(
                f"Registro de transições do pedido {pedido}",
                ("De", "Para", "Aconteceu em", "No painel em", "Sequência"),
                tuple((t["de"], t["para"], t["em"], t["gravadoEm"], t["sequencia"].lstrip("0")) for t in transicoes),
            )
        )

    # -- clean-up -------------------------------------------------------------------

    def _apagar(self, pedido: str) -> None:
        dynamodb, painel = self.alvo.cliente("dynamodb"), self.alvo.saida("tabela_painel_operacao")
        self.origem.apagar(pedido)
        for item in (*self.itens(pedido, "ATUAL"), *self.itens(pedido), *self.itens(pedido, "LACUNA#")):
            dynamodb.delete_item(TableName=painel, Key={"PK": {"S": item["PK"]}, "SK": {"S": item["SK"]}})


def _em(texto: str) -> datetime:
    return datetime.fromisoformat(texto.replace("Z", "+00:00")).astimezone(UTC)
