"""Start and confirmation of an order: duplicates are success, conflicts are not, history never grows without bound."""

import json
from typing import Any

import pytest
from botocore.client import BaseClient
from botocore.exceptions import ClientError

from comum import aws
from comum.contrato import EntradaSaga, ler
from comum.erros import PedidoInvalidoError
from comum.processo import esquecer
from pedidos import confirmar_pedido, iniciar_saga
from pedidos.erros import ConfirmacaoForcadaAFalharError, ConfirmacaoRecusadaError, PedidoDivergenteError
from pedidos.maquina_saga import MaquinaSaga
from pedidos.repositorio import RepositorioPedidos

PEDIDO: dict[str, Any] = {
    "pedidoId": "P1",
    "sku": "CAFE-500G",
    "quantidade": 2,
    "valorCentavos": 14000,
    "cartaoToken": "tok-sentinela",
    "criadoEm": "2026-03-01T12:00:00.000Z",
}


def lote(*corpos: Any) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"m{posicao}",
                "body": corpo if isinstance(corpo, str) else json.dumps(corpo),
                "eventSource": "aws:sqs",
            }
            for posicao, corpo in enumerate(corpos)
        ]
    }


def iniciar(*corpos: Any) -> list[str]:
    resposta = iniciar_saga.handler(lote(*corpos), None)
    return [falha["itemIdentifier"] for falha in resposta["batchItemFailures"]]


def execucoes(sistema: Any) -> list[str]:
    lista = sistema.stepfunctions.list_executions(stateMachineArn=sistema.arn_maquina)["executions"]
    return sorted(execucao["name"] for execucao in lista)


def entrada_da_execucao(sistema: Any, nome: str) -> str:
    arn = sistema.arn_maquina.replace(":stateMachine:", ":execution:") + f":{nome}"
    texto: str = sistema.stepfunctions.describe_execution(executionArn=arn)["input"]
    return texto


def test_message_becomes_an_order_and_one_execution(sistema: Any) -> None:
    assert iniciar(PEDIDO) == []
    pedido = sistema.pedido("P1")
    assert pedido["status"]["S"] == "RECEBIDO"
    assert pedido["historico"]["L"][0]["M"]["em"]["S"] == PEDIDO["criadoEm"]
    assert "tok-sentinela" not in json.dumps(pedido)
    assert execucoes(sistema) == ["P1"]
    assert entrada_da_execucao(sistema, "P1") == ler(EntradaSaga, PEDIDO).canonico()


def test_duplicates_in_any_spelling_are_success(sistema: Any, saida: Any) -> None:
    invertido = json.dumps(dict(reversed(PEDIDO.items())), indent=1)
    assert iniciar(PEDIDO, PEDIDO) == []
    assert iniciar(invertido) == []
    assert execucoes(sistema) == ["P1"]
    assert len(sistema.pedido("P1")["historico"]["L"]) == 1


class SfnComApelido:
    """Starts by an alias as AWS does: the execution is the machine's, and its ARN does not carry the alias."""

    def __init__(self, real: Any, arn_apelido: str) -> None:
        self.exceptions = real.exceptions
        self.describe_execution = real.describe_execution
        self._real, self._arn = real, arn_apelido

    def start_execution(self, *, stateMachineArn: str, **pedido: Any) -> Any:  # noqa: N803 - boto3 names it so
        assert stateMachineArn == self._arn
        return self._real.start_execution(stateMachineArn=stateMachineArn.rpartition(":")[0], **pedido)


