"""Orders that automation gave up on, in a person's hands: ``scripts/intervencao.sh listar | mostrar | reprocessar |
encerrar | exportar``.

Nothing here is consumed by being looked at, and a message is only deleted after its order shows the end.
"""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.table import Table

from comum.contrato import PedidoId
from operacao.alvos import alvo_em_operacao, dizendo_o_que_falhou
from operacao.intervencao_acoes import (
    Desfecho,
    Intervencao,
    IntervencaoError,
    Resultado,
    texto_para_guardar,
)
from operacao.intervencao_fila import Pendencia
from pagamentos.fila_humana import ESPELHO
from pedidos.repositorio import Encerramento, Pedido
from provas.alvo import ALVOS, pasta_construida
from provas.erros import ErroDasProvas
from provas.saga._gateway import reais

_PEDIDO_ID: TypeAdapter[str] = TypeAdapter(PedidoId)
_CORES = {Desfecho.FEITO: "green", Desfecho.ADIADO: "yellow", Desfecho.FALHOU: "red"}


def idade(desde_ms: int, agora_s: float | None = None) -> str:
    """How long ago, as people say it: ``5 min``, ``3 h``, ``2 d``."""
    minutos = max(0, int((agora_s if agora_s is not None else time.time()) - desde_ms / 1000)) // 60
    if minutos < 120:
        return f"{minutos} min"
    return f"{minutos // 60} h" if minutos < 48 * 60 else f"{minutos // 1440} d"


def _resumo(pendencia: Pendencia, pedido: Pedido | None) -> dict[str, Any]:
    ultimo = pendencia.ultimo
    return {
        "pedidoId": pendencia.pedido_id,
        "desde": datetime.fromtimestamp(pendencia.desde_ms / 1000, UTC).isoformat(timespec="seconds"),
        "idade": idade(pendencia.desde_ms),
        "status": pedido.status if pedido else "ausente",
        "valorCentavos": pedido.valor_centavos if pedido else 0,
        "erroOriginal": str(ultimo.erroOriginal or "—") if ultimo else "—",
        "erroDaCompensacao": str(ultimo.erroDaCompensacao or "—") if ultimo else "—",
        "parouEm": ultimo.passo if ultimo else "",
        "compensacoesPendentes": pendencia.pendentes,
        "mensagens": len(pendencia.mensagens),
    }


def _valor(resumo: dict[str, Any]) -> str:
    return reais(resumo["valorCentavos"]) if resumo["valorCentavos"] else "—"


def _listar(intervencao: Intervencao, console: Console, em_json: bool) -> int:
    with intervencao.segurar() as (_, pendencias, ilegiveis):
        resumos = [_resumo(p, intervencao.pedido(p.pedido_id)) for p in pendencias]
    if em_json:
        lista = {"pedidos": resumos, "ilegiveis": [{"messageId": i.id, "defeito": i.defeito} for i in ilegiveis]}
        print(json.dumps(lista, ensure_ascii=False, indent=2))
        return 0
    if not resumos and not ilegiveis:
        console.print("A fila humana está vazia: nenhum pedido espera uma pessoa.")
        return 0
    colunas = ("pedido", "há", "valor", "status", "erro original", "erro da compensação", "falta desfazer")
    valores = [
        (
            r["pedidoId"],
            r["idade"],
            _valor(r),
            r["status"],
            r["erroOriginal"],
            r["erroDaCompensacao"],
            " → ".join(r["compensacoesPendentes"]),
        )
        for r in resumos
    ]
    quadro(console, f"{len(resumos)} pedido(s) esperando uma pessoa", colunas, valores)
    for ilegivel in ilegiveis:
        console.print(
            f"mensagem ilegível {ilegivel.id} (defeito em: {ilegivel.defeito}): veja o conteúdo com exportar",
            markup=False,
        )
    return 0


def _mostrar(intervencao: Intervencao, pedido_id: str, console: Console, em_json: bool) -> int:
    retrato = intervencao.retratar(pedido_id)
    pedido, pendencia = retrato.pedido, retrato.pendencia
    linhas = [
        {"em": linha.em.astimezone(UTC).isoformat(timespec="milliseconds"), "onde": linha.onde, "oQue": linha.o_que,
         "detalhe": linha.detalhe}
        for linha in retrato.linhas
    ]  # fmt: skip
    if em_json:
        fila = _resumo(pendencia, pedido) if pendencia else None
        ficha = {
            "pedidoId": pedido_id,
            "status": pedido.status if pedido else None,
            "fila": fila,
            "linhaDoTempo": linhas,
            "avisos": list(retrato.avisos),
        }
        print(json.dumps(ficha, ensure_ascii=False, indent=2))
        return 0

    def dizer(texto: str) -> None:
        console.print(texto, markup=False, highlight=False)

    dizer(f"Pedido {pedido_id}: {pedido.status if pedido else 'sem item na tabela de pedidos'}")
    if pedido is not None:
        dizer(f"  {pedido.quantidade} × {pedido.sku or '(sku desconhecido)'}, {reais(pedido.valor_centavos)}")
        dizer(f"  reservado no estoque agora: {intervencao.reservadas(pedido)} unidade(s)")
        for e in filter(None, (pedido.encerramento_adiado, pedido.encerramento)):
            dizer(f"  encerrado por {e.por}: {e.motivo} (estoque: {e.estoque})")
    if pendencia is None or pendencia.ultimo is None:
        dizer("  não está na fila humana")
    else:
        ultimo = pendencia.ultimo
        dizer(f"  na fila humana há {idade(pendencia.desde_ms)}, {len(pendencia.mensagens)} mensagem(ns)")
        dizer(f"  parou em {ultimo.passo or '—'}: {ultimo.erroOriginal or '—'}")
        dizer(f"  não se desfez em {ultimo.passoCompensacao or '—'}: {ultimo.erroDaCompensacao or '—'}")
        dizer(f"  falta desfazer: {' → '.join(pendencia.pendentes)}")
    for aviso in retrato.avisos:
        dizer(f"  aviso: {aviso}")
    valores = [(linha["em"], linha["onde"], linha["oQue"], linha["detalhe"]) for linha in linhas]
    quadro(console, "Linha do tempo (UTC)", ("quando", "onde", "o quê", "detalhe"), valores)
    return 0


