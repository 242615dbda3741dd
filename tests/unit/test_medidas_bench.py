"""The bench's own arithmetic: who takes turns, what is compared, which target is missed, what the page says."""

from typing import Any

import pytest

from medidas import bench
from medidas.bench import comparar, faltas
from medidas.importacao import handlers
from medidas.relatorio import documento


def test_system_and_floor_take_turns_and_medians_are_compared() -> None:
    ordem: list[str] = []

    def medidor(nome: str, tempos: list[float]) -> Any:
        restantes = iter(tempos)

        def medir() -> float:
            ordem.append(nome)
            return next(restantes)

        return medir

    comparacao = comparar(medidor("nosso", [30, 12, 12, 12]), medidor("piso", [10, 10, 10, 99]), 4)

    assert ordem == ["piso", "nosso", "nosso", "piso", "piso", "nosso", "nosso", "piso"]
    assert comparacao["razao"] == 1.2, "one slow reading of either does not count"
    assert comparacao["nosso"]["mediana_ms"] == 12
    assert comparacao["piso"]["n"] == 4


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
