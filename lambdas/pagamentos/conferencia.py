"""The check of charges: an order that did not end in CONFIRMADO must hold no approved charge.

The gateway is asked before the order is read again, so an order that moves meanwhile is seen where it moved to. What is
found is never undone here: money already charged and a saga that thinks otherwise is for a person to look at, whose
tools refund with the same keys as the saga.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

from comum.conferencias import RepositorioConferencias
from comum.http_saida import Prazo
from comum.observabilidade import identificar, logger
from comum.relogio import agora, para_iso
from pagamentos.erros import GatewayIndisponivelError, RespostaInesperadaGatewayError
from pagamentos.fila_humana import FilaHumana
from pagamentos.logica import token_cobranca
from pagamentos.pedidos_por_status import PedidoAntigo, PedidosPorStatus, Posicao
from pagamentos.porta import Gateway, SituacaoCobranca

CONFERENCIA = "conferir_cobrancas"
EM_ANDAMENTO = ("RECEBIDO", "RESERVADO", "COMPENSANDO")
"""Asked about for as long as they stay so."""
DESFEITOS = ("FALHOU_SEM_RESERVA", "FALHOU_COMPENSADO")
"""Asked about for a while after they end: they are for ever, and a charge is late by hours at most."""
ESPERADOS = frozenset({"CONFIRMADO", "REQUER_INTERVENCAO_HUMANA", "ENCERRADO_MANUALMENTE"})
"""Where a charge belongs, or where a person knows of it already."""

INICIO_DOS_TEMPOS = "0000"
VALIDADE_AVISO_S = 14 * 24 * 3600
"""A message lives as long in the queue: an order still wrong by then is told again."""


class ConferenciaDeCobrancas:
    """One run of the check: from where the last one stopped, until every status was walked or a bound is met.

    Parameters
    ----------
    pedidos : PedidosPorStatus
    gateway : Gateway
    fila : FilaHumana
    memoria : RepositorioConferencias
        Cursor and the orders people were told about.
    limite_s, janela_s : int
        See :class:`pagamentos.configuracao.ConfiguracaoConferenciaCobrancas`.
    relogio : Callable[[], datetime]
        Current instant, aware.
    """

    def __init__(
        self,
        pedidos: PedidosPorStatus,
        gateway: Gateway,
        fila: FilaHumana,
        memoria: RepositorioConferencias,
        limite_s: int,
        janela_s: int,
        relogio: Callable[[], datetime] = agora,
    ) -> None:
        self._pedidos = pedidos
        self._gateway = gateway
        self._fila = fila
        self._memoria = memoria
        self._limite_s = limite_s
        self._janela_s = janela_s
        self._relogio = relogio
        self.contagem: Counter[str] = Counter()

    def executar(self, maximo_consultas: int, novo_prazo: Callable[[], Prazo], ha_tempo: Callable[[], bool]) -> bool:
        """Check orders until all were walked, ``maximo_consultas`` were made, time ended or the gateway is out.

        Parameters
        ----------
        maximo_consultas : int
            Questions to the gateway in this run.
        novo_prazo : Callable[[], Prazo]
            Deadline of one question.
        ha_tempo : Callable[[], bool]
            Whether there is time for another one.

        Returns
        -------
        bool
            Whether every order was walked (the next run starts over).
        """
        agora_ = self._relogio()
        ate = para_iso(agora_ - timedelta(seconds=self._limite_s))
        recente = para_iso(agora_ - timedelta(seconds=self._janela_s))
        trechos = [*((s, INICIO_DOS_TEMPOS) for s in EM_ANDAMENTO), *((s, recente) for s in DESFEITOS)]
        comeco, posicao = self._onde_parou()
        for status, desde in trechos[[s for s, _ in trechos].index(comeco) :]:
            depois_de = _a_partir_de(posicao, desde)
            posicao = None
            while True:
                pagina, seguinte = self._pedidos.pagina(status, desde, ate, depois_de)
                for pedido in pagina:
                    cabe = self.contagem["CobrancasConferidas"] < maximo_consultas and ha_tempo()
                    if not cabe or not self._conferir(pedido, ate, novo_prazo()):
                        self._gravar(status, depois_de)
                        return False
                    depois_de = pedido.posicao
                if seguinte is None:
                    break
                depois_de = seguinte
                self._gravar(status, depois_de)
        self._memoria.gravar_cursor(CONFERENCIA, None)
        return True

    def _conferir(self, pedido: PedidoAntigo, ate: str, prazo: Prazo) -> bool:
        """Check one order. False if the gateway is out of reach: the next run starts with this one."""
        identificar(pedido.pedido_id)
        try:
            cobranca = self._gateway.consultar(token_cobranca(pedido.pedido_id), prazo)
        except GatewayIndisponivelError as erro:
            self.contagem["ConferenciasInterrompidas"] += 1
            logger.warning("gateway out of reach, check stopped", extra={"motivo": erro.detalhes.get("motivo")})
            return False
        except RespostaInesperadaGatewayError:
            self.contagem["ConferenciasComFalha"] += 1
            logger.exception("charge not checked")
            cobranca = None
        self.contagem["CobrancasConferidas"] += 1
        if cobranca is not None and cobranca.situacao is SituacaoCobranca.APROVADA:
            self._avisar(pedido.pedido_id, ate)
        return True

    def _avisar(self, pedido_id: str, ate: str) -> None:
        status, atualizado_em = self._pedidos.status_atual(pedido_id)
        if status in ESPERADOS or atualizado_em > ate:
            return  # it has moved since the index was read: whoever moved it is at work
        coisa = f"cobranca-orfa#{pedido_id}"
        if self._memoria.avisado(coisa):
            return
        # Message first: dying in between repeats a message, which is harmless, instead of losing one.
        self._fila.avisar_cobranca_orfa(pedido_id, status or "AUSENTE")
        self._memoria.registrar_aviso(coisa, VALIDADE_AVISO_S)
        self.contagem["CobrancasOrfas"] += 1
        logger.error("orphan charge sent to a person", extra={"status": status})

    def _onde_parou(self) -> tuple[str, Posicao | None]:
        cursor = self._memoria.cursor(CONFERENCIA)
        if cursor is None or cursor["status"] not in (*EM_ANDAMENTO, *DESFEITOS):
            return EM_ANDAMENTO[0], None
        return cursor["status"], cursor["depoisDe"]

    def _gravar(self, status: str, depois_de: Posicao | None) -> None:
        self._memoria.gravar_cursor(CONFERENCIA, {"status": status, "depoisDe": depois_de})


def _a_partir_de(posicao: Posicao | None, desde: str) -> Posicao | None:
    """The position, unless it fell out of the window meanwhile (DynamoDB refuses a start outside the range)."""
    return posicao if posicao is not None and posicao["atualizadoEm"] >= desde else None
