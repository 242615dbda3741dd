"""What one order costs in counts that no machine changes, by the real handlers and the real state machine.

    python -m tests.medidas.contagens            # prints them
    python -m tests.medidas.contagens --gravar   # writes medidas/contagens.json

Always a process of its own: what a function logs depends on how its logger was made. The gateway answers at once and
logs nothing. The functions' SQS and stream batches are of one record, the dearest case.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stdout
from typing import Any
from unittest import mock

# Read when the logger is made, which the imports below do.
os.environ.update(LOG_LEVEL="INFO", POWERTOOLS_SERVICE_NAME="cesta", POWERTOOLS_METRICS_NAMESPACE="Cesta")

from comum.observabilidade import logger
from comum.processo import esquecer
from engine.build import BuildPlan
from engine.settings import ROOT
from medidas.pacote import pacote
from tests.asl.bench import CALL_LIMIT_S, Bench, Context, Handler, Outcome, tasks
from tests.asl.gateway_http import event, served
from tests.asl.worlds import World, deployed_handler, lab_world, real_world
from tests.medidas.capacidade import Meter, deployed_indexes
from tests.medidas.dynamodb_local import criar_tabela
from tests.medidas.estoque import tamanho

ARQUIVO = ROOT / "medidas" / "contagens.json"
# An order that ends well, one whose card is refused, and one charged and then undone: the longest of the usual ways.
CAMINHOS: Mapping[str, Mapping[str, Any]] = {
    "feliz": {},
    "recusado": {"cartaoToken": "tok-forcar-recusa"},
    "compensado": {"forcarFalhaConfirmar": True},
}
SEM_EXECUTAR = {"StartAt": "Fim", "States": {"Fim": {"Type": "Succeed"}}}
# What Lambda itself writes about each invocation (START, END and REPORT lines), in bytes; read from a function's log:
# https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs.html
LINHAS_DA_PLATAFORMA = (
    "START RequestId: 00000000-0000-0000-0000-000000000000 Version: $LATEST\n"
    "END RequestId: 00000000-0000-0000-0000-000000000000\n"
    "REPORT RequestId: 00000000-0000-0000-0000-000000000000\tDuration: 100.00 ms\tBilled Duration: 100 ms\t"
    "Memory Size: 256 MB\tMax Memory Used: 100 MB\t\n"
)


class Caderno:
    """Invocations, what they logged and which metrics they published, per function.

    Attributes
    ----------
    invocacoes : Counter[str]
    bytes_de_log : int
        Of the functions, with the lines Lambda adds.
    metricas : set[str]
        Name and dimensions of each custom metric, as CloudWatch charges them.
    """

    def __init__(self) -> None:
        self.invocacoes: Counter[str] = Counter()
        self.bytes_de_log = 0
        self.metricas: set[str] = set()

    def anotado(self, funcao: str, handler: Handler) -> Handler:
        """The handler, with everything it prints counted; a line's place in the source is not content."""

        def chamar(evento: Any, contexto: Any) -> Any:
            saida = io.StringIO()
            for manipulador in logger.handlers:
                manipulador.setStream(saida)  # a StreamHandler, by Powertools
            try:
                with redirect_stdout(saida):
                    return handler(evento, contexto)
            finally:
                self.invocacoes[funcao] += 1
                texto = re.sub(r'"location":"[^"]*"', '"location":""', saida.getvalue())
                self.bytes_de_log += len((texto + LINHAS_DA_PLATAFORMA).encode())
                self._metricas(texto)

        return chamar

    def _metricas(self, texto: str) -> None:
        for linha in texto.splitlines():
            if '"CloudWatchMetrics"' not in linha:
                continue
            emf = json.loads(linha)
            for grupo in emf["_aws"]["CloudWatchMetrics"]:
                for dimensoes in grupo["Dimensions"]:
                    valores = ",".join(f"{nome}={emf[nome]}" for nome in sorted(dimensoes))
                    self.metricas |= {f"{metrica['Name']}({valores})" for metrica in grupo["Metrics"]}


def transicoes(resultado: Outcome) -> int:
    """Steps executed, retries included: https://aws.amazon.com/step-functions/pricing/"""
    return len(resultado.path) + sum(chamada.attempt > 1 for chamada in resultado.calls)


