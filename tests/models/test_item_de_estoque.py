"""The stock item of a product everybody buys stays as small, and its reserve as cheap, as on the first day.

The short form of ``make medir-estoque``: fewer orders, the same assertion, here and against the lab's design.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from estoque.baixas import RepositorioBaixas, ResultadoBaixa
from estoque.repositorio import RepositorioEstoque
from tests.medidas import dynamodb_local
from tests.medidas.estoque import BAIXAS, SKU, TABELA, Medida, Medidor, medir, tamanho

PEDIDOS = 200


@pytest.fixture
def em_memoria() -> Iterator[Any]:
    with mock_aws():
        cliente = boto3.client(
            "dynamodb", region_name="sa-east-1", aws_access_key_id="testing", aws_secret_access_key="testing"
        )
        dynamodb_local.criar_tabela(cliente, TABELA, "sku")
        dynamodb_local.criar_tabela(cliente, BAIXAS, "pedidoId")
        yield cliente


@pytest.fixture(scope="module")
def da_amazon() -> Iterator[Any]:
    """DynamoDB Local, which charges by size; skipped where it is not installed."""
    if (motivo := dynamodb_local.ausente()) is not None:
        pytest.skip(motivo)
    with dynamodb_local.no_ar() as cliente:
        dynamodb_local.criar_tabela(cliente, TABELA, "sku")
        dynamodb_local.criar_tabela(cliente, BAIXAS, "pedidoId")
        yield cliente


def conferir_tamanhos(nossa: Medida, do_lab: Medida) -> None:
    assert {leitura.bytes_do_item for leitura in nossa.leituras} == {nossa.leituras[0].bytes_do_item}
    crescimento = do_lab.leituras[-1].bytes_do_item - do_lab.leituras[0].bytes_do_item
    assert crescimento >= 26 * (PEDIDOS - 1), "the lab's item keeps every id"


def test_the_item_does_not_grow_with_confirmed_orders(em_memoria: Any) -> None:
    conferir_tamanhos(*medir(em_memoria, None, PEDIDOS, marcos=10))


def test_the_last_reserve_consumes_what_the_first_did(da_amazon: Any) -> None:
    nossa, do_lab = medir(da_amazon, Medidor(da_amazon), PEDIDOS, marcos=10)
    conferir_tamanhos(nossa, do_lab)
    assert {leitura.unidades_da_reserva for leitura in nossa.leituras} == {1.0}
    assert do_lab.leituras[-1].unidades_da_reserva >= 5


def test_sizes_are_the_service_s() -> None:
    """Against items written out in the service's own terms: 3 + 1 per entry for a map, half a byte a digit."""
    assert tamanho({"sku": {"S": "CAFÉ"}}) == 3 + 5
    assert tamanho({"saldo": {"N": "1234567"}}) == 5 + 5
    assert tamanho({"r": {"M": {}}}) == 1 + 3
    assert tamanho({"r": {"M": {"P1": {"N": "2"}}}}) == 1 + 3 + 1 + 2 + 2


def escrever(cliente: Any, **atributos: Any) -> None:
    cliente.put_item(TableName=TABELA, Item={"sku": {"S": SKU}, "saldo": {"N": "10"}, **atributos})


def test_write_offs_meet_the_real_service_s_answers(da_amazon: Any) -> None:
    """Reasons of a cancelled transaction as the service words them: no map, no entry, another quantity, a duplicate."""
    estoque, baixas = RepositorioEstoque(da_amazon, TABELA), RepositorioBaixas(da_amazon, TABELA, BAIXAS)
    for atributos in ({}, {"reservas": {"M": {}}}):
        escrever(da_amazon, **atributos)
        assert baixas.baixar(SKU, "R1", 2).resultado is ResultadoBaixa.SEM_RESERVA
    assert baixas.baixar("NAO-EXISTE", "R1", 2).resultado is ResultadoBaixa.SEM_RESERVA
    estoque.reservar(SKU, "R1", 3)
    assert (feita := baixas.baixar(SKU, "R1", 2)).resultado is ResultadoBaixa.BAIXADA
    assert feita.quantidade == 3
    estoque.reservar(SKU, "R1", 3)
    assert baixas.baixar(SKU, "R1", 3).resultado is ResultadoBaixa.JA_BAIXADA
    assert baixas.registradas(["R1", "R2"]) == {"R1"}
    assert estoque.liberar(SKU, "R1").quantidade == 3
