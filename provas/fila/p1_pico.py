"""Proof 1: the peak, 3,000 requests at concurrency 20, all accepted."""

from __future__ import annotations

import os

from operacao.carga import Carga, Medida, Opcoes
from provas.evidencia import Tabela
from provas.fila._apoio import ProvaDaFila

TOTAL = 3000
TOTAL_LOCALSTACK = 100
CONCORRENCIA = 20
ATRASO_MS = 700


class Pico(ProvaDaFila):
    numero = 1
    titulo = "O pico é absorvido"
    o_que_prova = (
        "Com o gateway levando 700 ms por cobrança, 3.000 pedidos chegam de 20 clientes ao mesmo tempo e todos são "
        "aceitos: a API só anota a intenção na fila, e o consumidor trabalha no ritmo dele."
    )
    espera = "100 % de respostas 202; a fila esvazia; os efeitos são exatamente os pedidos aceitos"

    def executar(self) -> None:
        # LocalStack reads a queue with one poller: 3,000 orders would drain for an hour and show no more.
        padrao = TOTAL_LOCALSTACK if self.alvo.nome == "localstack" else TOTAL
        total = int(os.environ.get("PROVA_PICO_TOTAL") or padrao)
        if total != TOTAL:
            self.anotar(f"Rodada reduzida: {total} pedidos em vez de {TOTAL} (PROVA_PICO_TOTAL muda).")
        self.exigir_filas_vazias()
        carga = Carga(self.alvo, lambda _n, estado: self.passo(estado))
        self.ao_limpar("pedidos da carga", carga.limpar)
        with carga.atraso_do_gateway(ATRASO_MS):
            medida = carga.disparar("fila", Opcoes(total, CONCORRENCIA))
            medida.esvaziou_em_s = carga.esperar_vazia(1200, medida)
        carga.contar(medida)
        self.conferir(f"{total} respostas, todas 202", {202: total}, dict(medida.codigos))
        self.conferir("nada foi para a DLQ", 0, sum(self.profundidade(str(self.alvo.saida("fila_pedidos_dlq_url")))))
        self.conferir("efeitos = pedidos distintos, todos concluídos", {"CONCLUIDO": total}, dict(medida.pedidos))
        self.conferir("cada unidade debitada uma vez", 0, medida.saldo_final)
        cobradas, distintas = carga.cobrancas(medida)
        self.conferir("uma cobrança por pedido no livro do gateway", (total, total), (cobradas, distintas))
        self._mostrar(medida)

    def _mostrar(self, medida: Medida) -> None:
        maior = max((visiveis + em_voo for _, visiveis, em_voo in medida.profundidade), default=0)
        linhas = (
            ("p50 / p95 / p99", " / ".join(f"{medida.percentil(p):.0f} ms" for p in (50, 95, 99))),
            ("vazão", f"{medida.vazao:.1f} respostas/s"),
            ("maior fila", f"{maior} pedidos"),
            ("fila vazia depois da última resposta", f"{medida.esvaziou_em_s:.0f} s"),
        )
        self.mostrar(Tabela("O pico", ("Medida", "Valor"), linhas))
