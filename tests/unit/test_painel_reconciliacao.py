"""After an outage beyond the stream: gaps are found, marked as gaps, told once, and nothing is invented."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from comum import aws as comum_aws
from comum.relogio import de_iso, para_iso
from painel import consumidor, origem, reconciliar_painel
from painel.consultas import REPOSICOES_NO_MAXIMO, Consultas
from painel.erros import ConsultaInvalidaError
from painel.reconciliacao import Andamento
from painel.repositorio import RepositorioPainel
from tests.models.fonte_painel import Falhas, criar_tabela_fonte, criar_tabela_painel, itens, registro

DOIS_DIAS = timedelta(days=2)
SEQUENCIA = 100_000_000_000_000_000_000
ALARME = {
    "source": "aws.cloudwatch",
    "alarmArn": "arn:aws:cloudwatch:sa-east-1:123456789012:alarm:ffv-lab-consumidor-pedidos-perda-possivel",
    "alarmData": {"alarmName": "ffv-lab-consumidor-pedidos-perda-possivel", "state": {"value": "ALARM"}},
}
AGENDA = {"pendencia": True}


class SemTempo:
    """A context with time for so many pages."""

    aws_request_id, function_name = "r", "f"

    def __init__(self, paginas: int) -> None:
        self.tempos = iter([60_000] * paginas + [1_000])

    def get_remaining_time_in_millis(self) -> int:
        return next(self.tempos)


def passar(tempo: timedelta) -> None:
    """Make the last whole run that much older."""
    cliente, chave = boto3.client("dynamodb"), {"PK": {"S": "RECONCILIACAO#TODAS"}, "SK": {"S": "ANDAMENTO"}}
    item = cliente.get_item(TableName="painel_operacao", Key=chave)["Item"]
    for nome in {"inicio", "atualizadoEm", "repetirApos"} & set(item):
        item[nome] = {"S": para_iso(de_iso(item[nome]["S"]) - tempo)}
    cliente.put_item(TableName="painel_operacao", Item=item)


def _instante(ha: timedelta) -> str:
    return para_iso(datetime.now(UTC) - ha)


@pytest.fixture
def falhas(aws: None, monkeypatch: pytest.MonkeyPatch) -> Falhas:
    """Both tables, both topics, and the record of what was published."""
    sns = boto3.client("sns")
    for nome, valor in {
        "TABELA_PAINEL": criar_tabela_painel(),
        "TABELA_ORIGEM": criar_tabela_fonte(),
        "ARN_TOPICO_REPOSICAO": sns.create_topic(Name="ffv-lab-alerta-reposicao-estoque")["TopicArn"],
        "ARN_TOPICO_OPERACAO": sns.create_topic(Name="ffv-lab-painel-operacao")["TopicArn"],
        "CARENCIA_S": "90000",
        "STATUS_INICIAIS": "PENDENTE",
    }.items():
        monkeypatch.setenv(nome, valor)
    registro_de_falhas = Falhas()
    fabrica = registro_de_falhas.fabrica(comum_aws.cliente)
    # The operations topic gets summaries, which carry no alert id: its publications go straight to moto.
    original = registro_de_falhas.chamar

    def chamar(nome: str, funcao: Any, argumentos: dict[str, Any]) -> Any:
        if nome == "publish" and "MessageAttributes" not in argumentos:
            return funcao(**argumentos)
        return original(nome, funcao, argumentos)

    monkeypatch.setattr(registro_de_falhas, "chamar", chamar)
    monkeypatch.setattr(comum_aws, "cliente", fabrica)
    return registro_de_falhas


def na_origem(pedido: str, status: str, ha: timedelta = DOIS_DIAS, loja: str = "L001") -> None:
    boto3.client("dynamodb").put_item(
        TableName="pedidos_cadencia",
        Item={
            "PK": {"S": f"PEDIDO#{pedido}"},
            "SK": {"S": "METADADOS"},
            "status": {"S": status},
            "loja_id": {"S": loja},
            "updated_at": {"S": _instante(ha)},
        },
    )


def no_painel(pedido: str, de: str, para: str, sequencia: int = SEQUENCIA) -> None:
    consumidor.handler({"Records": [registro(pedido, de, para, sequencia)]}, None)


def test_lacuna_de_mais_de_24_h_e_encontrada_e_marcada(falhas: Falhas) -> None:
    """Break on purpose: the consumer was off for two days; nothing failed anywhere, and this finds it."""
    no_painel("P1", "PENDENTE", "SEPARADO")
    na_origem("P1", "CANCELADO")  # the stream dropped this change
    na_origem("P2", "ENTREGUE")  # never seen at all
    resultado = reconciliar_painel.handler({}, None)
    assert resultado["concluida"]
    assert resultado["contagem"]["lacunas"] == 2
    assert sorted(resultado["exemplos"]) == ["P1", "P2"]
    # Marked as a gap: the log gained no transition.
    assert [(i["de"], i["para"]) for i in itens("painel_operacao", "P1")] == [("PENDENTE", "SEPARADO")]
    assert itens("painel_operacao", "P2") == []
    lacuna = itens("painel_operacao", "P1", "LACUNA#")[0]
    assert (lacuna["ultimoConhecido"], lacuna["encontrado"], lacuna["conferirReposicao"]) == (
        "SEPARADO",
        "CANCELADO",
        "SIM",
    )
    assert itens("painel_operacao", "P1", "ATUAL")[0]["status"] == "CANCELADO"
    assert itens("painel_operacao", "P2", "ATUAL")[0]["status"] == "ENTREGUE"


def test_visto_separado_e_agora_cancelado_avisa_a_loja_uma_vez(falhas: Falhas) -> None:
    no_painel("P1", "PENDENTE", "SEPARADO")
    na_origem("P1", "CANCELADO")
    for _ in range(3):
        reconciliar_painel.handler({"recomecar": True}, None)
    assert len(falhas.publicados) == 1
    assert falhas.publicados[0].startswith("P1#LACUNA#")
    assert len(itens("painel_operacao", "P1", "LACUNA#")) == 1


def test_lacunas_contam_uma_vez_mesmo_que_a_reconciliacao_continue(
    falhas: Falhas, monkeypatch: pytest.MonkeyPatch, saida: Any
) -> None:
    monkeypatch.setattr(origem, "ITENS_POR_PAGINA", 1)
    for pedido in ("P1", "P2", "P3"):
        na_origem(pedido, "ENTREGUE")
    partes = 1
    while not reconciliar_painel.handler({}, SemTempo(1))["concluida"]:
        partes += 1
    assert partes >= 3
    assert saida.metricas()["LacunasMarcadas"] == 3


def test_cancelado_sem_saber_se_foi_separado_pede_conferencia_sem_alerta(falhas: Falhas) -> None:
    no_painel("P0", "PENDENTE", "SEPARADO")  # the panel had begun
    na_origem("P1", "CANCELADO")
    resultado = reconciliar_painel.handler({}, None)
    assert resultado["contagem"]["reposicaoTalvez"] == 1
    assert itens("painel_operacao", "P1", "LACUNA#")[0]["conferirReposicao"] == "TALVEZ"
    assert falhas.publicados == []


def test_historico_de_antes_do_painel_nao_soterra_a_reposicao_de_hoje(falhas: Falhas) -> None:
    """The first reconciliation of a table with a past: hundreds of old cancellations, and one of today."""
    agora = int(datetime.now(UTC).timestamp())
    for numero in range(REPOSICOES_NO_MAXIMO + 5):
        na_origem(f"VELHO{numero}", "CANCELADO", ha=timedelta(days=300))
    for posicao, (de, para) in enumerate((("PENDENTE", "SEPARADO"), ("SEPARADO", "CANCELADO"))):
        consumidor.handler({"Records": [registro("HOJE", de, para, SEQUENCIA + posicao, epoca=agora)]}, None)
    na_origem("HOJE", "CANCELADO", ha=timedelta(0))
    contagem = reconciliar_painel.handler({}, None)["contagem"]
    assert contagem["lacunas"] == contagem["antesDoPainel"] == REPOSICOES_NO_MAXIMO + 5
    assert "reposicaoTalvez" not in contagem
    reposicoes = Consultas(comum_aws.dynamodb(), "painel_operacao").reposicoes("L001")
    assert [(linha["pedidoId"], linha["certeza"]) for linha in reposicoes.linhas] == [("HOJE", "SIM")]
    assert "conferirReposicao" not in itens("painel_operacao", "VELHO0", "LACUNA#")[0]


def test_o_inicio_do_painel_e_o_primeiro_guardado(falhas: Falhas) -> None:
    painel = RepositorioPainel(comum_aws.dynamodb(), "painel_operacao")
    assert painel.ler_inicio() is None
    assert painel.marcar_inicio("2026-01-02T00:00:00.000Z") == "2026-01-02T00:00:00.000Z"
    outro_processo = RepositorioPainel(comum_aws.dynamodb(), "painel_operacao")
    assert outro_processo.marcar_inicio("2026-01-01T00:00:00.000Z") == "2026-01-02T00:00:00.000Z"
    assert outro_processo.ler_inicio() == "2026-01-02T00:00:00.000Z"


def test_painel_adiante_da_origem_nao_volta(falhas: Falhas) -> None:
    """The source was read before a change that the panel has seen: the difference is the source's, not the panel's."""
    no_painel("P1", "PENDENTE", "SEPARADO")
    depois = registro("P1", "SEPARADO", "EM_ENTREGA", SEQUENCIA + 1, epoca=int(datetime.now(UTC).timestamp()))
    consumidor.handler({"Records": [depois]}, None)
    na_origem("P1", "SEPARADO", ha=timedelta(hours=30))
    assert reconciliar_painel.handler({}, None)["contagem"] == {"ilegiveis": 0, "conferidos": 1, "painelAdiante": 1}
    assert itens("painel_operacao", "P1", "ATUAL")[0]["status"] == "EM_ENTREGA"
    assert itens("painel_operacao", "P1", "LACUNA#") == []


def test_a_origem_e_lida_com_consistencia(falhas: Falhas, monkeypatch: pytest.MonkeyPatch) -> None:
    cliente, pedidos = comum_aws.dynamodb(), []
    varrer = cliente.scan
    monkeypatch.setattr(cliente, "scan", lambda **pedido: pedidos.append(pedido) or varrer(**pedido), raising=False)
    origem.TabelaDeOrigem(cliente, "pedidos_cadencia").pagina(None, None)
    assert [pedido["ConsistentRead"] for pedido in pedidos] == [True]


def test_alerta_que_nao_saiu_sai_na_proxima(falhas: Falhas) -> None:
    no_painel("P1", "PENDENTE", "SEPARADO")
    na_origem("P1", "CANCELADO")
    falhas.plano = iter(["ok", "ok", "antes"])  # the run's place, the panel's beginning, and then the publication
    with pytest.raises(Exception, match="publish"):
        reconciliar_painel.handler({}, None)
    assert len(itens("painel_operacao", "P1", "LACUNA#")) == 1
    assert falhas.publicados == []
    reconciliar_painel.handler({"recomecar": True}, None)
    assert len(falhas.publicados) == 1
    assert "alertaLacuna" not in itens("painel_operacao", "P1", "ATUAL")[0]


def test_o_que_o_stream_ainda_pode_entregar_nao_e_lacuna(falhas: Falhas) -> None:
    no_painel("P1", "PENDENTE", "SEPARADO")
    na_origem("P1", "CANCELADO", ha=timedelta(hours=3))
    resultado = reconciliar_painel.handler({}, None)
    assert resultado["contagem"].get("lacunas", 0) == 0
    assert resultado["contagem"]["aguardandoStream"] == 1
    assert itens("painel_operacao", "P1", "ATUAL")[0]["status"] == "SEPARADO"


def test_pedido_que_nunca_mudou_nao_e_lacuna(falhas: Falhas) -> None:
    na_origem("P1", "PENDENTE")
    assert reconciliar_painel.handler({}, None)["contagem"]["semTransicao"] == 1


def test_registro_atrasado_depois_da_lacuna_entra_no_registro_e_nao_volta_o_estado(falhas: Falhas) -> None:
    no_painel("P1", "PENDENTE", "SEPARADO")
    na_origem("P1", "CANCELADO", ha=timedelta(0))
    reconciliar_painel.handler({"carenciaSegundos": 0}, None)
    # Late, with a higher sequence than the last one seen, and older than what the source showed.
    no_painel("P1", "SEPARADO", "EM_ENTREGA", SEQUENCIA + 1)
    assert itens("painel_operacao", "P1", "ATUAL")[0]["status"] == "CANCELADO"
    assert len(itens("painel_operacao", "P1")) == 2
    depois = registro("P1", "CANCELADO", "SEPARADO", SEQUENCIA + 2, epoca=int(datetime.now(UTC).timestamp()) + 5)
    consumidor.handler({"Records": [depois]}, None)
    atual = itens("painel_operacao", "P1", "ATUAL")[0]
    assert atual["status"] == "SEPARADO"
    assert "reconstruidoAte" not in atual


def test_corrida_com_o_stream_nao_escreve_nada(falhas: Falhas, monkeypatch: pytest.MonkeyPatch) -> None:
    no_painel("P1", "PENDENTE", "SEPARADO")
    na_origem("P1", "CANCELADO")
    original = RepositorioPainel.gravar_lacuna

    def o_stream_entrega_antes(self: RepositorioPainel, *argumentos: Any) -> bool:
        no_painel("P1", "SEPARADO", "CANCELADO", SEQUENCIA + 1)
        return original(self, *argumentos)

    monkeypatch.setattr(RepositorioPainel, "gravar_lacuna", o_stream_entrega_antes)
    resultado = reconciliar_painel.handler({}, None)
    assert resultado["contagem"]["mudouEnquantoConferia"] == 1
    assert itens("painel_operacao", "P1", "LACUNA#") == []
    assert len(itens("painel_operacao", "P1")) == 2


def test_por_loja(falhas: Falhas) -> None:
    na_origem("P1", "ENTREGUE", loja="L001")
    na_origem("P2", "ENTREGUE", loja="L002")
    resultado = reconciliar_painel.handler({"loja": "L002"}, None)
    assert resultado["exemplos"] == ["P2"]
    assert itens("painel_operacao", "P1", "ATUAL") == []


def test_para_sem_tempo_e_continua_de_onde_parou(falhas: Falhas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origem, "ITENS_POR_PAGINA", 3)
    for numero in range(10):
        na_origem(f"P{numero}", "ENTREGUE")

    primeira = reconciliar_painel.handler({}, SemTempo(2))
    assert not primeira["concluida"]
    assert primeira["contagem"]["conferidos"] == 6
    segunda = reconciliar_painel.handler({}, None)
    assert segunda["concluida"]
    assert segunda["contagem"]["conferidos"] == 10  # the totals are of the whole run
    assert segunda["contagem"]["lacunas"] == 10
    terceira = reconciliar_painel.handler({}, None)
    assert terceira["contagem"]["igual"] == 10  # finished: a new run starts from the beginning


def test_simular_nao_grava(falhas: Falhas) -> None:
    na_origem("P1", "CANCELADO")
    resultado = reconciliar_painel.handler({"simular": True}, None)
    assert resultado["contagem"]["lacunas"] == 1
    assert boto3.client("dynamodb").scan(TableName="painel_operacao")["Count"] == 0


def test_evento_do_alarme_e_uma_reconciliacao_inteira(falhas: Falhas) -> None:
    na_origem("P1", "ENTREGUE")
    assert reconciliar_painel.handler(ALARME, None)["contagem"]["lacunas"] == 1


@pytest.fixture
def avisos(falhas: Falhas) -> Callable[[], list[dict[str, Any]]]:
    """What the operations topic was told since the last call, oldest first: subject and message."""
    sqs, sns = boto3.client("sqs"), boto3.client("sns")
    url = sqs.create_queue(QueueName="operacao")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    topico = next(t["TopicArn"] for t in sns.list_topics()["Topics"] if t["TopicArn"].endswith("painel-operacao"))
    sns.subscribe(TopicArn=topico, Protocol="sqs", Endpoint=arn)

    def ler() -> list[dict[str, Any]]:
        lidas = []
        while mensagens := sqs.receive_message(QueueUrl=url).get("Messages"):
            lidas += [json.loads(mensagem["Body"]) for mensagem in mensagens]
        return lidas

    return ler


def test_resumo_vai_para_a_operacao_e_nao_para_as_lojas(falhas: Falhas, avisos: Any) -> None:
    na_origem("P1", "ENTREGUE")
    reconciliar_painel.handler({}, None)
    assert [aviso["Subject"] for aviso in avisos()] == ["Reconciliacao do painel: 1 lacunas"]
    assert falhas.publicados == []


def test_resumo_diz_o_que_ainda_espera_e_o_que_nao_terminou(
    falhas: Falhas, avisos: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a gap there is still something to hear: silence would look like an outage without loss."""
    reconciliar_painel.handler({"simular": True}, None)
    assert avisos() == []
    monkeypatch.setattr(origem, "ITENS_POR_PAGINA", 1)
    for numero in range(3):
        na_origem(f"P{numero}", "ENTREGUE", ha=timedelta(hours=3))
    reconciliar_painel.handler(ALARME, SemTempo(2))
    reconciliar_painel.handler({}, None)
    parcial, final = avisos()
    assert parcial["Subject"] == "Reconciliacao do painel: 0 lacunas, 2 aguardam o stream, ainda nao terminou"
    assert final["Subject"] == "Reconciliacao do painel: 0 lacunas, 3 aguardam o stream"
    assert json.loads(final["Message"])["repetirApos"] is not None


