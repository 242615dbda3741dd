"""Proof 5: how far behind the consumer is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import ClassVar

from provas.painel._apoio import ProvaDoPainel

LIMITE_MS = 10_000
QUANTOS = 8


class Atraso(ProvaDoPainel):
    numero: ClassVar[int] = 5
    titulo: ClassVar[str] = "O consumidor está a segundos da origem"
    o_que_prova: ClassVar[str] = (
        "O atraso do consumidor fica entre milissegundos e poucos segundos, longe do limite de 60 s do alarme e das "
        "24 h em que o stream descarta registros."
    )
    espera: ClassVar[str] = "o maior atraso observado é menor que 10 s e o alarme de atraso não está em ALARM"

    def executar(self) -> None:
        self.passo(f"{QUANTOS} pedidos mudam de status")
        pedidos = [self.criar_pedido() for _ in range(QUANTOS)]
        escritas = {}
        for pedido in pedidos:
            escritas[pedido] = int(datetime.now(UTC).timestamp() * 1000)
            self.mudar(pedido, "SEPARADO")
        atrasos = []
        for pedido in pedidos:
            transicao = self.esperar_transicoes(pedido, 1)[0]
            # AWS's stream rounds its instant down to the second: at most one second too much, never too little. An
            # engine may round to the minute, but it shares this machine's clock.
            escrita = _ms(transicao["em"]) if self.alvo.nome == "aws" else escritas[pedido]
            atrasos.append(_ms(transicao["gravadoEm"]) - escrita)
        self.conferir(
            "maior atraso entre a escrita e o painel",
            f"até {LIMITE_MS} ms",
            f"{max(atrasos)} ms",
            max(atrasos) < LIMITE_MS,
        )
        if self.alvo.nome == "aws":
            self._conferir_metrica()
        else:
            self.anotar("Este alvo não publica AWS/Lambda IteratorAge; o atraso foi medido registro a registro.")
        alarme = self.alvo.cliente("cloudwatch").describe_alarms(AlarmNames=["ffv-lab-consumidor-pedidos-iterator-age"])
        estados = [a["StateValue"] for a in alarme["MetricAlarms"]]
        self.conferir(
            "alarme de atraso", "existe e não está em ALARM", estados, len(estados) == 1 and "ALARM" not in estados
        )

    def _conferir_metrica(self) -> None:
        agora = datetime.now(UTC)

        def ler() -> list[float]:
            resposta = self.alvo.cliente("cloudwatch").get_metric_statistics(
                Namespace="AWS/Lambda",
                MetricName="IteratorAge",
                Dimensions=[{"Name": "FunctionName", "Value": self.alvo.funcao("ConsumidorPedidos")}],
                StartTime=agora - timedelta(minutes=2),
                EndTime=datetime.now(UTC) + timedelta(minutes=1),
                Period=60,
                Statistics=["Maximum"],
            )
            return [float(ponto["Maximum"]) for ponto in resposta["Datapoints"]]

        idades = self.esperar_ate(ler, self.alvo.prazos.alarme_dispara, "IteratorAge publicado")
        self.conferir("IteratorAge máximo", f"até {LIMITE_MS} ms", f"{max(idades):.0f} ms", max(idades) < LIMITE_MS)


def _ms(texto: str) -> int:
    return int(datetime.fromisoformat(texto.replace("Z", "+00:00")).timestamp() * 1000)
