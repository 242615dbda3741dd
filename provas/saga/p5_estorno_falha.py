"""Proof 5: the refund fails too; a person is called, for real."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, ClassVar

from provas.erros import ProvaFalhouError
from provas.evidencia import Marco, Situacao, Tabela
from provas.saga._apoio import BASICO, QUANTIDADE, SALDO_INICIAL, VALOR_CENTAVOS, ProvaDaSaga


class EstornoFalha(ProvaDaSaga):
    numero = 5
    titulo = "O estorno também falha"
    o_que_prova = (
        "Quando nem desfazer dá certo, a saga para com dinheiro e mercadoria do mesmo lado, deixa a pendência numa "
        "fila que pessoas leem, marca o pedido e dispara um alarme que chega de verdade a quem assina os avisos. "
        "Nada se perde num log."
    )
    espera = (
        "mensagem na fila humana com os dois erros, pedido REQUER_INTERVENCAO_HUMANA, alarme disparado e aviso recebido"
    )
    exige: ClassVar = (
        *BASICO,
        ("url_fila_compensacao_falhou", "fila humana"),
        ("arn_topico_alertas", "tópico de avisos"),
        ("nome_alarme_compensacao", "alarme da fila humana"),
    )

    def executar(self) -> None:
        self.exigir_injecao("IniciarSaga", "ConfirmarPedido", "EstornarPagamento")
        alarme = str(self.alvo.saida("nome_alarme_compensacao"))
        self._exigir_fila_vazia()
        self.esperar_ate(
            self._estado_do_alarme,
            self.alvo.prazos.alarme_normaliza,
            "alarme da fila humana fora de ALARM",
            ate=lambda e: e != "ALARM",
        )
        assinante = self.assinar(str(self.alvo.saida("arn_topico_alertas")), "cesta")
        sku = self.criar_estoque()
        pedido_id = self.novo_pedido_id()
        self.publicar(self.entrada(pedido_id, sku, forcarFalhaConfirmar=True, forcarFalhaEstorno=True))
        execucao = self.esperar_execucao(pedido_id)
        self.conferir("fim da execução", "SUCCEEDED", execucao.situacao)
        estorno = execucao.visita("EstornarPagamento")
        self.conferir(
            "o estorno foi repetido antes de desistir",
            "5 tentativas, todas com erro",
            f"{len(estorno.tentativas) if estorno else 0} tentativas",
            estorno is not None and estorno.falhou and len(estorno.tentativas) == 5,
        )
        self.conferir("status do pedido", "REQUER_INTERVENCAO_HUMANA", self.status(pedido_id))
        self.conferir_estoque(
            "o estoque fica reservado, do mesmo lado que o dinheiro",
            sku,
            SALDO_INICIAL - QUANTIDADE,
            {pedido_id: QUANTIDADE},
        )
        self.conferir_dinheiro(pedido_id, VALOR_CENTAVOS, 0)
        self._conferir_alarme(alarme, assinante, pedido_id)
        mensagem = self._conferir_mensagem(pedido_id)
        self.apagar_mensagem_humana(mensagem)
        estado = self.esperar_ate(
            self._estado_do_alarme,
            self.alvo.prazos.alarme_normaliza,
            "alarme de volta a OK com a fila vazia",
            ate=lambda e: e == "OK",
        )
        self.marcar(pedido_id, "Alarme", Marco(datetime.now(UTC), Situacao.SUCESSO, "OK"))
        self.conferir("alarme depois de tratada a mensagem", "OK", estado)

    # -- the human queue ------------------------------------------------------------

    def _exigir_fila_vazia(self) -> None:
        """A message of a real order keeps the alarm on and must not be touched: an empty queue is needed."""
        lidos = self.alvo.cliente("sqs").get_queue_attributes(
            QueueUrl=self.alvo.saida("url_fila_compensacao_falhou"), AttributeNames=["ApproximateNumberOfMessages"]
        )["Attributes"]
        quantas = int(lidos["ApproximateNumberOfMessages"])
        if quantas:
            raise ProvaFalhouError(
                "fila humana vazia antes de começar (o que está lá é de outros pedidos: trate-os primeiro)",
                f"{quantas} mensagem(ns)",
            )

    def _conferir_mensagem(self, pedido_id: str) -> dict[str, Any]:
        """Find the order's message, check its content, return it."""
        mensagem = self.esperar_ate(
            lambda: self.mensagem_humana(pedido_id), self.alvo.prazos.mensagem, "mensagem do pedido na fila humana"
        )
        corpo: dict[str, Any] = json.loads(mensagem["Body"])
        self.marcar(pedido_id, "Fila humana", Marco(_enviada_em(mensagem), Situacao.NEUTRO, "mensagem enviada"))
        self.conferir("fila humana: pedidoId", pedido_id, corpo.get("pedidoId"))
        for campo in ("erroOriginal", "erroDaCompensacao"):
            erro = corpo.get(campo) or {}
            nome = erro.get("Error") if isinstance(erro, dict) else None
            self.conferir(f"fila humana: {campo}", "o nome do erro", nome, bool(nome))
        self.conferir("fila humana: execução", self.arn_execucao(pedido_id), corpo.get("executionArn"))
        self.conferir("fila humana: passo que falhou", "ConfirmarPedido", corpo.get("passo"))
        self.conferir(
            "fila humana: compensações pendentes",
            "EstornarPagamento, LiberarEstoque",
            ", ".join(corpo.get("compensacoesPendentes") or []),
        )
        cartao = "com token de cartão" if "tok-" in mensagem["Body"] else "sem token de cartão"
        self.conferir("fila humana: nada de cartão na mensagem", "sem token de cartão", cartao)
        linhas = tuple((campo, json.dumps(valor, ensure_ascii=False)[:300]) for campo, valor in sorted(corpo.items()))
        self.mostrar(Tabela("Mensagem na fila humana", ("Campo", "Conteúdo"), linhas))
        return mensagem

    # -- the alarm ------------------------------------------------------------------

    def _estado_do_alarme(self) -> str:
        alarmes = self.alvo.cliente("cloudwatch").describe_alarms(
            AlarmNames=[self.alvo.saida("nome_alarme_compensacao")]
        )
        lidos = alarmes["MetricAlarms"]
        return str(lidos[0]["StateValue"]) if lidos else "inexistente"

    def _conferir_alarme(self, alarme: str, assinante: str, pedido_id: str) -> None:
        prazo = self.alvo.prazos.alarme_dispara
        estado = self.esperar_ate(
            self._estado_do_alarme, prazo, f"alarme {alarme} em ALARM", ate=lambda e: e == "ALARM"
        )
        self.conferir(f"estado do alarme {alarme}", "ALARM", estado)
        aviso = self.esperar_ate(lambda: self._aviso(assinante, alarme), prazo, "aviso do alarme no assinante")
        self.conferir(
            "aviso recebido pelo assinante", f"{alarme} em ALARM", f"{aviso['AlarmName']} em {aviso['NewStateValue']}"
        )
        self.marcar(pedido_id, "Alarme", Marco(datetime.now(UTC), Situacao.FALHA, "ALARM, aviso recebido"))

    def _aviso(self, url: str, alarme: str) -> dict[str, Any] | None:
        """The notification that this alarm went to ALARM, if it has arrived."""
        sqs = self.alvo.cliente("sqs")
        for m in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1).get("Messages", []):
            sqs.delete_message(QueueUrl=url, ReceiptHandle=m["ReceiptHandle"])
            aviso: dict[str, Any] = json.loads(json.loads(m["Body"])["Message"])
            if aviso.get("AlarmName") == alarme and aviso.get("NewStateValue") == "ALARM":
                return aviso
        return None


def _enviada_em(mensagem: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(int(mensagem["Attributes"]["SentTimestamp"]) / 1000, UTC)
