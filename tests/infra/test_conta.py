"""A real account: what reaches it by variable, and nothing that only suits an engine on this machine."""

import copy
import json
import re

import pytest

from .conftest import CONFIGURACAO, Estado

DESTE_LUGAR = re.compile(r"127\.0\.0\.1|localhost|0\.0\.0\.0|_aws/execute-api|_cesta/|:4[56]\d\d\b|simulado|provided\.")


@pytest.fixture(scope="module")
def ajustada(aplicados: dict[str, Estado]) -> Estado:
    """Everything an account may choose, chosen at once: each test looks at its own."""
    return aplicados["com_escolhas"]


def test_the_variables_without_a_default_are_the_accounts_own() -> None:
    blocos = re.findall(
        r'^variable "(\w+)" \{(.*?)^\}', (CONFIGURACAO / "variables.tf").read_text(), re.MULTILINE | re.DOTALL
    )
    sem_padrao = {nome for nome, corpo in blocos if not re.search(r"^  default\s*=", corpo, re.MULTILINE)}

    assert sem_padrao == {"ambiente", "arquivo_artefato"}


def test_nothing_points_at_this_machine_or_at_a_stand_in(conta: Estado) -> None:
    achados = {
        endereco: vistos
        for endereco, valores in {**conta.recursos, "saídas": conta.saidas}.items()
        if (vistos := DESTE_LUGAR.findall(json.dumps(valores, ensure_ascii=False)))
    }

    assert achados == {}


def test_what_is_found_there_would_be_found(estado: Estado) -> None:
    """The same search sees the stand-in where it is deployed."""
    with pytest.raises(AssertionError):
        test_nothing_points_at_this_machine_or_at_a_stand_in(estado)


def test_runtime_and_architecture_reach_every_function(conta: Estado, ajustada: Estado) -> None:
    def usados(de: Estado) -> set[tuple[str, ...]]:
        return {(f["runtime"], *f["architectures"]) for f in de.funcoes().values()}

    assert usados(conta) == {("python3.13", "arm64")}
    assert usados(ajustada) == {("python3.12", "x86_64")}


