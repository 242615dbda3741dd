"""Proof 4: the same records delivered again."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from provas.painel._apoio import ProvaDoPainel

_PAGINAS = 60


class EntregaDupla(ProvaDoPainel):
    numero: ClassVar[int] = 4
    titulo: ClassVar[str] = "O mesmo registro entregue duas vezes"
    o_que_prova: ClassVar[str] = (
        "A plataforma entrega ao menos uma vez e reenvia tudo a partir da primeira falha. Os registros do pedido são "
        "lidos do stream e entregues de novo ao consumidor, duas vezes: nada se repete."
    )
    espera: ClassVar[str] = "a mesma quantidade de itens, iguais byte a byte, e um só alerta"

    def executar(self) -> None:
        fila = self.assinar_reposicao()
        pedido = self.criar_pedido()
        self.mudar(pedido, "SEPARADO")
        self.mudar(pedido, "CANCELADO")
        self.esperar_alerta(fila, pedido)
        antes = self.esperar_ate(
            lambda: self.itens(pedido),
            self.alvo.prazos.mensagem,
            "alerta marcado como publicado",
            ate=lambda vistas: [t.get("alerta") for t in vistas] == [None, "PUBLICADO"],
        )
        registros = self._registros_do_stream(pedido)
        self.conferir("registros do pedido no stream (MODIFY)", 2, len(registros))
        for vez in (1, 2):
            self.passo(f"entregando de novo ({vez} de 2)")
            self._entregar(registros)
        self._entregar(registros[:1])  # from an earlier checkpoint: ATUAL must not go back
        # Another order's alert marks the moment after which a repeated one would already have arrived.
        sentinela = self.criar_pedido()
        self.mudar(sentinela, "SEPARADO")
        self.mudar(sentinela, "CANCELADO")
        self.esperar_alerta(fila, sentinela)
        self.conferir("itens depois da entrega repetida", antes, self.itens(pedido))
        self.conferir("estado atual", ["CANCELADO"], [atual["status"] for atual in self.itens(pedido, "ATUAL")])
        self.conferir("alertas de reposição do pedido", 1, len(self.alertas(fila, pedido)))

    def _entregar(self, registros: list[dict[str, Any]]) -> None:
        resposta = self.alvo.cliente("lambda").invoke(
            FunctionName=self.alvo.funcao("ConsumidorPedidos"), Payload=json.dumps({"Records": registros}).encode()
        )
        corpo = json.loads(resposta["Payload"].read() or b"{}")
        self.conferir("resposta do consumidor", {"batchItemFailures": []}, corpo)

    def _registros_do_stream(self, pedido: str) -> list[dict[str, Any]]:
        """The order's MODIFY records, as Lambda would deliver them."""
        streams, arn = self.alvo.cliente("dynamodbstreams"), self.alvo.saida("stream_arn")
        achados: list[dict[str, Any]] = []
        for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
            iterador = streams.get_shard_iterator(
                StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
            )["ShardIterator"]
            for _ in range(_PAGINAS):
                pagina = streams.get_records(ShardIterator=iterador, Limit=1000)
                achados += [
                    _como_evento(registro)
                    for registro in pagina["Records"]
                    if registro["eventName"] == "MODIFY"
                    and registro["dynamodb"]["Keys"]["PK"]["S"] == f"PEDIDO#{pedido}"
                ]
                iterador = pagina.get("NextShardIterator")
                # An empty page says nothing: AWS answers them in the middle of a shard too.
                if not iterador or len(achados) >= 2:
                    break
        return sorted(achados, key=lambda r: int(r["dynamodb"]["SequenceNumber"]))


def _como_evento(registro: dict[str, Any]) -> dict[str, Any]:
    mudanca = dict(registro["dynamodb"])
    mudanca["ApproximateCreationDateTime"] = int(mudanca["ApproximateCreationDateTime"].timestamp())
    return {**registro, "dynamodb": mudanca}
