"""The same peak against both designs: ``scripts/carga.sh``. Prints them side by side and draws the comparison.

The traffic is bounded (total, users, time) and goes to the machine's own engine only; another host must be named in
``CARGA_HOST_PERMITIDO``, so that no load is ever sent by accident.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from operacao.alvos import alvo_em_operacao
from provas.alvo import RAIZ, Alvo
from provas.erros import ErroDasProvas

PYTHON_DA_CARGA = RAIZ / ".venvs" / "carga" / "bin" / "python"
DESTINO = RAIZ / "build" / "carga"
LOJA = "loja-carga"
TOTAL_MAXIMO, CONCORRENCIA_MAXIMA = 20_000, 200
FUNCAO_DO_GATEWAY = "GatewaySimulado"
SAIDAS = {"sincrono": "url_sincrono_fila", "fila": "url_api_fila"}
NOMES = {"sincrono": "Síncrono", "fila": "Com fila"}


class CargaError(ErroDasProvas):
    """The load cannot run, or did not end well; the message is Portuguese and says what to do."""


@dataclass(frozen=True)
class Opcoes:
    """What to send: requests, users, seconds between two requests of one user, seconds to bring every user in."""

    total: int = 3000
    concorrencia: int = 20
    ritmo_s: float = 0.8
    rampa_s: float = 8.0
    limite_s: float = 900.0

    def __post_init__(self) -> None:
        if not 1 <= self.total <= TOTAL_MAXIMO:
            raise CargaError(f"--total vai de 1 a {TOTAL_MAXIMO}.")
        if not 1 <= self.concorrencia <= CONCORRENCIA_MAXIMA:
            raise CargaError(f"--concorrencia vai de 1 a {CONCORRENCIA_MAXIMA}.")
        if not 0 <= self.ritmo_s <= 60 or not 0 <= self.rampa_s <= 120:
            raise CargaError("--ritmo vai de 0 a 60 s e --rampa de 0 a 120 s.")


@dataclass
class Medida:
    """One design under load. ``amostras`` are (seconds, HTTP status or 0, ms); ``profundidade`` (s, visible, in
    flight).
    """

    desenho: str
    amostras: list[tuple[float, int, float]]
    duracao_s: float
    item: str
    profundidade: list[tuple[float, int, int]] = field(default_factory=list)
    esvaziou_em_s: float | None = None
    pedidos: Counter[str] = field(default_factory=Counter)
    saldo_final: int | None = None

    @property
    def codigos(self) -> Counter[int]:
        """How many answers of each HTTP status (0: none came)."""
        return Counter(status for _, status, _ in self.amostras)

    @property
    def aceitas(self) -> int:
        """Answers 2xx."""
        return sum(n for status, n in self.codigos.items() if 200 <= status < 300)

    def percentil(self, p: int) -> float:
        """Response time (ms) that ``p`` % of the answers did not exceed, whatever their status."""
        tempos = sorted(ms for _, _, ms in self.amostras)
        if len(tempos) < 2:
            return tempos[0] if tempos else 0.0
        return statistics.quantiles(tempos, n=100, method="inclusive")[p - 1]

    @property
    def vazao(self) -> float:
        """Answers per second."""
        return len(self.amostras) / self.duracao_s if self.duracao_s else 0.0


class Carga:
    """Runs loads on one target.

    Parameters
    ----------
    alvo : Alvo
        Where the system is deployed.
    ao_andar : Callable[[int, str], None]
        Receives how many answers came and one line of state, about once a second.
    """

    def __init__(self, alvo: Alvo, ao_andar: Callable[[int, str], None] = lambda _n, _t: None) -> None:
        self.alvo = alvo
        self.ao_andar = ao_andar
        self._sqs = alvo.cliente("sqs")
        self._ddb = alvo.cliente("dynamodb")
        self._itens: list[str] = []

    def url(self, desenho: str) -> str:
        """Where to post for a design.

        Raises
        ------
        CargaError
            The host is not this machine and was not named in CARGA_HOST_PERMITIDO.
        """
        url = str(self.alvo.saida(SAIDAS[desenho], f"desenho {desenho}"))
        host = urlsplit(url).hostname or ""
        if host not in ("127.0.0.1", "localhost") and os.environ.get("CARGA_HOST_PERMITIDO") != host:
            raise CargaError(
                f"A carga só vai para esta máquina. Para enviá-la a {host}, que é cobrado por requisição, "
                f"repita com CARGA_HOST_PERMITIDO={host}."
            )
        return url

    def semear(self, unidades: int) -> str:
        """Put a new item with ``unidades`` in stock; returns its id."""
        item = f"CARGA-{uuid.uuid4().hex[:10].upper()}"
        tabela = self.alvo.saida("tabelas_fila")["estoque"]
        self._ddb.put_item(TableName=tabela, Item={"itemId": {"S": item}, "saldo": {"N": str(unidades)}})
        self._itens.append(item)
        return item

    def disparar(self, desenho: str, opcoes: Opcoes) -> Medida:
        """Warm the functions up, send the load and return what was answered. Does not wait for the queue."""
        aquecimento = Opcoes(opcoes.concorrencia * 3, opcoes.concorrencia, 0.3, max(opcoes.rampa_s, 0.1), 180)
        self._gerar(desenho, aquecimento, self.semear(aquecimento.total), "aquecendo")
        if desenho == "fila":
            self.esperar_vazia(300)
        item = self.semear(opcoes.total)
        return self._gerar(desenho, opcoes, item, NOMES[desenho])

    def _gerar(self, desenho: str, opcoes: Opcoes, item: str, rotulo: str) -> Medida:
        if not PYTHON_DA_CARGA.exists():
            raise CargaError("Falta o ambiente da carga. Rode: scripts/preparar.sh carga")
        DESTINO.mkdir(parents=True, exist_ok=True)
        saida = DESTINO / f"{desenho}.amostras.json"
        saida.unlink(missing_ok=True)
        corpo = json.dumps({"itemId": item, "quantidade": 1, "valorCentavos": 1990, "lojaId": LOJA})
        comando = [
            str(PYTHON_DA_CARGA), "-m", "operacao.carga_gerador", "--url", self.url(desenho), "--corpo", corpo,
            "--total", str(opcoes.total), "--concorrencia", str(opcoes.concorrencia), "--ritmo", str(opcoes.ritmo_s),
            "--rampa", str(opcoes.rampa_s), "--limite", str(opcoes.limite_s), "--saida", str(saida),
        ]  # fmt: skip
        profundidade: list[tuple[float, int, int]] = []
        comeco = time.time()
        with (
            subprocess.Popen(comando, cwd=RAIZ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as gerador,
            _sem_deixar(gerador),
        ):
            for linha in gerador.stdout or ():
                andamento = json.loads(linha)
                estado = " ".join(f"{codigo}×{n}" for codigo, n in sorted(andamento["status"].items()))
                if desenho == "fila":
                    visiveis, em_voo = self.profundidade()
                    profundidade.append((round(time.time() - comeco, 1), visiveis, em_voo))
                    estado += f" · na fila {visiveis + em_voo}"
                self.ao_andar(andamento["enviadas"], f"{rotulo}: {estado}")
            erro = gerador.stderr.read() if gerador.stderr else ""
            if gerador.wait() != 0 or not saida.exists():
                raise CargaError(f"O gerador de carga falhou: {erro.strip().splitlines()[-1:] or 'sem mensagem'}")
        dados = json.loads(saida.read_text(encoding="utf-8"))
        amostras = [(float(t), int(status), float(ms)) for t, status, ms in dados["amostras"]]
        return Medida(desenho, amostras, float(dados["duracao"]), item, profundidade)

    def profundidade(self) -> tuple[int, int]:
        """Messages waiting and messages being worked on, in the main queue."""
        atributos = self._sqs.get_queue_attributes(
            QueueUrl=self.alvo.saida("fila_pedidos_url"),
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )["Attributes"]
        return (
            int(atributos["ApproximateNumberOfMessages"]),
            int(atributos["ApproximateNumberOfMessagesNotVisible"]),
        )

    def esperar_vazia(self, limite_s: float, medida: Medida | None = None) -> float:
        """Wait until the main queue is empty; seconds it took.

        Raises
        ------
        CargaError
            It did not drain in ``limite_s``.
        """
        comeco = time.monotonic()
        while True:
            visiveis, em_voo = self.profundidade()
            passou = time.monotonic() - comeco
            if medida is not None:
                medida.profundidade.append((round(medida.duracao_s + passou, 1), visiveis, em_voo))
            if visiveis + em_voo == 0:
                return passou
            if passou > limite_s:
                raise CargaError(f"A fila não esvaziou em {limite_s:.0f} s: restam {visiveis} + {em_voo}.")
            self.ao_andar(-1, f"esvaziando: {visiveis} esperando, {em_voo} em processamento")
            time.sleep(1)

    def contar(self, medida: Medida) -> None:
        """Fill in what became of the orders: effects by outcome, and the stock left."""
        tabelas = self.alvo.saida("tabelas_fila")
        paginas = self._ddb.get_paginator("scan").paginate(
            TableName=tabelas["efeitos"],
            ConsistentRead=True,
            ProjectionExpression="situacao",
            FilterExpression="itemId = :item",
            ExpressionAttributeValues={":item": {"S": medida.item}},
        )
        medida.pedidos = Counter(item["situacao"]["S"] for pagina in paginas for item in pagina["Items"])
        estoque = self._ddb.get_item(
            TableName=tabelas["estoque"], Key={"itemId": {"S": medida.item}}, ConsistentRead=True
        )
        medida.saldo_final = int(estoque["Item"]["saldo"]["N"])

    def _pedidos_de(self, itens: Collection[str]) -> set[str]:
        paginas = self._ddb.get_paginator("scan").paginate(
            TableName=self.alvo.saida("tabelas_fila")["efeitos"],
            ConsistentRead=True,
            ProjectionExpression="pedidoId, itemId",
        )
        return {i["pedidoId"]["S"] for pagina in paginas for i in pagina["Items"] if i["itemId"]["S"] in itens}

    def _movimentos_de(self, pedidos: Collection[str]) -> list[tuple[str, str, str]]:
        """Lines of the stand-in's ledger about these orders: (order in the ledger, kind, pedidoId)."""
        paginas = self._ddb.get_paginator("query").paginate(
            TableName=self._tabela_do_gateway(),
            KeyConditionExpression="pk = :m",
            ProjectionExpression="sk, movimento, pedidoId",
            ExpressionAttributeValues={":m": {"S": "MOVIMENTOS"}},
            ConsistentRead=True,
        )
        linhas = [
            (i["sk"]["S"], i["movimento"]["S"], i["pedidoId"]["S"]) for pagina in paginas for i in pagina["Items"]
        ]
        return [linha for linha in linhas if linha[2] in pedidos]

    def cobrancas(self, medida: Medida) -> tuple[int, int]:
        """Charges approved for this load's orders in the stand-in's ledger, and for how many distinct orders."""
        linhas = self._movimentos_de(self._pedidos_de({medida.item}))
        cobradas = [pedido for _, movimento, pedido in linhas if movimento == "COBRANCA_APROVADA"]
        return len(cobradas), len(set(cobradas))

    def limpar(self) -> None:
        """Remove every order this load made, warm-up included, and its lines in the stand-in's ledger.

        The ledger is one partition, read whole by who asks for an order's movements: thousands of lines left behind
        would slow every proof that comes after.
        """
        tabelas = self.alvo.saida("tabelas_fila")
        pedidos = sorted(self._pedidos_de(set(self._itens)))
        movimentos = self._movimentos_de(set(pedidos))
        self._apagar(tabelas["efeitos"], [{"pedidoId": {"S": p}} for p in pedidos])
        self._apagar(tabelas["processados"], [{"PedidoId": {"S": p}} for p in pedidos])
        self._apagar(tabelas["estoque"], [{"itemId": {"S": item}} for item in self._itens])
        cobrancas = [{"pk": {"S": f"COBRANCA#fila-cobranca-{p}"}, "sk": {"S": "COBRANCA"}} for p in pedidos]
        linhas = [{"pk": {"S": "MOVIMENTOS"}, "sk": {"S": ordem}} for ordem, _, _ in movimentos]
        self._apagar(self._tabela_do_gateway(), cobrancas + linhas)
        self._itens.clear()

    def _apagar(self, tabela: str, chaves: list[dict[str, Any]]) -> None:
        for inicio in range(0, len(chaves), 25):
            pendentes = {tabela: [{"DeleteRequest": {"Key": chave}} for chave in chaves[inicio : inicio + 25]]}
            while pendentes:
                pendentes = self._ddb.batch_write_item(RequestItems=pendentes).get("UnprocessedItems", {})

    def _tabela_do_gateway(self) -> str:
        return self.alvo.variavel(FUNCAO_DO_GATEWAY, "TABELA_GATEWAY")

    @contextmanager
    def atraso_do_gateway(self, atraso_ms: int) -> Iterator[None]:
        """The stand-in takes ``atraso_ms`` to decide a charge, and afterwards what it took before."""
        funcao = self.alvo.funcao(FUNCAO_DO_GATEWAY)
        cliente = self.alvo.cliente("lambda")

        def variaveis() -> dict[str, str]:
            cliente.get_waiter("function_updated_v2").wait(FunctionName=funcao)
            lidas: dict[str, str] = cliente.get_function_configuration(FunctionName=funcao)["Environment"]["Variables"]
            return lidas

        def mudar(valor: str) -> None:
            antes = variaveis()
            if antes["ATRASO_PADRAO_MS"] != valor:
                cliente.update_function_configuration(
                    FunctionName=funcao, Environment={"Variables": {**antes, "ATRASO_PADRAO_MS": valor}}
                )
                variaveis()

        anterior = variaveis()["ATRASO_PADRAO_MS"]
        try:
            mudar(str(atraso_ms))
            yield
        finally:
            mudar(anterior)


