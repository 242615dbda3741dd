"""``make custo``: what a month of orders costs, component by component, from what one order was measured to consume.

Counts come from ``medidas/contagens.json`` (a test keeps them true), durations from ``medidas/duracoes.json`` (written
by ``make bench``), prices from ``medidas/precos.toml``, which says its date and each source. Money here is US dollars.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

from engine.settings import ROOT

MEDIDAS = ROOT / "medidas"
DIAS = 30
FALHAS_PADRAO = 2.0
"""Percentage of orders charged and then undone, when nobody says another."""
MESES_GUARDADOS = 12
"""Months of orders in the tables: they never expire, so this is what a year of them weighs."""
GB = 1024**3
SQS_POR_MENSAGEM = 3
"""Sent, received, deleted."""
SONDAGENS_POR_FILA = 5 * 3 * 60 * 24 * DIAS
"""Empty receives a month: Lambda polls a queue with five long polls of 20 s.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html"""
EXECUCOES_DAS_CONFERENCIAS = (60 // 5 + 60 // 15) * 24 * DIAS
"""Every 5 and every 15 minutes: defaults of terraform/conferencias.tf."""
DURACAO_DE_CONFERENCIA_MS = 500
"""Not measured; at 16 runs an hour it does not show in the sum."""
BYTES_DE_ACESSO = 260
"""One line of the API's access log (terraform/modules/api)."""
EM_VOLTA_DO_LAB = ("cesta-criar-pedido", "cesta-iniciar-saga")
"""The lab lists the saga only; its text puts the same API, queue and starter around it."""
FIXOS_DO_LAB = {"alarme": 1.0, "painel": 1.0}
"""One alarm, on its human queue, and one dashboard: what its text asks for."""

Quantidades = Mapping[str, float]


class CustoError(Exception):
    """Something cannot be priced; the message is Portuguese and says what to do."""


@dataclass(frozen=True)
class Preco:
    """A price: ``preco`` US dollars for each ``por`` units, the first ``franquia`` of a month free."""

    componente: str
    preco: float
    por: float
    franquia: float
    conferido: bool
    fonte: str
    nota: str = ""


@dataclass(frozen=True)
class Tabela:
    """Prices by what they price, their region and date."""

    regiao: str
    data: str
    precos: Mapping[str, Preco]

    @classmethod
    def ler(cls, arquivo: Path = MEDIDAS / "precos.toml") -> Tabela:
        """Read the price file.

        Raises
        ------
        CustoError
            It cannot be read, or a price lacks a field or is negative.
        """
        try:
            lido = tomllib.loads(arquivo.read_text())
            precos = {nome: Preco(**campos) for nome, campos in lido.items() if isinstance(campos, dict)}
            tabela = cls(str(lido["regiao"]), str(lido["data"]), precos)
        except (OSError, KeyError, TypeError, tomllib.TOMLDecodeError) as erro:
            raise CustoError(f"{arquivo} não serve como tabela de preços: {erro!r}") from None
        for nome, preco in precos.items():
            if preco.preco < 0 or preco.por <= 0 or preco.franquia < 0:
                raise CustoError(f"{arquivo}: o preço de {nome} é negativo ou não tem unidade.")
        return tabela

    def custo(self, quantidades: Quantidades, *, franquia: bool = False) -> dict[str, float]:
        """US dollars by component of these quantities; with ``franquia``, after each one's free tier.

        Raises
        ------
        CustoError
            One of them has no price.
        """
        custos: dict[str, float] = dict.fromkeys((preco.componente for preco in self.precos.values()), 0.0)
        for nome, quantidade in quantidades.items():
            if nome not in self.precos:
                raise CustoError(f"medidas/precos.toml não tem o preço de {nome}.")
            preco = self.precos[nome]
            pagas = max(0.0, quantidade - preco.franquia) if franquia else quantidade
            custos[preco.componente] += pagas * preco.preco / preco.por
        return custos


@dataclass(frozen=True)
class Sistema:
    """What one order consumes on each path, and what a month consumes without any."""

    feliz: Quantidades
    compensado: Quantidades
    fixo: Quantidades

    def do_mes(self, pedidos: float, falhas: float) -> tuple[Quantidades, Quantidades]:
        """Quantities of a month's good orders and of its compensated ones; ``falhas`` is their share, from 0 to 1."""
        return vezes(self.feliz, pedidos * (1 - falhas)), vezes(self.compensado, pedidos * falhas)


def vezes(quantidades: Quantidades, fator: float) -> Quantidades:
    """Each quantity, this many times."""
    return {nome: quantidade * fator for nome, quantidade in quantidades.items()}


