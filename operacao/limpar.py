"""``scripts/limpar.sh``: takes a deployment away and proves that nothing of it is left.

In this order: what people may still need (the human queue, every DLQ, the discarded records) goes to files, or nothing
else happens; Terraform destroys; the log groups that services make again by delivering late are deleted, each only once
what writes to it is gone; and the tags are asked until they answer nothing, as are the services the tag query does not
cover. Every step can be interrupted and repeated: the exit status is 0 only when nothing is left.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import yaml
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from engine import deploy
from engine.settings import ROOT, TARGETS, EngineError, EngineSettings, build_root, shown
from engine.terraform import Terraform
from operacao import filas
from operacao.alvos import INICIOS, baldes_de_falhas, nosso
from provas.erros import ErroDasProvas

PROJETOS = ("cesta", "ffv-lab", "ffv-lab-fila")
"""Every value of the tag ``Projeto`` in the configuration; a test compares."""
FILA_HUMANA = "cesta-compensacao-falhou"
DLQS = (
    "cesta-pedidos-criados-dlq",
    "cesta-baixar-reserva-dlq",
    "ffv-lab-consumidor-pedidos-dlq",
    "ffv-lab-fila-pedidos-dlq",
)
GRUPO_USUARIOS = "cadencia-painel"
MAQUINAS = ("cesta-saga-pedido", "cesta-compensacao-manual")
APIS = ("cesta-pedidos", "cesta-gateway-simulado", "cadencia-painel", "ffv-lab-fila-api")
"""These two are the names in the configuration; a test compares. The functions' are read from template.yaml."""
_LOGS_FUNCOES = "/aws/lambda/"
_LOGS_MAQUINAS = "/aws/vendedlogs/states/"
_LOGS_APIS = "/aws/vendedlogs/apis/"
_FILA_AUSENTE = ("QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue")


class LimparError(ErroDasProvas):
    """It cannot go on; the message is Portuguese and says what to do."""


@dataclass(frozen=True)
class Ritmo:
    """How long to look for what is left: seconds between looks and in all, and looks in a row that must find nothing.

    On AWS the tag query shows what was deleted for minutes, and a service delivers its last log lines a while after it
    is gone, making its log group again.
    """

    pausa_s: float
    prazo_s: float
    vazias: int


RITMOS = {"local": Ritmo(1, 15, 2), "localstack": Ritmo(2, 60, 2), "aws": Ritmo(15, 900, 4)}


class Conta:
    """The AWS clients of one target, made once each."""

    def __init__(self, regiao: str, endpoint: str | None) -> None:
        self.regiao = regiao
        self._endpoint = endpoint
        self._clientes: dict[str, Any] = {}

    def __getitem__(self, servico: str) -> Any:
        if servico not in self._clientes:
            chaves = {"aws_access_key_id": "test", "aws_secret_access_key": "test"} if self._endpoint else {}
            sessao: Any = boto3  # its stubs know each service by a literal, not by a variable
            self._clientes[servico] = sessao.client(
                servico,
                region_name=self.regiao,
                endpoint_url=self._endpoint,
                config=Config(retries={"max_attempts": 5, "mode": "standard"}),
                **chaves,
            )
        return self._clientes[servico]

    def paginas(self, servico: str, operacao: str, chave: str, **argumentos: Any) -> Iterator[Any]:
        """Every item of every page; none where an engine does not have the service."""
        try:
            for pagina in self[servico].get_paginator(operacao).paginate(**argumentos):
                yield from pagina.get(chave, [])
        except ClientError as erro:
            if not self._endpoint or erro.response["ResponseMetadata"]["HTTPStatusCode"] != 501:
                raise


# --- what people may still need ---------------------------------------------------------------------------------------


