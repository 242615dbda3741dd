"""``POST /api/pedidos`` records the intention and answers 202; ``GET /api/pedidos/{pedidoId}`` tells what became of
it.
"""

import uuid

from comum import aws
from comum.chave_idempotencia import Promessa, RegistroDeChaves, ler_chave
from comum.configuracao import Configuracao
from comum.corpo_http import ler_corpo, recusar_cartao_na_chave
from comum.http_borda import ProblemaHttp, RequisicaoHttp, RespostaHttp, borda, indisponivel, resposta_json
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from comum.relogio import agora_iso
from fila.apresentacao import apresentar
from fila.efeitos import LeitorDeEfeitos
from fila.erros import FilaForaDeAlcanceError
from fila.modelos import MensagemDePedido, NovoPedido, ler_pedido_id
from fila.publicacao import FilaDePedidos


class ConfiguracaoApi(Configuracao):
    """Settings of the API: the queue, its tables and the largest order it takes (units, centavos)."""

    url_fila_pedidos: str
    tabela_idempotencia: str
    tabela_efeitos: str
    quantidade_maxima: int
    valor_maximo_centavos: int


@uma_vez
def _configuracao() -> ConfiguracaoApi:
    return ConfiguracaoApi.do_ambiente()


@uma_vez
def _fila() -> FilaDePedidos:
    return FilaDePedidos(aws.sqs(), _configuracao().url_fila_pedidos)


@uma_vez
def _chaves() -> RegistroDeChaves:
    return RegistroDeChaves(aws.dynamodb(), _configuracao().tabela_idempotencia, escopo="POST /api/pedidos")


@uma_vez
def _efeitos() -> LeitorDeEfeitos:
    return LeitorDeEfeitos(aws.dynamodb(), _configuracao().tabela_efeitos)


@observado
@borda
def handler(requisicao: RequisicaoHttp) -> RespostaHttp:
    """Accept an order, or show what became of one.

    Duplicate: with an Idempotency-Key the same order is answered again, and what is published twice the consumer drops;
    without one, each POST is a new order. Undo before do, do after undo: not met here, no effect starts in the API.

    Returns
    -------
    RespostaHttp
        POST: 202 ``{pedidoId, status: "recebido"}`` with Location. GET: 200 ``{pedidoId, status, descricao, ...}``, 404
        while nothing happened to it. Problem details otherwise: 400, 409, 413, 415, 422, 503 with Retry-After.
    """
    if requisicao.metodo == "GET":
        return _consultar(requisicao)
    try:
        recusar_cartao_na_chave(requisicao)
        novo = _ler(requisicao)
        chave = ler_chave(requisicao)
    except ProblemaHttp:
        contar("RequisicoesRecusadas")
        raise
    promessa = {"pedidoId": str(uuid.uuid4()), "recebidoEm": agora_iso()}
    return _chaves().executar(chave, novo.model_dump(), promessa, lambda valida: _publicar(novo, valida))


def _ler(requisicao: RequisicaoHttp) -> NovoPedido:
    config = _configuracao()
    regras = {
        "itemId": "use letras maiúsculas, dígitos e hífen, até 40 caracteres",
        "quantidade": f"use um inteiro de 1 a {config.quantidade_maxima}",
        "valorCentavos": f"use um inteiro de 1 a {config.valor_maximo_centavos} centavos",
        "lojaId": "use letras minúsculas, dígitos e hífen, até 60 caracteres",
    }
    maximos = {"quantidade": config.quantidade_maxima, "valorCentavos": config.valor_maximo_centavos}
    return ler_corpo(NovoPedido, requisicao.json(), regras, maximos)


def _publicar(novo: NovoPedido, promessa: Promessa) -> RespostaHttp:
    pedido_id = promessa["pedidoId"]
    identificar(pedido_id)
    try:
        _fila().publicar(MensagemDePedido(**promessa, **novo.model_dump()))
    except FilaForaDeAlcanceError as erro:
        logger.error("order not published", extra=erro.detalhes)
        raise indisponivel("Não foi possível receber o pedido agora. Repita a mesma requisição.") from None
    contar("PedidosRecebidos")
    logger.info("order accepted")
    return resposta_json(202, {"pedidoId": pedido_id, "status": "recebido"}, {"Location": f"pedidos/{pedido_id}"})


def _consultar(requisicao: RequisicaoHttp) -> RespostaHttp:
    pedido_id = ler_pedido_id(requisicao.parametros.get("pedidoId", ""))
    identificar(pedido_id)
    efeito = _efeitos().obter(pedido_id)
    if efeito is None:
        raise ProblemaHttp(
            404,
            "pedido-desconhecido",
            "Pedido não encontrado",
            "Não há registro deste pedido. Se ele acabou de ser enviado, ainda espera na fila: consulte em instantes.",
            cabecalhos={"Retry-After": "5"},
        )
    return resposta_json(200, apresentar(efeito))
