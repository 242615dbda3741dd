"""The gateway over HTTP: one attempt a call, bounded in time and size, every answer read by contract.

Retries belong to the state machine alone: a second retrier here would multiply attempts and outlive the function.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from comum.http_saida import ChamadorHttp, Prazo, RespostaIlegivelError, Segredo, SemRespostaError
from pagamentos.erros import (
    CartaoRecusadoError,
    CobrancaCanceladaError,
    CobrancaDivergenteError,
    GatewayIndisponivelError,
    RespostaInesperadaGatewayError,
)
from pagamentos.porta import Cobranca, ResultadoEstorno, SituacaoCobranca

Modelo = TypeVar("Modelo", bound=BaseModel)


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
        self._chamador = ChamadorHttp(url, chave, timeout_conexao_s)

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
        cabecalhos = {} if chave is None else {"Idempotency-Key": chave}
        try:
            resposta = self._chamador.chamar(metodo, caminho, prazo, cabecalhos=cabecalhos, corpo=corpo)
        except SemRespostaError as erro:
            motivo = erro.motivo
        except RespostaIlegivelError as erro:
            raise _inesperada(erro.status) from None
        else:
            return resposta.status, resposta.corpo
        # The state machine's next attempt repeats the same key, with a rotated credential if there is one.
        raise GatewayIndisponivelError("no usable answer from the gateway", motivo=motivo)


def _ler(modelo: type[Modelo], resposta: Mapping[str, Any], status: int) -> Modelo:
    try:
        return modelo.model_validate(resposta)
    except ValidationError:
        pass
    raise _inesperada(status)


def _inesperada(status: int) -> RespostaInesperadaGatewayError:
    return RespostaInesperadaGatewayError("answer outside the gateway's contract", status=status)
