"""The model itself, rule by rule: a wrong model would prove nothing about the consumer."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.models.fonte_painel import EPOCA, registros_de
from tests.models.mapeamento_streams import (
    INTEIRO,
    RETENCAO_S,
    InvocacaoRecusada,
    Mapeamento,
    ModeloDoMapeamento,
    ProcessoMorto,
    Resultado,
    Shard,
    indice_do_checkpoint,
)

OITO = registros_de([(f"P{n}", "SEPARADO") for n in range(8)])
Invocar = Callable[[list[str]], Any]


def ids(registros: list[dict[str, Any]]) -> list[str]:
    return [registro["dynamodb"]["SequenceNumber"] for registro in registros]


NUMEROS = ids(OITO)


def rodar(
    invocar: Invocar, mapeamento: Mapeamento | None = None, agora: float = EPOCA
) -> tuple[Resultado, list[list[str]]]:
    vistos: list[list[str]] = []

    def chamar(evento: dict[str, Any]) -> Any:
        vistos.append(ids(evento["Records"]))
        return invocar(vistos[-1])

    modelo = ModeloDoMapeamento(mapeamento or Mapeamento(), chamar, agora=lambda: agora)
    return modelo.executar([Shard("s0", OITO)]), vistos


def falha_em(numero: str) -> Any:
    return {"batchItemFailures": [{"itemIdentifier": numero}]}


def test_r1_r2_lotes_em_ordem() -> None:
    _, vistos = rodar(lambda _: None, Mapeamento(tamanho_do_lote=3))
    assert vistos == [NUMEROS[:3], NUMEROS[3:6], NUMEROS[6:]]


def test_r3_r7_tudo_a_partir_do_menor_volta_inclusive_os_que_deram_certo() -> None:
    respostas = iter([{"batchItemFailures": [{"itemIdentifier": NUMEROS[5]}, {"itemIdentifier": NUMEROS[2]}]}, {}])
    _, vistos = rodar(lambda _: next(respostas))
    assert vistos == [NUMEROS, NUMEROS[2:]]


@pytest.mark.parametrize("identificador", ["", None, "999"])
def test_r4_identificador_ruim_e_falha_inteira(identificador: Any) -> None:
    assert indice_do_checkpoint({"batchItemFailures": [{"itemIdentifier": identificador}]}, OITO) == INTEIRO


def test_r4_chave_errada_e_falha_inteira() -> None:
    assert indice_do_checkpoint({"batchItemFailures": [{"itemId": NUMEROS[0]}]}, OITO) == INTEIRO


@pytest.mark.parametrize("resposta", [None, {}, {"batchItemFailures": []}, {"batchItemFailures": None}])
def test_r5_vazio_e_sucesso(resposta: Any) -> None:
    assert indice_do_checkpoint(resposta, OITO) is None


@pytest.mark.parametrize("erro", [ValueError, ProcessoMorto])
def test_r6_invocacao_que_falha_e_partida_ao_meio_ate_isolar(erro: type[BaseException]) -> None:
    def invocar(lote: list[str]) -> None:
        if NUMEROS[3] in lote:
            raise erro

    resultado, vistos = rodar(invocar)
    assert vistos[:3] == [NUMEROS, NUMEROS[:4], NUMEROS[:2]]
    assert ids(resultado.descartados) == [NUMEROS[3]]
    assert vistos.count([NUMEROS[3]]) == 4  # splitting used up no attempt: the first and three retries
    assert {n for lote in vistos for n in lote} == set(NUMEROS)


def test_r6_sem_bisect_o_lote_inteiro_se_perde() -> None:
    def invocar(lote: list[str]) -> None:
        if NUMEROS[3] in lote:
            raise ValueError

    resultado, vistos = rodar(invocar, Mapeamento(bisect=False))
    assert len(vistos) == 4
    assert ids(resultado.descartados) == NUMEROS


def test_r7_resposta_parcial_no_primeiro_nao_isola_nada() -> None:
    """Why the consumer fails the invocation instead: the good records behind the bad one go with it."""
    resultado, _ = rodar(lambda lote: falha_em(lote[0]) if NUMEROS[0] in lote else None)
    assert ids(resultado.descartados) == NUMEROS


def test_r8_depois_das_tentativas_o_shard_segue() -> None:
    resultado, vistos = rodar(
        lambda lote: falha_em(lote[0]) if NUMEROS[0] in lote else None, Mapeamento(tamanho_do_lote=2)
    )
    assert ids(resultado.descartados) == NUMEROS[:2]
    assert vistos[-1] == NUMEROS[6:]


def test_r8_idade_do_registro() -> None:
    resultado, vistos = rodar(lambda _: None, Mapeamento(idade_maxima_s=60), agora=EPOCA + 3600)
    assert vistos == []
    assert {m["requestContext"]["condition"] for m in resultado.mensagens} == {"RecordAgeExceeded"}


def test_r8_retencao_de_24_h() -> None:
    assert len(rodar(lambda _: None, agora=EPOCA + RETENCAO_S + 10)[0].descartados) == 8


def test_r9_invocacao_recusada_nao_gasta_tentativa() -> None:
    recusas = iter([True] * 20)

    def invocar(_: list[str]) -> None:
        if next(recusas, False):
            raise InvocacaoRecusada

    resultado, vistos = rodar(invocar)
    assert resultado.descartados == []
    assert len(vistos) == 21


def test_r10_mensagem_so_tem_metadados() -> None:
    resultado, _ = rodar(lambda lote: falha_em(lote[0]), Mapeamento(tentativas=0))
    info = resultado.mensagens[0]["DDBStreamBatchInfo"]
    assert (info["startSequenceNumber"], info["endSequenceNumber"], info["batchSize"]) == (NUMEROS[0], NUMEROS[-1], 8)
    assert "SEGREDO" not in str(resultado.mensagens)


def test_r11_filho_depois_do_pai() -> None:
    ordem: list[str] = []
    modelo = ModeloDoMapeamento(
        Mapeamento(tamanho_do_lote=1), lambda evento: ordem.extend(ids(evento["Records"])), escolher=lambda n: n - 1
    )
    modelo.executar([Shard("filho", OITO[4:], pai="pai"), Shard("pai", OITO[:4])])
    assert ordem == NUMEROS


def test_r12_paralelo_guarda_a_ordem_de_cada_pedido() -> None:
    registros = registros_de(
        [(f"P{n % 3}", status) for n, status in enumerate(["SEPARADO", "CANCELADO", "PENDENTE"] * 6)]
    )
    ordem: dict[str, list[int]] = {}

    def invocar(evento: dict[str, Any]) -> None:
        for registro in evento["Records"]:
            mudanca = registro["dynamodb"]
            ordem.setdefault(mudanca["Keys"]["PK"]["S"], []).append(int(mudanca["SequenceNumber"]))

    escolhas = iter([1, 0, 2, 1, 1, 0] * 10)
    modelo = ModeloDoMapeamento(
        Mapeamento(tamanho_do_lote=2, paralelismo=3), invocar, escolher=lambda _: next(escolhas)
    )
    modelo.executar([Shard("s0", registros)])
    assert all(numeros == sorted(numeros) for numeros in ordem.values())
    assert sum(map(len, ordem.values())) == 18


def test_r13_reentrega() -> None:
    vistos: list[list[str]] = []
    modelo = ModeloDoMapeamento(
        Mapeamento(), lambda evento: vistos.append(ids(evento["Records"])), reentregar=lambda: len(vistos) == 1
    )
    modelo.executar([Shard("s0", OITO)])
    assert vistos == [NUMEROS, NUMEROS]