def test_one_execution_per_order_through_an_alias(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    apelido = f"{sistema.arn_maquina}:vigente"
    monkeypatch.setenv("ARN_MAQUINA_SAGA", apelido)
    esquecer()
    falso: Any = SfnComApelido(aws.stepfunctions(), apelido)
    monkeypatch.setattr(aws, "stepfunctions", lambda: falso)

    assert iniciar(PEDIDO) == []
    sistema.stepfunctions.stop_execution(
        executionArn=f"{sistema.arn_maquina.replace(':stateMachine:', ':execution:')}:P1"
    )
    assert iniciar(PEDIDO, PEDIDO) == []  # closed: the stored input is read, and it is this order's
    assert iniciar(PEDIDO | {"cartaoToken": "tok-outro"}) == ["m0"]
    assert execucoes(sistema) == ["P1"]


class SfnQueRecusa:
    """Answers ExecutionAlreadyExists even to an identical call, as AWS does after close and the local engine always."""

    def __init__(self, real: Any, guardada: str) -> None:
        self.exceptions = real.exceptions
        self._erro = real.exceptions.ExecutionAlreadyExists(
            {"Error": {"Code": "ExecutionAlreadyExists"}}, "StartExecution"
        )
        self._guardada = guardada
        self.consultadas: list[str] = []

    def start_execution(self, **_: Any) -> None:
        raise self._erro

    def describe_execution(self, executionArn: str) -> dict[str, str]:  # noqa: N803 - boto3 names it so
        self.consultadas.append(executionArn)
        return {"input": self._guardada}


@pytest.mark.parametrize(
    ("guardada", "falhas"),
    [
        (json.dumps(PEDIDO), []),
        (json.dumps(PEDIDO, indent=2), []),
        (json.dumps(PEDIDO | {"quantidade": 3}), ["m0"]),
        (json.dumps(PEDIDO | {"cartaoToken": "tok-outro"}), ["m0"]),
        ("nada que se leia", ["m0"]),
        ("{}", ["m0"]),
    ],
)
def test_already_exists_is_a_duplicate_only_if_the_stored_input_is_this_order(
    sistema: Any, saida: Any, monkeypatch: pytest.MonkeyPatch, guardada: str, falhas: list[str]
) -> None:
    falso: Any = SfnQueRecusa(aws.stepfunctions(), guardada)
    monkeypatch.setattr(iniciar_saga, "_maquina", lambda: MaquinaSaga(falso, sistema.arn_maquina))
    assert iniciar(PEDIDO) == falhas
    assert falso.consultadas == [sistema.arn_maquina.replace(":stateMachine:", ":execution:") + ":P1"]
    if falhas:
        assert saida.linhas()[-1]["erro"] == "PedidoDivergenteError"
        assert saida.metricas() == {"MensagensRecusadas": 1}
    else:
        assert saida.metricas() == {"ExecucoesJaExistentes": 1}


@pytest.mark.parametrize(
    "mudanca", [{"quantidade": 3}, {"valorCentavos": 1}, {"sku": "OUTRO"}, {"criadoEm": "2026-03-01T12:00:00.001Z"}]
)
def test_same_id_with_other_content_fails_its_item_only(sistema: Any, saida: Any, mudanca: dict[str, Any]) -> None:
    iniciar(PEDIDO)
    assert iniciar(PEDIDO | mudanca, PEDIDO, PEDIDO | {"pedidoId": "P2"}) == ["m0"]
    assert execucoes(sistema) == ["P1", "P2"]
    assert sistema.pedido("P1")["quantidade"]["N"] == "2"
    erros = [linha for linha in saida.linhas() if linha["level"] == "ERROR"]
    assert [erro["erro"] for erro in erros] == ["PedidoDivergenteError"]


@pytest.mark.parametrize("campo", ["sku", "quantidade", "valorCentavos", "criadoEm"])
def test_recorded_order_refuses_other_content_before_any_execution_exists(sistema: Any, campo: str) -> None:
    repositorio = RepositorioPedidos(sistema.dynamodb, "cesta-pedidos")
    outro = {"sku": "OUTRO", "quantidade": 3, "valorCentavos": 1, "criadoEm": "2026-03-01T12:00:00.001Z"}
    assert repositorio.registrar_recebido(ler(EntradaSaga, PEDIDO), "IniciarSaga")
    with pytest.raises(PedidoDivergenteError) as recusa:
        repositorio.registrar_recebido(ler(EntradaSaga, PEDIDO | {campo: outro[campo]}), "IniciarSaga")
    assert recusa.value.detalhes["campo"] == campo
    assert not repositorio.registrar_recebido(ler(EntradaSaga, PEDIDO), "IniciarSaga")


class Morte(BaseException):
    """A process killed: nothing after it runs."""


@pytest.mark.parametrize("morre", [False, True], ids=["fails", "dies"])
@pytest.mark.parametrize("depois", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("operacao", ["PutItem", "StartExecution"])
def test_the_start_broken_at_any_call_is_repaired_by_the_next_receive(
    sistema: Any, monkeypatch: pytest.MonkeyPatch, operacao: str, depois: bool, morre: bool
) -> None:
    """Each call fails before its effect or after it, alone or with the process; then the message comes again, twice."""
    chamar = BaseClient._make_api_call
    falha = Morte() if morre else ClientError({"Error": {"Code": "ServiceUnavailable"}}, operacao)

    def quebrar(cliente: Any, chamada: str, parametros: Any) -> Any:
        if chamada != operacao:
            return chamar(cliente, chamada, parametros)
        if depois:
            chamar(cliente, chamada, parametros)
        raise falha

    with monkeypatch.context() as sabotagem:
        sabotagem.setattr(BaseClient, "_make_api_call", quebrar)
        if morre:
            with pytest.raises(Morte):
                iniciar(PEDIDO)
        else:
            assert iniciar(PEDIDO) == ["m0"]
    assert iniciar(PEDIDO) == []
    assert iniciar(PEDIDO) == []

    assert execucoes(sistema) == ["P1"]
    assert len(sistema.pedido("P1")["historico"]["L"]) == 1
    assert entrada_da_execucao(sistema, "P1") == ler(EntradaSaga, PEDIDO).canonico()


@pytest.mark.parametrize(
    ("falha", "nome"),
    [
        (KeyError("tok-secreto"), "KeyError"),
        (
            ClientError({"Error": {"Code": "ThrottlingException", "Message": "tok-secreto"}}, "PutItem"),
            "ThrottlingException",
        ),
    ],
)
def test_a_failure_nobody_foresaw_comes_back_and_is_named_without_its_text(
    sistema: Any, saida: Any, monkeypatch: pytest.MonkeyPatch, falha: Exception, nome: str
) -> None:
    def falhar(*_: Any) -> None:
        raise falha

    with monkeypatch.context() as sabotagem:
        sabotagem.setattr(iniciar_saga.RepositorioPedidos, "registrar_recebido", falhar)
        assert iniciar(PEDIDO) == ["m0"]
    [erro] = [linha for linha in saida.linhas() if linha["level"] == "ERROR"]
    assert (erro["erro"], erro["messageId"], erro["pedidoId"]) == (nome, "m0", "P1")
    assert "tok-" not in saida.tudo()
    assert iniciar(PEDIDO) == []


def test_late_message_never_takes_an_order_back(sistema: Any) -> None:
    sistema.por_pedido("P1", "CONFIRMADO", sku={"S": "CAFE-500G"}, quantidade={"N": "2"})
    assert iniciar(PEDIDO) == []
    assert sistema.pedido("P1")["status"]["S"] == "CONFIRMADO"


@pytest.mark.parametrize(
    "corpo",
    [
        "nada",
        "[]",
        "{}",
        '{"pedidoId":',
        PEDIDO | {"quantidade": 0},
        PEDIDO | {"extra": 1},
        PEDIDO | {"cartaoToken": "4111111111111111"},
        PEDIDO | {"pedidoId": "a/b"},
    ],
)
def test_poison_message_fails_alone_and_its_content_is_not_logged(sistema: Any, saida: Any, corpo: Any) -> None:
    assert iniciar(corpo, PEDIDO) == ["m0"]
    assert execucoes(sistema) == ["P1"]
    recusa = next(linha for linha in saida.linhas() if linha["level"] == "ERROR")
    assert recusa["messageId"] == "m0"
    assert recusa["erro"] == "PedidoInvalidoError"
    assert "411111111111" not in saida.tudo()


def test_whole_batch_failing_is_still_a_list_of_items(sistema: Any) -> None:
    assert iniciar("x", "y") == ["m0", "m1"]


def test_injection_marks_are_refused_where_injection_is_off(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    marcado = PEDIDO | {"forcarFalhaEstorno": True}
    monkeypatch.setenv("PERMITIR_INJECAO_FALHAS", "false")
    assert iniciar(marcado) == ["m0"]
    assert sistema.pedido("P1") is None
    esquecer()
    monkeypatch.setenv("PERMITIR_INJECAO_FALHAS", "true")
    assert iniciar(marcado) == []
    assert json.loads(entrada_da_execucao(sistema, "P1"))["forcarFalhaEstorno"] is True


def test_log_lines_of_one_message_do_not_carry_the_order_of_another(sistema: Any, saida: Any) -> None:
    iniciar(PEDIDO, "lixo")
    recusa = next(linha for linha in saida.linhas() if linha["level"] == "ERROR")
    assert "pedidoId" not in recusa
    assert recusa.get("correlation_id") is None


def confirmar(**extras: Any) -> str:
    resultado: str = confirmar_pedido.handler(PEDIDO | extras, None)["resultado"]
    return resultado


def test_confirmation_happens_once(sistema: Any, saida: Any) -> None:
    sistema.por_pedido("P1", "RESERVADO")
    assert [confirmar() for _ in range(3)] == ["CONFIRMADO", "JA_CONFIRMADO", "JA_CONFIRMADO"]
    pedido = sistema.pedido("P1")
    assert pedido["status"]["S"] == "CONFIRMADO"
    assert [passo["M"]["status"]["S"] for passo in pedido["historico"]["L"]] == ["RESERVADO", "CONFIRMADO"]
    assert pedido["historico"]["L"][1]["M"]["passo"]["S"] == "ConfirmarPedido"
    assert saida.metricas() == {"PedidosConfirmados": 1, "DuplicatasDescartadas": 2}


@pytest.mark.parametrize(
    "status",
    [
        None,
        "RECEBIDO",
        "COMPENSANDO",
        "FALHOU_SEM_RESERVA",
        "FALHOU_COMPENSADO",
        "REQUER_INTERVENCAO_HUMANA",
        "ENCERRADO_MANUALMENTE",
    ],
)
def test_late_confirmation_is_refused(sistema: Any, status: str | None) -> None:
    if status is not None:
        sistema.por_pedido("P1", status)
    antes = sistema.pedido("P1")
    with pytest.raises(ConfirmacaoRecusadaError):
        confirmar()
    assert sistema.pedido("P1") == antes


def test_injected_failure_counts_only_where_injection_is_on(sistema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sistema.por_pedido("P1", "RESERVADO")
    with pytest.raises(ConfirmacaoForcadaAFalharError):
        confirmar(forcarFalhaConfirmar=True)
    assert sistema.pedido("P1")["status"]["S"] == "RESERVADO"
    esquecer()
    monkeypatch.setenv("PERMITIR_INJECAO_FALHAS", "false")
    assert confirmar(forcarFalhaConfirmar=True) == "CONFIRMADO"


def test_confirmation_of_an_unreadable_state_is_named(sistema: Any) -> None:
    with pytest.raises(PedidoInvalidoError):
        confirmar_pedido.handler({"pedidoId": "a b"}, None)