def test_alarme_comeca_de_novo_por_velha_que_seja_a_que_parou(falhas: Falhas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origem, "ITENS_POR_PAGINA", 3)
    for numero in range(10):
        na_origem(f"P{numero}", "ENTREGUE")
    assert not reconciliar_painel.handler(ALARME, SemTempo(1))["concluida"]
    ja_vistos = [i["PK"]["S"] for i in boto3.client("dynamodb").scan(TableName="pedidos_cadencia", Limit=3)["Items"]]
    for chave in ja_vistos:  # lost in a second outage
        na_origem(chave.removeprefix("PEDIDO#"), "CANCELADO", ha=timedelta(hours=30))
    segunda = reconciliar_painel.handler(ALARME, None)
    assert segunda["concluida"]
    assert segunda["contagem"]["conferidos"] == 10
    for chave in ja_vistos:
        assert itens("painel_operacao", chave.removeprefix("PEDIDO#"), "ATUAL")[0]["status"] == "CANCELADO"


def test_agenda_continua_a_que_parou_ate_o_fim(falhas: Falhas, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origem, "ITENS_POR_PAGINA", 1)
    for numero in range(5):
        na_origem(f"P{numero}", "ENTREGUE")
    reconciliar_painel.handler(ALARME, SemTempo(2))
    # One that kept its place a moment ago is still running.
    assert reconciliar_painel.handler(AGENDA, None) == {"pendencia": False}
    passar(timedelta(minutes=6))
    assert reconciliar_painel.handler(AGENDA, SemTempo(2))["contagem"]["conferidos"] == 4
    passar(timedelta(minutes=6))
    ultima = reconciliar_painel.handler(AGENDA, None)
    assert (ultima["concluida"], ultima["contagem"]["lacunas"]) == (True, 5)
    passar(timedelta(days=2))
    assert reconciliar_painel.handler(AGENDA, None) == {"pendencia": False}


