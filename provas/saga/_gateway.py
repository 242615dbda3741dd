"""The gateway stand-in's ledger, read over HTTP as an outsider would: every movement of money, in order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from provas.alvo import Alvo
from provas.erros import ProvaFalhouError
from provas.evidencia import Faixa, Marco, Situacao

GRUPO = "Gateway de pagamento"


# Kinds of ledger line: what each one is to a reader, and the sign of the money that it moves.
_TIPOS: Mapping[str, tuple[str, str, int]] = {
    "COBRANCA_APROVADA": ("Cobranças", "cobrou {valor}", 1),
    "COBRANCA_RECUSADA": ("Cobranças", "recusou o cartão", 0),
    "COBRANCA_BLOQUEADA": ("Cobranças", "barrou cobrança com chave cancelada", 0),
    "ESTORNO": ("Estornos", "devolveu {valor}", -1),
    "NADA_A_ESTORNAR": ("Estornos", "nada a estornar; chave cancelada", 0),
}


@dataclass(frozen=True)
class Movimento:
    """One line of the ledger. ``valor_centavos`` is what the request was about, whether or not money moved."""

    ordem: int
    em: datetime
    tipo: str
    valor_centavos: int

    @property
    def dinheiro(self) -> int:
        """Centavos that this line took from the customer; negative when it gave them back, 0 when none moved."""
        return self.valor_centavos * _TIPOS[self.tipo][2]

    def __str__(self) -> str:
        """What happened, to a reader (Portuguese)."""
        return _TIPOS[self.tipo][1].format(valor=reais(self.valor_centavos))


class Livro:
    """Reads the ledger of one stand-in. The API key comes from the parameter that the functions themselves read."""

    def __init__(self, alvo: Alvo) -> None:
        self._alvo = alvo
        self._chave: str | None = None

    def movimentos(self, pedido_id: str) -> list[Movimento]:
        """Every movement of the order, in the order in which the gateway recorded them.

        Raises
        ------
        ProvaFalhouError
            The stand-in answered anything but 200.
        """
        url = str(self._alvo.saida("url_gateway_simulado", "gateway simulado")).rstrip("/")
        resposta = self._alvo.http.request(
            "GET", f"{url}/movimentos", fields={"pedidoId": pedido_id}, headers={"X-Api-Key": self.chave_de_api()}
        )
        if resposta.status != 200:
            raise ProvaFalhouError("200 ao ler os movimentos do gateway simulado", f"{resposta.status}")
        return [ler_movimento(m) for m in json.loads(resposta.data)["movimentos"]]

    def mudar_modo(self, modo: str) -> None:
        """Put the stand-in in ``NORMAL`` or ``INDISPONIVEL``.

        Raises
        ------
        ProvaFalhouError
            It answered anything but 200.
        """
        url = str(self._alvo.saida("url_gateway_simulado", "gateway simulado")).rstrip("/")
        resposta = self._alvo.http.request(
            "PUT", f"{url}/modo", json={"modo": modo}, headers={"X-Api-Key": self.chave_de_api()}
        )
        if resposta.status != 200:
            raise ProvaFalhouError("200 ao mudar o modo do gateway simulado", f"{resposta.status}")

    def apagar(self, pedido_id: str) -> None:
        """Remove what the order left in the stand-in's table (clean-up: the stand-in has no route to forget)."""
        tabela = self._alvo.variavel("GatewaySimulado", "TABELA_GATEWAY")
        cobranca = f"COBRANCA#cesta-cobranca-{pedido_id}"
        chaves = [("MOVIMENTOS", f"{m.ordem:012d}") for m in self.movimentos(pedido_id)]
        chaves += [(cobranca, "COBRANCA"), (cobranca, "TENTATIVAS"), (f"ESTORNO#cesta-estorno-{pedido_id}", "ESTORNO")]
        for pk, sk in chaves:
            self._alvo.cliente("dynamodb").delete_item(TableName=tabela, Key={"pk": {"S": pk}, "sk": {"S": sk}})

    def chave_de_api(self) -> str:
        """The key that opens the stand-in, read once from its parameter."""
        if self._chave is None:
            parametro = self._alvo.variavel("CobrarPagamento", "PARAMETRO_CHAVE_GATEWAY")
            lido = self._alvo.cliente("ssm").get_parameter(Name=parametro, WithDecryption=True)
            self._chave = str(lido["Parameter"]["Value"])
        return self._chave


def ler_movimento(bruto: Mapping[str, Any]) -> Movimento:
    """Read one line of ``GET /movimentos``.

    Raises
    ------
    ProvaFalhouError
        A kind of line that is not known: the money it moved could not be told.
    """
    if bruto["movimento"] not in _TIPOS:
        raise ProvaFalhouError(f"um movimento conhecido ({', '.join(_TIPOS)})", str(bruto["movimento"]))
    return Movimento(
        ordem=int(bruto["ordem"]),
        em=datetime.fromisoformat(str(bruto["em"])),
        tipo=str(bruto["movimento"]),
        valor_centavos=int(bruto["valorCentavos"]),
    )


def saldo_liquido(movimentos: Sequence[Movimento]) -> int:
    """Centavos the customer ends up paying: what was charged minus what was refunded."""
    return sum(m.dinheiro for m in movimentos)


def reais(centavos: int) -> str:
    """Centavos as a reader expects them: ``R$ 1.234,50``."""
    inteiro, resto = divmod(abs(centavos), 100)
    return f"{'-' if centavos < 0 else ''}R$ {inteiro:,}".replace(",", ".") + f",{resto:02d}"


def faixas_do_gateway(movimentos: Sequence[Movimento]) -> list[Faixa]:
    """One row per kind of movement, on the same axis as the states."""
    faixas = []
    for nome in ("Cobranças", "Estornos"):
        marcos = tuple(_marco(m) for m in movimentos if _TIPOS[m.tipo][0] == nome)
        if marcos:
            faixas.append(Faixa(nome, GRUPO, marcos=marcos))
    return faixas


def _marco(m: Movimento) -> Marco:
    if m.dinheiro:
        return Marco(m.em, Situacao.SUCESSO, str(m), m.tipo)
    return Marco(m.em, Situacao.NEUTRO if m.tipo == "NADA_A_ESTORNAR" else Situacao.FALHA, str(m), m.tipo)
