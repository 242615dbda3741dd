"""One order through the deployed system: what each function logged about it, and its whole story on one screen."""

from __future__ import annotations

import json
from subprocess import CompletedProcess

import pytest

from provas.alvo import Alvo
from provas.saga._apoio import QUANTIDADE, VALOR_CENTAVOS
from tests.comando import digitar

pytestmark = [pytest.mark.e2e, pytest.mark.incidente]


def onde(alvo: Alvo, pedido_id: str) -> CompletedProcess[str]:
    return digitar(["make", "onde", f"PEDIDO={pedido_id}", f"ALVO={alvo.nome}"])


def linhas_sobre(alvo: Alvo, pedido_id: str) -> dict[str, list[dict[str, str]]]:
    """Every structured line that names the order, by function (logical id); lines of the platform itself left out."""
    paginador = alvo.cliente("logs").get_paginator("filter_log_events")
    achadas: dict[str, list[dict[str, str]]] = {}
    for logico, nome in alvo.saida("funcoes").items():
        for pagina in paginador.paginate(logGroupName=f"/aws/lambda/{nome}", filterPattern=f'"{pedido_id}"'):
            for evento in pagina["events"]:
                if evento["message"].startswith("{"):
                    achadas.setdefault(logico, []).append(json.loads(evento["message"]))
    return achadas


def test_a_confirmed_order_has_one_correlation_id_everywhere_and_one_timeline(alvo: Alvo, bancada) -> None:
    url, sku = str(alvo.saida("url_api")).rstrip("/"), bancada.criar_estoque()
    corpo = {"sku": sku, "quantidade": QUANTIDADE, "valorCentavos": VALOR_CENTAVOS, "cartaoToken": "tok-ok"}
    pedido_id = json.loads(alvo.http.request("POST", f"{url}/pedidos", json=corpo).data)["pedidoId"]
    bancada.adotar_pedido(pedido_id)
    bancada.esperar_execucao(pedido_id)
    esperadas = {
        *("CriarPedido", "IniciarSaga", "ReservarEstoque", "CobrarPagamento", "GatewaySimulado", "ConfirmarPedido"),
        "BaixarReserva",
    }
    linhas = bancada.esperar_ate(
        lambda: linhas_sobre(alvo, pedido_id),
        60,
        "a linha de cada função",
        ate=lambda achadas: esperadas <= set(achadas),
    )

    assert set(linhas) == esperadas
    ids = {(linha.get("correlation_id"), linha.get("pedidoId")) for todas in linhas.values() for linha in todas}
    assert ids == {(pedido_id, pedido_id)}

    contada = onde(alvo, pedido_id)
    assert contada.returncode == 0, contada.stdout + contada.stderr
    quadro = [linha.split("\t") for linha in contada.stdout.splitlines() if linha.count("\t") == 3][1:]
    assert [quando for quando, *_ in quadro] == sorted(quando for quando, *_ in quadro)
    passos = [(onde_, o_que) for _, onde_, o_que, _ in quadro]
    for passo in (
        ("pedido", "CONFIRMADO"),
        ("saga", "execução terminou: SUCCEEDED"),
        ("gateway", "cobrou R$ 140,00"),
        ("estoque", "baixa"),
        *((f"log {alvo.funcao(logico)}", linhas[logico][0]["message"]) for logico in esperadas),
    ):
        assert passo in passos
    assert "aviso" not in contada.stdout
    assert "tok-" not in contada.stdout


def test_an_order_left_to_a_person_says_why_and_is_counted(alvo: Alvo, bancada) -> None:
    bancada.exigir_injecao("IniciarSaga", "ConfirmarPedido", "EstornarPagamento")
    sku, pedido_id = bancada.criar_estoque(), bancada.novo_pedido_id()
    bancada.publicar(bancada.entrada(pedido_id, sku, forcarFalhaConfirmar=True, forcarFalhaEstorno=True))
    bancada.esperar_execucao(pedido_id)
    bancada.esperar_ate(
        lambda: linhas_sobre(alvo, pedido_id).get("BaixarReserva", []),
        60,
        "o pedido contado",
        ate=lambda linhas: "order left to a person" in [linha["message"] for linha in linhas],
    )

    contada = onde(alvo, pedido_id)

    assert contada.returncode == 0, contada.stdout + contada.stderr
    for parte in (
        "REQUER_INTERVENCAO_HUMANA",
        "EstornarPagamento, 1ª tentativa falhou\tGatewayIndisponivelError",
        "fila humana\tmensagem, ainda na fila\tfalta desfazer EstornarPagamento → LiberarEstoque",
        "invocation failed (WARNING)\terro ConfirmacaoForcadaAFalharError",
    ):
        assert parte in contada.stdout
    deixada = bancada.mensagem_humana(pedido_id)
    assert deixada is not None, "looking must leave the message where it was"
    bancada.apagar_mensagem_humana(deixada)


def test_an_unknown_order_is_said_and_fails(alvo: Alvo) -> None:
    contada = onde(alvo, "pedido-que-nao-existe")
    assert contada.returncode != 0
    assert "Nada se sabe do pedido pedido-que-nao-existe" in contada.stderr
