"""The intervention tool against the real machines and handlers, killed at every call it makes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from moto.sqs.models import sqs_backends

from operacao import filas
from operacao.intervencao import principal
from operacao.intervencao_acoes import Intervencao
from pedidos.repositorio import RepositorioPedidos
from provas.alvo import Alvo
from tests.asl.bench import ACCOUNT, REGION, ROOT, Fault, load_asl
from tests.asl.fast import quick_world
from tests.asl.worlds import INITIAL_BALANCE, QUANTITY, VALUE_CENTS, World

MANUAL = load_asl(ROOT / "asl" / "compensacao-manual.asl.json")
HUMAN, UNDONE, ENDED = "REQUER_INTERVENCAO_HUMANA", "FALHOU_COMPENSADO", "ENCERRADO_MANUALMENTE"
REFUNDED = [("COBRANCA", VALUE_CENTS), ("ESTORNO", VALUE_CENTS)]


class Killed(BaseException):
    """The process is gone: nothing catches this, and no call is made after it."""


@dataclass
class Client:
    """A boto3 client that counts calls and dies at one of them, before or after its effect, as ``os._exit`` would."""

    real: Any
    desk: Desk

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        if name in ("exceptions", "meta") or not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            return self.desk.on_call(name, lambda: found(*args, **kwargs))

        return call


@dataclass
class Desk:
    """Someone at the tool: one queue, one world, and the moment at which the process is killed."""

    world: World
    die_at: int | None = None
    after_effect: bool = False
    made: list[str] = field(default_factory=list)
    dead: bool = False

    def on_call(self, name: str, run: Callable[[], Any]) -> Any:
        if self.dead:
            raise Killed  # what a finally would still do, a killed process does not
        self.made.append(name)
        dying = len(self.made) == self.die_at
        if dying and not self.after_effect:
            self.dead = True
            raise Killed
        try:
            return run()
        finally:
            if dying:
                self.dead = True
                raise Killed

    def tool(self) -> Intervencao:
        bench = self.world.bench

        class Lambda:
            def invoke(self, FunctionName: str, Payload: bytes) -> Any:  # noqa: N803 - boto3 names them so
                return {"Payload": _Body(json.dumps(bench.call(FunctionName, json.loads(Payload))).encode())}

        clients = {"sqs": bench.sqs, "dynamodb": bench.dynamodb, "stepfunctions": bench.states, "lambda": Lambda()}
        outputs = {
            "url_fila_compensacao_falhou": bench.queue_url,
            "arn_maquina_saga": bench.machine(self.world.asl),
            "arn_maquina_compensacao": bench.machine(MANUAL),
            "tabela_pedidos": "cesta-pedidos",
            "tabela_estoque": "cesta-estoque",
            "tabela_estoque_baixas": "cesta-estoque-baixas",
            "funcoes": {"LiberarEstoque": "cesta-liberar-estoque"},
        }
        wrapped = {name: Client(client, self) for name, client in clients.items()}
        return Intervencao(Alvo("local", outputs, None, wrapped), dormir=lambda _: None)

    def run(self, *arguments: str) -> int:
        return principal([*arguments], self.tool())


@dataclass
class _Body:
    content: bytes

    def read(self) -> bytes:
        return self.content


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with quick_world() as world:
        yield world


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, world: World) -> Iterator[None]:
    """No long polling, one worker (the bench runs one execution at a time), and an empty queue to start with."""
    receive = world.bench.sqs.receive_message
    monkeypatch.setattr(world.bench.sqs, "receive_message", lambda **k: receive(**{**k, "WaitTimeSeconds": 0}))
    monkeypatch.setattr(Intervencao.reprocessar, "__defaults__", (lambda _: None, 1))
    empty(world)
    yield
    empty(world)


def queue() -> Any:
    return next(iter(sqs_backends[ACCOUNT][REGION].queues.values()))


def empty(world: World) -> None:
    queue()._messages.clear()
    assert in_queue(world) == []


def in_queue(world: World) -> list[dict[str, Any]]:
    """Bodies of every message there is, hidden or not."""
    return [json.loads(message.body) for message in queue()._messages]


def visible() -> int:
    return int(queue().approximate_number_of_messages)


def time_passes() -> None:
    """What a dead process held becomes visible."""
    for message in queue()._messages:
        message.visible_at = 0.0


def put(world: World, body: Any) -> None:
    world.bench.sqs.send_message(
        QueueUrl=world.bench.queue_url, MessageBody=body if isinstance(body, str) else json.dumps(body)
    )


def stuck(world: World, **changes: Any) -> dict[str, Any]:
    """A charged and reserved order waiting for a person."""
    order = world.order(forcarFalhaConfirmar=True, forcarFalhaEstorno=True, **changes)
    outcome = world.run(order)
    assert outcome.order_status == HUMAN
    world.bench._faults = ()
    for message in outcome.messages:
        put(world, message)
    return order


def status(world: World, order: dict[str, Any]) -> str:
    item = world.bench.item("cesta-pedidos", {"pedidoId": order["pedidoId"]})
    assert item is not None
    return str(item["status"])


def undone(world: World, order: dict[str, Any]) -> bool:
    held = (world.paid(order), world.reserved(order), world.balance(order))
    return held == (0, 0, INITIAL_BALANCE) and status(world, order) == UNDONE


# --- looking consumes nothing ----------------------------------------------------------------------------------------


def test_listing_shows_age_value_errors_and_pending_and_leaves_it_all_visible(world: World, capsys: Any) -> None:
    order = stuck(world)
    assert Desk(world).run("listar") == 0
    [header, line] = [text.split("\t") for text in capsys.readouterr().out.strip().splitlines() if "\t" in text]
    seen = dict(zip(header, line, strict=True))
    assert seen["pedido"] == order["pedidoId"]
    assert seen["há"] == "0 min"
    assert seen["valor"] == "R$ 140,00"
    assert seen["erro original"].startswith("ConfirmacaoForcadaAFalharError: ")
    assert seen["erro da compensação"].startswith("GatewayIndisponivelError: ")
    assert seen["falta desfazer"] == "EstornarPagamento → LiberarEstoque"
    assert "stackTrace" not in str(seen)
    assert "tok-" not in str(seen)
    assert visible() == 1


def test_a_repeated_message_is_one_order_and_all_of_it_goes(world: World, capsys: Any) -> None:
    order = stuck(world)
    put(world, in_queue(world)[0])
    listed = json.loads(_json(capsys, world))
    assert [(p["pedidoId"], p["mensagens"]) for p in listed["pedidos"]] == [(order["pedidoId"], 2)]
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 0
    assert undone(world, order)
    assert in_queue(world) == []


def _json(capsys: Any, world: World) -> str:
    capsys.readouterr()
    Desk(world).run("listar", "--json")
    return str(capsys.readouterr().out)


def test_more_messages_than_one_call_returns(world: World, capsys: Any) -> None:
    for number in range(35):
        put(world, {"pedidoId": f"p{number:03d}", "compensacoesPendentes": ["LiberarEstoque"]})
    listed = json.loads(_json(capsys, world))
    assert len(listed["pedidos"]) == 35
    assert visible() == 35


UNREADABLE = [
    "isto não é json",
    "[]",
    '{"pedidoId": "x"}',
    '{"pedidoId": "com espaço", "compensacoesPendentes": ["LiberarEstoque"]}',
    '{"pedidoId": "x", "compensacoesPendentes": ["CobrarPagamento"]}',
    '{"pedidoId": "x", "compensacoesPendentes": []}',
]


def test_what_cannot_be_read_is_shown_exported_and_never_deleted(world: World, capsys: Any, tmp_path: Path) -> None:
    for body in UNREADABLE:
        put(world, body)
    listed = json.loads(_json(capsys, world))
    assert (len(listed["pedidos"]), len(listed["ilegiveis"])) == (0, len(UNREADABLE))
    assert Desk(world).run("reprocessar", "--todos", "--sim") == 0
    file = tmp_path / "fila.jsonl"
    assert Desk(world).run("exportar", "--arquivo", str(file)) == 0
    assert [json.loads(line)["corpo"] for line in file.read_text().splitlines()] == UNREADABLE
    assert file.stat().st_mode & 0o077 == 0
    assert visible() == len(UNREADABLE)


def test_the_timeline_has_the_saga_the_manual_attempts_and_the_orders_history(world: World, capsys: Any) -> None:
    order = stuck(world)
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 0
    capsys.readouterr()
    assert Desk(world).run("mostrar", order["pedidoId"], "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    lines = [(line["onde"], line["oQue"]) for line in shown["linhaDoTempo"]]
    assert [line["em"] for line in shown["linhaDoTempo"]] == sorted(line["em"] for line in shown["linhaDoTempo"])
    for expected in (
        ("saga", "CobrarPagamento"),
        ("saga", "EnviarParaFilaHumana"),
        ("manual 001", "EstornarPagamento"),
        ("manual 001", "LiberarEstoque"),
        ("pedido", HUMAN),
        ("pedido", UNDONE),
    ):
        assert expected in lines
    assert lines.index(("saga", "EstornarPagamento")) < lines.index(("manual 001", "EstornarPagamento"))
    assert order["cartaoToken"] not in str(shown)
    assert Desk(world).run("mostrar", order["pedidoId"]) == 0
    assert order["cartaoToken"] not in capsys.readouterr().out


def test_an_order_nobody_knows_is_said_so(world: World, capsys: Any) -> None:
    assert Desk(world).run("mostrar", "ninguem") == 1
    assert "Nada se sabe" in capsys.readouterr().out


# --- undoing ---------------------------------------------------------------------------------------------------------


def test_without_a_terminal_nothing_is_done_without_saying_so(world: World, capsys: Any, monkeypatch: Any) -> None:
    order = stuck(world)
    monkeypatch.setattr("sys.stdin", open(os.devnull))  # noqa: SIM115, PTH123 - replaced when the test ends
    assert Desk(world).run("reprocessar", order["pedidoId"]) == 1
    assert "--sim" in capsys.readouterr().out
    assert (status(world, order), visible()) == (HUMAN, 1)


def test_a_failed_compensation_keeps_the_message_and_the_next_attempt_has_another_name(
    world: World, capsys: Any, monkeypatch: Any
) -> None:
    order = stuck(world)
    monkeypatch.setattr(world.bench, "_faults", (Fault("EstornarPagamento", "GatewayIndisponivelError"),))
    world.bench._calls = []
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 1
    assert "GatewayIndisponivelError" in capsys.readouterr().out
    assert (status(world, order), visible()) == (HUMAN, 1)
    monkeypatch.setattr(world.bench, "_faults", ())
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 0
    assert undone(world, order)
    assert in_queue(world) == []


def test_one_order_that_fails_does_not_stop_the_others(world: World) -> None:
    good = [stuck(world), stuck(world)]
    put(world, {"pedidoId": "sem-dados", "compensacoesPendentes": ["LiberarEstoque"]})
    assert Desk(world).run("reprocessar", "--todos", "--sim") == 1
    assert all(undone(world, order) for order in good)
    assert [body["pedidoId"] for body in in_queue(world)] == ["sem-dados"]
    assert visible() == 1


def test_a_confirmed_order_only_loses_its_message(world: World) -> None:
    order = world.order()
    world.run(order)
    put(world, {"pedidoId": order["pedidoId"], "compensacoesPendentes": ["EstornarPagamento", "LiberarEstoque"]})
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 0
    assert (status(world, order), world.paid(order)) == ("CONFIRMADO", VALUE_CENTS)
    assert in_queue(world) == []


def test_a_new_call_after_a_success_is_a_new_attempt(world: World) -> None:
    """An old success says nothing about a message sent after it (a charge that landed late, say)."""
    order = stuck(world)
    message = in_queue(world)[0]
    desk = Desk(world)
    assert desk.run("reprocessar", order["pedidoId"], "--sim") == 0
    put(world, message)
    again = Desk(world)
    assert again.run("reprocessar", order["pedidoId"], "--sim") == 0
    executions = world.bench.states.list_executions(stateMachineArn=world.bench.machine(MANUAL))["executions"]
    assert sum(e["name"].startswith(f"{order['pedidoId']}-") for e in executions) == 2
    assert world.movements(order["pedidoId"]) == REFUNDED


def test_an_order_whose_message_is_gone_can_still_be_undone(world: World) -> None:
    order = stuck(world)
    empty(world)
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 0
    assert undone(world, order)


@pytest.mark.parametrize("left_as", ["RESERVADO", "COMPENSANDO"])
def test_an_order_whose_saga_was_stopped_half_way_can_be_undone(world: World, monkeypatch: Any, left_as: str) -> None:
    """Stopping an execution compensates nothing and sends no message."""
    order = world.order(forcarFalhaConfirmar=True, forcarFalhaEstorno=True)
    world.run(order)
    world.bench._faults = ()
    world.set_status(order, left_as)
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 1, "its saga ended well: nobody is needed"
    describe = world.bench.states.describe_execution

    def stopped(executionArn: str) -> Any:  # noqa: N803 - boto3 names it so
        ended = {"status": "ABORTED"} if executionArn.endswith(f":{order['pedidoId']}") else {}
        return describe(executionArn=executionArn) | ended

    monkeypatch.setattr(world.bench.states, "describe_execution", stopped)
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 0
    assert undone(world, order)


def test_an_order_without_an_item_of_its_own_is_undone_from_the_sagas_input(world: World) -> None:
    order = world.order(forcarFalhaConfirmar=True, forcarFalhaEstorno=True)
    outcome = world.run(order)
    put(world, outcome.messages[0])
    world.bench._faults = ()
    world.bench.dynamodb.update_item(
        TableName="cesta-pedidos",
        Key={"pedidoId": {"S": order["pedidoId"]}},
        UpdateExpression="REMOVE sku, criadoEm, quantidade, valorCentavos",
    )
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 0
    assert undone(world, order)


def test_while_the_saga_runs_nothing_is_done(world: World, monkeypatch: Any, capsys: Any) -> None:
    order = stuck(world)
    describe = world.bench.states.describe_execution
    monkeypatch.setattr(world.bench.states, "describe_execution", lambda **k: describe(**k) | {"status": "RUNNING"})
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 1
    assert (
        Desk(world).run("encerrar", order["pedidoId"], "--motivo", "teste de corrida", "--estoque", "nada", "--sim")
        == 1
    )
    assert "execução" in capsys.readouterr().out
    assert (status(world, order), visible()) == (HUMAN, 1)


def test_two_people_never_work_on_one_order(world: World, capsys: Any) -> None:
    order = stuck(world)
    with Desk(world).tool().segurar():
        assert Desk(world).run("listar") == 0
        assert order["pedidoId"] not in capsys.readouterr().out
    assert visible() == 1


# --- ending by hand --------------------------------------------------------------------------------------------------

REASON = "cliente ficou com a mercadoria"


@pytest.mark.parametrize(
    ("choice", "balance", "reserved"),
    [
        ("liberar", INITIAL_BALANCE, 0),
        ("baixar", INITIAL_BALANCE - QUANTITY, 0),
        ("nada", INITIAL_BALANCE - QUANTITY, QUANTITY),
    ],
)
def test_ending_records_why_and_settles_the_stock(world: World, choice: str, balance: int, reserved: int) -> None:
    order = stuck(world)
    code = Desk(world).run(
        "encerrar", order["pedidoId"], "--motivo", REASON, "--por", "ana", "--estoque", choice, "--sim"
    )
    assert code == 0
    item = world.bench.item("cesta-pedidos", {"pedidoId": order["pedidoId"]})
    assert item is not None
    assert item["status"] == ENDED
    assert {k: item["encerramento"][k] for k in ("motivo", "por", "estoque")} == {
        "motivo": REASON, "por": "ana", "estoque": choice,
    }  # fmt: skip
    assert item["historico"][-1]["status"] == ENDED
    assert item["motivo"]["erro"] == "ConfirmacaoForcadaAFalharError"
    assert (world.balance(order), world.reserved(order)) == (balance, reserved)
    assert world.movements(order["pedidoId"]) == REFUNDED[:1], "ending moves no money"
    assert in_queue(world) == []


def test_held_units_need_a_decision(world: World, capsys: Any) -> None:
    order = stuck(world)
    assert Desk(world).run("encerrar", order["pedidoId"], "--motivo", REASON, "--sim") == 1
    assert "--estoque" in capsys.readouterr().out
    assert (status(world, order), visible()) == (HUMAN, 1)


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "ok",
        "fale com ana@exemplo.com",
        "CPF 123.456.789-09 pediu",
        "ligar (11) 91234-5678",
        "cartão 4111 1111 1111 1111",
        "x" * 301,
    ],
)
def test_reasons_that_say_nothing_or_carry_personal_data_are_refused(world: World, reason: str) -> None:
    order = stuck(world)
    assert Desk(world).run("encerrar", order["pedidoId"], "--motivo", reason, "--estoque", "liberar", "--sim") == 1
    assert (status(world, order), visible()) == (HUMAN, 1)


def test_a_second_decision_does_not_replace_the_first(world: World, capsys: Any) -> None:
    order = stuck(world)
    end = ("encerrar", order["pedidoId"], "--motivo", REASON, "--sim", "--estoque")
    assert Desk(world).run(*end, "liberar") == 0
    assert Desk(world).run(*end, "baixar") == 1
    assert "já foi encerrado" in capsys.readouterr().out
    assert (world.balance(order), world.reserved(order)) == (INITIAL_BALANCE, 0)
    assert Desk(world).run(*end, "liberar") == 0, "the same decision again is harmless"


@pytest.mark.parametrize(("choice", "balance"), [("liberar", INITIAL_BALANCE), ("baixar", INITIAL_BALANCE - QUANTITY)])
def test_what_was_left_for_later_is_decided_once_and_both_decisions_stay(
    world: World, capsys: Any, choice: str, balance: int
) -> None:
    order = stuck(world)
    end = ("encerrar", order["pedidoId"], "--sim", "--motivo")
    assert Desk(world).run(*end, REASON, "--por", "ana", "--estoque", "nada") == 0
    assert Desk(world).run(*end, "voltou da loja", "--por", "rui", "--estoque", choice) == 0
    item = world.bench.item("cesta-pedidos", {"pedidoId": order["pedidoId"]})
    assert item is not None
    kept = [
        {k: item[field][k] for k in ("motivo", "por", "estoque")} for field in ("encerramentoAdiado", "encerramento")
    ]
    assert kept == [
        {"motivo": REASON, "por": "ana", "estoque": "nada"},
        {"motivo": "voltou da loja", "por": "rui", "estoque": choice},
    ]
    assert [step["status"] for step in item["historico"][-2:]] == [ENDED, ENDED]
    assert (world.balance(order), world.reserved(order)) == (balance, 0)
    for other in {"liberar", "baixar", "nada"} - {choice}:
        assert Desk(world).run(*end, "mudei de ideia", "--por", "bia", "--estoque", other) == 1
        assert "já foi encerrado" in capsys.readouterr().out
    assert Desk(world).run(*end, "de novo", "--por", "bia", "--estoque", choice) == 0
    assert world.bench.item("cesta-pedidos", {"pedidoId": order["pedidoId"]}) == item, "nothing else is ever written"
    assert (world.balance(order), world.reserved(order)) == (balance, 0)
    assert Desk(world).run("mostrar", order["pedidoId"]) == 0
    shown = capsys.readouterr().out
    assert "ana" in shown
    assert "rui" in shown


def test_of_two_later_decisions_at_once_only_the_recorded_one_is_done(
    world: World, monkeypatch: Any, capsys: Any
) -> None:
    order = stuck(world)
    end = ("encerrar", order["pedidoId"], "--motivo", REASON, "--sim", "--estoque")
    assert Desk(world).run(*end, "nada") == 0
    decide = RepositorioPedidos.decidir_estoque

    def beaten(repository: Any, *arguments: Any) -> bool:
        monkeypatch.setattr(RepositorioPedidos, "decidir_estoque", decide)
        assert Desk(world).run(*end, "liberar") == 0
        return decide(repository, *arguments)

    monkeypatch.setattr(RepositorioPedidos, "decidir_estoque", beaten)
    assert Desk(world).run(*end, "baixar") == 1
    assert "já foi encerrado com --estoque liberar" in capsys.readouterr().out
    assert (world.balance(order), world.reserved(order)) == (INITIAL_BALANCE, 0)


def test_a_confirmed_order_is_not_ended(world: World) -> None:
    order = world.order()
    world.run(order)
    put(world, {"pedidoId": order["pedidoId"], "compensacoesPendentes": ["EstornarPagamento"]})
    assert Desk(world).run("encerrar", order["pedidoId"], "--motivo", REASON, "--estoque", "liberar", "--sim") == 1
    assert status(world, order) == "CONFIRMADO"
    assert world.reserved(order) == QUANTITY
    assert visible() == 1


def test_an_ended_order_is_not_undone(world: World, capsys: Any) -> None:
    order = stuck(world)
    message = in_queue(world)[0]
    Desk(world).run("encerrar", order["pedidoId"], "--motivo", REASON, "--estoque", "baixar", "--sim")
    put(world, message)
    assert Desk(world).run("reprocessar", order["pedidoId"], "--sim") == 1
    assert "encerrado" in capsys.readouterr().out
    assert world.paid(order) == VALUE_CENTS
    assert visible() == 1


# --- killed at every call --------------------------------------------------------------------------------------------


def calls_of(world: World, *arguments: str) -> list[str]:
    desk = Desk(world)
    assert desk.run(*arguments) == 0
    return desk.made


def killed(world: World, die_at: int, after_effect: bool, *arguments: str) -> None:
    """Run the command, die at that call, and let what it held become visible again."""
    desk = Desk(world, die_at, after_effect)
    with pytest.raises(Killed):
        desk.run(*arguments)
    time_passes()


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
def test_reprocessing_killed_at_any_call_loses_nothing_and_finishes_when_repeated(
    world: World, after_effect: bool
) -> None:
    example = stuck(world)
    made = calls_of(world, "reprocessar", example["pedidoId"], "--sim")
    assert {"receive_message", "start_execution", "describe_execution", "delete_message"} <= set(made)
    for number in range(1, len(made) + 1):
        order = stuck(world)
        killed(world, number, after_effect, "reprocessar", order["pedidoId"], "--sim")
        waiting = visible() == 1
        assert waiting or undone(world, order), f"killed at {made[number - 1]}: message lost"
        code = Desk(world).run("reprocessar", order["pedidoId"], "--sim")
        assert code == (0 if waiting else 1), f"killed at {made[number - 1]}"
        assert undone(world, order), f"killed at {made[number - 1]}"
        assert world.movements(order["pedidoId"]) == REFUNDED, f"killed at {made[number - 1]}"
        assert in_queue(world) == []
        executions = world.bench.states.list_executions(stateMachineArn=world.bench.machine(MANUAL))["executions"]
        assert sum(e["name"].startswith(f"{order['pedidoId']}-") for e in executions) == 1, "adopted, not started again"


@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("postponed", [False, True], ids=["at-once", "after-nada"])
@pytest.mark.parametrize("choice", ["liberar", "baixar"])
def test_ending_killed_at_any_call_loses_nothing_and_ends_well_when_repeated(
    world: World, choice: str, postponed: bool, after_effect: bool
) -> None:
    def command(order: dict[str, Any], choice: str = choice) -> tuple[str, ...]:
        return ("encerrar", order["pedidoId"], "--motivo", REASON, "--estoque", choice, "--sim")

    def waiting() -> dict[str, Any]:
        order = stuck(world)
        if postponed:
            assert Desk(world).run(*command(order, "nada")) == 0
            assert world.reserved(order) == QUANTITY
        return order

    made = calls_of(world, *command(waiting()))
    left = INITIAL_BALANCE - (QUANTITY if choice == "baixar" else 0)
    for number in range(1, len(made) + 1):
        order = waiting()
        killed(world, number, after_effect, *command(order))
        settled = status(world, order) == ENDED and world.reserved(order) == 0
        assert visible() == 1 or settled or postponed, f"killed at {made[number - 1]}: message lost"
        assert Desk(world).run(*command(order)) == 0, f"killed at {made[number - 1]}"
        assert (status(world, order), world.balance(order), world.reserved(order)) == (ENDED, left, 0)
        item = world.bench.item("cesta-pedidos", {"pedidoId": order["pedidoId"]}) or {}
        assert item["encerramento"]["estoque"] == choice
        assert item.get("encerramentoAdiado", {}).get("estoque") == ("nada" if postponed else None)
        assert len([step for step in item["historico"] if step["status"] == ENDED]) == 1 + postponed
        assert in_queue(world) == []


def test_deleting_before_the_order_shows_the_end_would_be_caught(world: World, monkeypatch: Any) -> None:
    """The test above can fail: a tool that deletes first loses the message of an order that is not undone."""
    order = stuck(world)
    honest = Intervencao._reprocessar

    def hasty(tool: Intervencao, held: filas.Seguradas, pending: Any) -> Any:
        tool._apagar(held, pending)
        return honest(tool, held, pending)

    monkeypatch.setattr(Intervencao, "_reprocessar", hasty)
    made = Desk(world, die_at=4, after_effect=True)
    with pytest.raises(Killed):
        made.run("reprocessar", order["pedidoId"], "--sim")
    time_passes()
    assert "delete_message" in made.made
    assert visible() == 0
    assert not undone(world, order)
