"""The HTTP edge of every API: reads an API Gateway HTTP API event (payload 2.0), answers JSON or problem details (RFC
9457)."""

import base64
import binascii
import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from comum.observabilidade import logger

TAMANHO_MAXIMO_CORPO = 16 * 1024
TIPO_JSON = "application/json"
TIPO_PROBLEMA = "application/problem+json"


class RespostaHttp(TypedDict):
    """What a proxy integration returns to API Gateway."""

    statusCode: int
    headers: dict[str, str]
    body: str
    isBase64Encoded: NotRequired[bool]


class ProblemaHttp(Exception):
    """A refusal the client can understand; :func:`borda` turns it into ``application/problem+json``.

    Parameters
    ----------
    status : int
        HTTP status, 4xx or 5xx.
    tipo : str
        Stable slug of the problem (``pedido-invalido``); becomes ``urn:cesta:problema:<slug>``.
    titulo : str
        Short Portuguese sentence, the same for every occurrence.
    detalhe : str
        Portuguese sentence about this occurrence; never echoes what the client sent.
    cabecalhos : Mapping[str, str] | None
        Extra headers (``Retry-After`` in seconds).
    extras : Any
        Extension members of the problem (``erros=[...]``).
    """

    def __init__(
        self,
        status: int,
        tipo: str,
        titulo: str,
        detalhe: str,
        *,
        cabecalhos: Mapping[str, str] | None = None,
        **extras: Any,
    ) -> None:
        super().__init__(f"{status} {tipo}")
        self.status = status
        self.tipo = tipo
        self.titulo = titulo
        self.detalhe = detalhe
        self.cabecalhos = dict(cabecalhos or {})
        self.extras = extras

    def resposta(self) -> RespostaHttp:
        """The problem as an HTTP answer."""
        corpo = {
            "type": f"urn:cesta:problema:{self.tipo}",
            "title": self.titulo,
            "status": self.status,
            "detail": self.detalhe,
            **self.extras,
        }
        return _resposta(self.status, TIPO_PROBLEMA, corpo, self.cabecalhos)


def pedido_malformado(detalhe: str, **extras: Any) -> ProblemaHttp:
    """400: the request cannot be read or breaks the contract."""
    return ProblemaHttp(400, "requisicao-invalida", "Requisição inválida", detalhe, **extras)


def indisponivel(detalhe: str, *, tentar_em_s: int = 5) -> ProblemaHttp:
    """503 with Retry-After (seconds): nothing was half done, the same request may be repeated."""
    return ProblemaHttp(
        503, "indisponivel", "Serviço indisponível", detalhe, cabecalhos={"Retry-After": str(tentar_em_s)}
    )


@dataclass(frozen=True, slots=True)
class RequisicaoHttp:
    """One HTTP request: header names in lower case, body decoded to bytes."""

    metodo: str
    caminho: str
    cabecalhos: Mapping[str, str]
    parametros: Mapping[str, str]
    consulta: Mapping[str, str]
    corpo: bytes

    def json(self) -> dict[str, Any]:
        """The body as a JSON object.

        Raises
        ------
        ProblemaHttp
            415 if a content type other than JSON is declared; 400 if the body is not one JSON object in UTF-8,
            repeats a member or uses NaN or Infinity.
        """
        tipo = self.cabecalhos.get("content-type", TIPO_JSON).split(";")[0].strip().lower()
        if tipo != TIPO_JSON and not tipo.endswith("+json"):
            raise ProblemaHttp(
                415, "tipo-nao-aceito", "Tipo de conteúdo não aceito", "Envie o corpo como application/json."
            )
        try:
            valor = json.loads(self.corpo, object_pairs_hook=_sem_repeticao, parse_constant=_recusar_constante)
        except (ValueError, RecursionError):
            raise pedido_malformado("O corpo não é um JSON válido.") from None
        if not isinstance(valor, dict):
            raise pedido_malformado("O corpo precisa ser um objeto JSON.")
        return valor


