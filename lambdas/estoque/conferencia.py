"""The check of reservations: what each one is, by its order, and what is done about it.

The stock is read before the order, so whatever moves in between moves towards an outcome; and each write is conditional
on the reservation being there still. So a decision taken on an old reading does nothing, or does what the next run
would do.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from comum.conferencias import RepositorioConferencias
from comum.observabilidade import identificar, logger
from comum.relogio import agora, de_iso
from estoque.baixas import RepositorioBaixas, ResultadoBaixa
from estoque.erros import ReservaEmDisputaError
from estoque.leituras import ItemDeEstoque, LeituraEstoque, LeituraPedidos, PedidoLido
from estoque.repositorio import RepositorioEstoque, ResultadoLiberacao

CONFERENCIA = "conferir_reservas"
LOTE = 100
VALIDADE_MINIMA_AVISTADA_S = 7 * 24 * 3600

CONFIRMADO = "CONFIRMADO"
DESFEITOS = frozenset({"FALHOU_SEM_RESERVA", "FALHOU_COMPENSADO"})
ENCERRADO = "ENCERRADO_MANUALMENTE"
DE_PESSOA = frozenset({"REQUER_INTERVENCAO_HUMANA", ENCERRADO})
EM_ANDAMENTO = frozenset({"RECEBIDO", "RESERVADO", "COMPENSANDO"})


class Destino(StrEnum):
    """What becomes of a reservation."""

    BAIXAR = "BAIXAR"
    LIBERAR = "LIBERAR"
    LIBERAR_SE_CONTINUAR = "LIBERAR_SE_CONTINUAR"
    ESPERAR = "ESPERAR"
    DEIXAR_COM_PESSOA = "DEIXAR_COM_PESSOA"
    COBRAR_DECISAO = "COBRAR_DECISAO"
    RELATAR = "RELATAR"


class Relogio(Protocol):
    """How long the run still has."""

    def __call__(self) -> bool:
        """Whether there is time for another stock item, or for more of a large one."""


def destino(
    sku: str,
    pedido: PedidoLido | None,
    baixada: bool,
    limite: timedelta,
    limite_decisao: timedelta,
    momento: datetime,
) -> Destino:
    """Decide one reservation.

    Parameters
    ----------
    sku : str
        Product that holds it.
    pedido : PedidoLido | None
        Its order; None when there is none.
    baixada : bool
        Whether the order's units were written off already.
    limite : timedelta
        Age from which an order that does not move is abnormal.
    limite_decisao : timedelta
        Age from which people are reminded of the units of an order that a person ended. One that still waits for a
        person has its message, which is sent again.
    momento : datetime
        Now, aware.
    """
    if pedido is None:
        return Destino.LIBERAR_SE_CONTINUAR
    if pedido.status in DESFEITOS:
        return Destino.LIBERAR
    if pedido.status == ENCERRADO and _idade(pedido, momento) >= limite_decisao:
        return Destino.COBRAR_DECISAO
    if pedido.status in DE_PESSOA:
        return Destino.DEIXAR_COM_PESSOA
    if pedido.status == CONFIRMADO:
        if baixada:
            return Destino.LIBERAR  # a reserve that landed after the write-off: a late duplicate
        return Destino.BAIXAR if pedido.sku in ("", sku) else Destino.RELATAR
    if pedido.status in EM_ANDAMENTO and _idade(pedido, momento) < limite:
        return Destino.ESPERAR
    return Destino.RELATAR


class ConferenciaDeReservas:
    """One run of the check: from where the last one stopped, until the end of the table or of its bounds.

    Parameters
    ----------
    leitura, pedidos : LeituraEstoque, LeituraPedidos
        What is read.
    estoque, baixas : RepositorioEstoque, RepositorioBaixas
        What is done.
    memoria : RepositorioConferencias
        Cursor and first sightings.
    limite_s, limite_decisao_s : int
        See :class:`estoque.configuracao.ConfiguracaoConferencia`.
    relogio : Callable[[], datetime]
        Current instant, aware.
    """

    def __init__(
        self,
        leitura: LeituraEstoque,
        pedidos: LeituraPedidos,
        estoque: RepositorioEstoque,
        baixas: RepositorioBaixas,
        memoria: RepositorioConferencias,
        limite_s: int,
        limite_decisao_s: int,
        relogio: Callable[[], datetime] = agora,
    ) -> None:
        self._leitura = leitura
        self._pedidos = pedidos
        self._estoque = estoque
        self._baixas = baixas
        self._memoria = memoria
        self._limite = timedelta(seconds=limite_s)
        self._limite_decisao = timedelta(seconds=limite_decisao_s)
        self._relogio = relogio
        self.contagem: Counter[str] = Counter()

    def executar(self, maximo_itens: int, ha_tempo: Relogio) -> bool:
        """Check stock items until the table ends, ``maximo_itens`` were checked or there is no time.

        A run that dies repeats, at most, one page of harmless work. One that ends in the middle of an item leaves the
        rest of it to the next, which no longer finds what this one healed.

        Returns
        -------
        bool
            Whether the table was walked to its end (the next run starts over).
        """
        anterior = self._memoria.cursor(CONFERENCIA)
        conferidos = 0
        for pagina in self._leitura.paginas(anterior):
            for item in pagina:
                cabe = conferidos < maximo_itens and (not conferidos or ha_tempo())
                if not cabe or not self._conferir(item, ha_tempo):
                    self._memoria.gravar_cursor(CONFERENCIA, anterior)
                    return False
                conferidos, anterior = conferidos + 1, item.sku
            self._memoria.gravar_cursor(CONFERENCIA, anterior)
        self._memoria.gravar_cursor(CONFERENCIA, None)
        return True

    def _conferir(self, item: ItemDeEstoque, ha_tempo: Relogio) -> bool:
        """Check one item; whether there was time for all of it."""
        identificar(None)
        self.contagem["ItensConferidos"] += 1
        if item.reservas is None:
            self.contagem["ConferenciasComFalha"] += 1
            logger.error("stock item with unreadable reservations", extra={"sku": item.sku})
            return True
        pedidos = list(item.reservas)
        for inicio in range(0, len(pedidos), LOTE):
            if inicio and not ha_tempo():
                return False
            self._conferir_lote(item.sku, pedidos[inicio : inicio + LOTE], item.reservas)
        return True

    def _conferir_lote(self, sku: str, lote: list[str], reservas: Mapping[str, int]) -> None:
        pedidos = self._pedidos.obter(lote)
        confirmados = [pedido for pedido in lote if pedido in pedidos and pedidos[pedido].status == CONFIRMADO]
        baixadas = self._baixas.registradas(confirmados) if confirmados else set()
        for pedido_id in lote:
            pedido = pedidos.get(pedido_id)
            identificar(pedido_id)
            baixada = pedido_id in baixadas
            decidido = destino(sku, pedido, baixada, self._limite, self._limite_decisao, self._relogio())
            try:
                self._cumprir(decidido, sku, pedido_id, reservas[pedido_id], pedido)
            except ReservaEmDisputaError:
                # Somebody else is writing on it right now: the next run sees what came of that.
                self.contagem["ConferenciasComFalha"] += 1
                logger.warning("reservation in dispute left for the next run", extra={"sku": sku})

    def _cumprir(self, decidido: Destino, sku: str, pedido_id: str, unidades: int, pedido: PedidoLido | None) -> None:
        fatos = {"sku": sku, "quantidade": unidades, "status": pedido.status if pedido else None}
        if decidido is Destino.LIBERAR_SE_CONTINUAR:
            limite_s = int(self._limite.total_seconds())
            # By the clock of this table: the order left no time of its own, and an id may not be a ULID.
            ha_s = self._memoria.segundos_desde_avistada(
                f"{sku}#{pedido_id}", max(VALIDADE_MINIMA_AVISTADA_S, 2 * limite_s)
            )
            decidido = Destino.LIBERAR if ha_s >= limite_s else Destino.ESPERAR
        match decidido:
            case Destino.LIBERAR:
                if self._estoque.liberar(sku, pedido_id).resultado is ResultadoLiberacao.LIBERADA:
                    self.contagem["OrfasLiberadas"] += 1
                    logger.warning("orphan reservation released", extra=fatos)
            case Destino.BAIXAR:
                self._baixar(sku, pedido_id, unidades, pedido)
            case Destino.DEIXAR_COM_PESSOA:
                self.contagem["ReservasComPessoa"] += 1
            case Destino.COBRAR_DECISAO:
                self.contagem["ReservasSemDecisao"] += 1
                logger.warning("units of an ended order wait for a decision", extra=fatos)
            case Destino.RELATAR:
                self.contagem["ReservasPresas"] += 1
                logger.error("reservation of an order that does not move", extra=fatos)

    def _baixar(self, sku: str, pedido_id: str, unidades: int, pedido: PedidoLido | None) -> None:
        if self._baixas.baixar(sku, pedido_id, unidades).resultado is not ResultadoBaixa.BAIXADA:
            return
        # A fresh confirmation is the stream's to write off; being a second faster than it is no fault of the stream's.
        if pedido is not None and _idade(pedido, self._relogio()) >= self._limite:
            self.contagem["BaixasTardias"] += 1
            logger.warning("reservation the stream had not written off", extra={"sku": sku})
        else:
            self.contagem["ReservasBaixadas"] += 1


def _idade(pedido: PedidoLido, momento: datetime) -> timedelta:
    """Time since the order last changed; without a readable instant, as old as can be."""
    try:
        return momento - de_iso(pedido.atualizado_em)
    except ValueError:
        return timedelta.max