def exportar(conta: Conta, pasta: Path, dormir: Callable[[float], None] = time.sleep) -> dict[str, int]:
    """Write every waiting message, and every discarded record kept in S3, under ``pasta``; how many of each source.

    A queue that is gone has nothing to give. Nothing is consumed.

    Raises
    ------
    LimparError
        A queue holds messages that could not be read.
    """
    quantas = {}
    for fila in (FILA_HUMANA, *DLQS):
        try:
            url = conta["sqs"].get_queue_url(QueueName=fila)["QueueUrl"]
        except ClientError as erro:
            if erro.response["Error"]["Code"] not in _FILA_AUSENTE:
                raise
            continue
        quantas[fila] = _exportar_fila(conta["sqs"], url, pasta / f"{fila}.jsonl", dormir)
    for balde in baldes_de_falhas(conta["s3"], conta.regiao):
        objetos = list(conta.paginas("s3", "list_objects_v2", "Contents", Bucket=balde))
        for n, objeto in enumerate(objetos):
            arquivo = pasta / balde / f"{n:05}-{objeto['Key'].rsplit('/', 1)[-1]}"
            arquivo.parent.mkdir(parents=True, exist_ok=True)
            conta["s3"].download_file(balde, objeto["Key"], str(arquivo))
        quantas[balde] = len(objetos)
    return quantas


def _exportar_fila(sqs: Any, url: str, arquivo: Path, dormir: Callable[[float], None]) -> int:
    # The counts are approximate, and what somebody else holds comes back by itself: look again before giving up.
    for tentativa in range(3):
        if tentativa:
            dormir(20)
        lidas = filas.exportar(sqs, url, arquivo)
        if not lidas:
            arquivo.unlink()
        faltam = filas.quantas(sqs, url) - lidas
        if faltam <= 0:
            return lidas
        if lidas >= filas.LIMITE_EM_VOO:
            raise LimparError(
                f"{filas.nome(url)} tem mais mensagens do que o SQS deixa ler de uma vez: {lidas} estão em "
                f"{shown(arquivo)}, faltam {faltam}. Nada foi destruído. Devolva ou descarte parte delas e repita."
            )
    raise LimparError(
        f"{faltam} mensagem(ns) de {filas.nome(url)} não puderam ser lidas: alguém está com elas. Nada foi "
        "destruído. Feche o que lê a fila, espere 2 minutos e repita."
    )


# --- what would stop Terraform ----------------------------------------------------------------------------------------


def desproteger(conta: Conta) -> None:
    """Empty the bucket of discarded records and lift the user pool's protection: in producao both stop a destroy."""
    for balde in baldes_de_falhas(conta["s3"], conta.regiao):
        for objeto in conta.paginas("s3", "list_objects_v2", "Contents", Bucket=balde):
            conta["s3"].delete_object(Bucket=balde, Key=objeto["Key"])
    for grupo in conta.paginas("cognito-idp", "list_user_pools", "UserPools", MaxResults=60):
        if grupo["Name"] == GRUPO_USUARIOS:
            conta["cognito-idp"].update_user_pool(UserPoolId=grupo["Id"], DeletionProtection="INACTIVE")


# --- what is left -----------------------------------------------------------------------------------------------------


def grupos_de_log() -> set[str]:
    """Names of every log group of the system. No other is ever deleted, however its name begins."""
    recursos = yaml.safe_load((ROOT / "template.yaml").read_text())["Resources"].values()
    return {
        *(_LOGS_FUNCOES + recurso["Properties"]["FunctionName"] for recurso in recursos),
        *(_LOGS_MAQUINAS + nome for nome in MAQUINAS),
        *(_LOGS_APIS + nome for nome in APIS),
    }