@contextmanager
def _sem_deixar(gerador: subprocess.Popen[str]) -> Iterator[None]:
    """Whatever stops this process stops the load as well: what is cleaned up must not be made again."""
    try:
        yield
    finally:
        gerador.kill()


def tabela(medidas: list[Medida], opcoes: Opcoes, atraso_ms: int) -> Table:
    """The designs side by side, in Portuguese."""
    quadro = Table(title=f"{opcoes.total} pedidos · {opcoes.concorrencia} clientes · gateway de {atraso_ms} ms")
    quadro.add_column("medida")
    for medida in medidas:
        quadro.add_column(NOMES[medida.desenho], justify="right")

    def linha(nome: str, valor: Callable[[Medida], str]) -> None:
        quadro.add_row(nome, *(valor(m) for m in medidas))

    linha("respostas", lambda m: str(len(m.amostras)))
    linha("aceitas (2xx)", lambda m: f"{m.aceitas} ({m.aceitas / max(1, len(m.amostras)):.1%})")
    linha("códigos", lambda m: "  ".join(f"{c or 'sem resposta'}×{n}" for c, n in sorted(m.codigos.items())))
    for p in (50, 95, 99):
        linha(f"p{p} (ms)", lambda m, p=p: f"{m.percentil(p):.0f}")  # type: ignore[misc]  # of a default, mypy infers nothing
    linha("vazão (respostas/s)", lambda m: f"{m.vazao:.1f}")
    linha("pedidos concluídos", lambda m: str(m.pedidos["CONCLUIDO"]))
    linha("pedidos pela metade", lambda m: str(m.pedidos["ESTOQUE_DEBITADO"]))
    linha("fila vazia depois de (s)", lambda m: "—" if m.esvaziou_em_s is None else f"{m.esvaziou_em_s:.0f}")
    return quadro


