"""Each correction of the lab's consumer: holds here, and the same check is red on the lab's listing."""

import itertools
from collections.abc import Callable
from typing import Any

import boto3
import pytest

from comum import aws as comum_aws
from painel import consumidor, gravacao
from tests.models import consumidor_do_lab
from tests.models.fonte_painel import (
    EPOCA,
    PRIMEIRA_SEQUENCIA,
    Falhas,
    criar_tabela_painel,
    itens,
    registro,
    registros_de,
)
from tests.models.mapeamento_streams import Mapeamento, ModeloDoMapeamento, Shard

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
Preparar = Callable[[list[str]], Falhas]


@pytest.fixture
def preparar(aws: None, monkeypatch: pytest.MonkeyPatch) -> Preparar:
    """Table and topic; returns the record of what was published, with failures by plan."""
    tabela = criar_tabela_painel()
    topico = boto3.client("sns").create_topic(Name="ffv-lab-alerta-reposicao-estoque")["TopicArn"]
    monkeypatch.setenv("TABELA_PAINEL", tabela)
    monkeypatch.setenv("ARN_TOPICO_REPOSICAO", topico)
    original = comum_aws.cliente

    def fazer(plano: list[str]) -> Falhas:
        falhas = Falhas(iter(plano))
        monkeypatch.setattr(comum_aws, "cliente", falhas.fabrica(original))
        return falhas

    return fazer


def entregar(handler: Handler, registros: list[dict[str, Any]], mapeamento: Mapeamento | None = None) -> None:
    """Deliver one shard through the model."""
    ModeloDoMapeamento(mapeamento or Mapeamento(), lambda evento: handler(evento, None)).executar(
        [Shard("s0", registros)]
    )


def ordem_da_chave_e_a_da_escrita(handler: Handler, preparar: Preparar) -> None:
    preparar([])
    # The first number has 21 digits and the last 22: as unpadded text the last would sort first.
    feitos = registros_de([("P1", "SEPARADO"), ("P1", "EM_ENTREGA")] + [("P2", "SEPARADO")] * 9 + [("P1", "ENTREGUE")])
    assert len(feitos[0]["dynamodb"]["SequenceNumber"]) < len(feitos[-1]["dynamodb"]["SequenceNumber"])
    entregar(handler, feitos)
    assert [item["para"] for item in itens("painel_operacao", "P1")] == ["SEPARADO", "EM_ENTREGA", "ENTREGUE"]


def instante_nao_muda_ao_repetir(handler: Handler, preparar: Preparar) -> None:
    preparar([])
    feitos = registros_de([("P1", "SEPARADO")])
    entregar(handler, feitos)
    antes = itens("painel_operacao", "P1")
    entregar(handler, feitos)
    depois = itens("painel_operacao", "P1")
    assert [item["em"] for item in depois] == [item["em"] for item in antes] == ["2026-01-01T00:00:00.000Z"]


def atual_nao_anda_para_tras(handler: Handler, preparar: Preparar) -> None:
    preparar([])
    feitos = registros_de([("P1", "SEPARADO"), ("P1", "EM_ENTREGA")])
    entregar(handler, feitos)
    entregar(handler, feitos[:1])
    assert itens("painel_operacao", "P1", "ATUAL")[0]["status"] == "EM_ENTREGA"


def alerta_nao_repete_no_reenvio(handler: Handler, preparar: Preparar) -> None:
    # The first record fails once; the platform sends again everything from it, the alert's record included.
    falhas = preparar(["antes"])
    feitos = registros_de([("P2", "SEPARADO"), ("P1", "SEPARADO"), ("P1", "CANCELADO")])
    entregar(handler, feitos)
    assert len(falhas.publicados) == 1


def alerta_nao_repete_na_mesma_entrega_em_dobro(handler: Handler, preparar: Preparar) -> None:
    falhas = preparar([])
    feitos = registros_de([("P1", "SEPARADO"), ("P1", "CANCELADO")])
    entregar(handler, feitos)
    entregar(handler, feitos)
    assert len(falhas.publicados) == 1
    assert len(itens("painel_operacao", "P1")) == 2


