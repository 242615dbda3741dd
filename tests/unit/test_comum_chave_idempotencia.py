"""The Idempotency-Key protocol: claim first, one promise for ever, the convention's answers."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from comum.chave_idempotencia import (
    ChaveMalformadaError,
    ChaveReutilizadaError,
    RegistroDeChaves,
    RequisicaoEmAndamentoError,
    impressao_de,
    ler_chave,
)
from comum.http_borda import ProblemaHttp, RequisicaoHttp, RespostaHttp, resposta_json
from tests.unit.apoio_unit import cliente


class Relogio:
    def __init__(self) -> None:
        self.agora = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.agora

    def avancar(self, segundos: float) -> None:
        self.agora += timedelta(seconds=segundos)


@pytest.fixture
def relogio() -> Relogio:
    return Relogio()


@pytest.fixture
def registro(tabela_chaves: str, relogio: Relogio) -> RegistroDeChaves:
    return RegistroDeChaves(cliente("dynamodb"), tabela_chaves, escopo="POST /pedidos", relogio=relogio)


def responder(promessa: dict[str, str]) -> RespostaHttp:
    return resposta_json(202, promessa)


CONTEUDO = {"sku": "CAFE-1"}


def test_repeat_replays_the_first_answer_and_does_not_act_again(registro: RegistroDeChaves) -> None:
    feitos: list[str] = []

    def acao(promessa: dict[str, str]) -> RespostaHttp:
        feitos.append(promessa["pedidoId"])
        return responder(promessa)

    primeira = registro.executar("k1", CONTEUDO, {"pedidoId": "A"}, acao)
    segunda = registro.executar("k1", CONTEUDO, {"pedidoId": "B"}, acao)
    assert segunda == primeira
    assert json.loads(segunda["body"]) == {"pedidoId": "A"}
    assert feitos == ["A"]


def test_crash_after_the_effect_repeats_with_the_same_promise(registro: RegistroDeChaves, relogio: Relogio) -> None:
    registro.reivindicar("k1", CONTEUDO, {"pedidoId": "A"})  # the process dies here: effect done, no answer stored
    with pytest.raises(RequisicaoEmAndamentoError):
        registro.executar("k1", CONTEUDO, {"pedidoId": "B"}, responder)
    relogio.avancar(11)
    resposta = registro.executar("k1", CONTEUDO, {"pedidoId": "C"}, responder)
    assert json.loads(resposta["body"]) == {"pedidoId": "A"}


def test_only_one_of_two_repeats_takes_over_a_dead_claim(registro: RegistroDeChaves, relogio: Relogio) -> None:
    registro.reivindicar("k1", CONTEUDO, {"pedidoId": "A"})
    relogio.avancar(11)
    assert registro.reivindicar("k1", CONTEUDO, {"pedidoId": "B"}).promessa == {"pedidoId": "A"}
    with pytest.raises(RequisicaoEmAndamentoError) as recusa:
        registro.reivindicar("k1", CONTEUDO, {"pedidoId": "C"})
    assert recusa.value.cabecalhos["Retry-After"] == "10"


def test_lost_race_for_a_dead_claim_is_in_flight(registro: RegistroDeChaves, relogio: Relogio) -> None:
    primeira = registro.reivindicar("k1", CONTEUDO, {"pedidoId": "A"})
    relogio.avancar(11)
    registro.reivindicar("k1", CONTEUDO, {"pedidoId": "B"})
    with pytest.raises(RequisicaoEmAndamentoError):
        registro._assumir(primeira, {"pedidoId": "A"}, primeira.posse)


def test_failed_effect_hands_the_claim_back_at_once_with_its_promise(registro: RegistroDeChaves) -> None:
    def falhar(promessa: dict[str, str]) -> RespostaHttp:
        raise ProblemaHttp(503, "indisponivel", "t", "d")

    with pytest.raises(ProblemaHttp) as falha:
        registro.executar("k1", CONTEUDO, {"pedidoId": "A"}, falhar)
    assert falha.value.status == 503
    resposta = registro.executar("k1", CONTEUDO, {"pedidoId": "B"}, responder)
    assert json.loads(resposta["body"]) == {"pedidoId": "A"}


def test_other_payload_is_422_in_flight_and_after(registro: RegistroDeChaves) -> None:
    outro = {"sku": "CAFE-2"}
    reivindicacao = registro.reivindicar("k1", CONTEUDO, {"pedidoId": "A"})
    with pytest.raises(ChaveReutilizadaError):
        registro.reivindicar("k1", outro, {"pedidoId": "B"})
    registro.concluir(reivindicacao, responder(reivindicacao.promessa))
    with pytest.raises(ChaveReutilizadaError) as recusa:
        registro.reivindicar("k1", outro, {"pedidoId": "B"})
    assert recusa.value.status == 422


def test_expired_key_is_new_even_before_dynamodb_deletes_it(registro: RegistroDeChaves, relogio: Relogio) -> None:
    registro.executar("k1", CONTEUDO, {"pedidoId": "A"}, responder)
    relogio.avancar(24 * 3600)
    outro = {"sku": "CAFE-2"}
    assert registro.reivindicar("k1", outro, {"pedidoId": "B"}).promessa == {"pedidoId": "B"}


def test_scopes_do_not_share_keys(registro: RegistroDeChaves, tabela_chaves: str) -> None:
    registro.executar("k1", CONTEUDO, {"pedidoId": "A"}, responder)
    outro = RegistroDeChaves(cliente("dynamodb"), tabela_chaves, escopo="POST /api/pedidos")
    assert outro.reivindicar("k1", CONTEUDO, {"pedidoId": "B"}).promessa == {"pedidoId": "B"}


def test_header_itself_is_never_stored(registro: RegistroDeChaves, tabela_chaves: str) -> None:
    registro.executar("segredo-do-cliente", CONTEUDO, {"pedidoId": "A"}, responder)
    assert "segredo-do-cliente" not in json.dumps(cliente("dynamodb").scan(TableName=tabela_chaves)["Items"])


def test_table_down_is_503_and_nothing_is_done(aws: None) -> None:
    registro = RegistroDeChaves(cliente("dynamodb"), "nao-existe", escopo="x")
    feitos: list[int] = []

    def acao(promessa: dict[str, str]) -> RespostaHttp:
        feitos.append(1)
        return responder(promessa)

    with pytest.raises(ProblemaHttp) as falha:
        registro.executar("k1", CONTEUDO, {"pedidoId": "A"}, acao)
    assert falha.value.status == 503
    assert "Retry-After" in falha.value.cabecalhos
    assert feitos == []


def test_answer_not_stored_still_answers(registro: RegistroDeChaves, monkeypatch: pytest.MonkeyPatch) -> None:
    def recusar(**_: object) -> None:
        raise ClientError({"Error": {"Code": "ProvisionedThroughputExceededException"}}, "UpdateItem")

    monkeypatch.setattr(registro._dynamodb, "update_item", recusar)
    assert registro.executar("k1", CONTEUDO, {"pedidoId": "A"}, responder)["statusCode"] == 202


def test_without_a_key_every_request_is_new(registro: RegistroDeChaves) -> None:
    for pedido in ("A", "B"):
        assert json.loads(registro.executar(None, CONTEUDO, {"pedidoId": pedido}, responder)["body"]) == {
            "pedidoId": pedido
        }


def requisicao(chave: str | None) -> RequisicaoHttp:
    cabecalhos = {} if chave is None else {"idempotency-key": chave}
    return RequisicaoHttp("POST", "/pedidos", cabecalhos, {}, {}, b"")


@pytest.mark.parametrize(
    ("texto", "chave"),
    [
        ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
        ('"8e03978e"', "8e03978e"),
        ("a", "a"),
        ("x" * 128, "x" * 128),
        ("[a]~!#+-.Z", "[a]~!#+-.Z"),
        (None, None),
    ],
)
def test_key_is_read(texto: str | None, chave: str | None) -> None:
    assert ler_chave(requisicao(texto)) == chave


@pytest.mark.parametrize("texto", ["", " ", '""', '"a', 'a"', "a,b", "a b", "a\\b", "x" * 129, "ação", "a\n", '"a",'])
def test_malformed_key_is_400(texto: str) -> None:
    if texto == "a\n":  # a trailing newline is stripped as white space around a header value
        assert ler_chave(requisicao(texto)) == "a"
        return
    with pytest.raises(ChaveMalformadaError) as recusa:
        ler_chave(requisicao(texto))
    assert recusa.value.status == 400


def test_fingerprint_ignores_spelling_and_sees_content() -> None:
    assert impressao_de({"a": 1, "b": 2}) == impressao_de({"b": 2, "a": 1})
    assert impressao_de({"a": 1}) != impressao_de({"a": "1"})