def comparacao(medidas: list[Medida]) -> list[str]:
    """Sentences that compare the two designs; empty with only one."""
    por_nome = {m.desenho: m for m in medidas}
    if set(por_nome) != {"sincrono", "fila"}:
        return []
    sincrono, fila = por_nome["sincrono"], por_nome["fila"]
    falhas = {m.desenho: len(m.amostras) - m.aceitas for m in medidas}
    return [
        f"Falhas: {falhas['sincrono']} de {len(sincrono.amostras)} no síncrono "
        f"({falhas['sincrono'] / len(sincrono.amostras):.1%}), {falhas['fila']} de {len(fila.amostras)} com fila.",
        f"p95 do síncrono é {sincrono.percentil(95) / max(fila.percentil(95), 0.1):.1f}× o da fila; "
        f"p50, {sincrono.percentil(50) / max(fila.percentil(50), 0.1):.1f}×.",
    ]


def gravar(medidas: list[Medida], opcoes: Opcoes, atraso_ms: int) -> tuple[Path, Path]:
    """Write ``build/carga/resultado.json`` and draw ``build/carga/comparacao.svg``."""
    DESTINO.mkdir(parents=True, exist_ok=True)
    resultado = {
        "total": opcoes.total,
        "concorrencia": opcoes.concorrencia,
        "ritmo_s": opcoes.ritmo_s,
        "atraso_ms": atraso_ms,
        "desenhos": {
            m.desenho: {
                "aceitas": m.aceitas,
                "codigos": {str(c): n for c, n in sorted(m.codigos.items())},
                "p50": m.percentil(50),
                "p95": m.percentil(95),
                "p99": m.percentil(99),
                "vazao": m.vazao,
                "pedidos": dict(m.pedidos),
                "saldo_final": m.saldo_final,
                "esvaziou_em_s": m.esvaziou_em_s,
                "profundidade": m.profundidade,
                "amostras": m.amostras,
            }
            for m in medidas
        },
    }
    dados, desenho = DESTINO / "resultado.json", DESTINO / "comparacao.svg"
    dados.write_text(json.dumps(resultado), encoding="utf-8")
    subprocess.run(
        [str(PYTHON_DA_CARGA), "-m", "operacao.carga_grafico", str(dados), str(desenho)], cwd=RAIZ, check=True
    )
    return dados, desenho


