"""What a person can do about an order that automation gave up on. Every action may be killed at any point and repeated.

The message is deleted last, after the order shows the end: until then the queue says that somebody is needed. Whoever
holds an order's message works on the order; two people never do at once.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from comum.cartao import texto_parece_cartao
from comum.contrato import json_canonico
from comum.relogio import agora_iso
from estoque.baixas import RepositorioBaixas
from operacao import filas
from operacao.filas import Seguradas, segurar
from operacao.intervencao_fila import Erro, Ilegivel, Pendencia, e_tentativa_de, ler
from pedidos.repositorio import Encerramento, Pedido, RepositorioPedidos
from pedidos.situacao import FINAIS, Status
from provas.alvo import Alvo
from provas.erros import ErroDasProvas
from provas.execucao import Execucao, ler_historico

LIMITE_ESPERA_S = 900
TENTATIVAS = 50
PARALELOS = 8
EXECUCOES_LIDAS = 2000
PASSO = "intervencao"


class IntervencaoError(ErroDasProvas):
    """The action cannot be done; the message is Portuguese and says what to do instead."""


class Desfecho(StrEnum):
    """How one order came out of an action."""

    FEITO = "feito"
    ADIADO = "adiado"
    FALHOU = "falhou"


@dataclass(frozen=True)
class Resultado:
    """One order and how it came out; ``texto`` is Portuguese."""

    pedido_id: str
    desfecho: Desfecho
    texto: str


@dataclass(frozen=True)
class Linha:
    """One line of an order's timeline."""

    em: datetime
    onde: str
    o_que: str
    detalhe: str = ""


@dataclass(frozen=True)
class Retrato:
    """Everything known of one order: its item, what the queue says, and what happened, in order."""

    pedido_id: str
    pedido: Pedido | None
    pendencia: Pendencia | None
    linhas: Sequence[Linha]
    avisos: Sequence[str] = field(default=())