def quadro(console: Console, titulo: str, colunas: Sequence[str], valores: Sequence[Sequence[str]]) -> None:
    """A table on a terminal; tab-separated lines anywhere else, so that nothing is cut and tools can read it."""
    if not console.is_terminal:
        for linha in (colunas, *valores):
            print("\t".join(linha))
        return
    tabela = Table(title=titulo)
    for coluna in colunas:
        tabela.add_column(coluna, overflow="fold")
    for linha in valores:
        tabela.add_row(*(str(valor).replace("[", "\\[") for valor in linha))
    console.print(tabela)


def _confirmar(pergunta: str, sim: bool) -> bool:
    if sim:
        return True
    if not sys.stdin.isatty():
        raise IntervencaoError("Sem terminal não há como confirmar: acrescente --sim se é isso mesmo.")
    return input(f"{pergunta} [s/N] ").strip().lower() in ("s", "sim")


def _relatar(console: Console, resultado: Resultado) -> None:
    console.print(
        f"[{_CORES[resultado.desfecho]}]{resultado.desfecho}[/]  {resultado.pedido_id}  "
        + resultado.texto.replace("[", "\\["),
        highlight=False,
        soft_wrap=True,
    )


def _reprocessar(intervencao: Intervencao, lidos: argparse.Namespace, console: Console) -> int:
    if lidos.todos == bool(lidos.pedidos):
        raise IntervencaoError("Diga quais: números dos pedidos, ou --todos.")
    with intervencao.segurar() as (seguradas, na_fila, ilegiveis):
        pedidos = dict.fromkeys(lidos.pedidos)
        pendencias = na_fila if lidos.todos else [_achar(intervencao, na_fila, pedido_id) for pedido_id in pedidos]
        if ilegiveis and lidos.todos:
            console.print(f"{len(ilegiveis)} mensagem(ns) ilegível(is) ficam na fila: veja com listar.")
        if not pendencias:
            console.print("Nenhum pedido espera uma pessoa.")
            return 0
        for p in pendencias:
            console.print(f"{p.pedido_id}: {' → '.join(p.pendentes)}", markup=False, highlight=False)
        if not _confirmar(f"Desfazer o que falta em {len(pendencias)} pedido(s)?", lidos.sim):
            console.print("Nada foi feito.")
            return 0
        resultados = intervencao.reprocessar(seguradas, pendencias, lambda r: _relatar(console, r))
    feitos = sum(r.desfecho is Desfecho.FEITO for r in resultados)
    console.print(
        f"{feitos} de {len(resultados)} pedido(s) resolvidos"
        + ("." if feitos == len(resultados) else "; o resto continua na fila.")
    )
    return 0 if feitos == len(resultados) else 1


def _achar(intervencao: Intervencao, pendencias: Sequence[Pendencia], pedido_id: str) -> Pendencia:
    achada = next((p for p in pendencias if p.pedido_id == pedido_id), None) or intervencao.sem_mensagem(pedido_id)
    if achada is not None:
        return achada
    pedido = intervencao.pedido(pedido_id)
    raise IntervencaoError(
        f"O pedido {pedido_id} não está na fila humana (status {pedido.status if pedido else 'ausente'}). "
        "Se outra pessoa está com ele, a mensagem volta em até 2 minutos."
    )