def principal(argumentos: list[str] | None = None) -> int:
    """Run the command line; 0 when the queue design accepted everything and nothing was lost or doubled."""
    p = argparse.ArgumentParser(prog="scripts/carga.sh", description="O mesmo pico nos dois desenhos, lado a lado.")
    p.add_argument("--total", type=int, default=3000, help="requisições por desenho (padrão: 3000)")
    p.add_argument("--concorrencia", type=int, default=20, help="clientes ao mesmo tempo (padrão: 20)")
    p.add_argument("--ritmo", type=float, default=0.8, help="segundos entre dois pedidos de um cliente (padrão: 0.8)")
    p.add_argument("--rampa", type=float, default=8.0, help="segundos até todos os clientes entrarem (padrão: 8)")
    p.add_argument("--atraso-gateway", type=int, default=700, metavar="MS", help="tempo de uma cobrança (padrão: 700)")
    p.add_argument("--desenhos", default="sincrono,fila", help="quais, separados por vírgula (padrão: sincrono,fila)")
    p.add_argument("--alvo", default=os.environ.get("ALVO") or "local", help="local (padrão), localstack ou aws")
    lidos = p.parse_args(argumentos)
    console = Console()
    try:
        desenhos = [d.strip() for d in lidos.desenhos.split(",") if d.strip()]
        if not desenhos or any(d not in SAIDAS for d in desenhos):
            raise CargaError(f"--desenhos aceita: {', '.join(SAIDAS)}.")
        opcoes = Opcoes(lidos.total, lidos.concorrencia, lidos.ritmo, lidos.rampa)
        alvo = alvo_em_operacao(lidos.alvo, producao=False)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # who is told to end cleans up too
        return _rodar(alvo, desenhos, opcoes, lidos.atraso_gateway, console)
    except KeyboardInterrupt:
        console.print(
            "Interrompida: o que ela gravou foi apagado, e o que ficou na fila será recusado por falta de estoque, "
            "sem cobrança."
        )
        return 130
    except ErroDasProvas as erro:
        console.print(f"[red]erro:[/red] {erro}")
        return 1