class Intervencao:
    """The human queue of one target and what can be done about it.

    Parameters
    ----------
    alvo : Alvo
        Where the system is deployed.
    dormir : Callable[[float], None]
        Waits this many seconds.
    limite_espera_s : float
        Longest wait for one compensation.
    """

    def __init__(
        self, alvo: Alvo, dormir: Callable[[float], None] = time.sleep, limite_espera_s: float = LIMITE_ESPERA_S
    ) -> None:
        self._alvo = alvo
        self._sqs = alvo.cliente("sqs")
        self._maquinas = alvo.cliente("stepfunctions")
        self._url = str(alvo.saida("url_fila_compensacao_falhou", "fila humana"))
        self._arn = str(alvo.saida("arn_maquina_compensacao", "máquina da compensação manual"))
        self._arn_saga = str(alvo.saida("arn_maquina_saga", "máquina da saga"))
        self._pedidos = RepositorioPedidos(alvo.cliente("dynamodb"), str(alvo.saida("tabela_pedidos")))
        self._dormir = dormir
        self._limite_espera_s = limite_espera_s

    # --- seeing --------------------------------------------------------------------------------------------------

    @contextmanager
    def segurar(self) -> Iterator[tuple[Seguradas, list[Pendencia], list[Ilegivel]]]:
        """Everything in the queue, hidden from others meanwhile: what is held, by order, and what is unreadable."""
        with segurar(self._sqs, self._url) as seguradas:
            pendencias, ilegiveis = ler(seguradas.mensagens)
            yield seguradas, pendencias, ilegiveis

    def pedido(self, pedido_id: str) -> Pedido | None:
        """The order as stored now."""
        return self._pedidos.obter(pedido_id)

    def reservadas(self, pedido: Pedido) -> int:
        """Units the stock item still holds for the order."""
        if not pedido.sku:
            return 0
        item = (
            self._alvo.cliente("dynamodb")
            .get_item(TableName=self._alvo.saida("tabela_estoque"), Key={"sku": {"S": pedido.sku}}, ConsistentRead=True)
            .get("Item", {})
        )
        return int(item.get("reservas", {}).get("M", {}).get(pedido.pedido_id, {}).get("N", 0))

    def retratar(self, pedido_id: str) -> Retrato:
        """The order's timeline, from the executions' histories and the order's own.

        Raises
        ------
        IntervencaoError
            Nothing is known of such an order.
        """
        with self.segurar() as (_, pendencias, _ilegiveis):
            pendencia = next((p for p in pendencias if p.pedido_id == pedido_id), None)
        pedido = self.pedido(pedido_id)
        linhas = [Linha(_instante(passo.em), "pedido", passo.status, passo.passo) for passo in _historico(pedido)]
        avisos = []
        saga = self._historia(self._arn_da_saga(pedido_id, pendencia))
        if saga is None:
            avisos.append("A execução da saga não existe (mais): o Step Functions guarda o histórico por 90 dias.")
        else:
            linhas += _linhas("saga", saga)
        for arn in self._tentativas(pedido_id):
            execucao = self._historia(arn)
            if execucao is not None:
                linhas += _linhas(f"manual {arn.rsplit('-', 1)[-1]}", execucao)
        if pedido is None and pendencia is None and saga is None:
            raise IntervencaoError(f"Nada se sabe do pedido {pedido_id}: confira o número.")
        return Retrato(pedido_id, pedido, pendencia, sorted(linhas, key=lambda linha: linha.em), avisos)

    def exportar(self, arquivo: Path) -> int:
        """Write every message, readable or not, as JSON lines, without consuming; how many.

        The file appears whole or not at all, readable by its owner only.
        """
        return filas.exportar(self._sqs, self._url, arquivo)

    # --- undoing -------------------------------------------------------------------------------------------------

    def reprocessar(
        self,
        seguradas: Seguradas,
        pendencias: Sequence[Pendencia],
        ao_terminar: Callable[[Resultado], None] = lambda _: None,
        paralelos: int = PARALELOS,
    ) -> list[Resultado]:
        """Run the pending compensations of these orders, and delete the messages of those that succeeded."""

        def um(pendencia: Pendencia) -> Resultado:
            try:
                resultado = self._reprocessar(seguradas, pendencia)
            except (ClientError, BotoCoreError) as erro:
                resultado = Resultado(pendencia.pedido_id, Desfecho.FALHOU, f"a AWS não respondeu bem: {erro}")
            ao_terminar(resultado)
            return resultado

        if paralelos == 1:
            return [um(pendencia) for pendencia in pendencias]
        with ThreadPoolExecutor(paralelos) as equipe:
            return list(equipe.map(um, pendencias))

    def sem_mensagem(self, pedido_id: str) -> Pendencia | None:
        """An order that needs a person though the queue says nothing of it. None when it needs nobody.

        Either it waits for one and its message is gone (deleted by hand, or expired before another was sent), or its
        saga was stopped, failed or timed out half way, which compensates nothing.
        """
        pedido = self.pedido(pedido_id)
        if pedido is None:
            return None
        a_meio = pedido.status in (Status.RECEBIDO, Status.RESERVADO, Status.COMPENSANDO)
        abandonado = a_meio and self._situacao(self._arn_da_saga(pedido_id, None)) in _MAL_SUCEDIDAS
        if pedido.status != Status.REQUER_INTERVENCAO_HUMANA and not abandonado:
            return None
        return Pendencia(pedido_id, (), ())

    def _reprocessar(self, seguradas: Seguradas, pendencia: Pendencia) -> Resultado:
        pedido_id = pendencia.pedido_id

        def adiado(texto: str) -> Resultado:
            return Resultado(pedido_id, Desfecho.ADIADO, texto)

        # While the saga runs, its last write (REQUER_INTERVENCAO_HUMANA) could land after ours.
        if self._situacao(self._arn_da_saga(pedido_id, pendencia)) == "RUNNING":
            return adiado("a saga deste pedido ainda está em execução; tente de novo em instantes")
        pedido = self.pedido(pedido_id)
        if pedido is not None and pedido.status == Status.ENCERRADO_MANUALMENTE:
            return adiado("foi encerrado por uma pessoa; para tirar a mensagem da fila, repita o encerrar")
        entrada = self._entrada(pendencia, pedido)
        if entrada is None:
            return adiado("faltam sku e criadoEm no pedido e na execução da saga: desfaça à mão e encerre")
        for numero in range(1, TENTATIVAS + 1):
            arn, nova = self._iniciar(pendencia.nome_da_tentativa(numero), entrada)
            fim = self._esperar(arn)
            # A success without a message belongs to an earlier call for a person, not to this one.
            if not nova and (
                fim["status"] in _MAL_SUCEDIDAS or (fim["status"] == "SUCCEEDED" and not pendencia.corpos)
            ):
                continue
            break
        else:
            return Resultado(pedido_id, Desfecho.FALHOU, f"{TENTATIVAS} tentativas falharam; desfaça à mão e encerre")
        if fim["status"] == "RUNNING":
            return adiado(f"a compensação {arn.rsplit(':', 1)[-1]} ainda roda; repita para acompanhar")
        if fim["status"] != "SUCCEEDED":
            erro = _erro_da_execucao(fim)
            return Resultado(pedido_id, Desfecho.FALHOU, f"{erro}; a mensagem continua na fila")
        depois = self.pedido(pedido_id)
        if depois is None or depois.status not in FINAIS:
            visto = depois.status if depois else "ausente"
            return Resultado(pedido_id, Desfecho.FALHOU, f"a compensação terminou, mas o pedido está {visto}")
        self._apagar(seguradas, pendencia)
        feito = "nada havia a desfazer" if depois.status == Status.CONFIRMADO else "compensado"
        return Resultado(pedido_id, Desfecho.FEITO, f"{feito}; pedido {depois.status}")

    def _entrada(self, pendencia: Pendencia, pedido: Pedido | None) -> str | None:
        sku, criado_em = (pedido.sku, pedido.criado_em) if pedido else ("", "")
        if not sku or not criado_em:
            # An order the saga had to write without an item knows neither; the saga's input does. It is read for these
            # two fields only: it carries the card's token.
            recebida = self._entrada_da_saga(self._arn_da_saga(pendencia.pedido_id, pendencia))
            sku, criado_em = str(recebida.get("sku") or sku), str(recebida.get("criadoEm") or criado_em)
        if not sku or not criado_em:
            return None
        return json_canonico(
            {
                "pedidoId": pendencia.pedido_id,
                "sku": sku,
                "criadoEm": criado_em,
                "compensacoesPendentes": pendencia.pendentes,
            }
        )

    def _iniciar(self, nome: str, entrada: str) -> tuple[str, bool]:
        """(ARN, whether it runs because of this call or of an identical one still running)."""
        try:
            iniciada = self._maquinas.start_execution(stateMachineArn=self._arn, name=nome, input=entrada)
        except self._maquinas.exceptions.ExecutionAlreadyExists:
            return f"{self._arn.replace(':stateMachine:', ':execution:', 1)}:{nome}", False
        return str(iniciada["executionArn"]), True

    def _esperar(self, arn: str) -> dict[str, Any]:
        """The execution when it closed, or as it is at the limit."""
        pausa, esperado = 0.2, 0.0
        while True:
            lida: dict[str, Any] = self._maquinas.describe_execution(executionArn=arn)
            if lida["status"] != "RUNNING" or esperado >= self._limite_espera_s:
                return lida
            self._dormir(pausa)
            esperado += pausa
            pausa = min(pausa * 1.5, 3.0)

    # --- ending by hand ------------------------------------------------------------------------------------------

    def encerrar(self, seguradas: Seguradas, pendencia: Pendencia, encerramento: Encerramento) -> Resultado:
        """Record a person's decision on the order, settle its units accordingly, delete its messages, in this order.

        Repeated after being killed, it goes on from the recorded decision. ``nada`` leaves the units for a later one,
        taken once in the same way.

        Raises
        ------
        IntervencaoError
            The order is CONFIRMADO, something still runs on it, or another decision about its units was taken.
        """
        pedido_id = pendencia.pedido_id
        if encerramento.estoque == "baixar":
            self._baixas()  # refused before anything is recorded where there is nowhere to write it off
        if self._situacao(self._arn_da_saga(pedido_id, pendencia)) == "RUNNING":
            raise IntervencaoError(f"A saga do pedido {pedido_id} ainda está em execução; espere que termine.")
        if any(self._situacao(arn) == "RUNNING" for arn in self._tentativas(pedido_id)):
            raise IntervencaoError(f"Uma compensação do pedido {pedido_id} está em execução; espere que termine.")
        pedido = self.pedido(pedido_id)
        if pedido is not None and pedido.status == Status.CONFIRMADO:
            raise IntervencaoError(
                f"O pedido {pedido_id} está CONFIRMADO: não há o que encerrar. Reprocessar tira a mensagem da fila."
            )
        if pedido is None or pedido.status not in (Status.REQUER_INTERVENCAO_HUMANA, Status.ENCERRADO_MANUALMENTE):
            self._pedidos.assumir(pedido_id, Status(pedido.status) if pedido else None, agora_iso(), PASSO)
        if not self._pedidos.encerrar(pedido_id, encerramento, agora_iso(), PASSO) and encerramento.estoque != "nada":
            self._pedidos.decidir_estoque(pedido_id, encerramento, agora_iso(), PASSO)
        gravado = self.pedido(pedido_id)
        if gravado is None or gravado.encerramento is None:
            raise IntervencaoError(f"O pedido {pedido_id} mudou enquanto era encerrado; olhe de novo e repita.")
        if gravado.encerramento.estoque != encerramento.estoque:
            raise IntervencaoError(
                f"O pedido {pedido_id} já foi encerrado com --estoque {gravado.encerramento.estoque} "
                f"({gravado.encerramento.motivo}); repita com a mesma decisão."
            )
        acertado = self._acertar_estoque(gravado)
        self._apagar(seguradas, pendencia)
        return Resultado(pedido_id, Desfecho.FEITO, f"pedido {gravado.status}; {acertado}")

    def _acertar_estoque(self, pedido: Pedido) -> str:
        decisao = pedido.encerramento.estoque if pedido.encerramento else "nada"
        if decisao == "nada" or not pedido.sku:
            return "estoque como estava"
        if decisao == "baixar":
            baixa = self._baixas().baixar(pedido.sku, pedido.pedido_id, self.reservadas(pedido) or pedido.quantidade)
            return f"baixa no estoque: {baixa.quantidade} unidade(s)"
        resposta = self._alvo.cliente("lambda").invoke(
            FunctionName=self._alvo.funcao("LiberarEstoque"),
            Payload=json.dumps({"pedidoId": pedido.pedido_id, "sku": pedido.sku}).encode(),
        )
        corpo = json.loads(resposta["Payload"].read() or b"{}")
        if resposta.get("FunctionError"):
            raise IntervencaoError(
                f"O pedido {pedido.pedido_id} está encerrado, mas o estoque não foi liberado "
                f"({corpo.get('errorType')}: {corpo.get('errorMessage')}). Repita; a mensagem continua na fila."
            )
        return f"devolvido ao estoque: {corpo['quantidade']} unidade(s)"

    def _baixas(self) -> RepositorioBaixas:
        return RepositorioBaixas(
            self._alvo.cliente("dynamodb"),
            str(self._alvo.saida("tabela_estoque")),
            str(self._alvo.saida("tabela_estoque_baixas", "para dar baixa no estoque")),
        )

    # --- internals -----------------------------------------------------------------------------------------------

    def _apagar(self, seguradas: Seguradas, pendencia: Pendencia) -> None:
        for mensagem in pendencia.mensagens:
            seguradas.apagar(mensagem["MessageId"])

    def _arn_da_saga(self, pedido_id: str, pendencia: Pendencia | None) -> str:
        esperado = f"{self._arn_saga.replace(':stateMachine:', ':execution:', 1)}:{pedido_id}"
        dito = pendencia.ultimo.executionArn if pendencia and pendencia.ultimo else None
        # A message is outside input: it may name an execution of the saga, nothing else.
        return dito if dito and dito.startswith(esperado.rsplit(":", 1)[0] + ":") else esperado

    def _descrever(self, arn: str) -> dict[str, Any] | None:
        try:
            lida: dict[str, Any] = self._maquinas.describe_execution(executionArn=arn)
        except self._maquinas.exceptions.ExecutionDoesNotExist:
            return None
        return lida

    def _situacao(self, arn: str) -> str:
        lida = self._descrever(arn)
        return str(lida["status"]) if lida else "inexistente"

    def _entrada_da_saga(self, arn: str) -> dict[str, Any]:
        try:
            lida = json.loads((self._descrever(arn) or {}).get("input") or "{}")
        except ValueError:
            return {}
        return lida if isinstance(lida, dict) else {}

    def _historia(self, arn: str) -> Execucao | None:
        paginas = self._maquinas.get_paginator("get_execution_history")
        try:
            return ler_historico(e for pagina in paginas.paginate(executionArn=arn) for e in pagina["events"])
        except self._maquinas.exceptions.ExecutionDoesNotExist:
            return None

    def _tentativas(self, pedido_id: str) -> list[str]:
        """Manual compensations of the order among the newest ``EXECUCOES_LIDAS``, oldest first."""
        paginas = self._maquinas.get_paginator("list_executions").paginate(
            stateMachineArn=self._arn, PaginationConfig={"MaxItems": EXECUCOES_LIDAS}
        )
        achadas = [e for pagina in paginas for e in pagina["executions"] if e_tentativa_de(pedido_id, e["name"])]
        return [str(e["executionArn"]) for e in sorted(achadas, key=lambda e: e["startDate"])]


