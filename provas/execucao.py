"""A Step Functions execution read back from its history: states, attempts, waits, errors, in order.

The same reader serves the three targets: AWS names a direct Lambda ARN's events ``LambdaFunction*`` and a service
integration's ``Task*``; the local engine names both ``Task*``. The machines here run one state at a time (their only
Parallel has one branch), so an attempt always belongs to the state entered last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from provas.evidencia import Faixa, Situacao, Trecho

_ABERTURAS = {"TaskScheduled", "LambdaFunctionScheduled", "ActivityScheduled"}
_SUCESSOS = {"TaskSucceeded", "LambdaFunctionSucceeded", "ActivitySucceeded"}
_FALHAS = {
    "TaskFailed",
    "TaskTimedOut",
    "TaskStartFailed",
    "TaskSubmitFailed",
    "LambdaFunctionFailed",
    "LambdaFunctionTimedOut",
    "LambdaFunctionScheduleFailed",
    "LambdaFunctionStartFailed",
    "ActivityFailed",
    "ActivityTimedOut",
    "ActivityScheduleFailed",
}
_FINAIS = {
    "ExecutionSucceeded": "SUCCEEDED",
    "ExecutionFailed": "FAILED",
    "ExecutionAborted": "ABORTED",
    "ExecutionTimedOut": "TIMED_OUT",
}


@dataclass
class Tentativa:
    """One attempt of a state; ``fim`` is None while it runs, ``erro`` is None when it succeeded."""

    inicio: datetime
    fim: datetime | None = None
    erro: str | None = None
    causa: str = ""


@dataclass
class Visita:
    """One visit to a state: when it was entered and left, and its attempts."""

    estado: str
    entrou: datetime
    tipo: str = "Task"
    saiu: datetime | None = None
    tentativas: list[Tentativa] = field(default_factory=list)

    @property
    def falhou(self) -> bool:
        """Whether its last attempt ended in an error (the Catch took over)."""
        return bool(self.tentativas) and self.tentativas[-1].erro is not None


@dataclass
class Execucao:
    """An execution. ``situacao`` is RUNNING until a closing event; ``visitas`` are in the order of entering."""

    inicio: datetime
    fim: datetime | None = None
    situacao: str = "RUNNING"
    visitas: list[Visita] = field(default_factory=list)

    @property
    def estados(self) -> list[str]:
        """Names of the states, in the order in which they were entered."""
        return [v.estado for v in self.visitas]

    def visita(self, estado: str) -> Visita | None:
        """The first visit to ``estado``, or None."""
        return next((v for v in self.visitas if v.estado == estado), None)


def ler_historico(eventos: Iterable[Mapping[str, Any]]) -> Execucao:
    """Build an :class:`Execucao` from GetExecutionHistory events (ascending order).

    Raises
    ------
    ValueError
        The history is empty or does not begin with ExecutionStarted.
    """
    execucao: Execucao | None = None
    for evento in eventos:
        tipo, em = evento["type"], _utc(evento["timestamp"])
        if execucao is None:
            if tipo != "ExecutionStarted":
                raise ValueError(f"a history begins with ExecutionStarted, not {tipo}")
            execucao = Execucao(em)
            continue
        atual = execucao.visitas[-1] if execucao.visitas else None
        if tipo.endswith("StateEntered"):
            nome = evento["stateEnteredEventDetails"]["name"]
            execucao.visitas.append(Visita(nome, em, tipo.removesuffix("StateEntered")))
        elif tipo.endswith("StateExited"):
            nome = evento["stateExitedEventDetails"]["name"]
            aberta = next((v for v in reversed(execucao.visitas) if v.estado == nome and v.saiu is None), None)
            if aberta:
                aberta.saiu = em
        elif tipo in _ABERTURAS and atual:
            atual.tentativas.append(Tentativa(em))
        elif tipo in _SUCESSOS and atual and atual.tentativas:
            atual.tentativas[-1].fim = em
        elif tipo in _FALHAS and atual:
            if not atual.tentativas or atual.tentativas[-1].fim is not None:
                atual.tentativas.append(Tentativa(em))
            ultima = atual.tentativas[-1]
            detalhe = _detalhe(evento, tipo)
            ultima.fim = em
            ultima.erro = detalhe.get("error") or ("States.Timeout" if "TimedOut" in tipo else tipo)
            ultima.causa = detalhe.get("cause") or ""
        elif tipo in _FINAIS:
            execucao.fim, execucao.situacao = em, _FINAIS[tipo]
    if execucao is None:
        raise ValueError("empty history")
    return execucao


def faixas_dos_estados(execucao: Execucao, agora: datetime | None = None) -> list[Faixa]:
    """One row per visited state: attempts as stretches, and the wait before each retry as a dashed stretch.

    Pass and Choice states decide and keep nothing: they are left out of the picture.
    """
    limite = execucao.fim or agora or datetime.now(UTC)
    faixas = []
    for visita in execucao.visitas:
        if visita.tipo in ("Pass", "Choice"):
            continue
        trechos: list[Trecho] = []
        total = len(visita.tentativas)
        for n, t in enumerate(visita.tentativas, 1):
            anterior = visita.tentativas[n - 2] if n > 1 else None
            if anterior is not None and anterior.fim is not None and t.inicio > anterior.fim:
                espera = (t.inicio - anterior.fim).total_seconds()
                trechos.append(
                    Trecho(anterior.fim, t.inicio, Situacao.ESPERA, "", f"espera de {espera:.2f} s antes de repetir")
                )
            qual = f"tentativa {n}" if total > 1 else ""
            if t.erro:
                rotulo = f"{n}ª: {t.erro}" if total > 1 else t.erro
                trechos.append(
                    Trecho(t.inicio, t.fim or limite, Situacao.FALHA, rotulo, _juntar(qual, t.erro, t.causa))
                )
            elif t.fim is None:
                trechos.append(Trecho(t.inicio, limite, Situacao.NEUTRO, "em andamento", _juntar(qual, "em andamento")))
            else:
                rotulo = f"{n}ª: ok" if total > 1 else ""
                trechos.append(Trecho(t.inicio, t.fim, Situacao.SUCESSO, rotulo, _juntar(qual, "concluída")))
        if not trechos:
            trechos.append(Trecho(visita.entrou, visita.saiu or limite, Situacao.NEUTRO, "", "passou por este estado"))
        faixas.append(Faixa(visita.estado, "Estados da saga", tuple(trechos)))
    return faixas


def ordem(estados: Sequence[str], antes: str, depois: str) -> bool:
    """Whether both names are present and the first ``antes`` comes before the first ``depois``."""
    return antes in estados and depois in estados and estados.index(antes) < estados.index(depois)


def _detalhe(evento: Mapping[str, Any], tipo: str) -> Mapping[str, Any]:
    chave = f"{tipo[0].lower()}{tipo[1:]}EventDetails"
    return evento.get(chave) or {}


def _utc(valor: datetime) -> datetime:
    return valor.astimezone(UTC)


def _juntar(*partes: str) -> str:
    return " · ".join(" ".join(p.split())[:300] for p in partes if p)