def _rodar(alvo: Alvo, desenhos: list[str], opcoes: Opcoes, atraso_ms: int, console: Console) -> int:
    colunas = (TextColumn("{task.description}"), BarColumn(30), TextColumn("{task.completed:.0f}/{task.total:.0f}"))
    medidas = []
    with Progress(*colunas, TimeElapsedColumn(), console=console) as progresso:
        tarefa = progresso.add_task("preparando", total=opcoes.total)

        def andar(enviadas: int, estado: str) -> None:
            progresso.update(tarefa, description=estado, completed=None if enviadas < 0 else enviadas)

        carga = Carga(alvo, andar)
        try:
            with carga.atraso_do_gateway(atraso_ms):
                for desenho in desenhos:
                    medida = carga.disparar(desenho, opcoes)
                    if desenho == "fila":
                        medida.esvaziou_em_s = carga.esperar_vazia(1200, medida)
                    carga.contar(medida)
                    medidas.append(medida)
        finally:
            andar(-1, "limpando")
            carga.limpar()
    console.print(tabela(medidas, opcoes, atraso_ms))
    for frase in comparacao(medidas):
        console.print(frase)
    dados, desenho_svg = gravar(medidas, opcoes, atraso_ms)
    console.print(f"gráfico: {desenho_svg.relative_to(RAIZ)} · dados: {dados.relative_to(RAIZ)}")
    ruins = [problema for m in medidas if m.desenho == "fila" for problema in problemas(m, opcoes)]
    for problema in ruins:
        console.print(f"[red]FALHOU[/red] {problema}")
    return 1 if ruins else 0


def problemas(medida: Medida, opcoes: Opcoes) -> list[str]:
    """What is wrong with the queue design's run, in Portuguese; empty when every order was accepted and happened
    once.
    """
    achados = []
    if medida.codigos != Counter({202: opcoes.total}):
        achados.append(f"nem toda resposta foi 202: {dict(medida.codigos)}")
    if medida.pedidos != Counter({"CONCLUIDO": medida.codigos[202]}):
        achados.append(f"os efeitos não são os pedidos aceitos: {dict(medida.pedidos)} para {medida.codigos[202]}")
    if medida.saldo_final != opcoes.total - medida.pedidos["CONCLUIDO"]:
        achados.append(f"o saldo não bate: {medida.saldo_final}")
    return achados


if __name__ == "__main__":
    sys.exit(principal())