def bytes_do_registro(bench: Bench, resultado: Outcome) -> int:
    """Bytes of an execution's log at level ALL with its data: one line an event, as the service writes them.

    https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html
    """
    historia = bench.states.get_execution_history(executionArn=resultado.execution_arn, maxResults=1000)["events"]
    total = 0
    for evento in historia:
        detalhes = [conteudo for nome, conteudo in evento.items() if nome.endswith("EventDetails")]
        linha = {
            "id": str(evento["id"]),
            "type": evento["type"],
            "details": detalhes[0] if detalhes else {},
            "redrive_count": "0",
            "previous_event_id": str(evento.get("previousEventId", 0)),
            "event_timestamp": "0000000000000",
            "execution_arn": resultado.execution_arn,
        }
        # Moto writes instants with microseconds when there are any: always the service's milliseconds here.
        texto = re.sub(r"(\d\d:\d\d:\d\d)(\.\d+)?(Z|\+00:00)", r"\1.000Z", json.dumps(linha, separators=(",", ":")))
        total += len(texto.encode())
    return total


def _gateway(evento: Mapping[str, Any], _: Any) -> dict[str, Any]:
    """Approves every charge but the refused card's, and makes every refund."""
    pedido = json.loads(evento["body"])
    if evento["rawPath"] == "/estornos":
        return {"statusCode": 201, "body": json.dumps({"resultado": "ESTORNADA"})}
    if pedido["cartaoToken"] == "tok-forcar-recusa":
        return {"statusCode": 402, "body": json.dumps({"codigo": "CARTAO_RECUSADO"})}
    return {"statusCode": 201, "body": json.dumps({"idTransacao": "tx-" + "0" * 26, "status": "APROVADA"})}


@contextmanager
def _nosso() -> Iterator[tuple[World, Callable[[Caderno, Meter, Mapping[str, Any]], dict[str, Any]]]]:
    """The bench's world with everything around the saga: the API, its queue and the write-off."""
    with ExitStack() as pilha:
        mundo = pilha.enter_context(real_world())
        bench = mundo.bench
        fila = bench.sqs.create_queue(QueueName="cesta-pedidos-criados")["QueueUrl"]
        criar_tabela(bench.dynamodb, "cesta-idempotencia-api", "chave")
        ambiente = {
            "POWERTOOLS_METRICS_DISABLED": "false",
            "URL_GATEWAY": pilha.enter_context(served(_gateway, None)),
            "URL_FILA_PEDIDOS_CRIADOS": fila,
            "TABELA_IDEMPOTENCIA": "cesta-idempotencia-api",
            "QUANTIDADE_MAXIMA": "1000",
            "VALOR_MAXIMO_CENTAVOS": "10000000",
            "ARN_MAQUINA_SAGA": bench.machine(SEM_EXECUTAR),
        }
        pilha.enter_context(mock.patch.dict("os.environ", ambiente))
        esquecer()
        handlers = dict(bench.handlers)

        def pedir(caderno: Caderno, medidor: Meter, mudancas: Mapping[str, Any]) -> dict[str, Any]:
            def invocar(funcao: str, evento: Any) -> Any:
                return caderno.anotado(funcao, deployed_handler(funcao))(evento, Context(funcao, CALL_LIMIT_S))

            bench.handlers = {funcao: caderno.anotado(funcao, handler) for funcao, handler in handlers.items()}
            sku = "CAFE-500G"
            mapas = {"reservas": {"M": {}}, "encerradas": {"M": {}}}
            bench.dynamodb.put_item(
                TableName="cesta-estoque", Item={"sku": {"S": sku}, "saldo": {"N": "1000"}, **mapas}
            )
            corpo = {"sku": sku, "quantidade": 1, "valorCentavos": 14_000, "cartaoToken": "tok-ok"}
            corpo |= {nome: valor for nome, valor in mudancas.items() if nome in corpo}
            chave = {"Idempotency-Key": "0" * 36}
            medidor.running = True
            aceito = invocar("cesta-criar-pedido", event("POST", "/pedidos", chave, json.dumps(corpo)))
            assert aceito["statusCode"] == 202, aceito
            (mensagem,) = bench.sqs.receive_message(QueueUrl=fila)["Messages"]
            bench.sqs.delete_message(QueueUrl=fila, ReceiptHandle=mensagem["ReceiptHandle"])
            entrada = json.loads(mensagem["Body"])
            corpo_da_fila = json.dumps(entrada | mudancas)
            registro = {"messageId": "0" * 36, "body": corpo_da_fila, "eventSource": "aws:sqs"}
            assert not invocar("cesta-iniciar-saga", {"Records": [registro]})["batchItemFailures"]

            bench.on_end = lambda: setattr(medidor, "running", False)
            resultado = bench.run(mundo.asl, entrada | mudancas)
            pedido = _guardado(bench, "cesta-pedidos", {"pedidoId": {"S": entrada["pedidoId"]}})
            guardados = tamanho(pedido)
            if pedido["status"]["S"] == "CONFIRMADO":
                medidor.running = True
                registro = {"eventName": "MODIFY", "dynamodb": {"SequenceNumber": "0" * 21, "NewImage": pedido}}
                assert not invocar("cesta-baixar-reserva", {"Records": [registro]})["batchItemFailures"]
                medidor.running = False
                guardados += tamanho(_guardado(bench, "cesta-estoque-baixas", {"pedidoId": {"S": entrada["pedidoId"]}}))
            bench.dynamodb.delete_item(TableName="cesta-idempotencia-api", Key={"chave": {"S": _chave(bench)}})
            return _contagem(bench, caderno, medidor, resultado) | {"bytes_guardados": guardados}

        yield mundo, pedir