def somar(*parcelas: Quantidades) -> Quantidades:
    """The sum of quantities, name by name."""
    soma: Any = Counter()  # typed for whole numbers only; it adds any
    for parcela in parcelas:
        soma.update(parcela)
    return dict(soma)


def do_pedido(contagem: Mapping[str, Any], gb_s: Mapping[str, float]) -> Quantidades:
    """What one order consumes.

    Parameters
    ----------
    contagem : Mapping
        One path of ``medidas/contagens.json``.
    gb_s : Mapping[str, float]
        GB-seconds of one invocation of each function.
    """
    bytes_de_log = contagem["bytes_de_log_das_funcoes"] + contagem["bytes_de_log_da_maquina"] + BYTES_DE_ACESSO
    guardado = contagem.get("bytes_guardados", 0) * MESES_GUARDADOS / GB
    mensagens = contagem["mensagens_para_pessoas"]
    return {
        "transicao": contagem["transicoes"],
        "lambda_requisicao": sum(contagem["invocacoes"].values()),
        "lambda_gb_s": sum(vezes * gb_s[funcao] for funcao, vezes in contagem["invocacoes"].items()),
        "dynamodb_escrita": contagem["unidades_de_escrita"],
        "dynamodb_leitura": contagem["unidades_de_leitura"],
        "dynamodb_gb_mes": guardado,
        "dynamodb_pitr_gb_mes": guardado,
        "sqs_requisicao": SQS_POR_MENSAGEM * (1 + mensagens),
        "sns_publicacao": mensagens,
        "sns_email": mensagens,
        "api_requisicao": 1,
        "log_gb": bytes_de_log / GB,
        "log_gb_mes": bytes_de_log / GB,  # kept 30 days
    }


def gb_s_por_invocacao(duracoes: Mapping[str, float]) -> dict[str, float]:
    """GB-seconds of one invocation of each function, from its duration in ms and its memory in template.yaml.

    A function whose duration was not measured takes the longest one.
    """
    modelo = yaml.safe_load((ROOT / "template.yaml").read_text())
    padrao = modelo["Globals"]["Function"]["MemorySize"]
    memorias = {
        recurso["Properties"]["FunctionName"]: recurso["Properties"].get("MemorySize", padrao)
        for recurso in modelo["Resources"].values()
    }
    maior = max(duracoes.values())
    return {nome: duracoes.get(nome, maior) / 1000 * memoria / 1024 for nome, memoria in memorias.items()}


def sistemas() -> tuple[Sistema, Sistema]:
    """Ours, and the lab's design, by the registered counts.

    Raises
    ------
    CustoError
        The files of measures cannot be read.
    """
    try:
        contagens = json.loads((MEDIDAS / "contagens.json").read_text())
        duracoes = json.loads((MEDIDAS / "duracoes.json").read_text())["ms"]
    except (OSError, ValueError, KeyError) as erro:
        raise CustoError(f"faltam as medidas ({erro!r}); rode make contagens e make bench.") from None
    gb_s, recursos = gb_s_por_invocacao(duracoes), contagens["recursos"]
    conferencia_gb_s = DURACAO_DE_CONFERENCIA_MS / 1000 * 256 / 1024
    nosso = Sistema(
        do_pedido(contagens["feliz"], gb_s),
        do_pedido(contagens["compensado"], gb_s),
        {
            "alarme": recursos["alarmes"],
            "painel": recursos["paineis"],
            "metrica": len(contagens["metricas"]),
            "agendamento": EXECUCOES_DAS_CONFERENCIAS,
            "lambda_requisicao": EXECUCOES_DAS_CONFERENCIAS,
            "lambda_gb_s": EXECUCOES_DAS_CONFERENCIAS * conferencia_gb_s,
            "sqs_requisicao": recursos["filas_consumidas"] * SONDAGENS_POR_FILA,
            "s3_gb_mes": contagens["pacote"]["mb"] / 1000,
        },
    )
    feliz, compensado = (
        do_pedido(caminho | {"invocacoes": caminho["invocacoes"] | dict.fromkeys(EM_VOLTA_DO_LAB, 1)}, gb_s)
        for caminho in (contagens["lab"]["feliz"], contagens["lab"]["compensado"])
    )
    return nosso, Sistema(feliz, compensado, FIXOS_DO_LAB | {"sqs_requisicao": SONDAGENS_POR_FILA})


@dataclass(frozen=True)
class Conta:
    """A month in US dollars by component: good orders, compensated ones, what is fixed, and the lab's design in all."""

    feliz: Mapping[str, float]
    compensado: Mapping[str, float]
    fixo: Mapping[str, float]
    total: Mapping[str, float]
    lab: Mapping[str, float]