def _encerrar(intervencao: Intervencao, lidos: argparse.Namespace, console: Console) -> int:
    motivo = texto_para_guardar(lidos.motivo, "--motivo")
    por = texto_para_guardar(lidos.por, "--por", menor=2)
    with intervencao.segurar() as (seguradas, pendencias, _):
        pedido = intervencao.pedido(lidos.pedido)
        na_fila = next((p for p in pendencias if p.pedido_id == lidos.pedido), None)
        if na_fila is None and pedido is not None and pedido.encerramento:
            na_fila = Pendencia(lidos.pedido, (), ())  # ended before; perhaps killed before its stock was settled
        pendencia = na_fila or _achar(intervencao, pendencias, lidos.pedido)
        decisao = lidos.estoque
        if decisao is None:
            reservadas = intervencao.reservadas(pedido) if pedido else 0
            if reservadas:
                raise IntervencaoError(
                    f"O pedido ainda segura {reservadas} unidade(s). Diga o destino delas: --estoque liberar (voltam a "
                    "ser vendidas), baixar (saíram com o cliente) ou nada (decide-se depois)."
                )
            decisao = pedido.encerramento.estoque if pedido and pedido.encerramento else "nada"
        console.print(f"Encerrar {lidos.pedido} com estoque: {decisao}.", markup=False)
        if ESPELHO[0] in pendencia.pendentes:
            console.print("Atenção: encerrar não devolve dinheiro. Confira a cobrança no gateway antes.")
        if not _confirmar("Encerrar?", lidos.sim):
            console.print("Nada foi feito.")
            return 0
        _relatar(console, intervencao.encerrar(seguradas, pendencia, Encerramento(motivo, por, decisao)))
    return 0


def _exportar(intervencao: Intervencao, lidos: argparse.Namespace, console: Console) -> int:
    padrao = pasta_construida() / lidos.alvo / f"fila-humana-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.jsonl"
    arquivo = Path(lidos.arquivo) if lidos.arquivo else padrao
    quantas = intervencao.exportar(arquivo)
    console.print(f"{quantas} mensagem(ns) em {arquivo}; a fila continua como estava.", highlight=False, soft_wrap=True)
    return 0


def numero_de_pedido(texto: str) -> str:
    """Argument type: an order's id."""
    try:
        return _PEDIDO_ID.validate_python(texto)
    except ValidationError:
        raise argparse.ArgumentTypeError("não é um número de pedido (letras, dígitos, _ e -, até 48)") from None


def analisador() -> argparse.ArgumentParser:
    """The command line; its help is what operators read."""
    p = argparse.ArgumentParser(
        prog="scripts/intervencao.sh", description="Pedidos que a automação não conseguiu desfazer e esperam alguém."
    )
    p.add_argument("--alvo", default=os.environ.get("ALVO") or "local", choices=ALVOS, help="padrão: %(default)s")
    acoes = p.add_subparsers(dest="acao", required=True)
    listar = acoes.add_parser("listar", help="quem espera, há quanto tempo, quanto vale e por quê; não consome nada")
    listar.add_argument("--json", action="store_true")
    mostrar = acoes.add_parser("mostrar", help="a linha do tempo de um pedido")
    mostrar.add_argument("pedido", type=numero_de_pedido)
    mostrar.add_argument("--json", action="store_true")
    reprocessar = acoes.add_parser("reprocessar", help="desfaz o que falta e tira da fila o que deu certo")
    reprocessar.add_argument("pedidos", nargs="*", type=numero_de_pedido)
    reprocessar.add_argument("--todos", action="store_true")
    reprocessar.add_argument("--sim", action="store_true", help="não pergunta")
    encerrar = acoes.add_parser("encerrar", help="registra a decisão de uma pessoa e tira da fila; não move dinheiro")
    encerrar.add_argument("pedido", type=numero_de_pedido)
    encerrar.add_argument("--motivo", required=True, help="fica gravado no pedido; sem dados pessoais")
    encerrar.add_argument(
        "--estoque",
        choices=("liberar", "baixar", "nada"),
        help="o destino das unidades reservadas; depois de nada, repita com liberar ou baixar",
    )
    encerrar.add_argument("--por", default=getpass.getuser(), help="quem decidiu (padrão: o usuário desta máquina)")
    encerrar.add_argument("--sim", action="store_true", help="não pergunta")
    exportar = acoes.add_parser("exportar", help="grava todas as mensagens num arquivo JSONL; não consome nada")
    exportar.add_argument("--arquivo", help="padrão: build/<alvo>/fila-humana-<instante>.jsonl")
    return p


@dizendo_o_que_falhou
def principal(argumentos: Sequence[str] | None = None, intervencao: Intervencao | None = None) -> int:
    """0 when all was done, 1 when some order stays pending or the action was refused, 2 when no target answers."""
    lidos = analisador().parse_args(argumentos)
    console = Console()
    try:
        feita = intervencao or Intervencao(alvo_em_operacao(lidos.alvo))
    except ErroDasProvas as erro:
        console.print(f"erro: {erro}", markup=False, soft_wrap=True)
        return 2
    try:
        if lidos.acao == "listar":
            return _listar(feita, console, lidos.json)
        if lidos.acao == "mostrar":
            return _mostrar(feita, lidos.pedido, console, lidos.json)
        if lidos.acao == "reprocessar":
            return _reprocessar(feita, lidos, console)
        return _encerrar(feita, lidos, console) if lidos.acao == "encerrar" else _exportar(feita, lidos, console)
    except ErroDasProvas as erro:
        console.print(f"erro: {erro}", markup=False, soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("Interrompido. O que não terminou continua na fila; repita o comando.")
        return 1


if __name__ == "__main__":
    sys.exit(principal())
