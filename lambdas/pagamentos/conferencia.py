"""The check of charges: an order that did not end in CONFIRMADO must hold no approved charge, and no order that needs a
person is forgotten because its message expired.

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
from pagamentos.fila_humana import ESPELHO, FilaHumana
from pagamentos.logica import token_cobranca
from pagamentos.pedidos_por_status import PedidoAtual, PedidosPorStatus, Posicao
from pagamentos.porta import Cobranca, Gateway, SituacaoCobranca

CONFERENCIA = "conferir_cobrancas"
EM_ANDAMENTO = ("RECEBIDO", "RESERVADO", "COMPENSANDO")
"""Asked about for as long as they stay so."""
DESFEITOS = ("FALHOU_SEM_RESERVA", "FALHOU_COMPENSADO")
"""Asked about for a while after they end: they are for ever, and a charge is late by hours at most."""
ESPERA = "REQUER_INTERVENCAO_HUMANA"
"""A person was sent a message when the order came to it, and is sent another when that one is about to expire."""
ESPERADOS = frozenset({"CONFIRMADO", ESPERA, "ENCERRADO_MANUALMENTE"})
"""Where a charge belongs, or where a person knows of it already."""
SEM_COBRANCA = frozenset({SituacaoCobranca.ESTORNADA, SituacaoCobranca.RECUSADA})
"""The gateway's verdicts that leave nothing to refund and no token to close."""

INICIO_DOS_TEMPOS = "0000"
AVISO = "pessoa#"
VALIDADE_AVISO_S = 90 * 24 * 3600
"""How long a notice waits to be repeated, should the check itself be stopped: as long as an execution's name."""


