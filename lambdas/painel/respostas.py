"""HTTP answers of the panel: files of the page, JSON, JSON with an ETag, problem details. All with the same guards."""

import hashlib
import json as codificador
from functools import lru_cache
from pathlib import Path
from typing import Any

from aws_lambda_powertools.event_handler import Response

from comum.http_borda import ProblemaHttp
from comum.observabilidade import logger

_PAGINA = Path(__file__).parent / "pagina"
_TIPOS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_GUARDAS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=31536000",
}


def politica(url_login: str) -> str:
    """Content-Security-Policy of the page: its own two files, its own API, and the sign-in's token endpoint.

    No inline script or style anywhere, so an order's text can never run, even if it were not escaped.
    """
    conexoes = "'self'" if not url_login else f"'self' {url_login}"
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; connect-src {conexoes}; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def arquivo(nome: str, url_login: str) -> Response[str]:
    """One of the page's files; ``url_login`` is where it may exchange a sign-in code, empty without sign-in."""
    conteudo, etag = _ler(nome)
    return Response(
        status_code=200,
        content_type=f"{_TIPOS[Path(nome).suffix]}; charset=utf-8",
        body=conteudo,
        headers={
            **_GUARDAS,
            "Content-Security-Policy": politica(url_login),
            "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
            "Cache-Control": "no-cache",
            "ETag": etag,
        },
    )


def json(corpo: Any, *, status: int = 200, cabecalhos: dict[str, str] | None = None) -> Response[str]:
    """A JSON answer, never cached."""
    return Response(
        status_code=status,
        content_type="application/json; charset=utf-8",
        body=_texto(corpo),
        headers={**_GUARDAS, "Cache-Control": "no-store", **(cabecalhos or {})},
    )


def json_com_etag(corpo: Any, ja_tem: str) -> Response[str]:
    """A JSON answer with an ETag of its content; 304 without a body when the browser already has it."""
    etag = f'"{hashlib.sha256(_texto(corpo).encode()).hexdigest()[:32]}"'
    if etag in [parte.strip().removeprefix("W/") for parte in ja_tem.split(",")]:
        return Response(
            status_code=304, content_type=None, body="", headers={**_GUARDAS, "ETag": etag, "Cache-Control": "no-cache"}
        )
    return json(corpo, cabecalhos={"ETag": etag, "Cache-Control": "no-cache"})


def problema(erro: ProblemaHttp) -> Response[str]:
    """Problem details (RFC 9457), in Portuguese."""
    logger.info("request refused", extra={"status": erro.status, "problema": erro.tipo})
    resposta = erro.resposta()
    cabecalhos = {nome: valor for nome, valor in resposta["headers"].items() if nome != "Content-Type"}
    return Response(
        status_code=resposta["statusCode"],
        content_type=resposta["headers"]["Content-Type"],
        body=resposta["body"],
        headers={**_GUARDAS, **cabecalhos},
    )


@lru_cache(maxsize=8)
def _ler(nome: str) -> tuple[str, str]:
    conteudo = (_PAGINA / nome).read_text(encoding="utf-8")
    return conteudo, f'"{hashlib.sha256(conteudo.encode()).hexdigest()[:32]}"'


def _texto(corpo: Any) -> str:
    return codificador.dumps(corpo, ensure_ascii=False, separators=(",", ":"))
