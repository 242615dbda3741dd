"""The source against the panel, after the stream could no longer tell: gaps are marked as gaps.

The stream holds 24 hours. Whatever changed in a longer outage exists nowhere: the source shows where each order is,
not how it got there. So an order whose state differs gets one LACUNA item ("last known X, found Y") and its ATUAL is
brought to what the source says, marked as rebuilt. No transition is ever invented.

What this cannot see: an order that left a status and came back to it inside the gap looks equal on both sides.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from comum.relogio import agora, de_iso, para_iso
from painel.alertas import AlertaReposicao
from painel.transicao import CANCELADO, SEPARADO

Veredito = Literal["igual", "semTransicao", "painelAdiante", "aguardandoStream", "lacuna"]
Certeza = Literal["SIM", "TALVEZ"]
_EXEMPLOS = 50
# A run keeps its place after each page, about a second: one that has not for this long was stopped.
_PARADA = timedelta(minutes=5)


@dataclass(frozen=True)
class PedidoNaOrigem:
    """An order as the source table shows it; ``atualizado_em`` is UTC ISO-8601 with milliseconds."""

    pedido_id: str
    loja: str
    status: str
    atualizado_em: str


@dataclass(frozen=True)
class EstadoNoPainel:
    """An order as the panel shows it since ``em``; ``alerta_lacuna``: key of a gap whose alert has not gone out yet."""

    status: str
    em: str
    sequencia: str | None
    alerta_lacuna: str | None


@dataclass(frozen=True)
class Lacuna:
    """A gap of one order: last status known (None: never seen), status found, and whether goods may have to go back.

    ``antes_do_painel``: never seen because it last changed before the panel began, which no outage made happen.
    """

    pedido: PedidoNaOrigem
    ultimo_conhecido: str | None
    sequencia_conhecida: str | None
    antes_do_painel: bool = False

    @property
    def sk(self) -> str:
        """Key of the gap: the same for the same gap, so that a second run adds nothing."""
        return f"LACUNA#{self.pedido.atualizado_em}"

    @property
    def reposicao(self) -> Certeza | None:
        """SIM: packed when last seen and cancelled now. TALVEZ: cancelled now, and whether it was packed is unknown.

        What was cancelled before the panel began is nobody's to check.
        """
        if self.pedido.status != CANCELADO or self.antes_do_painel:
            return None
        return "SIM" if self.ultimo_conhecido == SEPARADO else "TALVEZ"


@dataclass(frozen=True)
class Pagina:
    """A page of the source, where the next one starts (None: this was the last), and items that could not be read."""

    pedidos: list[PedidoNaOrigem]
    proxima: dict[str, Any] | None
    ilegiveis: int = 0


@dataclass
class Andamento:
    """Progress of a run, kept between invocations.

    Attributes
    ----------
    escopo : str
        ``TODAS`` or ``LOJA#<store>``.
    inicio, atualizado_em : str
        When it began, which tells runs apart, and when it last kept its place; UTC ISO-8601.
    proxima : dict[str, Any] | None
        Where to go on; None and ``concluida`` at the end.
    repeticao : bool
        Whether it is itself the repetition of a run, which is not repeated.
    repetir_apos : str | None
        When a finished run has to be repeated, because it left changes to a stream that may have lost them.
    """

    escopo: str
    inicio: str = ""
    atualizado_em: str = ""
    proxima: dict[str, Any] | None = None
    concluida: bool = False
    contagem: Counter[str] = field(default_factory=Counter)
    exemplos: list[str] = field(default_factory=list)
    repeticao: bool = False
    repetir_apos: str | None = None

    def pendencia(self, instante: datetime) -> "Andamento | None":
        """What is left to do about this run at that instant: go on, repeat it from the beginning, or nothing."""
        if not self.concluida:
            return self if not self.atualizado_em or instante - de_iso(self.atualizado_em) > _PARADA else None
        if self.repetir_apos is not None and de_iso(self.repetir_apos) <= instante:
            return Andamento(self.escopo, inicio=para_iso(instante), repeticao=True)
        return None


class Origem(Protocol):
    """The source table."""

    def pagina(self, loja: str | None, inicio: Mapping[str, Any] | None) -> Pagina: ...


class Painel(Protocol):
    """What reconciling needs of the panel's table."""

    def marcar_inicio(self, instante: str) -> str: ...
    def ler_inicio(self) -> str | None: ...
    def ler_estados(self, pedidos: list[str]) -> dict[str, EstadoNoPainel]: ...
    def gravar_lacuna(self, lacuna: Lacuna, gravado_em: str) -> bool: ...
    def marcar_alerta_publicado(self, pedido_id: str, sk: str, publicado_em: str) -> None: ...
    def encerrar_alerta_lacuna(self, pedido_id: str) -> None: ...
    def guardar_andamento(self, andamento: Andamento) -> bool: ...


class Publicador(Protocol):
    """The restock topic."""

    def publicar(self, alerta: AlertaReposicao) -> None: ...


def comparar(origem: PedidoNaOrigem, painel: EstadoNoPainel | None, limite: str, iniciais: frozenset[str]) -> Veredito:
    """Say what the difference between source and panel means.

    Parameters
    ----------
    origem, painel
        The same order on both sides; ``painel`` is None when it was never seen.
    limite : str
        Instant before which the stream can no longer deliver: a later change may still arrive by itself.
    iniciais : frozenset[str]
        Statuses an order is created with: never changed, so it has no transition and is no gap.
    """
    if painel is not None and painel.status == origem.status:
        return "igual"
    if painel is None and origem.status in iniciais:
        return "semTransicao"
    if painel is not None and painel.em >= origem.atualizado_em:
        # Read from the source before the panel moved on: never a reason to move it back.
        return "painelAdiante"
    if origem.atualizado_em > limite:
        return "aguardandoStream"
    return "lacuna"


