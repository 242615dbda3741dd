"""``ffv-lab-painel-api``: the manager's page and the API it asks."""

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError

from comum import aws
from comum.http_borda import ProblemaHttp, pedido_malformado
from comum.observabilidade import contar, logger, observado
from comum.processo import uma_vez
from comum.relogio import agora_iso
from painel import respostas
from painel.acesso import lojas_permitidas, quem
from painel.configuracao import ConfiguracaoApi
from painel.consultas import (
    Consultas,
    validar_limite,
    validar_loja,
    validar_ordem,
    validar_pedido,
    validar_status,
)
from painel.erros import ConsultaInvalidaError, PedidoNaoEncontradoError

app = APIGatewayHttpResolver()


@uma_vez
def _configuracao() -> ConfiguracaoApi:
    return ConfiguracaoApi.do_ambiente()


@uma_vez
def _consultas() -> Consultas:
    return Consultas(aws.dynamodb(), _configuracao().tabela_painel)


@app.get("/painel")
def pagina() -> Response[str]:
    """The page; it holds no order, no secret and no address."""
    return respostas.arquivo("index.html", _configuracao().url_login)


@app.get("/painel/pagina.css")
def estilo() -> Response[str]:
    """The page's style sheet."""
    return respostas.arquivo("pagina.css", _configuracao().url_login)


@app.get("/painel/pagina.js")
def programa() -> Response[str]:
    """The page's program."""
    return respostas.arquivo("pagina.js", _configuracao().url_login)


@app.get("/painel/configuracao")
def configuracao() -> Response[str]:
    """What a browser needs before anyone signs in: whether to sign in and where, and how often to ask."""
    lida = _configuracao()
    return respostas.json(
        {
            "autenticacao": lida.autenticacao,
            "urlLogin": lida.url_login,
            "clienteLogin": lida.cliente_login,
            "intervaloMs": lida.intervalo_consulta_ms,
        }
    )


@app.get("/painel/lojas/<loja>/pedidos")
def pedidos(loja: str) -> Response[str]:
    """Orders of a store, newest change first; ``status`` (commas), ``limite`` (1 to 100) and ``cursor``."""
    loja = _loja_do_gerente(loja)
    agora = agora_iso()
    lista = _consultas().listar_loja(
        loja,
        validar_status(_parametro("status")),
        validar_limite(_parametro("limite")),
        _parametro("cursor"),
    )
    a_repor = _consultas().reposicoes(loja)
    return respostas.json(
        {
            "pedidos": lista.pedidos,
            "reposicoes": a_repor.linhas,
            "proximaReposicoes": a_repor.proxima,
            "proxima": lista.proxima,
            "desde": max([pedido["gravadoEm"] for pedido in lista.pedidos], default=agora),
        }
    )


@app.get("/painel/lojas/<loja>/mudancas")
def mudancas(loja: str) -> Response[str]:
    """What changed in a store since ``desde``; 304 when the answer would be the same as the browser already has."""
    loja = _loja_do_gerente(loja)
    vistas = _consultas().mudancas(loja, _parametro("desde") or "")
    return respostas.json_com_etag(
        {
            "pedidos": vistas.pedidos,
            "reposicoes": vistas.reposicoes.linhas,
            "proximaReposicoes": vistas.reposicoes.proxima,
            "desde": vistas.desde,
            "incompleta": vistas.incompleta,
        },
        str(app.current_event.headers.get("if-none-match") or ""),
    )


@app.get("/painel/lojas/<loja>/reposicoes")
def reposicoes(loja: str) -> Response[str]:
    """What the store has to put back, after the first page; ``cursor`` is the ``proximaReposicoes`` of the last one."""
    pagina = _consultas().reposicoes(_loja_do_gerente(loja), _parametro("cursor"))
    return respostas.json({"reposicoes": pagina.linhas, "proximaReposicoes": pagina.proxima})


@app.get("/painel/lojas/<loja>/pedidos/<pedido_id>")
def pedido(loja: str, pedido_id: str) -> Response[str]:
    """Current state and whole timeline of one order of the store."""
    loja = _loja_do_gerente(loja)
    lido = _consultas().pedido(validar_pedido(pedido_id))
    if lido["loja"] != loja:
        raise PedidoNaoEncontradoError("order of another store")
    return respostas.json(lido)


@app.put("/painel/lojas/<loja>/pedidos/<pedido_id>/reposicoes/<ordem>")
def reconhecer(loja: str, pedido_id: str, ordem: str) -> Response[str]:
    """Record that the goods of a cancelled order went back to the shelf; repeating it changes nothing."""
    loja = _loja_do_gerente(loja)
    situacao = _consultas().reconhecer(
        validar_pedido(pedido_id), validar_ordem(ordem), loja, quem(app.current_event.raw_event), agora_iso()
    )
    if situacao == "reconhecida":
        contar("ReposicoesReconhecidas")
    return respostas.json({"situacao": situacao})


def _loja_do_gerente(texto: str) -> str:
    loja = validar_loja(texto)
    permitidas = lojas_permitidas(app.current_event.raw_event, _configuracao().autenticacao)
    if permitidas is not None and loja not in permitidas:
        raise ProblemaHttp(403, "loja-nao-permitida", "Loja não permitida", "Seu acesso não inclui esta loja.")
    return loja


def _parametro(nome: str) -> str | None:
    parametros = app.current_event.query_string_parameters or {}
    return parametros.get(nome)


@app.exception_handler(ConsultaInvalidaError)  # type: ignore[untyped-decorator]  # by Powertools
def _recusar(erro: ConsultaInvalidaError) -> Response[str]:
    return respostas.problema(pedido_malformado(erro.mensagem))


@app.exception_handler(PedidoNaoEncontradoError)  # type: ignore[untyped-decorator]  # by Powertools
def _nao_achado(_erro: PedidoNaoEncontradoError) -> Response[str]:
    return respostas.problema(
        ProblemaHttp(404, "pedido-nao-encontrado", "Pedido não encontrado", "O painel não conhece este pedido na loja.")
    )


@app.exception_handler(ProblemaHttp)  # type: ignore[untyped-decorator]  # by Powertools
def _problema(erro: ProblemaHttp) -> Response[str]:
    return respostas.problema(erro)


@app.not_found
def _sem_rota(_erro: NotFoundError) -> Response[str]:
    return respostas.problema(ProblemaHttp(404, "rota-inexistente", "Não encontrado", "Este endereço não existe."))


@observado
def handler(evento: dict[str, Any], contexto: Any) -> dict[str, Any]:
    """Answer one HTTP API request (payload 2.0); the routes are above, and ``docs/openapi-painel.yaml`` describes them.

    Meets duplicate on the acknowledgement alone (a repeated PUT): the first stands and the second says so. The other
    two anomalies do not arise: nothing here undoes anything.
    """
    resposta = app.resolve(evento, contexto)
    logger.debug("respondido", extra={"status": resposta.get("statusCode")})
    return resposta
