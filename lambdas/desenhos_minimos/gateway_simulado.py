"""Stand-in for the payment gateway, over its own HTTP API: the contract, a ledger, and failures on demand.

``POST /cobrancas``, ``POST /estornos``, ``GET /cobrancas/{token}``; for the proofs ``GET /movimentos[?pedidoId=]``,
``GET`` and ``PUT /modo {modo: NORMAL | INDISPONIVEL}`` and ``GET /saude``. Every route but ``/saude`` asks for
``X-Api-Key``.
"""

import hmac
from contextlib import suppress
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from comum import aws
from comum.contrato import PedidoId
from comum.http_borda import RequisicaoHttp, RespostaHttp, borda, indisponivel, resposta_json
from comum.observabilidade import identificar, logger, observado
from comum.processo import uma_vez
from comum.segredos import SegredoIndisponivelError, SegredoSsm
from desenhos_minimos.configuracao import ConfiguracaoGateway
from desenhos_minimos.gateway_regras import ChaveGateway, Gateway, PedidoDeCobranca, PedidoDeEstorno, recusa
from desenhos_minimos.gateway_tabela import Modo, TabelaGateway

Modelo = TypeVar("Modelo", bound=BaseModel)

_CHAVE = TypeAdapter(ChaveGateway)
_PEDIDO_ID: TypeAdapter[str] = TypeAdapter(PedidoId)


class MudancaDeModo(BaseModel):
    """Body of ``PUT /modo``."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    modo: Modo


@uma_vez
def _configuracao() -> ConfiguracaoGateway:
    return ConfiguracaoGateway.do_ambiente()


@uma_vez
def _tabela() -> TabelaGateway:
    return TabelaGateway(aws.dynamodb(), _configuracao().tabela_gateway)


@uma_vez
def _gateway() -> Gateway:
    return Gateway(_tabela(), _configuracao().atraso_lento_s, _configuracao().atraso_padrao_ms / 1000)


@uma_vez
def _segredo() -> SegredoSsm:
    return SegredoSsm(aws.ssm, _configuracao().parametro_chave_gateway)


@observado
@borda
def handler(requisicao: RequisicaoHttp) -> RespostaHttp:
    """Route a request.

    Duplicate: same key and content, same answer for 24 h, one movement. Undo before do: a refund of a key never
    charged makes it unusable. Do after undo: the late charge answers 409 TOKEN_CANCELADO and the ledger shows
    COBRANCA_BLOQUEADA.

    Returns
    -------
    RespostaHttp
        As the contract says; refusals are problem details with ``codigo``.
    """
    partes = [parte for parte in requisicao.caminho.split("/") if parte]
    rota = (requisicao.metodo, partes[-1] if partes else "")
    if rota == ("GET", "saude"):
        return resposta_json(200, {"status": "ok"})
    _autenticar(requisicao)
    _identificar(requisicao)
    match rota:
        case ("GET", "modo"):
            return resposta_json(200, {"modo": _tabela().modo().value})
        case ("PUT", "modo"):
            modo = _corpo(MudancaDeModo, requisicao).modo
            _tabela().mudar_modo(modo)
            return resposta_json(200, {"modo": modo.value})
        case ("GET", "movimentos"):
            return resposta_json(200, {"movimentos": _tabela().movimentos(requisicao.consulta.get("pedidoId"))})
    if _tabela().modo() is Modo.INDISPONIVEL:
        logger.warning("call refused while unavailable")
        raise recusa(503, "INDISPONIVEL", "Tente de novo mais tarde.")
    match rota:
        case ("POST", "cobrancas"):
            resposta = _gateway().cobrar(_chave(requisicao), _corpo(PedidoDeCobranca, requisicao))
        case ("POST", "estornos"):
            resposta = _gateway().estornar(_chave(requisicao), _corpo(PedidoDeEstorno, requisicao))
        case ("GET", token) if partes[-2:-1] == ["cobrancas"]:
            resposta = _gateway().consultar(_validar_chave(token))
        case _:
            raise recusa(404, "ROTA_INEXISTENTE", "Não há este recurso.")
    logger.info("gateway answered", extra={"rota": f"{rota[0]} /{partes[-2] if rota[0] == 'GET' else partes[-1]}"})
    return resposta


def _identificar(requisicao: RequisicaoHttp) -> None:
    """Log under the order the caller names, if it names one."""
    with suppress(ValidationError):
        identificar(_PEDIDO_ID.validate_python(requisicao.cabecalhos.get("x-correlation-id")))


def _autenticar(requisicao: RequisicaoHttp) -> None:
    try:
        esperada = _segredo().obter()
    except SegredoIndisponivelError:
        logger.error("gateway key out of reach")
        raise indisponivel("Chave fora de alcance.") from None
    # Constant time: how long the comparison takes says nothing about the key.
    if not hmac.compare_digest(requisicao.cabecalhos.get("x-api-key", "").encode(), esperada.encode()):
        raise recusa(401, "CHAVE_DE_API_INVALIDA", "Envie a chave em X-Api-Key.")


def _chave(requisicao: RequisicaoHttp) -> str:
    return _validar_chave(requisicao.cabecalhos.get("idempotency-key", ""))


def _validar_chave(chave: str) -> str:
    try:
        return _CHAVE.validate_python(chave)
    except ValidationError:
        pass
    raise recusa(400, "CHAVE_INVALIDA", "Envie uma chave de 1 a 64 letras, dígitos, hífen ou sublinhado.")


def _corpo(modelo: type[Modelo], requisicao: RequisicaoHttp) -> Modelo:
    corpo = requisicao.json()
    try:
        return modelo.model_validate(corpo)
    except ValidationError:
        pass
    raise recusa(400, "CORPO_INVALIDO", "O corpo não segue o contrato.")
