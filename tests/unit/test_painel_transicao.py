"""From a stream record to a transition, or to nothing, or to a named refusal."""

import json
import math
from typing import Any

import pytest

from painel.erros import RegistroInvalidoError
from painel.lote import LoteDoStream, LoteFalhouError
from painel.transicao import ler_transicao, normalizar_sequencia
from tests.models.fonte_painel import registro

SEQUENCIA = 100_000_000_000_000_000_000


def novo(**trocas: Any) -> dict[str, Any]:
    feito = registro("P1", "SEPARADO", "CANCELADO", SEQUENCIA)
    feito["dynamodb"] |= trocas
    return feito


def test_le_a_mudanca() -> None:
    transicao = ler_transicao(novo())
    assert transicao is not None
    assert (transicao.pedido_id, transicao.loja, transicao.de, transicao.para) == (
        "P1",
        "L001",
        "SEPARADO",
        "CANCELADO",
    )
    assert transicao.sequencia == str(SEQUENCIA).zfill(40)
    assert transicao.pede_reposicao


@pytest.mark.parametrize(
    ("de", "para"), [("PENDENTE", "CANCELADO"), ("CANCELADO", "SEPARADO"), ("SEPARADO", "ENTREGUE")]
)
def test_so_separado_para_cancelado_pede_reposicao(de: str, para: str) -> None:
    transicao = ler_transicao(registro("P1", de, para, SEQUENCIA))
    assert transicao is not None
    assert not transicao.pede_reposicao


@pytest.mark.parametrize(
    "feito",
    [
        registro("P1", "SEPARADO", "CANCELADO", SEQUENCIA, evento="INSERT"),
        registro("P1", "SEPARADO", "CANCELADO", SEQUENCIA, evento="REMOVE"),
        registro("P1", "SEPARADO", "SEPARADO", SEQUENCIA),
        registro("P1", "SEPARADO", "CANCELADO", SEQUENCIA, sk="ITEM#1"),
    ],
    ids=["insert", "remove", "mesmo-status", "outro-item"],
)
def test_o_que_nao_interessa_e_ignorado(feito: dict[str, Any]) -> None:
    assert ler_transicao(feito) is None


@pytest.mark.parametrize(
    "trocas",
    [
        {"OldImage": None},
        {"NewImage": {}},
        {"OldImage": {"loja_id": {"S": "L001"}}},
        {"NewImage": {"status": {"N": "1"}}},
        {"NewImage": {"status": {"S": "cancelado; drop"}}},
        {"Keys": {"PK": {"S": "CLIENTE#1"}, "SK": {"S": "METADADOS"}}},
        {"Keys": {"PK": {"S": "PEDIDO#<script>"}, "SK": {"S": "METADADOS"}}},
        {"Keys": None},
        {"SequenceNumber": ""},
        {"SequenceNumber": "12a"},
        {"SequenceNumber": "1" * 41},
        {"SequenceNumber": "١٢٣"},
        {"SequenceNumber": 7},
        {"ApproximateCreationDateTime": None},
        {"ApproximateCreationDateTime": math.nan},
        {"ApproximateCreationDateTime": 1e30},
        {"ApproximateCreationDateTime": True},
    ],
    ids=str,
)
def test_registro_malformado_e_recusado_pelo_nome(trocas: dict[str, Any]) -> None:
    with pytest.raises(RegistroInvalidoError):
        ler_transicao(novo(**trocas))


def test_sem_a_parte_dynamodb() -> None:
    with pytest.raises(RegistroInvalidoError):
        ler_transicao({"eventName": "MODIFY"})


def test_loja_vem_do_indice_de_pendentes_quando_o_item_nao_a_nomeia() -> None:
    feito = novo()
    for imagem in ("OldImage", "NewImage"):
        del feito["dynamodb"][imagem]["loja_id"]
    assert ler_transicao(feito).loja == "DESCONHECIDA"
    feito["dynamodb"]["OldImage"]["GSI3PK"] = {"S": "LOJA#L042"}
    assert ler_transicao(feito).loja == "L042"


def test_ordem_de_texto_e_a_ordem_dos_numeros() -> None:
    numeros = [999_999_999_999_999_999_999, 10**21, 10**30, 10**39]
    assert sorted(normalizar_sequencia(str(n)) for n in reversed(numeros)) == [str(n).zfill(40) for n in numeros]


def test_falha_no_meio_devolve_so_a_primeira_e_para() -> None:
    vistos: list[str] = []

    def falhar_no_segundo(record: Any) -> None:
        vistos.append(record.dynamodb.sequence_number)
        if len(vistos) == 2:
            raise ValueError("SEGREDO")

    lote = LoteDoStream(lambda: 30_000)
    registros = [registro("P1", "A", "B", SEQUENCIA + n) for n in range(5)]
    with lote(records=registros, handler=falhar_no_segundo):
        lote.process()
    assert lote.response() == {"batchItemFailures": [{"itemIdentifier": str(SEQUENCIA + 1)}]}
    assert len(vistos) == 2  # the rest would be sent again anyway


def test_primeiro_que_falha_derruba_a_invocacao_sem_contar_o_conteudo() -> None:
    def falhar(record: Any) -> None:
        raise ValueError("SEGREDO")

    lote = LoteDoStream(lambda: 30_000)
    with pytest.raises(LoteFalhouError) as erro, lote(records=[registro("P1", "A", "B", 1)], handler=falhar):
        lote.process()
    assert "SEGREDO" not in str(erro.value)


def test_sem_tempo_para_antes_de_comecar_outro() -> None:
    tempos = iter([10_000, 10_000, 1_000])
    lote = LoteDoStream(lambda: next(tempos))
    registros = [registro("P1", "A", "B", SEQUENCIA + n) for n in range(5)]
    with lote(records=registros, handler=lambda record: None):
        lote.process()
    assert lote.response()["batchItemFailures"] == [{"itemIdentifier": str(SEQUENCIA + 2)}]


def test_registro_de_teste_tem_o_segredo_que_os_logs_nao_podem_ter() -> None:
    assert "SEGREDO-DO-CLIENTE" in json.dumps(novo())
