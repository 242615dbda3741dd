"""``make onde PEDIDO=…``: the whole story of one order, from every system that knows of it, in one timeline.

It only reads. Messages in the queues that people read are out of sight for the moments it takes to look at them; the
queues that functions consume are not received from, because each receive brings a message closer to its DLQ.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import urllib3
from botocore.exceptions import BotoCoreError, ClientError
from rich.console import Console
from ulid import ULID

from comum.aws import codigo_do_erro
from comum.relogio import de_iso, para_iso
from operacao import filas
from operacao.alvos import alvo_em_operacao
from operacao.dlq import Dlq
from operacao.filas import enviada_ms, segurar
from operacao.intervencao import numero_de_pedido, quadro
from operacao.intervencao_acoes import Intervencao, IntervencaoError, Linha, Retrato
from painel.consultas import Consultas
from painel.erros import PedidoNaoEncontradoError
from provas.alvo import ALVOS, Alvo
from provas.erros import ErroDasProvas
from provas.saga._gateway import Livro, reais

HORAS = 72
"""How far back logs are searched when nothing says when the order began."""
HORAS_MAXIMAS = 24 * 366 * 10
"""No log group keeps its events for longer than ten years, unless for ever."""
FOLGA = timedelta(minutes=5)
_TOKEN = re.compile(r"tok-[a-z0-9-]+")
_FATOS = (
    "erro",
    "mensagem",
    "motivo",
    "resultado",
    "situacao",
    "quantidade",
    "duplicata",
    "status",
    "problema",
    "rota",
)
"""What is shown of a log line besides its message."""


@dataclass
class Historia:
    """What was found of one order: its lines, in no order, and what could not be looked at."""

    pedido_id: str
    linhas: list[Linha] = field(default_factory=list)
    avisos: list[str] = field(default_factory=list)
    retrato: Retrato | None = None

    def em_ordem(self) -> list[Linha]:
        """The timeline, oldest first."""
        return sorted(self.linhas, key=lambda linha: linha.em)


def contar_historia(alvo: Alvo, pedido_id: str, horas: float = HORAS) -> Historia:
    """Ask every system of the target about the order. One that cannot be reached becomes a warning.

    Parameters
    ----------
    horas : float
        How far back logs are searched when the order's own beginning is not known.
    """
    historia = Historia(pedido_id)
    for nome, fonte in _FONTES.items():
        with _avisando(historia, nome):
            historia.linhas += fonte(alvo, historia)
    # Last, because the rest says since when.
    with _avisando(historia, "logs"):
        historia.linhas += _dos_logs(alvo, pedido_id, _inicio(historia, horas))
    return historia


@contextmanager
def _avisando(historia: Historia, nome: str) -> Iterator[None]:
    try:
        yield
    except (ClientError, BotoCoreError, ErroDasProvas, urllib3.exceptions.HTTPError) as erro:
        codigo = codigo_do_erro(erro)
        historia.avisos.append(f"{nome}: fora de alcance ({codigo}); o que falta aqui pode estar lá.")


# --- where the story is -----------------------------------------------------------------------------------------------


def _da_saga(alvo: Alvo, historia: Historia) -> Iterator[Linha]:
    """The order's own history, its executions with their attempts, and what the human queue says."""
    try:
        historia.retrato = Intervencao(alvo).retratar(historia.pedido_id)
    except IntervencaoError:
        return  # not an order of the saga
    yield from historia.retrato.linhas
    historia.avisos += historia.retrato.avisos
    pendencia = historia.retrato.pendencia
    if pendencia is not None:
        for corpo, mensagem in zip(pendencia.corpos, pendencia.mensagens, strict=True):
            falta = f"falta desfazer {' → '.join(corpo.compensacoesPendentes)}; {corpo.erroDaCompensacao or '—'}"
            yield Linha(_de_ms(enviada_ms(mensagem)), "fila humana", "mensagem, ainda na fila", falta)


def _do_estoque(alvo: Alvo, historia: Historia) -> Iterator[Linha]:
    if not alvo.tem("tabela_estoque_baixas"):
        return
    baixa = _item(alvo, str(alvo.saida("tabela_estoque_baixas")), historia.pedido_id)
    if baixa is not None:
        yield Linha(de_iso(baixa["em"]["S"]), "estoque", "baixa", f"{baixa['quantidade']['N']} × {baixa['sku']['S']}")


def _do_gateway(alvo: Alvo, historia: Historia) -> Iterator[Linha]:
    if alvo.tem("url_gateway_simulado"):
        for movimento in Livro(alvo).movimentos(historia.pedido_id):
            yield Linha(movimento.em, "gateway", str(movimento))


