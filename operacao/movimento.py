"""``make movimento``: plausible store traffic at the panel's source, so that the page moves. Bounded by construction.

Orders are created PENDENTE and walk towards ENTREGUE; some are cancelled, and some of those after being separated.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from operacao.alvos import alvo_em_operacao, dizendo_o_que_falhou
from operacao.loja_simulada import INICIAL, LojaSimulada
from provas.alvo import ALVOS
from provas.erros import AlvoNaoImplantadoError

DURACAO_MAXIMA_S = 3600
RITMO_MAXIMO = 50.0
# Where an order goes from each status, and how often.
PASSOS: dict[str, tuple[tuple[str, float], ...]] = {
    "PENDENTE": (("SEPARADO", 0.88), ("CANCELADO", 0.12)),
    "SEPARADO": (("EM_ENTREGA", 0.82), ("CANCELADO", 0.12), ("PENDENTE", 0.06)),
    "EM_ENTREGA": (("ENTREGUE", 1.0),),
}


@dataclass
class Gerador:
    """Decides what happens next; the same seed gives the same day.

    Attributes
    ----------
    loja_simulada : LojaSimulada
        Where orders are written.
    lojas : Sequence[str]
        Stores that receive orders.
    sorteio : random.Random
        Source of chance.
    """

    loja_simulada: LojaSimulada
    lojas: Sequence[str]
    sorteio: random.Random
    prefixo: str
    abertos: dict[str, str] = field(default_factory=dict)
    contagem: Counter[str] = field(default_factory=Counter)

    def passo(self) -> None:
        """Create an order or move one on: one write at the source."""
        if not self.abertos or (len(self.abertos) < 40 and self.sorteio.random() < 0.3):
            pedido = f"{self.prefixo}-{1000 + self.contagem['criados']}"
            self.loja_simulada.criar(pedido, self.sorteio.choice(list(self.lojas)))
            self.abertos[pedido] = INICIAL
            self.contagem["criados"] += 1
            return
        pedido = self.sorteio.choice(list(self.abertos))
        de = self.abertos[pedido]
        destinos, pesos = zip(*PASSOS[de], strict=True)
        para = self.sorteio.choices(destinos, pesos)[0]
        self.loja_simulada.mudar(pedido, para)
        self.contagem["transicoes"] += 1
        if (de, para) == ("SEPARADO", "CANCELADO"):
            self.contagem["canceladosAposSeparados"] += 1
        if para in PASSOS:
            self.abertos[pedido] = para
        else:
            del self.abertos[pedido]


def movimentar(
    gerador: Gerador,
    duracao_s: float,
    ritmo: float,
    relogio: Callable[[], float] = time.monotonic,
    dormir: Callable[[float], None] = time.sleep,
) -> None:
    """Take ``ritmo`` steps a second for ``duracao_s`` seconds, and no more than that many in all."""
    comeco = relogio()
    for numero in range(int(duracao_s * ritmo)):
        gerador.passo()
        espera = comeco + (numero + 1) / ritmo - relogio()
        if relogio() - comeco > duracao_s:
            return
        if espera > 0:
            dormir(espera)


def _argumentos(argumentos: Sequence[str] | None) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="make movimento", description="Gera movimento de loja na origem do painel.")
    p.add_argument("--alvo", default="local", choices=ALVOS)
    p.add_argument("--lojas", default="L001,L002,L003", help="códigos separados por vírgula (padrão: %(default)s)")
    p.add_argument("--duracao", type=float, default=120, help=f"segundos, até {DURACAO_MAXIMA_S} (padrão: %(default)s)")
    p.add_argument("--ritmo", type=float, default=2, help=f"escritas por segundo, até {RITMO_MAXIMO:.0f}")
    p.add_argument("--semente", type=int, default=None, help="repete o mesmo movimento")
    lidos = p.parse_args(argumentos)
    if not 0 < lidos.duracao <= DURACAO_MAXIMA_S or not 0 < lidos.ritmo <= RITMO_MAXIMO:
        p.error(f"duração de 1 a {DURACAO_MAXIMA_S} s e ritmo de até {RITMO_MAXIMO:.0f} por segundo")
    return lidos


@dizendo_o_que_falhou
def principal(argumentos: Sequence[str] | None = None) -> int:
    """Run the generator; 0 when it ends or is interrupted, 2 when there is nothing to write to."""
    lidos = _argumentos(argumentos)
    try:
        alvo = alvo_em_operacao(lidos.alvo, producao=False)
    except AlvoNaoImplantadoError as erro:
        print(erro, file=sys.stderr)
        return 2
    lojas = [loja for loja in lidos.lojas.split(",") if loja]
    loja = LojaSimulada(alvo.cliente("dynamodb"), alvo.saida("tabela_pedidos_cadencia"))
    gerador = Gerador(loja, lojas, random.Random(lidos.semente), prefixo=f"{int(time.time()) % 1_000_000:06d}")
    print(f"Painel: {alvo.saida('url_painel')}?loja={lojas[0]}")
    print(f"{lidos.ritmo:g} escritas por segundo em {', '.join(lojas)} por {lidos.duracao:g} s (Ctrl+C encerra)…")
    try:
        movimentar(gerador, lidos.duracao, lidos.ritmo)
    except KeyboardInterrupt:
        print()
    c = gerador.contagem
    print(
        f"{c['criados']} pedidos criados, {c['transicoes']} mudanças de status, "
        f"{c['canceladosAposSeparados']} cancelados depois de separados."
    )
    return 0


if __name__ == "__main__":
    sys.exit(principal())