def registro_ruim_nao_leva_os_bons_junto(handler: Handler, preparar: Preparar) -> None:
    # A partial answer at the first record is bisected at that record: the good ones behind it would be discarded with
    # it.
    preparar([])
    feitos = registros_de([(f"P{n}", "SEPARADO") for n in range(8)])
    del feitos[0]["dynamodb"]["NewImage"]["status"]
    modelo = ModeloDoMapeamento(Mapeamento(progresso_renova_tentativas=False), lambda evento: handler(evento, None))
    resultado = modelo.executar([Shard("s0", feitos)])
    assert [descartado["eventID"] for descartado in resultado.descartados] == [feitos[0]["eventID"]]


def imagem_ausente_nao_passa_calada(handler: Handler, preparar: Preparar) -> None:
    # A stream changed to NEW_IMAGE: the lab's consumer writes de="-" and never alerts, with no error anywhere.
    preparar([])
    feitos = registros_de([("P1", "SEPARADO"), ("P1", "CANCELADO")])
    for feito in feitos:
        del feito["dynamodb"]["OldImage"]
    modelo = ModeloDoMapeamento(Mapeamento(), lambda evento: handler(evento, None))
    assert modelo.executar([Shard("s0", feitos)]).mensagens


VERIFICACOES = [
    ordem_da_chave_e_a_da_escrita,
    instante_nao_muda_ao_repetir,
    atual_nao_anda_para_tras,
    alerta_nao_repete_no_reenvio,
    alerta_nao_repete_na_mesma_entrega_em_dobro,
    registro_ruim_nao_leva_os_bons_junto,
    imagem_ausente_nao_passa_calada,
]


@pytest.mark.parametrize("verificar", VERIFICACOES, ids=lambda v: v.__name__)
def test_correcao_vale(verificar: Callable[[Handler, Preparar], None], preparar: Preparar) -> None:
    verificar(consumidor.handler, preparar)


@pytest.mark.parametrize("verificar", VERIFICACOES, ids=lambda v: v.__name__)
def test_a_mesma_verificacao_reprova_o_consumidor_do_lab(
    verificar: Callable[[Handler, Preparar], None], preparar: Preparar
) -> None:
    with pytest.raises(AssertionError):
        verificar(consumidor_do_lab.handler, preparar)


def test_chave_nao_deterministica_e_pega(preparar: Preparar, monkeypatch: pytest.MonkeyPatch) -> None:
    """Break on purpose: a random key in place of the sequence number makes duplicates grow, and the check sees it."""
    sorteio = (f"{numero:040d}" for numero in itertools.count(7))
    monkeypatch.setattr("painel.transicao.normalizar_sequencia", lambda _: next(sorteio))
    with pytest.raises(AssertionError):
        alerta_nao_repete_na_mesma_entrega_em_dobro(consumidor.handler, preparar)


def test_atributo_que_nao_e_status_nao_gera_transicao(preparar: Preparar) -> None:
    """The lab's proof 3 changes another attribute: nothing would be written, so a proof of order must change the
    status.
    """
    preparar([])
    entregar(consumidor.handler, [registro("P1", "SEPARADO", "SEPARADO", PRIMEIRA_SEQUENCIA)])
    assert boto3.client("dynamodb").scan(TableName="painel_operacao")["Count"] == 0


def test_em_nao_depende_do_relogio_do_processo(preparar: Preparar, monkeypatch: pytest.MonkeyPatch) -> None:
    preparar([])
    monkeypatch.setattr(gravacao, "agora_iso", lambda: "2030-12-31T00:00:00.000Z")
    entregar(consumidor.handler, [registro("P1", "PENDENTE", "SEPARADO", PRIMEIRA_SEQUENCIA, epoca=EPOCA + 61)])
    assert itens("painel_operacao", "P1")[0]["em"] == "2026-01-01T00:01:01.000Z"