def _da_fila_de_entrada(alvo: Alvo, historia: Historia) -> Iterator[Linha]:
    sqs, dlq = alvo.cliente("sqs"), str(alvo.saida("url_fila_pedidos_criados_dlq"))
    with segurar(sqs, dlq) as seguradas:
        for mensagem in seguradas.mensagens:
            if _pedido_do_corpo(mensagem["Body"]) == historia.pedido_id:
                yield _parado(dlq, mensagem)
    entrada = str(alvo.saida("url_fila_pedidos_criados"))
    esperam = filas.quantas(sqs, entrada)
    if esperam and (historia.retrato is None or historia.retrato.pedido is None):
        historia.avisos.append(f"{esperam} mensagem(ns) na fila de entrada: o pedido pode estar entre elas.")


def _do_painel(alvo: Alvo, historia: Historia) -> Iterator[Linha]:
    if not alvo.tem("tabela_painel_operacao"):
        return
    painel = Consultas(alvo.cliente("dynamodb"), str(alvo.saida("tabela_painel_operacao")))
    try:
        historico = painel.pedido(historia.pedido_id)["historico"]
    except PedidoNaoEncontradoError:
        return
    for passo in historico:
        perdidas = " (mudanças perdidas no meio)" if passo["tipo"] == "LACUNA" else ""
        alerta = f"; alerta {passo['alerta']}" if "alerta" in passo else ""
        o_que = f"{passo['de']} → {passo['para']}{perdidas}"
        yield Linha(de_iso(passo["em"]), "painel", o_que, f"loja {passo['loja']}{alerta}")


def _da_fila(alvo: Alvo, historia: Historia) -> Iterator[Linha]:
    if not alvo.tem("tabelas_fila"):
        return
    efeito = _item(alvo, alvo.saida("tabelas_fila")["efeitos"], historia.pedido_id)
    if efeito is not None:
        yield Linha(de_iso(efeito["criadoEm"]["S"]), "fila", "efeito iniciado")
        motivo = efeito.get("motivo", {}).get("S", "")
        yield Linha(de_iso(efeito["atualizadoEm"]["S"]), "fila", efeito["situacao"]["S"], motivo)
    dlq = Dlq(alvo)
    with dlq.segurar() as paradas:
        for parada in paradas:
            if parada.pedido is not None and parada.pedido.pedidoId == historia.pedido_id:
                yield _parado(dlq.url, {"Attributes": parada.atributos})


_FONTES: dict[str, Callable[[Alvo, Historia], Iterable[Linha]]] = {
    "saga": _da_saga,
    "estoque": _do_estoque,
    "gateway": _do_gateway,
    "fila de entrada": _da_fila_de_entrada,
    "painel": _do_painel,
    "fila": _da_fila,
}


def _dos_logs(alvo: Alvo, pedido_id: str, desde: datetime) -> Iterator[Linha]:
    """Every line a function logged under the order's correlation id."""
    paginador = alvo.cliente("logs").get_paginator("filter_log_events")
    for funcao in sorted(alvo.saida("funcoes").values()):
        paginas = paginador.paginate(
            logGroupName=f"/aws/lambda/{funcao}",
            startTime=int(desde.timestamp() * 1000),
            filterPattern=f'"{pedido_id}"',
        )
        try:
            for evento in (e for pagina in paginas for e in pagina["events"]):
                linha = _linha_de_log(funcao, evento, pedido_id)
                if linha is not None:
                    yield linha
        except ClientError as erro:
            if erro.response["Error"]["Code"] != "ResourceNotFoundException":  # a function that never ran
                raise


def _linha_de_log(funcao: str, evento: dict[str, Any], pedido_id: str) -> Linha | None:
    try:
        lido = json.loads(evento["message"])
    except ValueError:
        return None
    if not isinstance(lido, dict) or lido.get("correlation_id") != pedido_id:
        return None
    quando = de_iso(lido["timestamp"]) if "timestamp" in lido else _de_ms(evento["timestamp"])
    fatos = "; ".join(f"{nome} {lido[nome]}" for nome in _FATOS if lido.get(nome) is not None)
    nivel = "" if lido.get("level") == "INFO" else f" ({lido.get('level')})"
    return Linha(quando, f"log {funcao}", f"{lido.get('message')}{nivel}", fatos)


# --- reading ----------------------------------------------------------------------------------------------------------


