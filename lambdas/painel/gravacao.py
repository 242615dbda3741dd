"""What is done with one transition: written once, shown if newer, its alert published at least once."""

from collections import Counter
from typing import Protocol

from comum.observabilidade import logger
from comum.relogio import agora_iso, de_iso
from painel.alertas import AlertaReposicao
from painel.repositorio import PREFIXO_TRANSICAO, Registro
from painel.transicao import CANCELADO, Transicao


class Repositorio(Protocol):
    """What writing needs of the table."""

    def marcar_inicio(self, instante: str) -> str: ...
    def registrar_transicao(self, transicao: Transicao, gravado_em: str) -> Registro: ...
    def atualizar_atual(self, transicao: Transicao, gravado_em: str) -> str | None: ...
    def pedir_conferencia(self, transicao: Transicao) -> None: ...
    def marcar_alerta_publicado(self, pedido_id: str, sk: str, publicado_em: str) -> None: ...


class Publicador(Protocol):
    """What publishing needs of the topic."""

    def publicar(self, alerta: AlertaReposicao) -> None: ...


class Gravador:
    """Applies transitions in a fixed order, so that a crash after any step is finished by the re-sent record.

    1. TRANSICAO, which also claims the alert (``alerta = PENDENTE``);
    2. ATUAL, if this is the latest, and what its jump asks for if it left a status the panel did not show;
    3. the alert, if the claim is still PENDENTE, and then PUBLICADO.

    Steps 1 and 2 repeat without effect. Step 3 has one window: the topic accepted the message and the process died,
    or the answer was lost, before PUBLICADO was written. Then the re-sent record publishes again, with the same
    ``idAlerta``. The other order (mark, then publish) would close the window by losing alerts, which is what this
    system exists to stop.
    """

    def __init__(self, repositorio: Repositorio, publicador: Publicador) -> None:
        self._repositorio = repositorio
        self._publicador = publicador
        self.contagem: Counter[str] = Counter()
        self.maior_atraso_ms = 0

    def aplicar(self, transicao: Transicao) -> None:
        """Write, show and alert one transition; repeating it changes nothing."""
        gravado_em = agora_iso()
        # What never reached the panel and is older than its first record was not lost: reconciliation asks.
        self._repositorio.marcar_inicio(transicao.em)
        registro = self._repositorio.registrar_transicao(transicao, gravado_em)
        antes = self._repositorio.atualizar_atual(transicao, gravado_em)
        if antes is not None and antes != transicao.de:
            self._notar_salto(transicao, antes)
        self.contagem["TransicoesGravadas" if registro.novo else "TransicoesRepetidas"] += 1
        if registro.novo:
            atraso = de_iso(gravado_em) - de_iso(transicao.em)
            self.maior_atraso_ms = max(self.maior_atraso_ms, int(atraso.total_seconds() * 1000))
            if transicao.pede_reposicao:
                self.contagem["CancelamentosAposSeparacao"] += 1
        if registro.alerta == "PENDENTE":
            self._alertar(transicao)

    def _notar_salto(self, transicao: Transicao, mostrado: str) -> None:
        """The record leaves a status that the panel did not show: at least one transition before it never arrived.

        None is invented; the history shows the jump. If the order had been cancelled unseen, goods may have to go back.
        Counted again when the record is sent again: its alarm must not depend on the first process living to say so.
        """
        self.contagem["TransicoesComSalto"] += 1
        fatos = {"pedidoId": transicao.pedido_id, "mostrado": mostrado, "de": transicao.de, "para": transicao.para}
        logger.warning("transition before this one never arrived", extra=fatos)
        if transicao.de == CANCELADO:
            self._repositorio.pedir_conferencia(transicao)

    def _alertar(self, transicao: Transicao) -> None:
        sk = PREFIXO_TRANSICAO + transicao.sequencia
        self._publicador.publicar(
            AlertaReposicao(
                id_alerta=f"{transicao.pedido_id}#{transicao.sequencia}",
                pedido_id=transicao.pedido_id,
                loja=transicao.loja,
                em=transicao.em,
                origem="stream",
            )
        )
        self._repositorio.marcar_alerta_publicado(transicao.pedido_id, sk, agora_iso())
        self.contagem["AlertasReposicaoPublicados"] += 1
