"""The commands people run: bounded traffic that is plausible, and reports in plain Portuguese."""

import random
from collections import Counter
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from operacao import movimento, reconciliar, reprocessar


class LojaDeMentira:
    """Remembers each write, and refuses an impossible one."""

    def __init__(self) -> None:
        self.status: dict[str, str] = {}
        self.passos: list[tuple[str, str]] = []

    def criar(self, pedido: str, loja: str) -> str:
        assert pedido not in self.status
        self.status[pedido] = "PENDENTE"
        return ""

    def mudar(self, pedido: str, status: str) -> str:
        self.passos.append((self.status[pedido], status))
        self.status[pedido] = status
        return ""


def gerar(passos: int, semente: int = 1) -> tuple[LojaDeMentira, movimento.Gerador]:
    loja = LojaDeMentira()
    gerador = movimento.Gerador(loja, ["L001"], random.Random(semente), "x")
    for _ in range(passos):
        gerador.passo()
    return loja, gerador


def test_movimento_e_plausivel() -> None:
    loja, gerador = gerar(2_000)
    permitidos = {(de, para) for de, destinos in movimento.PASSOS.items() for para, _ in destinos}
    assert set(loja.passos) == permitidos  # every path is walked, and no other
    assert len(gerador.abertos) <= 40
    cancelados = Counter(loja.passos)[("SEPARADO", "CANCELADO")]
    assert gerador.contagem["canceladosAposSeparados"] == cancelados > 0


def test_mesma_semente_mesmo_dia() -> None:
    assert gerar(300, 7)[0].passos == gerar(300, 7)[0].passos


def test_movimento_tem_fim() -> None:
    _, gerador = gerar(0)
    agora = [0.0]

    def dormir(segundos: float) -> None:
        agora[0] += segundos

    movimento.movimentar(gerador, duracao_s=10, ritmo=3, relogio=lambda: agora[0], dormir=dormir)
    assert sum(gerador.contagem[nome] for nome in ("criados", "transicoes")) == 30
    assert agora[0] == pytest.approx(10)


@pytest.mark.parametrize(
    "opcoes", [["--duracao", "0"], ["--duracao", "9999"], ["--ritmo", "1000"], ["--alvo", "marte"]]
)
def test_movimento_recusa_o_que_nao_tem_limite(opcoes: list[str]) -> None:
    with pytest.raises(SystemExit):
        movimento.principal(opcoes)


def mensagem(desfecho: str, **mais: Any) -> dict[str, Any]:
    return {
        "id": "abcdef123456",
        "desfecho": desfecho,
        "registros": 3,
        "transicoes": 2,
        "falhas": [],
        "motivo": "",
        **mais,
    }


def test_relato_do_reprocesso() -> None:
    assert reprocessar.relatar(mensagem("reprocessada")) == "  abcdef12  reprocessada: 2 transições de 3 registros"
    assert "passaram as 24 h" in reprocessar.relatar(mensagem("vencida"))
    assert "7, 9" in reprocessar.relatar(mensagem("falhou", falhas=["7", "9"], motivo="m"))


class AlvoDeMentira:
    """A target whose functions answer what the test says, in order."""

    nome = "local"

    def __init__(self, respostas: list[Any]) -> None:
        self._respostas = iter(respostas)
        self.eventos: list[Any] = []

    def conferir_no_ar(self) -> None:
        return

    def funcao(self, logico: str) -> str:
        return logico

    def cliente(self, _: str) -> "AlvoDeMentira":
        return self

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - boto3 names them so
        import io
        import json

        self.eventos.append(json.loads(Payload))
        resposta = next(self._respostas)
        if isinstance(resposta, Exception):
            raise resposta
        return {"Payload": io.BytesIO(json.dumps(resposta).encode())}


@pytest.mark.parametrize(
    ("mensagens", "esperado"),
    [
        ([], 0),
        ([mensagem("reprocessada")], 0),
        ([mensagem("vencida")], 1),
        ([mensagem("falhou")], 1),
        ([mensagem("invalida")], 1),
    ],
)
def test_saida_do_reprocesso(monkeypatch: pytest.MonkeyPatch, mensagens: list[Any], esperado: int) -> None:
    alvo = AlvoDeMentira([{"mensagens": mensagens}, {"mensagens": []}])
    monkeypatch.setattr("provas.alvo.Alvo.carregar", lambda nome, **_: alvo)
    assert reprocessar.principal([]) == esperado


def test_reprocesso_interrompido_mostra_o_que_ja_fez(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    alvo = AlvoDeMentira([{"mensagens": [mensagem("reprocessada")]}, EndpointConnectionError(endpoint_url="http://x")])
    monkeypatch.setattr("provas.alvo.Alvo.carregar", lambda nome, **_: alvo)
    assert reprocessar.principal([]) == 2
    escrito = capsys.readouterr()
    assert "abcdef12  reprocessada: 2 transições de 3 registros" in escrito.out
    assert "parou no meio" in escrito.err


def test_reconciliacao_continua_ate_terminar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    base = {"simulada": False, "exemplos": ["P1"], "contagem": {"conferidos": 10, "lacunas": 1, "reposicaoCerta": 1}}
    alvo = AlvoDeMentira(
        [{**base, "concluida": False}, {**base, "concluida": True, "repetirApos": "2026-01-02T01:00:00.000Z"}]
    )
    monkeypatch.setattr("provas.alvo.Alvo.carregar", lambda nome, **_: alvo)
    assert reconciliar.principal(["--loja", "L001", "--carencia", "0"]) == 0
    assert [evento["recomecar"] for evento in alvo.eventos] == [True, False]
    assert alvo.eventos[0]["loja"] == "L001"
    saida = capsys.readouterr().out
    assert "lacunas" in saida
    assert "Será repetida sozinha, uma vez, depois de 2026-01-02T01:00:00.000Z." in saida
    assert "P1" in saida