def _inicio(historia: Historia, horas: float) -> datetime:
    """Just before the order began, as far as that is known: by its id (a ULID), or by what was already found."""
    conhecidos = [linha.em for linha in historia.linhas]
    with suppress(ValueError):
        conhecidos.append(ULID.from_str(historia.pedido_id.rpartition("-")[2]).datetime)
    agora = datetime.now(UTC)
    return min([c for c in conhecidos if c <= agora], default=agora - timedelta(hours=horas)) - FOLGA


def _item(alvo: Alvo, tabela: str, pedido_id: str) -> dict[str, Any] | None:
    lido = alvo.cliente("dynamodb").get_item(TableName=tabela, Key={"pedidoId": {"S": pedido_id}}, ConsistentRead=True)
    item: dict[str, Any] | None = lido.get("Item")
    return item


def _parado(url: str, mensagem: dict[str, Any]) -> Linha:
    """The order's message in a DLQ. Of its content nothing is shown: it carries the card's token."""
    vezes = mensagem.get("Attributes", {}).get("ApproximateReceiveCount", "?")
    return Linha(_de_ms(enviada_ms(mensagem)), filas.nome(url), "mensagem, ainda na DLQ", f"recebida {vezes} vezes")


def _pedido_do_corpo(corpo: str) -> str | None:
    try:
        lido = json.loads(corpo)
    except ValueError:
        return None
    return lido.get("pedidoId") if isinstance(lido, dict) else None


def _de_ms(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


# --- telling ----------------------------------------------------------------------------------------------------------


def _dizer(historia: Historia, alvo: Alvo, console: Console) -> None:
    def dizer(texto: str) -> None:
        console.print(texto, markup=False, highlight=False, soft_wrap=True)

    pedido = historia.retrato.pedido if historia.retrato else None
    dizer(f"Pedido {historia.pedido_id}: {pedido.status if pedido else 'não está na tabela da saga'}")
    if pedido is not None:
        presas = Intervencao(alvo).reservadas(pedido)
        dizer(f"  {pedido.quantidade} × {pedido.sku or '(sku desconhecido)'}, {reais(pedido.valor_centavos)}")
        dizer(f"  reservado no estoque agora: {presas} unidade(s)")
    for aviso in historia.avisos:
        dizer(f"  aviso: {aviso}")
    valores = [
        (
            para_iso(linha.em),
            linha.onde,
            _TOKEN.sub("tok-…", linha.o_que),
            _TOKEN.sub("tok-…", linha.detalhe),
        )
        for linha in historia.em_ordem()
    ]
    quadro(console, "Linha do tempo (UTC)", ("quando", "onde", "o quê", "detalhe"), valores)


def _horas(texto: str) -> float:
    with suppress(ValueError):
        if 0 < (horas := float(texto)) <= HORAS_MAXIMAS:
            return horas
    raise argparse.ArgumentTypeError(f"use um número de horas maior que 0 e até {HORAS_MAXIMAS} (dez anos)")


def analisador() -> argparse.ArgumentParser:
    """The command line; its help is what operators read."""
    p = argparse.ArgumentParser(prog="make onde", description="A história inteira de um pedido; só lê.")
    p.add_argument("pedido", type=numero_de_pedido, help="o número do pedido (pedidoId)")
    p.add_argument("--alvo", default=os.environ.get("ALVO") or "local", choices=ALVOS, help="padrão: %(default)s")
    p.add_argument(
        "--horas",
        type=_horas,
        default=HORAS,
        help="até onde procurar nos logs se nada diz quando o pedido começou (padrão: %(default)s)",
    )
    return p


def principal(argumentos: Sequence[str] | None = None, alvo: Alvo | None = None) -> int:
    """0 when something is known of the order, 1 when nothing is, 2 when not all could be read and nothing was found."""
    lidos = analisador().parse_args(argumentos)
    console = Console()
    try:
        onde = alvo or alvo_em_operacao(lidos.alvo)
        historia = contar_historia(onde, lidos.pedido, lidos.horas)
        if historia.linhas:
            _dizer(historia, onde, console)
            return 0
    except ErroDasProvas as erro:
        print(f"erro: {erro}", file=sys.stderr)
        return 2
    if historia.avisos:
        print(f"erro: nada se leu do pedido {lidos.pedido}, e nem tudo no alvo {onde.nome} respondeu:", file=sys.stderr)
        for aviso in historia.avisos:
            print(f"  {aviso}", file=sys.stderr)
        return 2
    print(f"Nada se sabe do pedido {lidos.pedido} no alvo {onde.nome}: confira o número e o alvo.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `make onde … | head` ends quietly
    sys.exit(principal())
