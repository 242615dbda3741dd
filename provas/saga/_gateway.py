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


@dataclass(frozen=True)
class Movimento:
    """One line of the ledger.

    ``tipo`` is what was asked (COBRANCA, ESTORNO); ``resultado`` what was answered; ``valor_centavos`` the money that
    this very line moved (0 for a refusal, a replay, an unavailability).
    """

    ordem: str
    em: datetime
    tipo: str
    resultado: str
    valor_centavos: int
    detalhe: str = ""

    @property
    def moveu_dinheiro(self) -> bool:
        return self.valor_centavos > 0


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
            "GET", f"{url}/movimentos", fields={"pedidoId": pedido_id}, headers={"X-Api-Key": self._ler_chave()}
        )
        if resposta.status != 200:
            raise ProvaFalhouError("200 ao ler os movimentos do gateway simulado", f"{resposta.status}")
        return [ler_movimento(m) for m in json.loads(resposta.data)["movimentos"]]

    def _ler_chave(self) -> str:
        if self._chave is None:
            parametro = self._alvo.variavel("CobrarPagamento", "PARAMETRO_CHAVE_GATEWAY")
            lido = self._alvo.cliente("ssm").get_parameter(Name=parametro, WithDecryption=True)
            self._chave = str(lido["Parameter"]["Value"])
        return self._chave


def ler_movimento(bruto: Mapping[str, Any]) -> Movimento:
    """Read one line of ``GET /movimentos``."""
    return Movimento(
        ordem=str(bruto["ordem"]),
        em=datetime.fromisoformat(str(bruto["em"])),
        tipo=str(bruto["tipo"]),
        resultado=str(bruto["resultado"]),
        valor_centavos=int(bruto.get("valorCentavos") or 0),
        detalhe=str(bruto.get("detalhe") or ""),
    )


def saldo_liquido(movimentos: Sequence[Movimento]) -> int:
    """Centavos the customer ends up paying: what was charged minus what was refunded."""
    return sum(m.valor_centavos * (1 if m.tipo == "COBRANCA" else -1) for m in movimentos)


def reais(centavos: int) -> str:
    """Centavos as a reader expects them: ``R$ 1.234,50``."""
    inteiro, resto = divmod(abs(centavos), 100)
    return f"{'-' if centavos < 0 else ''}R$ {inteiro:,}".replace(",", ".") + f",{resto:02d}"


def faixas_do_gateway(movimentos: Sequence[Movimento]) -> list[Faixa]:
    """One row per kind of movement, on the same axis as the states."""
    faixas = []
    for tipo, nome in (("COBRANCA", "Cobranças"), ("ESTORNO", "Estornos")):
        marcos = tuple(_marco(m) for m in movimentos if m.tipo == tipo)
        if marcos:
            faixas.append(Faixa(nome, GRUPO, marcos=marcos))
    return faixas


def _marco(m: Movimento) -> Marco:
    if m.moveu_dinheiro:
        verbo = "cobrou" if m.tipo == "COBRANCA" else "devolveu"
        return Marco(m.em, Situacao.SUCESSO, f"{verbo} {reais(m.valor_centavos)}", m.detalhe)
    situacao = Situacao.NEUTRO if m.resultado in ("REPETIDA", "NADA_A_ESTORNAR") else Situacao.FALHA
    return Marco(m.em, situacao, m.resultado, m.detalhe)