def _nao_confirma(evento: Any, contexto: Any) -> Any:
    raise RuntimeError("forced")


def _chave(bench: Bench) -> str:
    (item,) = bench.dynamodb.scan(TableName="cesta-idempotencia-api")["Items"]
    return str(item["chave"]["S"])


def _guardado(bench: Bench, tabela: str, chave: dict[str, Any]) -> dict[str, Any]:
    item = dict(bench.dynamodb.get_item(TableName=tabela, Key=chave, ConsistentRead=True)["Item"])
    if "expiraEm" in item:  # an instant that ends in zeros is a byte shorter than the others
        item["expiraEm"] = {"N": "1" * len(item["expiraEm"]["N"])}
    return item


def _contagem(bench: Bench, caderno: Caderno, medidor: Meter, resultado: Outcome) -> dict[str, Any]:
    return {
        "fim": f"{resultado.status} {resultado.order_status}",
        "transicoes": transicoes(resultado),
        "invocacoes": dict(sorted(caderno.invocacoes.items())),
        "unidades_de_escrita": medidor.write,
        "unidades_de_leitura": medidor.read,
        "bytes_de_log_das_funcoes": caderno.bytes_de_log,
        "bytes_de_log_da_maquina": bytes_do_registro(bench, resultado),
        "mensagens_para_pessoas": len(resultado.messages),
    }


def contar() -> dict[str, Any]:
    """Counts of each path, here and in the lab's design, and of the metrics published on them.

    Returns
    -------
    dict
        Path -> counts; ``lab`` -> path -> counts of the saga alone, which is all the lab lists; ``metricas`` -> names.
    """
    contagens: dict[str, Any] = {}
    metricas: set[str] = set()
    with _nosso() as (mundo, pedir):
        for caminho, mudancas in CAMINHOS.items():
            caderno, medidor = Caderno(), Meter(deployed_indexes())
            with medidor.installed():
                contagens[caminho] = pedir(caderno, medidor, mudancas)
            metricas |= caderno.metricas
        contagens["estados"] = sum(1 for _ in tasks(mundo.asl))
    contagens["metricas"] = sorted(metricas)
    contagens["lab"] = {}
    with lab_world() as mundo:
        handlers = dict(mundo.bench.handlers)
        for caminho, mudancas in CAMINHOS.items():
            caderno, medidor = Caderno(), Meter({})
            with medidor.installed():
                # Its charge replaces the saga's input, so the mark would never reach the confirmation.
                quebrados = {"cesta-confirmar-pedido": _nao_confirma} if caminho == "compensado" else {}
                todos = handlers | quebrados
                mundo.bench.handlers = {nome: caderno.anotado(nome, handler) for nome, handler in todos.items()}
                entrada = mundo.order(**mudancas)
                medidor.running = True
                mundo.bench.on_end = lambda m=medidor: setattr(m, "running", False)
                resultado = mundo.run(entrada)
                contagens["lab"][caminho] = _contagem(mundo.bench, caderno, medidor, resultado)
        contagens["lab"]["estados"] = sum(1 for _ in tasks(mundo.asl))
    return contagens


def principal(argumentos: list[str] | None = None) -> int:
    """Print the counts, or write them with the package's size."""
    leitor = argparse.ArgumentParser(prog="python -m tests.medidas.contagens")
    leitor.add_argument("--gravar", action="store_true", help=f"writes {ARQUIVO.relative_to(ROOT)}")
    gravar = leitor.parse_args(argumentos).gravar
    logging.getLogger("moto").setLevel(logging.CRITICAL)  # the lab's execution ends in an error, which is no news
    contagens = contar()
    if gravar:
        antes = json.loads(ARQUIVO.read_text()) if ARQUIVO.is_file() else {}
        contagens |= {"pacote": pacote(BuildPlan.for_target("local")), "recursos": antes.get("recursos", {})}
        ARQUIVO.write_text(json.dumps(contagens, ensure_ascii=False, indent=2) + "\n")
        print(f"{ARQUIVO.relative_to(ROOT)} gravado")
    else:
        print(json.dumps(contagens, ensure_ascii=False, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(principal())