def test_agenda_continua_a_que_falhou_na_primeira_pagina(falhas: Falhas, monkeypatch: pytest.MonkeyPatch) -> None:
    na_origem("P1", "ENTREGUE")
    with monkeypatch.context() as quebrado:
        quebrado.setattr(RepositorioPainel, "ler_estados", None)
        with pytest.raises(TypeError):
            reconciliar_painel.handler(ALARME, None)
    passar(timedelta(minutes=6))
    assert reconciliar_painel.handler(AGENDA, None)["contagem"]["lacunas"] == 1


def test_mudanca_perdida_mais_nova_que_a_carencia_e_achada_na_repeticao(falhas: Falhas) -> None:
    """Lost 24 h 40 ago: the stream has dropped it, the grace of 25 h has not passed, and the alarm fires once."""
    no_painel("P1", "PENDENTE", "SEPARADO")
    na_origem("P1", "CANCELADO", ha=timedelta(hours=24, minutes=40))
    primeira = reconciliar_painel.handler(ALARME, None)
    assert primeira["contagem"]["aguardandoStream"] == 1
    assert reconciliar_painel.handler(AGENDA, None) == {"pendencia": False}
    passar(timedelta(hours=25, minutes=1))
    na_origem("P1", "CANCELADO", ha=timedelta(hours=49, minutes=41))
    na_origem("P2", "ENTREGUE", ha=timedelta(0))  # on its way now, as something always is
    segunda = reconciliar_painel.handler(AGENDA, None)
    assert segunda["contagem"]["lacunas"] == 1
    assert [alerta.split("#")[0] for alerta in falhas.publicados] == ["P1"]
    # Once: a repetition is not repeated, whatever it left to the stream.
    assert segunda["contagem"]["aguardandoStream"] == 1
    passar(timedelta(hours=26))
    assert reconciliar_painel.handler(AGENDA, None) == {"pendencia": False}


