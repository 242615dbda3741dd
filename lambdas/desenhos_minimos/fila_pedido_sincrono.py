"""``POST /api/pedidos-sincrono``: the design the queue replaces. Writes, debits stock and charges while the customer
waits.

Deployed by variable only, to be measured beside the queue under the same load. Each request holds one of the function's
concurrent executions for as long as the gateway takes; when none is free, the request fails.
"""

import json
import uuid
from typing import Any

import urllib3
from pydantic import Field

from comum import aws
from comum.configuracao import Configuracao
from comum.contrato import ModeloDeEntrada, Quantidade, ValorCentavos, ler
from comum.erros import PedidoInvalidoError
from comum.http_borda import ProblemaHttp, RequisicaoHttp, RespostaHttp, borda, pedido_malformado, resposta_json
from comum.observabilidade import identificar, observado
from comum.processo import uma_vez
from comum.relogio import agora_iso
from comum.segredos import SegredoSsm


class ConfiguracaoPedidoSincrono(Configuracao):
    """Settings; timeouts in seconds."""

    tabela_efeitos: str
    tabela_estoque: str
    url_gateway: str = Field(pattern=r"^https?://[^\s]+$")
    parametro_chave_gateway: str
    timeout_conexao_gateway_s: float = Field(gt=0)
    timeout_total_gateway_s: float = Field(gt=0)


class PedidoSincrono(ModeloDeEntrada):
    """Body: ``quantidade`` in units, ``valorCentavos`` the total in centavos."""

    itemId: str = Field(pattern=r"^[A-Z0-9][A-Z0-9-]{0,39}\z")
    quantidade: Quantidade
    valorCentavos: ValorCentavos
    lojaId: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,59}\z")


@uma_vez
def _configuracao() -> ConfiguracaoPedidoSincrono:
    return ConfiguracaoPedidoSincrono.do_ambiente()


@uma_vez
def _segredo() -> SegredoSsm:
    return SegredoSsm(aws.ssm, _configuracao().parametro_chave_gateway)


@uma_vez
def _http() -> urllib3.PoolManager:
    return urllib3.PoolManager(retries=False)


@observado
@borda
def handler(requisicao: RequisicaoHttp) -> RespostaHttp:
    """Create an order in one go.

    Duplicate, undo before do, do after undo: none is handled; a repeated POST is another order, and whatever stops the
    process between two writes leaves them disagreeing. That is the defect the queue removes.

    Returns
    -------
    RespostaHttp
        201 ``{pedidoId, status}``; 402 when the charge is refused, 409 without stock, 504 when the gateway is slow.
    """
    try:
        pedido = ler(PedidoSincrono, requisicao.json())
    except PedidoInvalidoError:
        raise pedido_malformado("Confira itemId, quantidade, valorCentavos e lojaId.") from None
    pedido_id = str(uuid.uuid4())
    identificar(pedido_id)
    _gravar(pedido_id, pedido)
    if not _somar_ao_saldo(pedido.itemId, -pedido.quantidade):
        raise ProblemaHttp(409, "sem-estoque", "Sem estoque", "Não há unidades suficientes deste item.")
    if not _cobrar(pedido_id, pedido):
        _somar_ao_saldo(pedido.itemId, pedido.quantidade)
        raise ProblemaHttp(
            402, "pagamento-recusado", "Pagamento recusado", "O pagamento pela conta da loja foi recusado."
        )
    _concluir(pedido_id)
    return resposta_json(201, {"pedidoId": pedido_id, "status": "concluido"})


def _gravar(pedido_id: str, pedido: PedidoSincrono) -> None:
    agora = agora_iso()
    item: dict[str, Any] = {
        "pedidoId": {"S": pedido_id},
        "situacao": {"S": "ESTOQUE_DEBITADO"},
        "itemId": {"S": pedido.itemId},
        "quantidade": {"N": str(pedido.quantidade)},
        "valorCentavos": {"N": str(pedido.valorCentavos)},
        "lojaId": {"S": pedido.lojaId},
        "criadoEm": {"S": agora},
        "atualizadoEm": {"S": agora},
    }
    aws.dynamodb().put_item(TableName=_configuracao().tabela_efeitos, Item=item)


def _somar_ao_saldo(item_id: str, quantidade: int) -> bool:
    dynamodb = aws.dynamodb()
    try:
        dynamodb.update_item(
            TableName=_configuracao().tabela_estoque,
            Key={"itemId": {"S": item_id}},
            UpdateExpression="SET saldo = saldo + :q",
            ConditionExpression="saldo >= :minimo",
            ExpressionAttributeValues={":q": {"N": str(quantidade)}, ":minimo": {"N": str(max(-quantidade, 0))}},
        )
    except dynamodb.exceptions.ConditionalCheckFailedException:
        return False
    return True


def _cobrar(pedido_id: str, pedido: PedidoSincrono) -> bool:
    configuracao = _configuracao()
    try:
        resposta = _http().request(
            "POST",
            f"{configuracao.url_gateway.rstrip('/')}/cobrancas",
            body=json.dumps(
                {
                    "valorCentavos": pedido.valorCentavos,
                    "cartaoToken": f"tok-{pedido.lojaId}",
                    "referencia": pedido_id,
                }
            ),
            headers={
                "Content-Type": "application/json",
                "Idempotency-Key": f"fila-cobranca-{pedido_id}",
                "X-Api-Key": _segredo().obter(),
            },
            timeout=urllib3.Timeout(
                connect=configuracao.timeout_conexao_gateway_s, total=configuracao.timeout_total_gateway_s
            ),
        )
    except urllib3.exceptions.HTTPError:
        status = 504
    else:
        status = resposta.status
    if status >= 500:
        raise ProblemaHttp(504, "gateway-lento", "Pagamento sem resposta", "O pagamento não respondeu a tempo.")
    return status == 201


def _concluir(pedido_id: str) -> None:
    aws.dynamodb().update_item(
        TableName=_configuracao().tabela_efeitos,
        Key={"pedidoId": {"S": pedido_id}},
        UpdateExpression="SET situacao = :concluido, atualizadoEm = :em",
        ExpressionAttributeValues={":concluido": {"S": "CONCLUIDO"}, ":em": {"S": agora_iso()}},
    )
