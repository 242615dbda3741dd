"""chave_kms reaches everything that takes a key: the provider's own schema says what does, so nothing is forgotten."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from .conftest import Estado

CHAVE = "arn:aws:kms:sa-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
CHAVE_ALERTAS = CHAVE.replace("11111111", "99999999")
OUTRA_CHAVE = CHAVE.replace("11111111", "22222222")
CHAVES = ("kms_key_id", "kms_key_arn", "kms_master_key", "source_kms")
VIA = "sa-east-1.amazonaws.com"

SSE = "server_side_encryption_configuration.rule.apply_server_side_encryption_by_default.kms_master_key_id"

# Arguments that take a key and are left out, each with its reason.
SEM_CHAVE = {
    "aws_cognito_user_pool.lambda_config.kms_key_id": "for triggers that send codes: the pool has none",
    "aws_dynamodb_table.replica.kms_key_arn": "there are no replicas",
    "aws_lambda_event_source_mapping.kms_key_arn": "encrypts the filter, which names an event and no data",
    f"aws_s3_bucket.{SSE}": "the deprecated twin of aws_s3_bucket_server_side_encryption_configuration",
    "aws_s3_object.kms_key_id": "the bucket's default encryption decides",
}


def _argumentos(bloco: dict[str, Any], caminho: str) -> Iterator[str]:
    """Paths of the arguments of a schema block that name a KMS key."""
    for nome, atributo in bloco.get("attributes", {}).items():
        chave = nome.startswith(CHAVES) or (caminho == "aws_ssm_parameter" and nome == "key_id")
        if chave and (atributo.get("optional") or atributo.get("required")):
            yield f"{caminho}.{nome}"
    for nome, filho in bloco.get("block_types", {}).items():
        yield from _argumentos(filho["block"], f"{caminho}.{nome}")


def _valores(de: Any, caminho: list[str]) -> Iterator[Any]:
    """What a resource has at a path, in every block of it; None where the block is absent."""
    if not caminho:
        yield de
    elif isinstance(de, list):
        for item in de:
            yield from _valores(item, caminho)
        if not de:
            yield None
    else:
        yield from _valores((de or {}).get(caminho[0]), caminho[1:])


@pytest.fixture(scope="module")
def argumentos(esquemas: dict[str, Any], cifrado: Estado) -> dict[str, list[str]]:
    """Arguments that name a key, by type of resource that is deployed."""
    tipos = {next(p for p in endereco.split(".") if p.startswith("aws_")) for endereco in cifrado.recursos}
    return {tipo: achados for tipo in sorted(tipos) if (achados := list(_argumentos(esquemas[tipo], tipo)))}


@pytest.fixture(scope="module")
def cifrado(aplicados: dict[str, Estado]) -> Estado:
    return aplicados["com_chave"]


def sem_a_chave(estado: Estado, argumentos: dict[str, list[str]], chave: str | None) -> list[str]:
    """Arguments of deployed resources that should have the key and do not."""
    return [
        f"{endereco}: {caminho}"
        for tipo, caminhos in argumentos.items()
        for endereco, recurso in estado.do_tipo(tipo).items()
        for caminho in caminhos
        if caminho not in SEM_CHAVE
        for valor in _valores(recurso, caminho.split(".")[1:])
        if valor != chave
    ]


def test_the_key_reaches_everything_that_takes_one(cifrado: Estado, argumentos: dict[str, list[str]]) -> None:
    assert len(argumentos) >= 9
    assert sem_a_chave(cifrado, argumentos, CHAVE) == []


def test_every_exception_is_about_something_deployed(argumentos: dict[str, list[str]]) -> None:
    assert set(SEM_CHAVE) <= {caminho for caminhos in argumentos.values() for caminho in caminhos}


def test_a_resource_without_the_key_is_caught(cifrado: Estado, argumentos: dict[str, list[str]]) -> None:
    faltando = sem_a_chave(cifrado, argumentos, "outra")
    tipos = {next(p for p in achado.split(".") if p.startswith("aws_")).split("[")[0] for achado in faltando}
    assert tipos >= {
        "aws_cloudwatch_log_group", "aws_dynamodb_table", "aws_lambda_function", "aws_scheduler_schedule",
        "aws_sfn_state_machine", "aws_sns_topic", "aws_sqs_queue", "aws_ssm_parameter",
        "aws_s3_bucket_server_side_encryption_configuration",
    }  # fmt: skip


def _usos(estado: Estado, papel: str, chave: str = CHAVE) -> set[tuple[str, str]]:
    """(KMS action, service it is allowed through) of a role on a key; "" for a condition of another kind."""
    return {
        (acao, via.removesuffix(f".{VIA}"))
        for declaracao in estado.politicas()[papel]
        if chave in declaracao["Resource"]
        for acao in declaracao["Action"]
        if acao.startswith("kms:")
        for via in declaracao["Condition"].get("StringEquals", {}).get("kms:ViaService", [""])
    }


# What each kind of action needs from the key of what it touches.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
# https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
ENVIAM = ("sqs:SendMessage", "sns:Publish", "s3:PutObject")


def test_each_role_may_use_the_key_for_what_it_touches_and_no_more(cifrado: Estado) -> None:
    for nome in cifrado.funcoes():
        acoes = {a for d in cifrado.politicas()[f"{nome}-role"] for a in d["Action"]}
        servicos = {a.split(":")[0] for a in acoes} & {"dynamodb", "s3", "sns", "sqs", "ssm", "states"}
        esperado = {("kms:Decrypt", s) for s in servicos | {"lambda"}}
        esperado |= {("kms:GenerateDataKey", a.split(":")[0]) for a in acoes if a in ENVIAM}

        assert _usos(cifrado, f"{nome}-role") == esperado, nome


def test_the_machines_may_use_the_key(cifrado: Estado) -> None:
    assert _usos(cifrado, "cesta-saga-pedido-role") == {
        ("kms:Decrypt", ""), ("kms:GenerateDataKey", ""),
        ("kms:Decrypt", "dynamodb"), ("kms:Decrypt", "sqs"),
        ("kms:GenerateDataKey", "dynamodb"), ("kms:GenerateDataKey", "sqs"),
    }  # fmt: skip
    assert _usos(cifrado, "cesta-compensacao-manual-role") == {
        ("kms:Decrypt", ""), ("kms:GenerateDataKey", ""), ("kms:Decrypt", "dynamodb"),
    }  # fmt: skip
    for nome in ("cesta-saga-pedido", "cesta-compensacao-manual"):
        contextos = [
            d["Condition"]["StringEquals"]["kms:EncryptionContext:aws:states:stateMachineArn"]
            for d in cifrado.politicas()[f"{nome}-role"]
            if d["Sid"] == "CifrarExecucoes"
        ]
        assert contextos == [[f"arn:aws:states:sa-east-1:123456789012:stateMachine:{nome}"]]


def test_every_statement_about_the_key_names_it_and_has_a_condition(cifrado: Estado) -> None:
    for papel, declaracoes in cifrado.politicas().items():
        for declaracao in declaracoes:
            if any(acao.startswith("kms:") for acao in declaracao["Action"]):
                assert declaracao["Resource"] == [CHAVE], papel
                assert declaracao["Condition"], papel


def test_without_a_key_no_role_may_use_one(estado: Estado) -> None:
    assert [papel for papel, ds in estado.politicas().items() if "kms:" in json.dumps(ds)] == []


def test_a_key_of_its_own_for_alerts_is_allowed_to_who_alerts(aplicados: dict[str, Estado]) -> None:
    estado = aplicados["com_duas_chaves"]

    topicos = {t["name"]: t["kms_master_key_id"] for t in estado.do_tipo("aws_sns_topic").values()}
    assert topicos == {
        "cesta-saga-alertas": CHAVE_ALERTAS,
        "ffv-lab-painel-operacao": CHAVE_ALERTAS,
        "ffv-lab-fila-alertas": CHAVE_ALERTAS,
        "ffv-lab-alerta-reposicao-estoque": CHAVE,
    }
    [uso] = [d for d in estado.politicas()["ffv-lab-reconciliar-painel-role"] if d["Resource"] == [CHAVE_ALERTAS]]
    assert uso["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert uso["Condition"] == {"StringEquals": {"kms:ViaService": [f"sns.{VIA}"]}}


def test_an_earlier_key_is_read_with_wherever_the_key_is_and_written_with_by_no_one(
    aplicados: dict[str, Estado],
) -> None:
    """But by the machines: an execution that started under it goes on writing its history with it."""
    estado, maquinas = aplicados["com_outra_chave"], {"cesta-saga-pedido-role", "cesta-compensacao-manual-role"}

    lidos = {
        papel: {u for u in _usos(estado, papel, OUTRA_CHAVE) if u[0] == "kms:Decrypt"} for papel in estado.politicas()
    }
    anteriores = {papel: _usos(estado, papel, CHAVE) for papel in estado.politicas()}
    assert {p: u for p, u in anteriores.items() if p not in maquinas} == {
        p: u for p, u in lidos.items() if p not in maquinas
    }
    assert {p: u - lidos[p] for p, u in anteriores.items() if p in maquinas} == {
        papel: {("kms:GenerateDataKey", "")} for papel in maquinas
    }
    assert sum(bool(usos) for usos in anteriores.values()) == len(estado.politicas())


def test_a_key_that_is_taken_away_is_left_by_everything(
    aplicados: dict[str, Estado], argumentos: dict[str, list[str]]
) -> None:
    """Each with a value of its own: an argument left out keeps the key it had, which the roles may no longer use."""
    estado = aplicados["chave_retirada"]
    presas = [
        f"{endereco}: {caminho}"
        for tipo, caminhos in argumentos.items()
        for endereco, recurso in estado.do_tipo(tipo).items()
        for caminho in caminhos
        if caminho != "aws_dynamodb_table.server_side_encryption.kms_key_arn"  # computed; enabled decides
        for valor in _valores(recurso, caminho.split(".")[1:])
        if str(valor).startswith("arn:aws:kms:")
    ]
    assert presas == []
    for tipo, caminho, padrao in (
        ("aws_dynamodb_table", "server_side_encryption.enabled", False),
        ("aws_sfn_state_machine", "encryption_configuration.type", "AWS_OWNED_KEY"),
        ("aws_sqs_queue", "sqs_managed_sse_enabled", True),
        ("aws_ssm_parameter", "key_id", "alias/aws/ssm"),
    ):
        ditos = {e: list(_valores(r, caminho.split("."))) for e, r in estado.do_tipo(tipo).items()}
        assert ditos == {endereco: [padrao] for endereco in ditos} != {}, tipo


def test_without_a_key_nothing_is_left_unsaid(estado: Estado) -> None:
    """The first apply says the same as the removal: a second one has nothing to change."""
    for tipo, caminho, padrao in (
        ("aws_dynamodb_table", "server_side_encryption.enabled", False),
        ("aws_sfn_state_machine", "encryption_configuration.type", "AWS_OWNED_KEY"),
    ):
        assert {v for r in estado.do_tipo(tipo).values() for v in _valores(r, caminho.split("."))} == {padrao}


def test_what_was_left_under_a_key_that_is_gone_is_still_read(aplicados: dict[str, Estado]) -> None:
    estado, outra = aplicados["chave_retirada"], aplicados["com_outra_chave"]

    for papel in estado.politicas():
        assert {u for u in _usos(estado, papel, OUTRA_CHAVE) if u[0] == "kms:Decrypt"} == {
            u for u in _usos(outra, papel, OUTRA_CHAVE) if u[0] == "kms:Decrypt"
        }, papel
        assert _usos(estado, papel, CHAVE) == set()


def test_a_write_only_value_is_written_again_under_each_key(aplicados: dict[str, Estado]) -> None:
    """The provider sends it with another version only; with another key alone it would send an empty value."""
    versoes = {
        (parametro["key_id"], parametro["value_wo_version"])
        for nome in ("aplicar", "com_chave", "com_outra_chave", "chave_retirada")
        for parametro in aplicados[nome].do_tipo("aws_ssm_parameter").values()
    }
    assert ("alias/aws/ssm", 1) in versoes
    assert len({versao for _, versao in versoes}) == len(versoes) == 3