def test_agenda_sem_nada_a_fazer(falhas: Falhas, avisos: Any) -> None:
    na_origem("P1", "ENTREGUE")
    assert reconciliar_painel.handler(AGENDA, None) == {"pendencia": False}
    assert avisos() == []
    assert boto3.client("dynamodb").scan(TableName="painel_operacao")["Count"] == 0


def test_a_que_comecou_depois_toma_o_lugar(falhas: Falhas, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older run that is still going must not write its place over a newer one's: a part would never be read."""
    monkeypatch.setattr(origem, "ITENS_POR_PAGINA", 1)
    for numero in range(3):
        na_origem(f"P{numero}", "ENTREGUE")
    original = RepositorioPainel.ler_estados

    def outra_comeca(self: RepositorioPainel, pedidos: list[str]) -> Any:
        monkeypatch.setattr(RepositorioPainel, "ler_estados", original)
        time.sleep(0.002)  # runs are told apart by the millisecond they began in
        reconciliar_painel.handler(ALARME, SemTempo(1))
        return original(self, pedidos)

    monkeypatch.setattr(RepositorioPainel, "ler_estados", outra_comeca)
    antiga = reconciliar_painel.handler(ALARME, None)
    assert (antiga["concluida"], antiga["contagem"]["conferidos"]) == (False, 1)
    assert reconciliar_painel.handler({}, None)["contagem"]["conferidos"] == 3


def test_itens_que_nao_se_leem_sao_contados(falhas: Falhas) -> None:
    dynamodb = boto3.client("dynamodb")
    dynamodb.put_item(
        TableName="pedidos_cadencia",
        Item={"PK": {"S": "PEDIDO#P1"}, "SK": {"S": "METADADOS"}, "status": {"S": "CANCELADO"}},
    )
    na_origem("P2", "ENTREGUE")
    assert reconciliar_painel.handler({}, None)["contagem"] == {
        "ilegiveis": 1,
        "conferidos": 1,
        "lacunas": 1,
        "antesDoPainel": 1,
    }


@pytest.mark.parametrize("evento", [{"loja": "a b"}, {"loja": 7}, {"carenciaSegundos": -1}, {"carenciaSegundos": "x"}])
def test_entrada_malformada(falhas: Falhas, evento: dict[str, Any]) -> None:
    with pytest.raises(ConsultaInvalidaError):
        reconciliar_painel.handler(evento, None)


def test_andamento_vai_e_volta(falhas: Falhas) -> None:
    painel = RepositorioPainel(comum_aws.dynamodb(), "painel_operacao")
    andamento = Andamento("TODAS", "2026-01-01T00:00:00.000Z", proxima={"PK": {"S": "x"}}, exemplos=["P1"])
    andamento.contagem["lacunas"] = 3
    assert painel.guardar_andamento(andamento)
    assert painel.ler_andamento("TODAS") == andamento
    assert painel.ler_andamento("LOJA#L001") is None
    assert not painel.guardar_andamento(Andamento("TODAS", "2025-12-31T23:59:59.999Z"))