class ConferenciaDeCobrancas:
    """One run of the check: from where the last one stopped, until every status was walked or a bound is met.

    Parameters
    ----------
    pedidos : PedidosPorStatus
    gateway : Gateway
    fila : FilaHumana
    memoria : RepositorioConferencias
        Cursor and the orders people were told about.
    limite_s, janela_s, reaviso_s : int
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
        reaviso_s: int,
        relogio: Callable[[], datetime] = agora,
    ) -> None:
        self._pedidos = pedidos
        self._gateway = gateway
        self._fila = fila
        self._memoria = memoria
        self._limite_s = limite_s
        self._janela_s = janela_s
        self._reaviso_s = reaviso_s
        self._relogio = relogio
        self.contagem: Counter[str] = Counter()

    def executar(self, maximo_consultas: int, novo_prazo: Callable[[], Prazo], ha_tempo: Callable[[], bool]) -> bool:
        """Repeat old notices, then check orders, until all were walked, ``maximo_consultas`` were made, time ended or
        the gateway is out.

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
        parado, recente, esperando = (
            para_iso(agora_ - timedelta(seconds=s)) for s in (self._limite_s, self._janela_s, self._reaviso_s)
        )

        def cabe() -> bool:
            return self.contagem["CobrancasConferidas"] < maximo_consultas and ha_tempo()

        # No cursor: a notice that was repeated, or is not needed any more, is old no longer.
        for avisos in self._memoria.avisos_antigos(AVISO, self._reaviso_s):
            for pedido_id in [aviso.removeprefix(AVISO) for aviso in avisos]:
                if not cabe() or not self._conferir(pedido_id, parado, novo_prazo(), repetir=True):
                    return False
        trechos = [
            *((s, INICIO_DOS_TEMPOS, parado) for s in EM_ANDAMENTO),
            *((s, recente, parado) for s in DESFEITOS),
            (ESPERA, INICIO_DOS_TEMPOS, esperando),
        ]
        comeco, posicao = self._onde_parou()
        for status, desde, ate in trechos[[s for s, _, _ in trechos].index(comeco) :]:
            depois_de = _a_partir_de(posicao, desde)
            posicao = None
            while True:
                pagina, seguinte = self._pedidos.pagina(status, desde, ate, depois_de)
                for pedido in pagina:
                    # Who was told of is a notice's to repeat, and costs no question here.
                    lembrado = status == ESPERA and self._memoria.avisado(AVISO + pedido.pedido_id)
                    if not cabe() or not (lembrado or self._conferir(pedido.pedido_id, ate, novo_prazo())):
                        self._gravar(status, depois_de)
                        return False
                    depois_de = pedido.posicao
                if seguinte is None:
                    break
                depois_de = seguinte
                self._gravar(status, depois_de)
        self._memoria.gravar_cursor(CONFERENCIA, None)
        return True

    def _conferir(self, pedido_id: str, ate: str, prazo: Prazo, *, repetir: bool = False) -> bool:
        """Check one order, or one of which people were told long ago (``repetir``). False if the gateway is out of
        reach: the next run starts with this one."""
        identificar(pedido_id)
        cobranca: Cobranca | None = None
        em_duvida = False
        try:
            cobranca = self._gateway.consultar(token_cobranca(pedido_id), prazo)
        except GatewayIndisponivelError as erro:
            self.contagem["ConferenciasInterrompidas"] += 1
            logger.warning("gateway out of reach, check stopped", extra={"motivo": erro.detalhes.get("motivo")})
            return False
        except RespostaInesperadaGatewayError:
            self.contagem["ConferenciasComFalha"] += 1
            logger.exception("charge not checked")
            em_duvida = repetir  # what people were told of stays theirs until it is seen to be undone
        self.contagem["CobrancasConferidas"] += 1
        pedido = self._pedidos.atual(pedido_id)
        cobrada = em_duvida or (cobranca is not None and cobranca.situacao is SituacaoCobranca.APROVADA)
        if pedido.status != ESPERA and (pedido.status in ESPERADOS or not cobrada):
            if repetir:
                self._memoria.registrar_aviso(AVISO + pedido_id, 0)
        elif (repetir and pedido.status == ESPERA) or pedido.atualizado_em <= ate:
            self._avisar(pedido_id, pedido, cobranca, repetir)
        return True  # an order that moved since the index was read has somebody at work

    def _avisar(self, pedido_id: str, pedido: PedidoAtual, cobranca: Cobranca | None, repetir: bool) -> None:
        aviso = AVISO + pedido_id
        if not repetir and self._memoria.avisado(aviso):
            return
        # Message first: dying in between repeats a message, which is harmless, instead of losing one.
        if pedido.status == ESPERA:
            nada_a_estornar = cobranca is not None and cobranca.situacao in SEM_COBRANCA
            pendentes = ESPELHO[1:] if nada_a_estornar else ESPELHO
            self._fila.lembrar_espera(pedido_id, pedido.atualizado_em, pedido.erro, pendentes)
        else:
            self._fila.avisar_cobranca_orfa(pedido_id, pedido.status or "AUSENTE")
        self._memoria.registrar_aviso(aviso, VALIDADE_AVISO_S)
        if repetir or pedido.status == ESPERA:
            self.contagem["AvisosRepetidos"] += 1
            logger.warning("order still waits, sent to a person again", extra={"status": pedido.status})
        else:
            self.contagem["CobrancasOrfas"] += 1
            logger.error("orphan charge sent to a person", extra={"status": pedido.status})

    def _onde_parou(self) -> tuple[str, Posicao | None]:
        cursor = self._memoria.cursor(CONFERENCIA)
        if cursor is None or cursor["status"] not in (*EM_ANDAMENTO, *DESFEITOS, ESPERA):
            return EM_ANDAMENTO[0], None
        return cursor["status"], cursor["depoisDe"]

    def _gravar(self, status: str, depois_de: Posicao | None) -> None:
        self._memoria.gravar_cursor(CONFERENCIA, {"status": status, "depoisDe": depois_de})


def _a_partir_de(posicao: Posicao | None, desde: str) -> Posicao | None:
    """The position, unless it fell out of the window meanwhile (DynamoDB refuses a start outside the range)."""
    return posicao if posicao is not None and posicao["atualizadoEm"] >= desde else None
