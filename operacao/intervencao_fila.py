"""The human queue as people read it: one pending order for all its messages, whatever sent them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from comum.contrato import PedidoId
from operacao.filas import enviada_ms
from pagamentos.fila_humana import ESPELHO

MAXIMO_DE_ERRO = 300


class Erro(BaseModel):
    """An error as a Catch writes it. ``Cause`` is the function's error as JSON, or plain text."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    Error: str = ""
    Cause: str = ""

    def __str__(self) -> str:
        return f"{self.Error}: {self.causa}" if self.causa else self.Error or "—"

    @property
    def causa(self) -> str:
        """The function's message without its stack trace."""
        try:
            lido = json.loads(self.Cause)
        except ValueError:
            lido = None
        texto = str(lido.get("errorMessage", "")) if isinstance(lido, dict) else self.Cause
        return " ".join(texto.split())[:MAXIMO_DE_ERRO]


class Corpo(BaseModel):
    """Body of a message. Whoever sends one says at least which order and what is left to undo."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    pedidoId: PedidoId
    compensacoesPendentes: tuple[str, ...]
    executionArn: str | None = None
    passo: str = ""
    passoCompensacao: str | None = None
    erroOriginal: Erro | None = None
    erroDaCompensacao: Erro | None = None

    @field_validator("compensacoesPendentes")
    @classmethod
    def _conhecidas(cls, lidas: tuple[str, ...]) -> tuple[str, ...]:
        if not lidas or set(lidas) - set(ESPELHO):
            raise ValueError("compensacoesPendentes names no known compensation")
        return lidas


@dataclass(frozen=True)
class Pendencia:
    """One order waiting for a person, with every message about it (oldest first); none when only the order says so."""

    pedido_id: str
    corpos: tuple[Corpo, ...]
    mensagens: tuple[dict[str, Any], ...]

    @property
    def desde_ms(self) -> int:
        """When the first message was sent, in epoch milliseconds."""
        return min((enviada_ms(mensagem) for mensagem in self.mensagens), default=0)

    @property
    def ultimo(self) -> Corpo | None:
        """The newest message: what the order's situation was last said to be."""
        return self.corpos[-1] if self.corpos else None

    @property
    def pendentes(self) -> list[str]:
        """What is left to undo, in mirror order; without a message, everything that may be."""
        if not self.corpos:
            return list(ESPELHO)
        ditas = {nome for corpo in self.corpos for nome in corpo.compensacoesPendentes}
        # A refund is always followed by the release: money and goods stay on the same side.
        return list(ESPELHO) if ESPELHO[0] in ditas else [ESPELHO[1]]

    def nome_da_tentativa(self, numero: int) -> str:
        """Execution name: the same for the same messages, so that a killed run finds what it had started; another when
        a new message came, because an earlier success says nothing about it."""
        ids = "\n".join(sorted(mensagem["MessageId"] for mensagem in self.mensagens))
        return f"{self.pedido_id}-{hashlib.sha256(ids.encode()).hexdigest()[:10]}-{numero:03d}"


@dataclass(frozen=True)
class Ilegivel:
    """A message nobody can act on: kept, shown and exported, never deleted by this tool."""

    id: str
    defeito: str


def e_tentativa_de(pedido_id: str, nome: str) -> bool:
    """Whether an execution's name is one that :meth:`Pendencia.nome_da_tentativa` gives to this order."""
    return re.fullmatch(rf"{re.escape(pedido_id)}-[0-9a-f]{{10}}-\d{{3}}", nome) is not None


def ler(mensagens: Iterable[Mapping[str, Any]]) -> tuple[list[Pendencia], list[Ilegivel]]:
    """Group messages by order (oldest order first); what cannot be read comes apart."""
    grupos: dict[str, list[tuple[Corpo, dict[str, Any]]]] = {}
    ilegiveis = []
    for mensagem in sorted((dict(m) for m in mensagens), key=enviada_ms):
        try:
            corpo = Corpo.model_validate_json(mensagem["Body"])
        except ValidationError as erro:
            campos = sorted({str(p["loc"][0]) if p["loc"] else "corpo" for p in erro.errors(include_input=False)})
            ilegiveis.append(Ilegivel(mensagem["MessageId"], ", ".join(campos)))
            continue
        grupos.setdefault(corpo.pedidoId, []).append((corpo, mensagem))
    return [
        Pendencia(pedido_id, tuple(c for c, _ in grupo), tuple(m for _, m in grupo))
        for pedido_id, grupo in grupos.items()
    ], ilegiveis