class Reconciliador:
    """Walks the source page by page; progress is kept after each page, so that a stopped run goes on where it was."""

    def __init__(
        self,
        origem: Origem,
        painel: Painel,
        publicador: Publicador,
        carencia: timedelta,
        iniciais: frozenset[str],
        *,
        simular: bool = False,
    ) -> None:
        self._origem = origem
        self._painel = painel
        self._publicador = publicador
        self._carencia = carencia
        self._iniciais = iniciais
        self._simular = simular

    def executar(self, andamento: Andamento, loja: str | None, ha_tempo: Callable[[], bool]) -> Andamento:
        """Reconcile from where ``andamento`` is until the end of the source or of the time, or until a run that began
        later takes its place.
        """
        # Kept before the first page too: a run that fails there is still one to go on with.
        no_lugar = self._guardar(andamento)
        agora_mesmo = para_iso(agora())
        inicio = (
            self._painel.ler_inicio() if self._simular else self._painel.marcar_inicio(agora_mesmo)
        ) or agora_mesmo
        while no_lugar and not andamento.concluida and ha_tempo():
            pagina = self._origem.pagina(loja, andamento.proxima)
            andamento.contagem["ilegiveis"] += pagina.ilegiveis
            estados = self._painel.ler_estados([pedido.pedido_id for pedido in pagina.pedidos])
            limite = para_iso(agora() - self._carencia)
            for pedido in pagina.pedidos:
                self._conferir(pedido, estados.get(pedido.pedido_id), limite, inicio, andamento)
            andamento.proxima = pagina.proxima
            andamento.concluida = pagina.proxima is None
            if andamento.concluida and loja is None and not andamento.repeticao:
                andamento.repetir_apos = self._repetir_apos(andamento)
            no_lugar = self._guardar(andamento)
        return andamento

    def _guardar(self, andamento: Andamento) -> bool:
        andamento.atualizado_em = para_iso(agora())
        return self._simular or self._painel.guardar_andamento(andamento)

    def _repetir_apos(self, andamento: Andamento) -> str | None:
        # Between the stream's 24 hours and the grace a lost change looks like one on its way. Past the grace from now,
        # whatever differed and still does is a gap.
        return para_iso(agora() + self._carencia) if andamento.contagem["aguardandoStream"] else None

    def _conferir(
        self, pedido: PedidoNaOrigem, estado: EstadoNoPainel | None, limite: str, inicio: str, andamento: Andamento
    ) -> None:
        andamento.contagem["conferidos"] += 1
        if estado is not None and estado.alerta_lacuna is not None and not self._simular:
            # A gap marked by a run that stopped before its alert went out.
            self._alertar(pedido, estado.alerta_lacuna, andamento)
        veredito = comparar(pedido, estado, limite, self._iniciais)
        if veredito == "lacuna":
            self._marcar(pedido, estado, inicio, andamento)
        else:
            andamento.contagem[veredito] += 1

    def _marcar(self, pedido: PedidoNaOrigem, estado: EstadoNoPainel | None, inicio: str, andamento: Andamento) -> None:
        lacuna = Lacuna(
            pedido=pedido,
            ultimo_conhecido=estado.status if estado else None,
            sequencia_conhecida=estado.sequencia if estado else None,
            antes_do_painel=estado is None and pedido.atualizado_em < inicio,
        )
        if not self._simular and not self._painel.gravar_lacuna(lacuna, para_iso(agora())):
            andamento.contagem["mudouEnquantoConferia"] += 1
            return
        andamento.contagem["lacunas"] += 1
        if lacuna.antes_do_painel:
            andamento.contagem["antesDoPainel"] += 1
        if lacuna.reposicao is not None:
            andamento.contagem["reposicaoCerta" if lacuna.reposicao == "SIM" else "reposicaoTalvez"] += 1
        if len(andamento.exemplos) < _EXEMPLOS:
            andamento.exemplos.append(pedido.pedido_id)
        if lacuna.reposicao == "SIM" and not self._simular:
            self._alertar(pedido, lacuna.sk, andamento)

    def _alertar(self, pedido: PedidoNaOrigem, sk: str, andamento: Andamento) -> None:
        # Same order as the consumer's: published, then marked. A crash in between publishes again, with the same id.
        self._publicador.publicar(
            AlertaReposicao(
                id_alerta=f"{pedido.pedido_id}#{sk}",
                pedido_id=pedido.pedido_id,
                loja=pedido.loja,
                em=sk.removeprefix("LACUNA#"),
                origem="reconciliacao",
            )
        )
        self._painel.marcar_alerta_publicado(pedido.pedido_id, sk, para_iso(agora()))
        self._painel.encerrar_alerta_lacuna(pedido.pedido_id)
        andamento.contagem["alertasPublicados"] += 1


def ate_o_segundo(instante: str) -> str:
    """Round an instant down to the second, as AWS does with ApproximateCreationDateTime, so that both compare."""
    return para_iso(de_iso(instante).replace(microsecond=0))
