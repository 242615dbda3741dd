"""The status table: exactly the specification's, and the condition it builds means what the table says."""

import itertools
from typing import Any

import pytest

from pedidos.situacao import ORIGENS, Status, condicao_de_escrita, pode

TABELA = {
    "RECEBIDO": {None},
    "RESERVADO": {None, "RECEBIDO"},
    "CONFIRMADO": {"RESERVADO"},
    "COMPENSANDO": {"RECEBIDO", "RESERVADO"},
    "FALHOU_SEM_RESERVA": {None, "RECEBIDO"},
    "FALHOU_COMPENSADO": {None, "RECEBIDO", "RESERVADO", "COMPENSANDO", "REQUER_INTERVENCAO_HUMANA"},
    "REQUER_INTERVENCAO_HUMANA": {
        None,
        "RECEBIDO",
        "RESERVADO",
        "COMPENSANDO",
        "FALHOU_SEM_RESERVA",
        "FALHOU_COMPENSADO",
        "REQUER_INTERVENCAO_HUMANA",
        "ENCERRADO_MANUALMENTE",
    },
    "ENCERRADO_MANUALMENTE": {"REQUER_INTERVENCAO_HUMANA"},
}


def test_table_is_the_specification() -> None:
    assert {para.value: {de and de.value for de in origens} for para, origens in ORIGENS.items()} == TABELA


@pytest.mark.parametrize("para", list(Status))
def test_condition_accepts_exactly_what_the_table_allows(sistema: Any, para: Status) -> None:
    for posicao, (de, incluir_o_proprio) in enumerate(itertools.product([None, *Status], [True, False])):
        pedido_id = f"P{posicao}"
        if de is not None:
            sistema.por_pedido(pedido_id, de.value)
        permitido = pode(para, de) if incluir_o_proprio else (de in ORIGENS[para] and de is not para)
        assert escrever(sistema, pedido_id, para, incluir_o_proprio) is permitido, (de, para, incluir_o_proprio)


def escrever(sistema: Any, pedido_id: str, para: Status, incluir_o_proprio: bool) -> bool:
    condicao = condicao_de_escrita(para, incluir_o_proprio=incluir_o_proprio)
    try:
        sistema.dynamodb.update_item(
            TableName="cesta-pedidos",
            Key={"pedidoId": {"S": pedido_id}},
            UpdateExpression="SET #novo = :para",
            ConditionExpression=condicao.expressao,
            ExpressionAttributeNames={"#novo": "status", **condicao.nomes},
            ExpressionAttributeValues={":para": {"S": para.value}, **condicao.valores},
        )
    except sistema.dynamodb.exceptions.ConditionalCheckFailedException:
        return False
    return True
