"""The bench's own arithmetic: who takes turns, what is compared, which target is missed, what the page says."""

import os
import signal
import time
from contextlib import nullcontext
from typing import Any

import pytest
from botocore.exceptions import ClientError

from medidas import bench
from medidas.bench import Turnos, faltas
from medidas.importacao import handlers
from medidas.relatorio import documento
from provas.alvo import Alvo


def test_system_and_floor_take_turns_and_medians_are_compared() -> None:
    ordem: list[str] = []

    def medidor(nome: str, tempos: list[float]) -> Any:
        restantes = iter(tempos)

        def medir() -> float:
            ordem.append(nome)
            return next(restantes)

        return medir

    turnos = Turnos(medidor("nosso", [30, 12, 12, 12, 12, 12]), medidor("piso", [10, 10, 10, 99, 10, 10]))
    turnos.rodar(4)
    assert ordem == ["piso", "nosso", "nosso", "piso", "piso", "nosso", "nosso", "piso"]
    turnos.rodar(2)
    comparacao = turnos.comparacao()
    assert comparacao["razao"] == 1.2, "one slow reading of either does not count"
    assert comparacao["nosso"]["mediana_ms"] == 12
    assert comparacao["piso"]["n"] == 6, "every stretch counts"


def medidas(**mudancas: Any) -> dict[str, Any]:
    """A run that meets every target, just."""
    lado = {"mediana_ms": 15.0, "q1_ms": 14.0, "q3_ms": 16.0, "n": 40}
    vazao = {"por_segundo": 50.0, "p50_ms": 20.0, "p95_ms": 40.0, "recusados": 0}
    handler = {"handler": "fila.consumidor", "ms": 160.0, "espalhamento": 0.1, "razao": 1.6, "com_cliente": 1.7}
    return {
        "maquina": dict.fromkeys(("quando", "processador", "nucleos", "carga_no_inicio", "sistema", "python"), "x"),
        "post": {"razao": 1.5, "nosso": lado, "piso": lado},
        "post_com_chave": {"razao": 9.0, "nosso": lado, "piso": lado},
        "saga_simulado": {"razao": 9.0, "nosso": lado, "piso": lado},
        "saga": {"razao": 1.3, "nosso": lado, "piso": lado},
        "vazao": {"8": {"nosso": vazao, "piso": vazao | {"por_segundo": 100.0}}},
        "importacao": {"piso_ms": 100.0, "pior": handler, "handlers": [handler]},
        "pacote": {"mb": 30},
        "capacidade": {
            "leituras": [{"pedido": 1, "bytes": 46, "unidades": 5}, {"pedido": 10_000, "bytes": 46, "unidades": 5}]
        },
        **mudancas,
    }


def test_a_run_on_the_targets_misses_none() -> None:
    assert faltas(medidas()) == []


@pytest.mark.parametrize(
    ("mudancas", "falta"),
    [
        ({"post": {"razao": 1.51}}, "post"),
        ({"saga": {"razao": 1.31}}, "saga"),
        ({"importacao": {"pior": {"handler": "h", "razao": 1.61}}}, "importação de h"),
        ({"pacote": {"mb": 30.1}}, "pacote"),
        (
            {
                "capacidade": {
                    "leituras": [{"pedido": 1, "bytes": 46, "unidades": 5}, {"pedido": 2, "bytes": 46, "unidades": 6}]
                }
            },
            "unidades",
        ),
    ],
)
def test_each_target_can_be_missed(mudancas: dict[str, Any], falta: str) -> None:
    [dita] = faltas(medidas(**mudancas))

    assert dita.startswith(falta)


def test_the_page_says_what_was_measured() -> None:
    pagina = documento(medidas())

    assert (
        "| happy saga, with a gateway that answers at once | 15.0 (14.0 to 16.0) | 15.0 (14.0 to 16.0) | 1.30 | ≤ 1.3 |"
        in pagina
    )
    assert "| 8 | 50.0 (20.0, 40.0) | 100.0 (20.0, 40.0) | 50% |" in pagina
    assert "| fila.consumidor | 160 (± 5%) | 1.60 | 1.70 |" in pagina
    assert "| 10,000 | 5 | 46 |" in pagina


def test_every_deployed_handler_is_measured_and_no_stand_in() -> None:
    assert "pedidos.criar_pedido" in handlers()
    assert not [modulo for modulo in handlers() if modulo.startswith("desenhos_minimos")]


def test_what_the_last_figure_needs_is_asked_for_before_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    medidas_feitas: list[object] = []
    monkeypatch.setattr(bench.dynamodb_local, "ausente", lambda: "java is not on PATH")
    monkeypatch.setattr(bench.Alvo, "carregar", medidas_feitas.append)

    assert bench.principal([]) == 2
    assert medidas_feitas == []
    assert "make localstack-setup" in capsys.readouterr().err


SAIDAS = {
    "tabela_estoque": "e",
    "url_api": "http://x",
    "url_fila_pedidos_criados": "q",
    "arn_maquina_saga": "arn",
    "funcoes": {"IniciarSaga": "f"},
}


class MotorFalso:
    """Every AWS client of the bench; keeps what was asked that changes something."""

    def __init__(self) -> None:
        self.feito: list[str] = []

    def list_event_source_mappings(self, **_: Any) -> Any:
        return {"EventSourceMappings": [{"UUID": "u"}]}

    def update_event_source_mapping(self, **pedido: Any) -> None:
        self.feito.append("consumidor ligado" if pedido["Enabled"] else "consumidor parado")

    def purge_queue(self, **_: Any) -> None:
        self.feito.append("fila esvaziada")

    def put_item(self, **pedido: Any) -> None:
        self.feito.append(f"{pedido['Item']['sku']['S']} posto")

    def delete_item(self, **pedido: Any) -> None:
        self.feito.append(f"{pedido['Key']['sku']['S']} apagado")


@pytest.mark.parametrize("sinal", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_leaves_neither_the_item_nor_a_stopped_queue(
    sinal: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    antes = signal.getsignal(signal.SIGTERM)
    motor = MotorFalso()
    alvo = Alvo("local", SAIDAS, None, dict.fromkeys(("lambda", "sqs", "dynamodb"), motor))

    def parar(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), sinal)
        time.sleep(5)
        pytest.fail("nobody heard the signal")

    monkeypatch.setattr(bench, "exigir_dynamodb_local", lambda: None)
    monkeypatch.setattr(bench.Alvo, "carregar", lambda _: alvo)
    monkeypatch.setattr(bench.Alvo, "conferir_no_ar", lambda _: None)
    monkeypatch.setattr(bench.piso, "no_ar", lambda _: nullcontext(bench.piso.Piso("http://y", "arn")))
    monkeypatch.setattr(bench.Api, "postar", parar)
    try:
        assert bench.principal([]) == 130
    finally:
        signal.signal(signal.SIGTERM, antes)
    assert motor.feito == [
        "BENCH-1 posto",
        "consumidor parado",
        "fila esvaziada",
        "consumidor ligado",
        "BENCH-1 apagado",
    ]
    assert "interrompido" in capsys.readouterr().err


def test_the_queue_is_consumed_again_even_if_it_could_not_be_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    def recusar(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "PurgeQueueInProgress"}}, "PurgeQueue")

    motor = MotorFalso()
    monkeypatch.setattr(motor, "purge_queue", recusar)
    alvo = Alvo("local", SAIDAS, None, dict.fromkeys(("lambda", "sqs"), motor))
    with pytest.raises(ClientError), bench.fila_parada(alvo):
        pass
    assert motor.feito == ["consumidor parado", "consumidor ligado"]
