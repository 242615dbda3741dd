"""``make varredura``: looks for card numbers, and for card tokens outside execution data, in everything a target keeps.

Searched: every log event of every log group, every message waiting in the queues that people read, the input, output
and history of every execution of every state machine, every metric's name and dimensions, every object in the bucket of
discarded records, and every item of every table but the gateway stand-in's own (which plays the gateway, whose business
the token is). A number counts when the API's door would refuse it (``comum.cartao``) and it begins as cards do, unless
it is part of a longer thing of known shape: an id, a digest, a time, or a sequence number where its name says so.

The queues that functions consume are not received from, because each receive brings a message closer to its DLQ; the
report names them.

The token may be where the specification puts it, and nowhere else: the saga's input and history, the log of its state
machine (``include_execution_data``), and the DLQ of the queue that carries an order to it.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from operacao import filas
from operacao.alvos import INICIOS, alvo_em_operacao, baldes_de_falhas, nosso
from provas.alvo import RAIZ, Alvo
from provas.erros import ErroDasProvas

if str(RAIZ / "lambdas") not in sys.path:
    sys.path.append(str(RAIZ / "lambdas"))

from comum.cartao import numeros

# The shape every card token has at the API's door (comum.contrato), as a word of its own.
_TOKEN = re.compile(r"(?<![\w-])tok-[a-z0-9][a-z0-9-]{0,59}(?![\w-])")
# JSON's and Python's way to write a line break, a tab or any other character, escaped again or not.
_ESCAPE = re.compile(r"\\+(?:[nrtfvb]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
# More long numbers that are none of a card, by all of their shape or by their name: never by their length alone.
_CONHECIDO = re.compile(
    "|".join(
        (
            # ULID, and a span's id, with a letter at least
            r"(?<![0-9A-Za-z])(?=\d*[A-Z])[0-7][0-9A-HJKMNP-TV-Z]{25}(?![0-9A-Za-z])",
            r"(?<![0-9A-Za-z])(?=\d*[a-f])[0-9a-f]{16}(?![0-9A-Za-z])",
            # date, milliseconds since 1970 (2020 to 2033), and a number with seven decimal places or more
            r"(?<!\d)20\d\d-[01]\d-[0-3]\d(?!\d)",
            r"(?<!\d)1[6-9]\d{11}(?!\d)",
            r"(?<![\w.])\d{1,10}\.\d{7,}(?![\d.])",
            # a stream's sequence numbers (21 to 40 digits) where their names say so, and its shards
            r"(?:[Ss]equence_?[Nn]umber|itemIdentifier|sequencia|primeira|ultima|falhas)"
            r"\W+(?:[SN]\W+)?\d{21,40}(?:\W{1,9}\d{21,40})*(?!\d)",
            r"#\d{21,40}(?!\d)",
            r"shardId-\d{20}-[0-9a-f]{8}",
        )
    )
)


@dataclass(frozen=True)
class Trecho:
    """One text that was kept: where (kind and name), the text, and whether a card token may be in it."""

    fonte: str
    nome: str
    texto: str
    token_permitido: bool = False


@dataclass(frozen=True)
class Achado:
    """A finding. ``mascarado`` never repeats the number or the token: the report must not be one more leak."""

    fonte: str
    nome: str
    tipo: str
    mascarado: str


def examinar(trecho: Trecho) -> Iterator[Achado]:
    """Findings in one text."""
    texto = _ESCAPE.sub(" ", trecho.texto)
    for achados in numeros(_CONHECIDO.sub("·", texto)):
        numero = next(achados, None)
        if numero is not None:
            yield Achado(trecho.fonte, trecho.nome, "número de cartão", f"{numero[:2]}…{numero[-2:]}")
    if not trecho.token_permitido:
        for achado in _TOKEN.finditer(texto):
            yield Achado(trecho.fonte, trecho.nome, "token de cartão", f"{achado[0][:7]}…")


def _paginas(cliente: Any, operacao: str, chave: str, **argumentos: Any) -> Iterator[Any]:
    for pagina in cliente.get_paginator(operacao).paginate(**argumentos):
        yield from pagina.get(chave, [])


def _logs(alvo: Alvo) -> Iterator[Trecho]:
    logs = alvo.cliente("logs")
    for grupo in _paginas(logs, "describe_log_groups", "logGroups"):
        nome = grupo["logGroupName"]
        if not any(parte in nome for parte in ("cesta", "ffv-lab", "cadencia")):
            continue  # an account has other systems
        permitido = nome == alvo.saidas.get("grupo_log_maquina")
        for evento in _paginas(logs, "filter_log_events", "events", logGroupName=nome):
            yield Trecho("log", nome, evento["message"], permitido)


def _filas(alvo: Alvo) -> Iterator[tuple[str, bool]]:
    """The URL of every queue, and whether functions consume it: those, and only those, send what fails to a DLQ."""
    sqs = alvo.cliente("sqs")
    for inicio in INICIOS:
        for url in _paginas(sqs, "list_queues", "QueueUrls", QueueNamePrefix=inicio):
            lidos = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])
            yield url, bool(lidos.get("Attributes", {}).get("RedrivePolicy"))


def _mensagens(alvo: Alvo) -> Iterator[Trecho]:
    sqs = alvo.cliente("sqs")

    def ler(url: str) -> list[dict[str, Any]]:
        with filas.segurar(sqs, url) as seguradas:
            return seguradas.mensagens

    urls = [url for url, consumida in _filas(alvo) if not consumida]
    with ThreadPoolExecutor() as juntas:  # each waits to be sure that its queue has no more
        lidas = list(juntas.map(ler, urls))
    for url, mensagens in zip(urls, lidas, strict=True):
        nome = filas.nome(url)
        if len(mensagens) >= filas.LIMITE_MENSAGENS:
            raise ErroDasProvas(f"A fila {nome} tem mensagens demais para uma varredura; esvazie-a antes.")
        for m in mensagens:
            yield Trecho("mensagem", nome, m["Body"], url == alvo.saidas.get("url_fila_pedidos_criados_dlq"))
            atributos = " ".join(str(a.get("StringValue", "")) for a in m.get("MessageAttributes", {}).values())
            yield Trecho("mensagem", nome, atributos)


def _execucoes(alvo: Alvo) -> Iterator[Trecho]:
    for maquina in _paginas(alvo.cliente("stepfunctions"), "list_state_machines", "stateMachines"):
        if nosso(maquina["name"]):
            arn = maquina["stateMachineArn"]
            yield from _execucoes_da_maquina(alvo, arn, arn == alvo.saida("arn_maquina_saga"))


def _execucoes_da_maquina(alvo: Alvo, maquina: str, leva_token: bool) -> Iterator[Trecho]:
    states = alvo.cliente("stepfunctions")
    for execucao in _paginas(states, "list_executions", "executions", stateMachineArn=maquina):
        arn, nome = execucao["executionArn"], f"{maquina.rpartition(':')[2]}/{execucao['name']}"
        lida = states.describe_execution(executionArn=arn)
        for campo in ("input", "output", "error", "cause"):
            yield Trecho(
                f"execução ({campo})", nome, lida.get(campo) or "", leva_token and campo in ("input", "output")
            )
        for evento in _paginas(states, "get_execution_history", "events", executionArn=arn):
            yield Trecho("execução (histórico)", nome, str(evento), leva_token)


def _metricas(alvo: Alvo) -> Iterator[Trecho]:
    for metrica in _paginas(alvo.cliente("cloudwatch"), "list_metrics", "Metrics"):
        dimensoes = " ".join(f"{d['Name']}={d['Value']}" for d in metrica.get("Dimensions", []))
        yield Trecho("métrica", metrica["MetricName"], f"{metrica['Namespace']} {metrica['MetricName']} {dimensoes}")


def _itens(alvo: Alvo) -> Iterator[Trecho]:
    ddb = alvo.cliente("dynamodb")
    for tabela in _paginas(ddb, "list_tables", "TableNames"):
        if tabela == "cesta-gateway-simulado" or not re.match(r"cesta-|ffv-lab-|pedidos_cadencia|painel_", tabela):
            continue
        for item in _paginas(ddb, "scan", "Items", TableName=tabela):
            yield Trecho("tabela", tabela, str(item))


def _objetos(alvo: Alvo) -> Iterator[Trecho]:
    s3 = alvo.cliente("s3")
    for balde in baldes_de_falhas(s3, alvo.regiao):
        for objeto in _paginas(s3, "list_objects_v2", "Contents", Bucket=balde):
            corpo = s3.get_object(Bucket=balde, Key=objeto["Key"])["Body"].read()
            yield Trecho("objeto", f"{balde}/{objeto['Key']}", corpo.decode(errors="replace"))


FONTES = {
    "logs": _logs,
    "mensagens": _mensagens,
    "execuções": _execucoes,
    "métricas": _metricas,
    "tabelas": _itens,
    "objetos": _objetos,
}


def varrer(alvo: Alvo) -> tuple[dict[str, int], list[Achado]]:
    """Search everything; how many texts each kind of source had, and what was found."""
    contagem: dict[str, int] = {}
    achados: list[Achado] = []
    for fonte, ler in FONTES.items():
        contagem[fonte] = 0
        for trecho in ler(alvo):
            contagem[fonte] += 1
            achados += examinar(trecho)
    return contagem, list(dict.fromkeys(achados))


def principal(argumentos: Sequence[str] | None = None) -> int:
    """0 when nothing was found, 1 on a finding, 2 when there was nothing to search or it could not be read."""
    analisador = argparse.ArgumentParser(
        prog="make varredura", description="Procura números e tokens de cartão em tudo o que o alvo guarda."
    )
    analisador.add_argument("--alvo", default=os.environ.get("ALVO") or "local")
    lidos = analisador.parse_args(argumentos)
    try:
        alvo = alvo_em_operacao(lidos.alvo)
        contagem, achados = varrer(alvo)
        puladas = [filas.nome(url) for url, consumida in _filas(alvo) if consumida]
    except ErroDasProvas as erro:
        print(f"erro: {erro}", file=sys.stderr)
        return 2
    except (ClientError, BotoCoreError) as erro:
        print(
            f"erro: {alvo.nome} não deixou ler tudo ({erro}), e o que não foi lido não foi conferido. Confira a rede, "
            "as credenciais e as permissões de leitura, e repita.",
            file=sys.stderr,
        )
        return 2
    print("varridos: " + ", ".join(f"{n} {fonte}" for fonte, n in contagem.items()))
    if puladas:
        print(f"não lidas, porque receber aproximaria as mensagens da DLQ: {', '.join(puladas)}")
    vazias = [fonte for fonte in ("logs", "execuções") if not contagem[fonte]]
    if vazias:
        print(f"erro: sem {' nem '.join(vazias)}: rode as provas antes, senão nada foi conferido.", file=sys.stderr)
        return 2
    for achado in achados:
        print(f"  ACHADO {achado.tipo} {achado.mascarado} em {achado.fonte} {achado.nome}")
    print(f"{len(achados)} achado(s)" if achados else "nenhum número de cartão; tokens só onde a especificação os põe")
    return 1 if achados else 0


if __name__ == "__main__":
    sys.exit(principal())
