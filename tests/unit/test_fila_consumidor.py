"""The consumer message by message: what fails alone, what is refused for good, what is logged, how long it holds."""

import io
import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest

from comum.http_saida import RespostaJson
from comum.observabilidade import logger
from comum.processo import esquecer
from fila import consumidor, processados
from fila.consumidor import ConfiguracaoConsumidor
from fila.efeitos import RepositorioDeEfeitos
from fila.gateway import ContaDaLoja
from fila.lote import ProcessadorDeLotes
from fila.modelos import MensagemDePedido
from fila.processados import TabelaDeProcessados

VISIBILIDADE_S = 60


class Contexto:
    function_name = "ffv-lab-fila-consumidor-pedidos"
    aws_request_id = "r-1"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn"

    def __init__(self, restam_ms: int = 10_000) -> None:
        self.restam_ms = restam_ms

    def get_remaining_time_in_millis(self) -> int:
        return self.restam_ms


class Gateway:
    """Approves everything, except the store ``recusa``; remembers who asked."""

    def __init__(self) -> None:
        self.cobrancas: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, metodo: str, _caminho: str, corpo: Any, chave: str | None) -> RespostaJson:
        if metodo == "GET":
            return RespostaJson(404, {"codigo": "COBRANCA_INEXISTENTE"})
        self.cobrancas.append((str(chave), dict(corpo)))
        if corpo["cartaoToken"] == "tok-recusa":
            return RespostaJson(402, {"codigo": "CARTAO_RECUSADO"})
        return RespostaJson(201, {"idTransacao": "tx", "status": "APROVADA"})


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the logger writes (its stream was chosen when it was imported)."""
    texto = io.StringIO()
    monkeypatch.setattr(logger.registered_handler, "stream", texto)
    return texto


@pytest.fixture
def gateway() -> Gateway:
    return Gateway()


@pytest.fixture
def tabelas(aws: None) -> Any:
    cliente = boto3.client("dynamodb")
    for tabela, chave in (("processados", "PedidoId"), ("efeitos", "pedidoId"), ("estoque", "itemId")):
        cliente.create_table(
            TableName=tabela,
            KeySchema=[{"AttributeName": chave, "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": chave, "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    cliente.put_item(TableName="estoque", Item={"itemId": {"S": "ITEM-1"}, "saldo": {"N": "10"}})
    return cliente


@pytest.fixture
def consumir(tabelas: Any, gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> Any:
    processador = ProcessadorDeLotes(
        TabelaDeProcessados("processados", tabelas),
        RepositorioDeEfeitos(tabelas, "efeitos", "estoque"),
        ContaDaLoja(gateway),
        ThreadPoolExecutor(1),  # moto answers one thread at a time
        minimo_ms=7000,
    )
    monkeypatch.setattr(consumidor, "processador", lambda: processador)

    def executar(*corpos: Any, contexto: Contexto | None = None) -> list[str]:
        registros = [registro(str(n), corpo) for n, corpo in enumerate(corpos)]
        resposta = consumidor.handler({"Records": registros}, contexto or Contexto())
        return [falha["itemIdentifier"] for falha in resposta["batchItemFailures"]]

    return executar


def registro(identificador: str, corpo: Any) -> dict[str, Any]:
    texto = corpo if isinstance(corpo, str) else json.dumps(corpo)
    return {
        "messageId": identificador,
        "receiptHandle": "r",
        "body": texto,
        "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "0", "SenderId": "s"},
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:sa-east-1:000000000000:ffv-lab-fila-pedidos",
        "awsRegion": "sa-east-1",
    }


def pedido(numero: int = 1, **campos: Any) -> dict[str, Any]:
    return {
        "pedidoId": str(uuid.UUID(int=numero)),
        "itemId": "ITEM-1",
        "quantidade": 1,
        "valorCentavos": 1990,
        "lojaId": "loja-1",
        "recebidoEm": "2026-03-01T12:00:00.000Z",
        **campos,
    }


def efeito(tabelas: Any, numero: int = 1) -> dict[str, str]:
    item = tabelas.get_item(TableName="efeitos", Key={"pedidoId": {"S": str(uuid.UUID(int=numero))}}).get("Item", {})
    return {campo: next(iter(valor.values())) for campo, valor in item.items()}


def saldo(tabelas: Any) -> int:
    return int(tabelas.get_item(TableName="estoque", Key={"itemId": {"S": "ITEM-1"}})["Item"]["saldo"]["N"])


def test_one_malformed_among_nine_valid_fails_alone(consumir: Any, tabelas: Any, gateway: Gateway) -> None:
    corpos = [pedido(n) for n in range(1, 10)]
    corpos.insert(4, pedido(10, quantidade=0))
    assert consumir(*corpos) == ["4"]
    assert len(gateway.cobrancas) == 9
    assert saldo(tabelas) == 1


SEGREDO = "segredo-do-cliente"


@pytest.mark.parametrize(
    ("corpo", "campo"),
    [
        (SEGREDO, "corpo"),
        ([SEGREDO], "corpo"),
        (pedido(quantidade=SEGREDO), "quantidade"),
        (pedido(quantidade=-1), "quantidade"),
        (pedido(valorCentavos=1.5), "valorCentavos"),
        (pedido(pedidoId=SEGREDO), "pedidoId"),
        (pedido(pedidoId=str(uuid.UUID(int=1)).upper().replace("0", "A")), "pedidoId"),
        (pedido(lojaId=f"{SEGREDO}/"), "lojaId"),
        (pedido(recebidoEm=SEGREDO), "recebidoEm"),
        ({SEGREDO: SEGREDO}, "pedidoId"),
    ],
)
def test_log_names_the_field_and_never_the_content(
    consumir: Any, tabelas: Any, corpo: Any, campo: str, log: io.StringIO
) -> None:
    assert consumir(corpo) == ["0"]
    saida = log.getvalue()
    avisos = [json.loads(linha) for linha in saida.splitlines() if '"message refused' in linha]
    assert [campo in aviso["campos"] for aviso in avisos] == [True]
    assert SEGREDO not in saida
    assert tabelas.scan(TableName="processados")["Items"] == []


def test_attribute_naming_another_order_is_malformed(consumir: Any, gateway: Gateway) -> None:
    evento = registro("0", pedido())
    evento["messageAttributes"] = {"PedidoId": {"stringValue": str(uuid.UUID(int=2)), "dataType": "String"}}
    resposta = consumidor.handler({"Records": [evento]}, Contexto())
    assert resposta == {"batchItemFailures": [{"itemIdentifier": "0"}]}
    assert gateway.cobrancas == []


def test_charge_goes_to_the_stores_account_under_the_orders_key(consumir: Any, tabelas: Any, gateway: Gateway) -> None:
    assert consumir(pedido()) == []
    pedido_id = str(uuid.UUID(int=1))
    assert gateway.cobrancas == [
        (
            f"fila-cobranca-{pedido_id}",
            {"valorCentavos": 1990, "cartaoToken": "tok-loja-1", "referencia": pedido_id},
        )
    ]
    assert len(f"fila-cobranca-{pedido_id}") <= 64
    assert (efeito(tabelas)["situacao"], efeito(tabelas)["idTransacao"]) == ("CONCLUIDO", "tx")


@pytest.mark.parametrize(
    ("campos", "motivo", "cobrancas"),
    [
        ({"quantidade": 11}, "ESTOQUE_INSUFICIENTE", 0),
        ({"itemId": "ITEM-9"}, "ITEM_INEXISTENTE", 0),
        ({"lojaId": "recusa", "quantidade": 4}, "PAGAMENTO_RECUSADO", 1),
    ],
)
def test_refusal_is_an_outcome_recorded_with_its_reason(
    consumir: Any, tabelas: Any, gateway: Gateway, campos: dict[str, Any], motivo: str, cobrancas: int
) -> None:
    assert consumir(pedido(**campos)) == []
    assert (efeito(tabelas)["situacao"], efeito(tabelas)["motivo"]) == ("RECUSADO", motivo)
    assert saldo(tabelas) == 10
    tabelas.delete_item(TableName="processados", Key={"PedidoId": {"S": str(uuid.UUID(int=1))}})
    assert consumir(pedido(**campos)) == []
    assert len(gateway.cobrancas) == cobrancas
    assert saldo(tabelas) == 10


def test_same_id_with_other_content_is_never_executed(consumir: Any, tabelas: Any, gateway: Gateway) -> None:
    consumir(pedido())
    assert consumir(pedido(valorCentavos=9990)) == ["0"]  # Powertools' fingerprint
    tabelas.delete_item(TableName="processados", Key={"PedidoId": {"S": str(uuid.UUID(int=1))}})
    assert consumir(pedido(valorCentavos=9990)) == ["0"]  # the effect's own content
    assert len(gateway.cobrancas) == 1


def test_duplicate_is_dropped_and_counted(
    consumir: Any, tabelas: Any, gateway: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    consumir(pedido())
    capsys.readouterr()
    assert consumir(pedido()) == []
    assert len(gateway.cobrancas) == 1
    metricas = [json.loads(linha) for linha in capsys.readouterr().out.splitlines() if "_aws" in linha]
    assert [m["DuplicatasDescartadas"] for m in metricas] == [[1.0]]
    assert "PedidosConcluidos" not in metricas[0]


def test_record_is_under_the_orders_id_and_in_progress_ends_before_the_invisibility(
    consumir: Any, tabelas: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    registros: list[dict[str, Any]] = []

    def olhar(*_: Any) -> RespostaJson:
        registros.extend(tabelas.scan(TableName="processados")["Items"])
        return RespostaJson(201, {"idTransacao": "tx", "status": "APROVADA"})

    monkeypatch.setattr(ContaDaLoja, "cobrar", lambda *_: (olhar(), _aprovada())[1])
    antes = datetime.now(UTC).timestamp()
    assert consumir(pedido(), contexto=Contexto(9_500)) == []
    (andamento,) = registros
    assert andamento["PedidoId"]["S"] == str(uuid.UUID(int=1))
    assert andamento["Situacao"]["S"] == "INPROGRESS"
    ate = int(andamento["EmAndamentoAte"]["N"]) / 1000
    assert antes + 9 <= ate <= antes + 9.5 + 5
    assert ate < antes + VISIBILIDADE_S
    (final,) = tabelas.scan(TableName="processados")["Items"]
    assert (final["Situacao"]["S"], bool(final["Impressao"]["S"])) == ("COMPLETED", True)
    assert abs(int(final["ExpiraEm"]["N"]) - antes - processados.TRINTA_DIAS_S) < 60


def _aprovada() -> Any:
    from fila.gateway import Aprovada

    return Aprovada("tx")


def test_message_is_not_started_without_time_to_finish(consumir: Any, tabelas: Any, gateway: Gateway) -> None:
    assert consumir(pedido(), contexto=Contexto(6_999)) == ["0"]
    assert gateway.cobrancas == []
    assert tabelas.scan(TableName="processados")["Items"] == []


def test_ten_slow_charges_cost_one_wait(tabelas: Any) -> None:
    """All ten messages are inside the gateway at once; one at a time they would outlive the function."""
    juntos = threading.Barrier(10, timeout=20)

    class EfeitosNaMemoria:
        def debitar(self, mensagem: MensagemDePedido, _agora: str) -> Any:
            from fila.efeitos import Efeito, Situacao

            return Efeito(mensagem.pedidoId, Situacao.ESTOQUE_DEBITADO)

        def concluir(self, mensagem: MensagemDePedido, _id: str, _agora: str) -> Any:
            from fila.efeitos import Efeito, Situacao

            return Efeito(mensagem.pedidoId, Situacao.CONCLUIDO)

    def gateway(*_: Any) -> RespostaJson:
        juntos.wait()
        return RespostaJson(201, {"idTransacao": "tx", "status": "APROVADA"})

    processador = ProcessadorDeLotes(
        TabelaDeProcessados("processados", tabelas),
        EfeitosNaMemoria(),
        ContaDaLoja(gateway),
        ThreadPoolExecutor(10),
        minimo_ms=0,
    )
    resposta = processador.processar({"Records": [registro(str(n), pedido(n)) for n in range(1, 11)]}, Contexto())
    assert resposta == {"batchItemFailures": []}


AMBIENTE = {
    "TABELA_IDEMPOTENCIA": "a",
    "TABELA_EFEITOS": "b",
    "TABELA_ESTOQUE": "c",
    "URL_GATEWAY": "http://127.0.0.1:1",
    "PARAMETRO_CHAVE_GATEWAY": "/p",
    "TIMEOUT_CONEXAO_GATEWAY_S": "2",
    "TIMEOUT_TOTAL_GATEWAY_S": "4",
    "PARALELISMO": "10",
}


@pytest.mark.parametrize("mudanca", [{"PARALELISMO": "11"}, {"TIMEOUT_TOTAL_GATEWAY_S": "7"}, {"TABELA_EFEITOS": ""}])
def test_settings_are_checked_before_the_first_message(
    aws: None, monkeypatch: pytest.MonkeyPatch, mudanca: dict[str, str]
) -> None:
    from comum.erros import ConfiguracaoInvalidaError

    with pytest.raises(ConfiguracaoInvalidaError, match=next(iter(mudanca))):
        ConfiguracaoConsumidor.do_ambiente({**AMBIENTE, **mudanca})
    for nome, valor in AMBIENTE.items():
        monkeypatch.setenv(nome, valor)
    esquecer()
    assert consumidor.processador() is consumidor.processador()