def conta_do_mes(
    tabela: Tabela, nosso: Sistema, lab: Sistema, pedidos_dia: int, falhas: float, *, franquia: bool = False
) -> Conta:
    """The month's bill.

    Parameters
    ----------
    pedidos_dia : int
        Orders a day.
    falhas : float
        Percentage of them that are charged and then undone, the longest of the usual paths.
    franquia : bool
        Take the free tiers off the totals.
    """
    pedidos = pedidos_dia * DIAS
    feliz, compensado = nosso.do_mes(pedidos, falhas / 100)
    return Conta(
        feliz=tabela.custo(feliz),
        compensado=tabela.custo(compensado),
        fixo=tabela.custo(nosso.fixo),
        total=tabela.custo(somar(feliz, compensado, nosso.fixo), franquia=franquia),
        lab=tabela.custo(somar(*lab.do_mes(pedidos, falhas / 100), lab.fixo), franquia=franquia),
    )


COLUNAS = ("caminho feliz", "compensados", "fixo", "total", "laboratório")


def linhas(conta: Conta) -> list[tuple[str, list[float]]]:
    """(component, the five columns), the sum last."""
    colunas = [conta.feliz, conta.compensado, conta.fixo, conta.total, conta.lab]
    por_componente = [(nome, [coluna[nome] for coluna in colunas]) for nome in conta.total]
    return [*por_componente, ("soma", [sum(coluna.values()) for coluna in colunas])]


def _pedidos_dia(texto: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", texto):
        raise argparse.ArgumentTypeError(f"PEDIDOS_DIA é um inteiro de 0 a 999999999, e não {texto[:40]!r}")
    return int(texto)


def _falhas(texto: str) -> float:
    numero = texto.strip().removesuffix("%")
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,9})?", numero) or float(numero) > 100:
        raise argparse.ArgumentTypeError(f"FALHAS é uma porcentagem de 0 a 100, e não {texto[:40]!r}")
    return float(numero)


def mostrar(conta: Conta, titulo: str) -> None:
    """Print one month."""
    desenhada = Table(title=titulo)
    desenhada.add_column("US$ por mês", no_wrap=True)
    for coluna in COLUNAS:
        desenhada.add_column(coluna, justify="right", no_wrap=True)
    for nome, valores in linhas(conta):
        desenhada.add_row(nome, *(f"{valor:,.2f}" for valor in valores), style="bold" if nome == "soma" else None)
    largura = max(Console().width, 110)  # a number cut short is another number
    Console(width=largura).print(desenhada)


def principal(argumentos: Sequence[str] | None = None) -> int:
    """Print the bill; without a volume, write docs/custo.md too. 2 when something is missing or not a number."""
    leitor = argparse.ArgumentParser(prog="make custo", description="O custo mensal, componente por componente.")
    leitor.add_argument("--pedidos-dia", type=_pedidos_dia, help="pedidos por dia (sem ele, escreve docs/custo.md)")
    leitor.add_argument("--falhas", type=_falhas, help=f"%% compensados ({FALHAS_PADRAO:g})")
    leitor.add_argument(
        "--franquia", nargs="?", const="1", default="0", choices=("0", "1"), help="desconta do total o nível gratuito"
    )
    lidos = leitor.parse_args(argumentos)
    if lidos.pedidos_dia is None and lidos.falhas is not None:
        leitor.error(f"FALHAS pede PEDIDOS_DIA: docs/custo.md é sempre de {FALHAS_PADRAO:g} % compensados")
    falhas = FALHAS_PADRAO if lidos.falhas is None else lidos.falhas
    from operacao.custo_documento import DOCUMENTO, VOLUMES, documento

    try:
        tabela, (nosso, lab) = Tabela.ler(), sistemas()
        if lidos.pedidos_dia is None:
            DOCUMENTO.write_text(documento(tabela, nosso, lab))
            print(f"{DOCUMENTO.relative_to(ROOT)} gravado")
        for volume in VOLUMES if lidos.pedidos_dia is None else [lidos.pedidos_dia]:
            conta = conta_do_mes(tabela, nosso, lab, volume, falhas, franquia=lidos.franquia == "1")
            mostrar(conta, f"{volume} pedidos por dia, {falhas:g} % compensados")
    except CustoError as erro:
        print(f"erro: {erro}", file=sys.stderr)
        return 2
    print(f"preços de {tabela.data}, {tabela.regiao}; os não conferidos estão em docs/custo.md")
    return 0


if __name__ == "__main__":
    sys.exit(principal())
