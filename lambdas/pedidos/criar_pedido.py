"""``POST /pedidos``: validates, publishes and answers 202. The customer never waits for the saga."""

from comum import aws
from comum.chave_idempotencia import Promessa, RegistroDeChaves, ler_chave
from comum.corpo_http import recusar_cartao_na_chave
from comum.http_borda import ProblemaHttp, RequisicaoHttp, RespostaHttp, borda, indisponivel, resposta_json
from comum.observabilidade import contar, identificar, logger, observado
from comum.processo import uma_vez
from comum.relogio import agora_iso
from pedidos.configuracao import ConfiguracaoCriar
from pedidos.erros import FilaIndisponivelError
from pedidos.fila_criados import FilaPedidosCriados
from pedidos.novo_pedido import NovoPedido, ler_novo_pedido, montar_entrada, novo_pedido_id
from pedidos.situacao import Status


@uma_vez
def _configuracao() -> ConfiguracaoCriar:
    return ConfiguracaoCriar.do_ambiente()


@uma_vez
def _fila() -> FilaPedidosCriados:
    return FilaPedidosCriados(aws.sqs(), _configuracao().url_fila_pedidos_criados)


@uma_vez
def _chaves() -> RegistroDeChaves:
    return RegistroDeChaves(aws.dynamodb(), _configuracao().tabela_idempotencia, escopo="POST /pedidos")


@observado
@borda
def handler(requisicao: RequisicaoHttp) -> RespostaHttp:
    """Accept an order.

    Duplicate: with an Idempotency-Key, the same order is published and answered again; without one, each POST is a
    new order. Undo before do, do after undo: not met here, no effect starts before the saga.

    Returns
    -------
    RespostaHttp
        202 ``{pedidoId, status: "RECEBIDO"}`` with Location (relative to this request). Problem details otherwise: 400,
        409, 413, 415, 422, and 503 with Retry-After when the order could not be recorded (repeat the same request).
    """
    try:
        recusar_cartao_na_chave(requisicao)
        novo = ler_novo_pedido(requisicao.json(), _configuracao())
        chave = ler_chave(requisicao)
    except ProblemaHttp:
        contar("PedidosRecusados")
        raise
    promessa = {"pedidoId": novo_pedido_id(), "criadoEm": agora_iso()}
    return _chaves().executar(chave, novo.model_dump(), promessa, lambda valida: _publicar(novo, valida))


def _publicar(novo: NovoPedido, promessa: Promessa) -> RespostaHttp:
    pedido_id = promessa["pedidoId"]
    identificar(pedido_id)
    try:
        _fila().publicar(montar_entrada(novo, pedido_id, promessa["criadoEm"]))
    except FilaIndisponivelError as erro:
        logger.error("order not published", extra=erro.detalhes)
        raise indisponivel("Não foi possível receber o pedido agora. Repita a mesma requisição.") from None
    contar("PedidosRecebidos")
    logger.info("order accepted")
    return resposta_json(
        202, {"pedidoId": pedido_id, "status": Status.RECEBIDO.value}, {"Location": f"pedidos/{pedido_id}"}
    )
