"""After an outage beyond the stream: gaps are found, marked as gaps, told once, and nothing is invented."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
import pytest

from comum import aws as comum_aws
from comum.relogio import para_iso
from painel import consumidor, origem, reconciliar_painel
from painel.erros import ConsultaInvalidaError
from painel.reconciliacao import Andamento
from painel.repositorio import RepositorioPainel
from tests.models.fonte_painel import Falhas, criar_tabela_fonte, criar_tabela_painel, itens, registro

DOIS_DIAS = timedelta(days=2)
SEQUENCIA = 100_000_000_000_000_000_000


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


def test_cancelado_sem_saber_se_foi_separado_pede_conferencia_sem_alerta(falhas: Falhas) -> None:
    na_origem("P1", "CANCELADO")
    resultado = reconciliar_painel.handler({}, None)
    assert resultado["contagem"]["reposicaoTalvez"] == 1
    assert itens("painel_operacao", "P1", "LACUNA#")[0]["conferirReposicao"] == "TALVEZ"
    assert falhas.publicados == []


def test_alerta_que_nao_saiu_sai_na_proxima(falhas: Falhas) -> None:
    no_painel("P1", "PENDENTE", "SEPARADO")
    na_origem("P1", "CANCELADO")
    falhas.plano = iter(["antes"])
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

    class Contexto:
        aws_request_id, function_name = "r", "f"

        def __init__(self) -> None:
            self.tempos = iter([60_000, 60_000, 1_000])

        def get_remaining_time_in_millis(self) -> int:
            return next(self.tempos)

    primeira = reconciliar_painel.handler({}, Contexto())
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
    alarme = {
        "source": "aws.cloudwatch",
        "alarmArn": "arn:aws:cloudwatch:sa-east-1:123456789012:alarm:ffv-lab-consumidor-pedidos-perda-possivel",
        "alarmData": {"alarmName": "ffv-lab-consumidor-pedidos-perda-possivel", "state": {"value": "ALARM"}},
    }
    assert reconciliar_painel.handler(alarme, None)["contagem"]["lacunas"] == 1


def test_resumo_vai_para_a_operacao_e_nao_para_as_lojas(falhas: Falhas) -> None:
    sqs, sns = boto3.client("sqs"), boto3.client("sns")
    url = sqs.create_queue(QueueName="operacao")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    topico = next(t["TopicArn"] for t in sns.list_topics()["Topics"] if t["TopicArn"].endswith("painel-operacao"))
    sns.subscribe(TopicArn=topico, Protocol="sqs", Endpoint=arn)
    na_origem("P1", "ENTREGUE")
    reconciliar_painel.handler({}, None)
    mensagem = json.loads(sqs.receive_message(QueueUrl=url)["Messages"][0]["Body"])
    assert mensagem["Subject"] == "Reconciliacao do painel: 1 lacunas"
    assert falhas.publicados == []


def test_itens_que_nao_se_leem_sao_contados(falhas: Falhas) -> None:
    dynamodb = boto3.client("dynamodb")
    dynamodb.put_item(
        TableName="pedidos_cadencia",
        Item={"PK": {"S": "PEDIDO#P1"}, "SK": {"S": "METADADOS"}, "status": {"S": "CANCELADO"}},
    )
    na_origem("P2", "ENTREGUE")
    assert reconciliar_painel.handler({}, None)["contagem"] == {"ilegiveis": 1, "conferidos": 1, "lacunas": 1}


@pytest.mark.parametrize("evento", [{"loja": "a b"}, {"loja": 7}, {"carenciaSegundos": -1}, {"carenciaSegundos": "x"}])
def test_entrada_malformada(falhas: Falhas, evento: dict[str, Any]) -> None:
    with pytest.raises(ConsultaInvalidaError):
        reconciliar_painel.handler(evento, None)


def test_andamento_vai_e_volta(falhas: Falhas) -> None:
    painel = RepositorioPainel(comum_aws.dynamodb(), "painel_operacao")
    andamento = Andamento("TODAS", proxima={"PK": {"S": "x"}}, exemplos=["P1"])
    andamento.contagem["lacunas"] = 3
    painel.guardar_andamento(andamento)
    assert painel.retomar_andamento("TODAS") == andamento
    assert painel.retomar_andamento("LOJA#L001") is None
