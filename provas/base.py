"""The base of every proof: record what was expected and seen, wait on states, clean up whatever happened."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeVar, cast

from ulid import ULID

from provas.alvo import Alvo
from provas.erros import EsperaEsgotadaError, ProvaFalhouError
from provas.evidencia import Conferencia, LinhaDoTempo, Registro, Tabela

T = TypeVar("T")


class Relogio(Protocol):
    """The two clock calls a wait needs; tests pass their own."""

    def monotonic(self) -> float: ...

    def sleep(self, segundos: float, /) -> None: ...


@dataclass
class Contexto:
    """What a proof receives.

    Attributes
    ----------
    alvo : Alvo
        Outputs, clients and time limits of the deployed target.
    ao_passo : callable
        Receives one Portuguese sentence per step, for the progress line.
    relogio : Relogio
        Clock of the waits (seconds).
    """

    alvo: Alvo
    ao_passo: Callable[[str], None] = field(default=lambda _texto: None)
    relogio: Relogio = time


class Prova(ABC):
    """One proof of one system. Subclasses live in ``provas/<sistema>/`` and fill the class attributes.

    Attributes
    ----------
    numero : int
        Its number within the system, as the command line names it.
    titulo : str
        One line, Portuguese: what happens.
    o_que_prova : str
        One or two sentences, Portuguese, for a reader who was not there: why it matters.
    espera : str
        One sentence, Portuguese: when it passes.
    exige : tuple of (str, str)
        Outputs that must be present and not off, each with the Portuguese reason; a missing one fails the proof.
    """

    numero: ClassVar[int]
    titulo: ClassVar[str]
    o_que_prova: ClassVar[str]
    espera: ClassVar[str]
    exige: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(self, contexto: Contexto) -> None:
        self.contexto = contexto
        self.alvo = contexto.alvo
        self.registro = Registro()
        self._limpezas: list[tuple[str, Callable[[], Any]]] = []

    @abstractmethod
    def executar(self) -> None:
        """Do it and check it. Raises :class:`ProvaFalhouError` only when going on makes no sense."""

    def recolher(self) -> None:  # noqa: B027 - optional step, not every proof draws
        """Gather the evidence (timelines, tables). Runs even when ``executar`` failed, before the clean-up."""

    # -- recorder -----------------------------------------------------------------

    def passo(self, texto: str) -> None:
        """Say what is happening now (progress line)."""
        self.contexto.ao_passo(texto)

    def conferir(self, descricao: str, esperado: object, visto: object, passou: bool | None = None) -> bool:
        """Record one comparison; by default it passes when ``esperado == visto``. Does not raise: the proof goes on."""
        ok = esperado == visto if passou is None else bool(passou)
        self.registro.conferencias.append(Conferencia(descricao, str(esperado), str(visto), ok))
        return ok

    def exigir(self, descricao: str, esperado: object, visto: object, passou: bool | None = None) -> None:
        """Like :meth:`conferir`, but a failure ends the proof (raises :class:`ProvaFalhouError`)."""
        if not self.conferir(descricao, esperado, visto, passou):
            raise ProvaFalhouError(f"{descricao}: {esperado}", str(visto))

    def mostrar(self, evidencia: LinhaDoTempo | Tabela) -> None:
        """Add a picture or a table to the report."""
        if isinstance(evidencia, LinhaDoTempo):
            self.registro.linhas_do_tempo.append(evidencia)
        else:
            self.registro.tabelas.append(evidencia)

    def anotar(self, texto: str) -> None:
        """Add a sentence (a measure, a fact of this target) to the report."""
        self.registro.notas.append(texto)

    # -- waits --------------------------------------------------------------------

    def esperar_ate(
        self,
        condicao: Callable[[], T | None],
        limite_s: float,
        descricao: str,
        ate: Callable[[Any], Any] = bool,
    ) -> T:
        """Read ``condicao`` until ``ate`` accepts it and return it; a wait on a state, never on a fixed time.

        Parameters
        ----------
        condicao : callable
            Reads the state. What it raises is not swallowed.
        limite_s : float
            Seconds to wait at most; the state is read at least once, and once more at the limit.
        descricao : str
            Portuguese: the state being waited for ("pedido CONFIRMADO").
        ate : callable
            Accepts the value read; default: truthy.

        Raises
        ------
        EsperaEsgotadaError
            Carries the description and the last value read.
        """
        relogio = self.contexto.relogio
        self.passo(f"esperando: {descricao}")
        fim = relogio.monotonic() + limite_s
        pausa = self.alvo.prazos.intervalo_min
        while True:
            agora = relogio.monotonic()
            valor = condicao()
            if ate(valor):
                return cast(T, valor)  # `ate` accepted it
            if agora >= fim:
                raise EsperaEsgotadaError(f"{descricao} em até {limite_s:g} s", resumir(valor))
            relogio.sleep(min(pausa, max(fim - agora, 0.0)))
            pausa = min(pausa * 1.5, self.alvo.prazos.intervalo_max)

    # -- topics -------------------------------------------------------------------

    def assinar(self, topico: str, prefixo: str) -> str:
        """Subscribe a queue of this proof to an SNS topic; undone at the end.

        Parameters
        ----------
        topico : str
            Topic ARN.
        prefixo : str
            What the deployed system's resources are named with (``cesta``, ``ffv-lab``).

        Returns
        -------
        str
            Queue URL.
        """
        sqs, sns = self.alvo.cliente("sqs"), self.alvo.cliente("sns")
        url = sqs.create_queue(QueueName=f"{prefixo}-prova{self.numero}-{ULID()}", tags={"Projeto": "cesta"})[
            "QueueUrl"
        ]
        self.ao_limpar("fila assinante", lambda: sqs.delete_queue(QueueUrl=url))
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        politica = {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"Service": "sns.amazonaws.com"},
                    "Action": "sqs:SendMessage",
                    "Resource": arn,
                    "Condition": {"ArnEquals": {"aws:SourceArn": topico}},
                }
            ],
        }
        sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps(politica)})
        assinatura = sns.subscribe(TopicArn=topico, Protocol="sqs", Endpoint=arn, ReturnSubscriptionArn=True)
        self.ao_limpar("assinatura", lambda: sns.unsubscribe(SubscriptionArn=assinatura["SubscriptionArn"]))
        return str(url)

    # -- clean-up -----------------------------------------------------------------

    def ao_limpar(self, descricao: str, acao: Callable[[], Any]) -> None:
        """Register an undo; they run last in, first out, all of them, whatever happened in the proof."""
        self._limpezas.append((descricao, acao))

    def limpar(self) -> list[str]:
        """Run every registered undo once; returns one Portuguese sentence per undo that failed.

        Raises
        ------
        KeyboardInterrupt
            Ctrl-C came meanwhile: the undo that was running is given up and the others still run. The sentences are
            its notes.
        """
        problemas = []
        interrupcao = None
        while self._limpezas:
            descricao, acao = self._limpezas.pop()
            try:
                acao()
            except Exception as erro:  # noqa: BLE001 - every undo must get its turn
                problemas.append(f"não foi possível limpar ({descricao}): {type(erro).__name__}: {erro}")
            except KeyboardInterrupt as erro:
                interrupcao = erro
                problemas.append(f"não foi possível limpar ({descricao}): interrompido")
        if interrupcao is None:
            return problemas
        for problema in problemas:
            interrupcao.add_note(problema)
        raise interrupcao


def resumir(valor: object, limite: int = 400) -> str:
    """One-line text of what was seen, cut to ``limite`` characters; nothing reads as "nada"."""
    if valor in (None, "", [], {}, ()):
        return "nada"
    texto = " ".join(str(valor).split())
    return texto if len(texto) <= limite else texto[: limite - 1] + "…"
