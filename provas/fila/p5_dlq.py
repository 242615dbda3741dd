"""Proof 5: the poison reaches the DLQ after five receives and the alarm goes off."""

from __future__ import annotations

import json
import time
from typing import Any, ClassVar

from provas.evidencia import Tabela
from provas.fila._apoio import BASICO, ProvaDaFila

RECEBIMENTOS = 5
CONTEUDO = "conteudo-que-nao-vai-para-o-log"


class Dlq(ProvaDaFila):
    numero = 5
    titulo = "O veneno é isolado e alguém é avisado"
    o_que_prova = (
        "Uma mensagem que nunca dará certo é tentada cinco vezes e sai do caminho, inteira, para uma fila que pessoas "
        "leem; o alarme dispara. O log diz qual campo está errado, sem mostrar o conteúdo."
    )
    espera = "mensagem na DLQ depois de 5 recebimentos, alarme em ALARM, motivo no log sem o conteúdo"
    exige: ClassVar = (*BASICO, ("nome_alarme_dlq_fila", "alarme da DLQ"), ("id_mapeamento_fila", "mapeamento"))

    def executar(self) -> None:
        self.exigir_filas_vazias()
        alarme = str(self.alvo.saida("nome_alarme_dlq_fila"))
        self.esperar_ate(
            lambda: self._estado(alarme),
            self.alvo.prazos.alarme_normaliza,
            "alarme da DLQ fora de ALARM",
            ate=lambda estado: estado != "ALARM",
        )
        self.encurtar_invisibilidade(12)
        inicio_ms = int(time.time() * 1000)
        corpo = self.corpo(self.novo_pedido_id(), self.criar_estoque(), lojaId=f"{CONTEUDO}/")
        (mensagem,) = self.enviar(corpo)
        dlq = str(self.alvo.saida("fila_pedidos_dlq_url"))
        self.ao_limpar("mensagem da DLQ", lambda: self._retirar_das_filas(mensagem))
        self.esperar_ate(
            lambda: sum(self.profundidade(dlq)),
            120 + self.alvo.prazos.mensagem,
            "a mensagem na DLQ",
            ate=lambda n: n == 1,
        )
        recusas = self.esperar_ate(
            lambda: self._recusas(mensagem, inicio_ms),
            self.alvo.prazos.mensagem + 60,
            "as recusas no log do consumidor",
            ate=lambda vistas: len(vistas) >= RECEBIMENTOS,
        )
        vezes = sorted(int(recusa["recebimentos"]) for recusa in recusas)
        self.conferir("recebimentos antes da DLQ", list(range(1, RECEBIMENTOS + 1)), vezes)
        campos = {str(recusa["campos"]).split(":")[0] for recusa in recusas}
        self.conferir("o log diz o campo", {"lojaId"}, campos)
        visto = "ausente" if CONTEUDO not in json.dumps(recusas) else "presente"
        self.conferir("o conteúdo no log", "ausente", visto)
        estado = self.esperar_ate(
            lambda: self._estado(alarme), self.alvo.prazos.alarme_dispara, "alarme em ALARM", ate=lambda e: e == "ALARM"
        )
        self.conferir("alarme da DLQ", "ALARM", estado)
        achada = self.esperar_ate(lambda: self.retirar_mensagem(dlq, mensagem), 60, "a mensagem inteira na DLQ")
        self.conferir("a mensagem chegou inteira à DLQ", corpo, achada["Body"] if achada else None)
        linhas = tuple((str(r["recebimentos"]), str(r["timestamp"]), str(r["campos"])) for r in recusas)
        self.mostrar(Tabela("O que o consumidor disse", ("Recebimento", "Quando", "Motivo"), linhas))

    def _estado(self, alarme: str) -> str:
        alarmes = self.alvo.cliente("cloudwatch").describe_alarms(AlarmNames=[alarme])["MetricAlarms"]
        return str(alarmes[0]["StateValue"]) if alarmes else "inexistente"

    def _recusas(self, mensagem: str, inicio_ms: int) -> list[dict[str, Any]]:
        grupo = f"/aws/lambda/{self.alvo.funcao('ConsumidorFila')}"
        paginas = (
            self.alvo.cliente("logs")
            .get_paginator("filter_log_events")
            .paginate(logGroupName=grupo, startTime=inicio_ms, filterPattern=f'"{mensagem}"')
        )
        linhas = [evento["message"] for pagina in paginas for evento in pagina["events"]]
        lidas = [json.loads(linha) for linha in linhas if linha.lstrip().startswith("{") and "campos" in linha]
        return [lida for lida in lidas if lida.get("messageId") == mensagem]

    def _retirar_das_filas(self, mensagem: str) -> None:
        """Take the message out of whichever queue it is in; while a delivery of it lasts it is in neither's sight."""
        urls = [str(self.alvo.saida(saida)) for saida in ("fila_pedidos_dlq_url", "fila_pedidos_url")]

        def fora() -> bool:
            cheias = [url for url in urls if sum(self.profundidade(url))]
            return not cheias or any(self.retirar_mensagem(url, mensagem) for url in cheias)

        self.esperar_ate(fora, 120 + self.alvo.prazos.mensagem, "a mensagem fora das filas")
