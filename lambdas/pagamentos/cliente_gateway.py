"""The gateway over HTTP (urllib3): one attempt a call, bounded in time and size, every answer read by contract.

Retries belong to the state machine alone: a second retrier here would multiply attempts and outlive the function.
"""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as PrazoVencido
from typing import Any, Literal, Protocol, TypeVar

import urllib3
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from comum.segredos import SegredoIndisponivelError
from pagamentos.erros import (
    CartaoRecusadoError,
    CobrancaCanceladaError,
    CobrancaDivergenteError,
    GatewayIndisponivelError,
    RespostaInesperadaGatewayError,
)
from pagamentos.porta import Cobranca, Prazo, ResultadoEstorno, SituacaoCobranca

TAMANHO_MAXIMO_RESPOSTA = 64 * 1024

Modelo = TypeVar("Modelo", bound=BaseModel)


class Segredo(Protocol):
    """Where the API key comes from."""

    def obter(self) -> str:
        """The key; SegredoIndisponivelError if out of reach."""

    def esquecer(self) -> None:
        """Forget a cached key."""


class _Resposta(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class _CobrancaAprovada(_Resposta):
    idTransacao: str = Field(min_length=1, max_length=128)
    status: Literal["APROVADA"]


class _CobrancaConsultada(_Resposta):
    idTransacao: str | None = Field(default=None, max_length=128)
    status: SituacaoCobranca


class _Estorno(_Resposta):
    resultado: ResultadoEstorno


class ClienteGatewayHttp:
    """Implements the port ``Gateway``.

    Parameters
    ----------
    url : str
        Base address, with or without a path.
    chave : Segredo
        API key, sent as ``X-Api-Key``; never logged.
    timeout_conexao_s : float
        Seconds to open a connection; everything together is bounded by each call's ``Prazo``.
    """

    def __init__(self, url: str, chave: Segredo, timeout_conexao_s: float) -> None:
        self._url = url.rstrip("/")
        self._chave = chave
        self._timeout_conexao_s = timeout_conexao_s
        self._http = urllib3.PoolManager(num_pools=2, maxsize=2, retries=False)
        self._executor = ThreadPoolExecutor(max_workers=8, thread_name_prefix="gateway")

    def cobrar(
        self, token_cobranca: str, valor_centavos: int, cartao_token: str, referencia: str, prazo: Prazo
    ) -> Cobranca:
        """See :class:`pagamentos.porta.Gateway`."""
        corpo = {"valorCentavos": valor_centavos, "cartaoToken": cartao_token, "referencia": referencia}
        status, resposta = self._chamar("POST", "/cobrancas", prazo, chave=token_cobranca, corpo=corpo)
        match status, resposta.get("codigo"):
            case ((200 | 201), _):
                aprovada = _ler(_CobrancaAprovada, resposta, status)
                return Cobranca(SituacaoCobranca.APROVADA, aprovada.idTransacao)
            case 402, "CARTAO_RECUSADO":
                raise CartaoRecusadoError("card refused by the gateway", pedidoId=referencia)
            case 409, "TOKEN_CANCELADO":
                raise CobrancaCanceladaError("the charge token was made unusable", pedidoId=referencia)
            case 409, "EM_ANDAMENTO":
                raise GatewayIndisponivelError("the same charge is still in flight", motivo="EM_ANDAMENTO")
            case 422, "CHAVE_REUTILIZADA":
                raise CobrancaDivergenteError("charge token used with another content", pedidoId=referencia)
        raise _inesperada(status)

    def estornar(self, token_estorno: str, token_cobranca: str, prazo: Prazo) -> ResultadoEstorno:
        """See :class:`pagamentos.porta.Gateway`."""
        corpo = {"tokenCobranca": token_cobranca}
        status, resposta = self._chamar("POST", "/estornos", prazo, chave=token_estorno, corpo=corpo)
        match status, resposta.get("codigo"):
            case ((200 | 201), _):
                return _ler(_Estorno, resposta, status).resultado
            case 409, "EM_ANDAMENTO":
                raise GatewayIndisponivelError("the charge or its refund is in flight", motivo="EM_ANDAMENTO")
            case 422, "CHAVE_REUTILIZADA":
                raise CobrancaDivergenteError("refund token used with another content")
        raise _inesperada(status)

    def consultar(self, token_cobranca: str, prazo: Prazo) -> Cobranca | None:
        """See :class:`pagamentos.porta.Gateway`."""
        status, resposta = self._chamar("GET", f"/cobrancas/{token_cobranca}", prazo)
        match status, resposta.get("codigo"):
            case 200, _:
                consultada = _ler(_CobrancaConsultada, resposta, status)
                return Cobranca(consultada.status, consultada.idTransacao or "")
            # A bare 404 may be a wrong address: only the gateway's own word says that nothing was charged.
            case 404, "COBRANCA_INEXISTENTE":
                return None
        raise _inesperada(status)

    def _chamar(
        self,
        metodo: str,
        caminho: str,
        prazo: Prazo,
        *,
        chave: str | None = None,
        corpo: Mapping[str, Any] | None = None,
    ) -> tuple[int, Mapping[str, Any]]:
        """One exchange within ``prazo``: (status, JSON object). 401, 403, 429 and 5xx are an unavailable gateway."""
        cabecalhos = {"Accept": "application/json", "X-Api-Key": self._obter_chave()}
        if chave is not None:
            cabecalhos["Idempotency-Key"] = chave
        if corpo is not None:
            cabecalhos["Content-Type"] = "application/json"
        status, texto = self._trocar(
            metodo, self._url + caminho, cabecalhos, None if corpo is None else json.dumps(corpo).encode(), prazo
        )
        if status in (401, 403):
            self._chave.esquecer()  # rotated: the state machine's next attempt reads the new one
            raise GatewayIndisponivelError("the gateway refused the credential", motivo="CREDENCIAL")
        if status == 429 or status >= 500:
            raise GatewayIndisponivelError("the gateway is unavailable", motivo=f"HTTP_{status}")
        try:
            resposta = json.loads(texto)
        except ValueError:
            raise _inesperada(status) from None
        if not isinstance(resposta, dict):
            raise _inesperada(status)
        return status, resposta

    def _trocar(
        self, metodo: str, url: str, cabecalhos: Mapping[str, str], corpo: bytes | None, prazo: Prazo
    ) -> tuple[int, bytes]:
        """Exchange in a worker thread: socket timeouts bound each read, not the sum, so only waiting outside bounds a
        drip."""
        restante = prazo.restante()
        if restante <= 0:
            raise GatewayIndisponivelError("no time left to call the gateway", motivo="PRAZO")
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
                raise _inesperada(resposta.status)
            return resposta.status, texto

        troca = self._executor.submit(trocar)
        try:
            return troca.result(timeout=restante)
        except PrazoVencido:
            troca.cancel()  # one still waiting for a thread must not be sent after its caller gave up
            motivo = "PRAZO"
        except urllib3.exceptions.HTTPError as erro:
            motivo = type(erro).__name__
        raise GatewayIndisponivelError("no answer from the gateway", motivo=motivo)

    def _obter_chave(self) -> str:
        try:
            return self._chave.obter()
        except SegredoIndisponivelError:
            pass
        raise GatewayIndisponivelError("gateway credential out of reach, nothing was sent", motivo="CREDENCIAL")


def _ler(modelo: type[Modelo], resposta: Mapping[str, Any], status: int) -> Modelo:
    try:
        return modelo.model_validate(resposta)
    except ValidationError:
        pass
    raise _inesperada(status)


def _inesperada(status: int) -> RespostaInesperadaGatewayError:
    return RespostaInesperadaGatewayError("answer outside the gateway's contract", status=status)