_MAL_SUCEDIDAS = ("FAILED", "TIMED_OUT", "ABORTED")
_DADO_PESSOAL = re.compile(r"\S+@\S+|\d[\d .\-/()]{9,}\d")
MENOR_TEXTO, MAIOR_TEXTO = 5, 300


def texto_para_guardar(texto: str, campo: str, menor: int = MENOR_TEXTO) -> str:
    """A reason or a name fit to stay on the order.

    Raises
    ------
    IntervencaoError
        Too short or too long, or it seems to carry somebody's data: an e-mail, a document, a phone, a card.
    """
    limpo = " ".join(texto.split())
    if not menor <= len(limpo) <= MAIOR_TEXTO:
        raise IntervencaoError(f"Escreva {campo} com {menor} a {MAIOR_TEXTO} letras.")
    if _DADO_PESSOAL.search(limpo) or texto_parece_cartao(limpo):
        raise IntervencaoError(f"Em {campo} não vão dados pessoais (e-mail, documento, telefone, cartão): reescreva.")
    return limpo


def _historico(pedido: Pedido | None) -> Sequence[Any]:
    return pedido.historico if pedido else ()


def _instante(texto: str) -> datetime:
    return datetime.fromisoformat(texto)


def _linhas(onde: str, execucao: Execucao) -> list[Linha]:
    linhas = [Linha(execucao.inicio, onde, "execução iniciada")]
    for visita in execucao.visitas:
        if visita.tipo in ("Pass", "Choice"):
            continue
        quantas = len(visita.tentativas)
        detalhe = f"{quantas} tentativas" if quantas > 1 else ""
        if visita.falhou:
            ultima = visita.tentativas[-1]
            detalhe = "; ".join(parte for parte in (detalhe, f"erro {ultima.erro}") if parte)
        linhas.append(Linha(visita.entrou, onde, visita.estado, detalhe))
        for numero, tentativa in enumerate(visita.tentativas, 1):
            if tentativa.erro and quantas > 1:
                erro = str(Erro(Error=tentativa.erro, Cause=tentativa.causa))
                quando = tentativa.fim or tentativa.inicio
                linhas.append(Linha(quando, onde, f"{visita.estado}, {numero}ª tentativa falhou", erro))
    if execucao.fim is not None:
        linhas.append(Linha(execucao.fim, onde, f"execução terminou: {execucao.situacao}"))
    return linhas


def _erro_da_execucao(fim: dict[str, Any]) -> str:
    erro = Erro(Error=str(fim.get("error") or fim["status"]), Cause=str(fim.get("cause") or ""))
    return str(erro)