def _recusa_http(politica: str | None, arn: str) -> bool:
    """Whether a resource's policy denies it to everyone who comes without TLS."""
    return any(
        declaracao["Effect"] == "Deny"
        and declaracao["Principal"] == "*"
        and declaracao["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        and arn in (declaracao["Resource"], declaracao["Resource"][0])
        for declaracao in json.loads(politica or '{"Statement": []}')["Statement"]
    )


@pytest.mark.parametrize("nome", ["conta", "com_chave"])
def test_every_queue_topic_and_bucket_refuses_plain_http(
    conta: Estado, aplicados: dict[str, Estado], nome: str
) -> None:
    """Also the bucket of whole discarded records, which a deployment has by choice (com_chave makes it)."""
    estado = {"conta": conta, **aplicados}[nome]
    abertos = [
        endereco
        for endereco, fila in estado.do_tipo("aws_sqs_queue").items()
        if not _recusa_http(fila["policy"], f"arn:aws:sqs:sa-east-1:123456789012:{fila['name']}")
    ]
    for tipo in ("aws_sns_topic", "aws_s3_bucket"):
        politicas = {
            re.sub(r"\[0\]$", "", endereco).replace(f"{tipo}_policy", tipo): valores["policy"]
            for endereco, valores in estado.do_tipo(f"{tipo}_policy").items()
        }
        abertos += [
            endereco
            for endereco, valores in estado.do_tipo(tipo).items()
            if not _recusa_http(politicas.get(re.sub(r"\[0\]$", "", endereco)), valores["arn"])
        ]

    assert abertos == []
    assert len(estado.do_tipo("aws_sns_topic")) == 4
    assert ("module.painel.aws_s3_bucket.falhas[0]" in estado.recursos) == (nome == "com_chave")


def test_only_the_topics_alarms_publish_to_are_without_kms(conta: Estado) -> None:
    """CloudWatch cannot publish through the key AWS manages, a function's role can."""
    chaves = {t["name"]: t["kms_master_key_id"] for t in conta.do_tipo("aws_sns_topic").values()}

    assert chaves == {
        "cesta-saga-alertas": None,
        "ffv-lab-painel-operacao": None,
        "ffv-lab-fila-alertas": None,
        "ffv-lab-alerta-reposicao-estoque": "alias/aws/sns",
    }


def test_concurrency_is_taken_only_by_the_functions_named(ajustada: Estado) -> None:
    tomadas = {
        nome: f["reserved_concurrent_executions"]
        for nome, f in ajustada.funcoes().items()
        if (f["reserved_concurrent_executions"] or 0) > 0
    }

    assert tomadas == {"cesta-cobrar-pagamento": 7, "cesta-criar-pedido": 3, "ffv-lab-fila-pedido-sincrono": 15}


def test_throttling_reaches_the_public_apis(ajustada: Estado) -> None:
    limites = {
        endereco.split(".aws_")[0]: (rota["throttling_rate_limit"], rota["throttling_burst_limit"])
        for endereco, estagio in ajustada.do_tipo("aws_apigatewayv2_stage").items()
        for rota in estagio["default_route_settings"]
    }

    assert limites["module.api"] == limites["module.fila.module.api"] == (11, 22)


def test_a_token_is_asked_of_every_order_route(ajustada: Estado, estado: Estado) -> None:
    def rotas(de: Estado) -> dict[str, str]:
        todas = de.do_tipo("aws_apigatewayv2_route").values()
        return {
            r["route_key"]: r["authorization_type"]
            for r in todas
            if "/pedidos" in r["route_key"] and "painel" not in r["route_key"]
        }

    assert set(rotas(estado).values()) == {"NONE"}
    assert set(rotas(ajustada).values()) == {"JWT"}
    assert len(rotas(ajustada)) == 5
    emissores = {
        (c["issuer"], tuple(c["audience"]))
        for endereco, a in ajustada.do_tipo("aws_apigatewayv2_authorizer").items()
        if "painel" not in endereco
        for c in a["jwt_configuration"]
    }
    assert emissores == {("https://identidade.example.com", ("loja",))}


DESTINOS = {"plantao@example.com", "gerencia@example.com"}


def avisos_que_nao_chegam(estado: Estado) -> set[tuple[str, str]]:
    """(alarm, address) of every alarm that notifies no topic with that address subscribed."""
    assinados: dict[str, set[str]] = {}
    for assinatura in estado.do_tipo("aws_sns_topic_subscription").values():
        assinados.setdefault(assinatura["topic_arn"], set()).add(assinatura["endpoint"])
    return {
        (alarme["alarm_name"], destino)
        for alarme in estado.do_tipo("aws_cloudwatch_metric_alarm").values()
        for destino in DESTINOS - set().union(*(assinados.get(acao, set()) for acao in alarme["alarm_actions"] or []))
    }


def test_every_alarm_reaches_every_address(conta: Estado) -> None:
    assert len(conta.do_tipo("aws_cloudwatch_metric_alarm")) > 15
    assert avisos_que_nao_chegam(conta) == set()


def test_each_missing_subscription_is_caught(conta: Estado) -> None:
    assinaturas = conta.do_tipo("aws_sns_topic_subscription")
    de_alarmes = [e for e, a in assinaturas.items() if a["endpoint"] in DESTINOS]

    assert len(de_alarmes) == 6
    for endereco in de_alarmes:
        sem_uma = copy.deepcopy(conta.recursos)
        del sem_uma[endereco]
        assert avisos_que_nao_chegam(Estado(sem_uma, conta.saidas)), endereco


def test_stores_are_told_of_restocking_and_of_no_alarm(conta: Estado) -> None:
    assinaturas = conta.do_tipo("aws_sns_topic_subscription").values()

    assert [a["topic_arn"].split(":")[-1] for a in assinaturas if a["endpoint"] == "estoque@example.com"] == [
        "ffv-lab-alerta-reposicao-estoque"
    ]


def test_no_address_is_shown(conta: Estado) -> None:
    """Not in an output, which people's tools write to a file, nor in a resource's name, which a plan prints."""
    assert "@example.com" not in json.dumps(conta.saidas)
    assert "@" not in "".join(conta.recursos)


def test_nobody_is_subscribed_unasked(estado: Estado) -> None:
    assert estado.do_tipo("aws_sns_topic_subscription") == {}