def ler_requisicao(evento: Any, *, tamanho_maximo: int = TAMANHO_MAXIMO_CORPO) -> RequisicaoHttp:
    """Read an HTTP API event.

    Parameters
    ----------
    evento : Any
        API Gateway HTTP API event, payload format 2.0.
    tamanho_maximo : int
        Largest body accepted, in bytes after decoding.

    Raises
    ------
    ProblemaHttp
        400 for an event that is not of this shape or a body that is not base64 when it says so; 413 for a body too
        large.
    """
    if not isinstance(evento, Mapping):
        raise pedido_malformado("A requisição não pôde ser lida.")
    contexto = _mapa(_mapa(evento.get("requestContext")).get("http"))
    corpo = evento.get("body") or ""
    if not isinstance(corpo, str):
        raise pedido_malformado("A requisição não pôde ser lida.")
    if len(corpo) > tamanho_maximo * 2:  # base64 grows a body by a third: do not decode what cannot fit
        raise _grande_demais(tamanho_maximo)
    if evento.get("isBase64Encoded") is True:
        try:
            dados = base64.b64decode(corpo, validate=True)
        except (binascii.Error, ValueError):
            raise pedido_malformado("O corpo não está em base64 válido.") from None
    else:
        dados = corpo.encode("utf-8", errors="surrogatepass")
    if len(dados) > tamanho_maximo:
        raise _grande_demais(tamanho_maximo)
    return RequisicaoHttp(
        metodo=str(contexto.get("method") or "").upper(),
        caminho=str(evento.get("rawPath") or contexto.get("path") or "/"),
        cabecalhos={str(nome).lower(): str(valor) for nome, valor in _mapa(evento.get("headers")).items()},
        parametros=_textos(evento.get("pathParameters")),
        consulta=_textos(evento.get("queryStringParameters")),
        corpo=dados,
    )


def resposta_json(status: int, corpo: Any, cabecalhos: Mapping[str, str] | None = None) -> RespostaHttp:
    """A JSON answer (UTF-8, accents kept)."""
    return _resposta(status, TIPO_JSON, corpo, cabecalhos or {})


def borda(handler: Callable[[RequisicaoHttp], RespostaHttp]) -> Callable[[Any, Any], RespostaHttp]:
    """Turn ``handler(requisicao)`` into a Lambda handler: reads the event and answers every ProblemaHttp.

    Any other exception goes through on purpose: API Gateway answers 500 and the function's Errors alarm sees it.
    """

    @functools.wraps(handler)
    def atender(evento: Any, contexto: Any) -> RespostaHttp:
        try:
            return handler(ler_requisicao(evento))
        except ProblemaHttp as problema:
            logger.info("request refused", extra={"status": problema.status, "problema": problema.tipo})
            return problema.resposta()

    return atender


def _resposta(status: int, tipo: str, corpo: Any, cabecalhos: Mapping[str, str]) -> RespostaHttp:
    return {
        "statusCode": status,
        "headers": {"Content-Type": f"{tipo}; charset=utf-8", "Cache-Control": "no-store", **cabecalhos},
        "body": json.dumps(corpo, ensure_ascii=False, separators=(",", ":"), allow_nan=False),
    }


def _grande_demais(tamanho_maximo: int) -> ProblemaHttp:
    return ProblemaHttp(
        413, "corpo-grande-demais", "Corpo grande demais", f"O corpo pode ter no máximo {tamanho_maximo} bytes."
    )


def _mapa(valor: Any) -> Mapping[str, Any]:
    return valor if isinstance(valor, Mapping) else {}


def _textos(valor: Any) -> dict[str, str]:
    return {str(nome): str(item) for nome, item in _mapa(valor).items() if item is not None}


def _sem_repeticao(pares: list[tuple[str, Any]]) -> dict[str, Any]:
    objeto = dict(pares)
    if len(objeto) != len(pares):
        raise ValueError("repeated member")
    return objeto


def _recusar_constante(constante: str) -> Any:
    raise ValueError("not JSON")
