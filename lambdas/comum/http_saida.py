"""One HTTP call to a partner, bounded in time and size: the transport under every gateway client.

It knows an API key, JSON and a deadline, and nothing of what is asked. It never retries: who calls decides what an
absent answer means and whether to repeat.
"""

import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as PrazoVencido
from dataclasses import dataclass
from typing import Any, Protocol

import urllib3

from comum.observabilidade import correlacao
from comum.segredos import SegredoIndisponivelError

TAMANHO_MAXIMO_RESPOSTA = 64 * 1024


class SemRespostaError(Exception):
    """No usable answer came: the request may or may not have had its effect. ``motivo`` is safe to log.

    ``PRAZO`` (nothing came in time), ``CREDENCIAL`` (key out of reach, or refused with 401/403), ``HTTP_429``,
    ``HTTP_5xx``, or the class name of a network failure.
    """

    def __init__(self, motivo: str) -> None:
        super().__init__(motivo)
        self.motivo = motivo


class RespostaIlegivelError(Exception):
    """An answer came and is not one JSON object of a decent size. ``status`` is its HTTP status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"unreadable answer ({status})")
        self.status = status


class Segredo(Protocol):
    """Where the API key comes from."""

    def obter(self) -> str:
        """The key; SegredoIndisponivelError if out of reach."""

    def esquecer(self) -> None:
        """Forget a cached key."""


class Prazo:
    """A deadline shared by every call of one step.

    Parameters
    ----------
    segundos : float
        From now.
    relogio : Callable[[], float]
        Monotonic seconds.
    """

    def __init__(self, segundos: float, relogio: Callable[[], float] = time.monotonic) -> None:
        self._relogio = relogio
        self._fim = relogio() + segundos

    def restante(self) -> float:
        """Seconds left; zero or less when it has passed."""
        return self._fim - self._relogio()


@dataclass(frozen=True, slots=True)
class RespostaJson:
    """HTTP status (never 401, 403, 429 or 5xx) and the JSON object of the body."""

    status: int
    corpo: Mapping[str, Any]


class ChamadorHttp:
    """Calls one partner.

    Parameters
    ----------
    url : str
        Base address, with or without a path.
    chave : Segredo
        API key, sent as ``X-Api-Key``; never logged.
    timeout_conexao_s : float
        Seconds to open a connection; everything together is bounded by each call's ``Prazo``.
    simultaneas : int
        Calls at the same time.
    """

    def __init__(self, url: str, chave: Segredo, timeout_conexao_s: float, simultaneas: int = 8) -> None:
        self._url = url.rstrip("/")
        self._chave = chave
        self._timeout_conexao_s = timeout_conexao_s
        self._http = urllib3.PoolManager(num_pools=2, maxsize=simultaneas, retries=False)
        self._executor = ThreadPoolExecutor(max_workers=simultaneas, thread_name_prefix="http-saida")

    def chamar(
        self,
        metodo: str,
        caminho: str,
        prazo: Prazo,
        *,
        cabecalhos: Mapping[str, str] | None = None,
        corpo: Mapping[str, Any] | None = None,
    ) -> RespostaJson:
        """One exchange within ``prazo``, told apart in the partner's logs by the order it is about (X-Correlation-Id).

        Raises
        ------
        SemRespostaError
            Also for 401, 403 (the cached key is dropped: a rotated one is read next time), 429 and 5xx.
        RespostaIlegivelError
        """
        todos = {"Accept": "application/json", "X-Api-Key": self._obter_chave(), **(cabecalhos or {})}
        if (pedido_id := correlacao()) is not None:
            todos["X-Correlation-Id"] = pedido_id
        if corpo is not None:
            todos["Content-Type"] = "application/json"
        dados = None if corpo is None else json.dumps(corpo).encode()
        status, texto = self._trocar(metodo, self._url + caminho, todos, dados, prazo)
        if status in (401, 403):
            self._chave.esquecer()
            raise SemRespostaError("CREDENCIAL")
        if status == 429 or status >= 500:
            raise SemRespostaError(f"HTTP_{status}")
        try:
            resposta = json.loads(texto)
        except ValueError:
            raise RespostaIlegivelError(status) from None
        if not isinstance(resposta, dict):
            raise RespostaIlegivelError(status)
        return RespostaJson(status, resposta)

    def _trocar(
        self, metodo: str, url: str, cabecalhos: Mapping[str, str], corpo: bytes | None, prazo: Prazo
    ) -> tuple[int, bytes]:
        """Exchange in a worker thread: socket timeouts bound each read, not the sum, so only waiting outside bounds a
        drip."""
        restante = prazo.restante()
        if restante <= 0:
            raise SemRespostaError("PRAZO")
        limite = urllib3.Timeout(connect=min(self._timeout_conexao_s, restante), total=restante)

        def trocar() -> tuple[int, bytes]:
            resposta = self._http.request(
                metodo, url, body=corpo, headers=cabecalhos, timeout=limite, redirect=False, preload_content=False
            )
            try:
                texto = resposta.read(TAMANHO_MAXIMO_RESPOSTA + 1, decode_content=True)
                inteira = len(texto) <= TAMANHO_MAXIMO_RESPOSTA
                resposta.drain_conn() if inteira else resposta.close()
            finally:
                resposta.release_conn()
            if not inteira:
                raise RespostaIlegivelError(resposta.status)
            return resposta.status, texto

        troca = self._executor.submit(trocar)
        try:
            return troca.result(timeout=restante)
        except PrazoVencido:
            troca.cancel()  # one still waiting for a thread must not be sent after its caller gave up
            motivo = "PRAZO"
        except urllib3.exceptions.HTTPError as erro:
            motivo = type(erro).__name__
        raise SemRespostaError(motivo)

    def _obter_chave(self) -> str:
        try:
            return self._chave.obter()
        except SegredoIndisponivelError:
            pass
        raise SemRespostaError("CREDENCIAL")
