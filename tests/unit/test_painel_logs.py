"""No log line, metric or error of the consumer carries an image."""

import io
import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from comum.observabilidade import logger
from painel import consumidor
from painel.lote import LoteFalhouError
from tests.models.fonte_painel import criar_tabela_painel, registro

SEGREDO = "SEGREDO-DO-CLIENTE"
SEQUENCIA = 100_000_000_000_000_000_000


@pytest.fixture
def registro_de_log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Everything the logger writes, wherever its stream was bound."""
    texto = io.StringIO()
    monkeypatch.setattr(logger.registered_handler, "stream", texto)
    return texto


@pytest.fixture
def no_ar(aws: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TABELA_PAINEL", criar_tabela_painel())
    monkeypatch.setenv("ARN_TOPICO_REPOSICAO", boto3.client("sns").create_topic(Name="t")["TopicArn"])
    return


def _malformado() -> dict[str, Any]:
    feito = registro("P1", "SEPARADO", "CANCELADO", SEQUENCIA)
    feito["dynamodb"]["NewImage"]["status"] = {"S": SEGREDO}
    return feito


@pytest.mark.parametrize("nivel", ["INFO", "DEBUG"])
def test_sucesso_e_falha_nao_mostram_imagem(
    no_ar: None,
    registro_de_log: io.StringIO,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    nivel: str,
) -> None:
    caplog.set_level(nivel)
    consumidor.handler({"Records": [registro("P1", "SEPARADO", "CANCELADO", SEQUENCIA)]}, None)
    with pytest.raises(LoteFalhouError) as erro:
        consumidor.handler({"Records": [_malformado()]}, None)
    tudo = (
        registro_de_log.getvalue()
        + "".join(capsys.readouterr())
        + caplog.text
        + str(erro.value)
        + repr(erro.value.__cause__)
    )
    assert "registro do stream falhou" in tudo  # the failure is told, with its sequence number
    assert str(SEQUENCIA) in tudo
    assert SEGREDO not in tudo


def test_erro_da_aws_conta_o_codigo_e_nao_a_mensagem(
    no_ar: None, registro_de_log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recusar(*_: Any, **__: Any) -> None:
        raise ClientError({"Error": {"Code": "ValidationException", "Message": SEGREDO}}, "PutItem")

    monkeypatch.setattr("painel.repositorio.RepositorioPainel.registrar_transicao", recusar)
    with pytest.raises(LoteFalhouError):
        consumidor.handler({"Records": [registro("P1", "SEPARADO", "CANCELADO", SEQUENCIA)]}, None)
    saida = registro_de_log.getvalue()
    assert "ValidationException" in saida
    assert SEGREDO not in saida


def test_metricas_contam_o_que_houve(no_ar: None, capsys: pytest.CaptureFixture[str]) -> None:
    evento = {"Records": [registro("P1", "SEPARADO", "CANCELADO", SEQUENCIA)]}
    consumidor.handler(evento, None)
    consumidor.handler(evento, None)
    saida = capsys.readouterr().out
    assert '"TransicoesGravadas":[1.0]' in saida.replace(" ", "")
    assert '"TransicoesRepetidas":[1.0]' in saida.replace(" ", "")
    assert '"AlertasReposicaoPublicados":[1.0]' in saida.replace(" ", "")
    assert saida.count("AlertasReposicaoPublicados") == 2  # its definition and its value, in one blob only


def test_um_salto_e_contado_e_diz_o_pedido(
    no_ar: None, registro_de_log: io.StringIO, capsys: pytest.CaptureFixture[str]
) -> None:
    consumidor.handler({"Records": [registro("P1", "PENDENTE", "SEPARADO", SEQUENCIA)]}, None)
    consumidor.handler({"Records": [registro("P1", "EM_ENTREGA", "ENTREGUE", SEQUENCIA + 2)]}, None)
    linhas = [json.loads(linha) for linha in registro_de_log.getvalue().splitlines()]
    [salto] = [linha for linha in linhas if linha["message"] == "transition before this one never arrived"]
    visto = [salto[nome] for nome in ("level", "pedidoId", "mostrado", "de", "para")]
    assert visto == ["WARNING", "P1", "SEPARADO", "EM_ENTREGA", "ENTREGUE"]
    metricas = [json.loads(linha) for linha in capsys.readouterr().out.splitlines() if '"_aws"' in linha]
    assert [m["TransicoesComSalto"] for m in metricas if "TransicoesComSalto" in m] == [[1.0]]