def _grupos_existentes(conta: Conta) -> list[str]:
    nossos = grupos_de_log()
    return [
        grupo["logGroupName"]
        for pasta in (_LOGS_FUNCOES, _LOGS_MAQUINAS, _LOGS_APIS)
        for inicio in INICIOS  # an account may have thousands of others', and this is asked again and again
        for grupo in conta.paginas("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=f"{pasta}{inicio}")
        if grupo["logGroupName"] in nossos
    ]


def logs_mortos_e_vivos(conta: Conta) -> tuple[list[str], list[str]]:
    """The system's log groups that exist: those that nothing writes to any more, and those whose writer exists."""
    existentes = _grupos_existentes(conta)
    escrevem = {
        *(_LOGS_FUNCOES + f["FunctionName"] for f in conta.paginas("lambda", "list_functions", "Functions")),
        *(_LOGS_MAQUINAS + m["name"] for m in conta.paginas("stepfunctions", "list_state_machines", "stateMachines")),
        *(_LOGS_APIS + a["Name"] for a in conta.paginas("apigatewayv2", "get_apis", "Items")),
    }
    return [g for g in existentes if g not in escrevem], [g for g in existentes if g in escrevem]


def apagar_logs(conta: Conta) -> list[str]:
    """Delete the system's log groups that nothing writes to any more; their names.

    Terraform made them, or a service made them again by delivering late.
    """
    grupos, _ = logs_mortos_e_vivos(conta)
    for grupo in grupos:
        try:
            conta["logs"].delete_log_group(logGroupName=grupo)
        except conta["logs"].exceptions.ResourceNotFoundException:
            continue
    return grupos


def _por_etiqueta(conta: Conta) -> Iterator[str]:
    filtro = [{"Key": "Projeto", "Values": list(PROJETOS)}]
    for recurso in conta.paginas(
        "resourcegroupstaggingapi", "get_resources", "ResourceTagMappingList", TagFilters=filtro
    ):
        yield recurso["ResourceARN"]


def _por_servico(conta: Conta) -> Iterator[str]:
    """What the tag query may not know, by name, from each service itself."""
    yield from _grupos_existentes(conta)
    nomes = {
        "papel": [r["RoleName"] for r in conta.paginas("iam", "list_roles", "Roles")],
        "alarme": [a["AlarmName"] for a in conta.paginas("cloudwatch", "describe_alarms", "MetricAlarms")],
        "quadro": [q["DashboardName"] for q in conta.paginas("cloudwatch", "list_dashboards", "DashboardEntries")],
        "máquina": [m["name"] for m in conta.paginas("stepfunctions", "list_state_machines", "stateMachines")],
        "API": [a["Name"] for a in conta.paginas("apigatewayv2", "get_apis", "Items")],
        "mapeamento": [
            m["FunctionArn"].split(":")[6]
            for m in conta.paginas("lambda", "list_event_source_mappings", "EventSourceMappings")
        ],
        "agenda": [a["Name"] for a in conta.paginas("scheduler", "list_schedules", "Schedules")],
    }
    yield from (f"{tipo} {nome}" for tipo, achados in nomes.items() for nome in achados if nosso(nome))
    filtro = [{"Key": "Name", "Option": "BeginsWith", "Values": ["/cesta/"]}]
    for parametro in conta.paginas("ssm", "describe_parameters", "Parameters", ParameterFilters=filtro):
        yield f"parâmetro {parametro['Name']}"


def sobras(conta: Conta, manter: Sequence[str] = ()) -> list[str]:
    """What is left of the system: ARNs from the tag query, then kind and name from the services it does not cover."""
    return [
        recurso for recurso in dict.fromkeys([*_por_etiqueta(conta), *_por_servico(conta)]) if recurso not in manter
    ]


def esperar_nada(
    conta: Conta, ritmo: Ritmo, manter: Sequence[str] = (), dormir: Callable[[float], None] = time.sleep
) -> list[str]:
    """Delete late log groups and look until nothing is found ``ritmo.vazias`` times in a row; what is left."""
    vazias = 0
    for _ in range(max(ritmo.vazias, int(ritmo.prazo_s / ritmo.pausa_s))):
        apagados = apagar_logs(conta)
        for grupo in apagados:
            print(f"  grupo de log apagado: {grupo}")
        resto = sobras(conta, manter)
        vazias = 0 if resto or apagados else vazias + 1
        if vazias == ritmo.vazias:
            break
        dormir(ritmo.pausa_s)
    return resto


# --- command ----------------------------------------------------------------------------------------------------------


def limpar(alvo: str, settings: EngineSettings, manter: Sequence[str] = ()) -> list[str]:
    """Export, destroy and look; what is left.

    Raises
    ------
    LimparError
        Not everything could be exported, or the state is empty and the system is there: it is not this state's.
        Nothing was destroyed.
    EngineError
        The target is out of reach, the account owner did not confirm, or Terraform failed.
    """
    deploy.require_reachable(alvo, settings)
    terraform = Terraform(alvo, settings)
    conta = Conta(terraform.region, None if alvo == "aws" else settings.endpoint_of(alvo))
    if not terraform.backend.file:
        terraform.init()
    implantado = terraform.deployed()
    if not implantado:
        print(f"o Terraform não conhece nada em {alvo}")
        _conferir_estado_vazio(alvo, conta)
    pasta = build_root() / "export" / alvo / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    quantas = exportar(conta, pasta)
    print(
        f"exportado: {', '.join(f'{n} de {fonte}' for fonte, n in quantas.items()) or 'nada, as filas já não existem'}"
    )
    if any(quantas.values()):
        print(f"  em {shown(pasta)}: guarde fora desta máquina")
    if implantado:
        deploy.destroy(alvo, settings, before=lambda: desproteger(conta))
    return esperar_nada(conta, RITMOS[alvo], manter)


def _conferir_estado_vazio(alvo: str, conta: Conta) -> None:
    mortos, vivos = logs_mortos_e_vivos(conta)
    if vivos:
        raise LimparError(
            f"o estado está vazio, mas o sistema existe em {alvo}: {len(vivos)} grupo(s) de log em uso foram deixados "
            f"({', '.join(vivos[:3])}{', …' if len(vivos) > 3 else ''}). Nada foi apagado. Repita com o AMBIENTE e o "
            "estado (backend ou ESTADO_LOCAL=sim) de quem implantou; se esse estado se perdeu, apague à mão as "
            "funções, máquinas e APIs desses grupos e repita."
        )
    if alvo == "aws":
        for grupo in mortos:
            print(f"  grupo de log sem dono: {grupo}")
        deploy.confirm(f"Apagar na conta AWS, em {conta.regiao}, os grupos de log do sistema que já não têm dono?")


def principal(argumentos: Sequence[str] | None = None) -> int:
    """0 when the tag query is empty at the end, 1 when something is left or it could not go on."""
    p = argparse.ArgumentParser(
        prog="scripts/limpar.sh",
        description="Exporta a fila humana e as DLQs, destrói tudo e confere pelas etiquetas que nada restou.",
    )
    p.add_argument("--alvo", default=os.environ.get("ALVO") or "local", choices=TARGETS, help="padrão: %(default)s")
    p.add_argument("--manter", action="append", default=[], metavar="ARN", help="existia antes e não conta como sobra")
    lidos = p.parse_args(argumentos)
    try:
        resto = limpar(lidos.alvo, EngineSettings.from_env(), lidos.manter)
    except (EngineError, ErroDasProvas) as erro:
        print(f"erro: {erro}", file=sys.stderr)
        return 1
    except (ClientError, BotoCoreError) as erro:
        print(f"erro: a AWS não respondeu bem ({erro}); repita o comando.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrompido; repita o comando para terminar.", file=sys.stderr)
        return 130
    if resto:
        print(f"ainda há {len(resto)} recurso(s):", *(f"  {recurso}" for recurso in resto), sep="\n", file=sys.stderr)
        if not grupos_de_log().isdisjoint(resto):
            print(
                "os grupos de log têm quem escreva neles, a função, máquina ou API de mesmo nome: apague-a e repita.",
                file=sys.stderr,
            )
        return 1
    print(f"{lidos.alvo}: nada restou; nenhum recurso com Projeto = {', '.join(PROJETOS)}")
    return 0


if __name__ == "__main__":
    sys.exit(principal())
