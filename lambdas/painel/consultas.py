"""Reading the panel for a person: a store's orders, what changed, one order's timeline, what to put back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from comum.relogio import de_iso, para_iso
from painel.erros import ConsultaInvalidaError, PedidoNaoEncontradoError
from painel.repositorio import ATUAL, PREFIXO_LACUNA, PREFIXO_TRANSICAO, chave_pedido, chave_reposicao

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Linha = dict[str, Any]

LIMITE_MAXIMO = 100
MUDANCAS_NO_MAXIMO = 200
REPOSICOES_NO_MAXIMO = 200
HISTORICO_NO_MAXIMO = 500
# Writers' clocks differ and the index is eventually consistent: each question reaches back this far before the last
# answer. The browser keys by order and version, so seeing one again costs nothing.
SOBREPOSICAO = timedelta(seconds=10)
_PAGINAS_POR_CONSULTA = 10

_LOJA = re.compile(r"[0-9A-Za-z_-]{1,32}\Z")
_PEDIDO = re.compile(r"[0-9A-Za-z_-]{1,64}\Z")
_STATUS = re.compile(r"[A-Z][A-Z_]{0,39}\Z")
_INSTANTE = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z"
_CURSOR = re.compile(rf"({_INSTANTE})#([0-9A-Za-z_-]{{1,64}})\Z")
_CURSOR_REPOSICAO = re.compile(rf"((?:[12]#)?{_INSTANTE}#([0-9A-Za-z_-]{{1,64}}))#([TL][0-9TZ:.-]{{24,40}})\Z")
_ORDEM = re.compile(rf"(T[0-9]{{40}}|L{_INSTANTE})\Z")


def validar_loja(texto: str) -> str:
    """A store's id; ConsultaInvalidaError otherwise."""
    return _validar(_LOJA, texto, "A loja tem de 1 a 32 letras, números, hífens ou sublinhados.")


def validar_pedido(texto: str) -> str:
    """An order's id; ConsultaInvalidaError otherwise."""
    return _validar(_PEDIDO, texto, "O número do pedido tem de 1 a 64 letras, números, hífens ou sublinhados.")


def validar_ordem(texto: str) -> str:
    """What identifies a transition (``T`` + 40 digits) or a gap (``L`` + instant) of an order; returns the item's
    key.
    """
    ordem = _validar(_ORDEM, texto, "A ocorrência informada não existe.")
    return (PREFIXO_TRANSICAO if ordem[0] == "T" else PREFIXO_LACUNA) + ordem[1:]


def validar_limite(texto: str | None) -> int:
    """Page size, 1 to 100 (default 50)."""
    if texto is None:
        return 50
    if not re.fullmatch(r"[0-9]{1,3}", texto) or not 1 <= int(texto) <= LIMITE_MAXIMO:
        raise ConsultaInvalidaError(f"O limite vai de 1 a {LIMITE_MAXIMO}.")
    return int(texto)


def validar_status(texto: str | None) -> list[str]:
    """Statuses to show, separated by commas; empty means all."""
    if not texto:
        return []
    nomes = texto.split(",")
    if len(nomes) > 10:
        raise ConsultaInvalidaError("Filtre por no máximo 10 status.")
    return [_validar(_STATUS, nome, "Status inválido.") for nome in nomes]


@dataclass(frozen=True)
class ListaDaLoja:
    """A page of a store's orders, the last written first; ``proxima`` is the cursor of the next page."""

    pedidos: list[Linha]
    proxima: str | None


@dataclass(frozen=True)
class Reposicoes:
    """A page of what a store has to put back; ``proxima`` is the cursor of the next page."""

    linhas: list[Linha]
    proxima: str | None


@dataclass(frozen=True)
class Mudancas:
    """What changed since ``desde``; ``incompleta`` when there was too much to send and the browser should list
    again.
    """

    pedidos: list[Linha]
    reposicoes: Reposicoes
    desde: str
    incompleta: bool


class Consultas:
    """Every read of the panel's API, and the one write a person makes: acknowledging a restock."""

    def __init__(self, cliente: "DynamoDBClient", tabela: str) -> None:
        self._cliente = cliente
        self._tabela = tabela

    def listar_loja(self, loja: str, status: list[str], limite: int, cursor: str | None) -> ListaDaLoja:
        """A store's orders by status, newest change first, page by page.

        A filter discards after reading, so a page may need several reads; they are bounded, and a page cut short still
        has a cursor.
        """
        pedidos: list[Linha] = []
        inicio = _chave_do_cursor(loja, cursor)
        for _ in range(_PAGINAS_POR_CONSULTA):
            resposta = self._cliente.query(**self._da_loja(loja, status, inicio))
            for item in resposta["Items"]:
                if len(pedidos) == limite:
                    return ListaDaLoja(pedidos, _cursor_de(pedidos[-1]))
                pedidos.append(_linha_atual(item))
            inicio = resposta.get("LastEvaluatedKey")
            if not inicio:
                return ListaDaLoja(pedidos, None)
        return ListaDaLoja(pedidos, str(inicio["GSI1SK"]["S"]) if inicio else None)

    def _da_loja(self, loja: str, status: list[str], inicio: Mapping[str, Any] | None) -> Any:
        pedido: dict[str, Any] = {
            "TableName": self._tabela,
            "IndexName": "GSI1",
            "KeyConditionExpression": "GSI1PK = :loja",
            "ExpressionAttributeValues": {":loja": {"S": f"LOJA#{loja}"}},
            "ScanIndexForward": False,
            "Limit": 200,
        }
        if status:
            valores = {f":s{n}": {"S": nome} for n, nome in enumerate(status)}
            pedido["FilterExpression"] = f"#status IN ({', '.join(valores)})"
            pedido["ExpressionAttributeNames"] = {"#status": "status"}
            pedido["ExpressionAttributeValues"] |= valores
        if inicio:
            pedido["ExclusiveStartKey"] = dict(inicio)
        return pedido

    def mudancas(self, loja: str, desde: str) -> Mudancas:
        """What changed in a store since an instant (UTC ISO-8601 with milliseconds, from the previous answer)."""
        try:
            inicio = para_iso(de_iso(desde) - SOBREPOSICAO)
        except (ValueError, OverflowError):
            raise ConsultaInvalidaError("O instante informado em 'desde' é inválido.") from None
        resposta = self._cliente.query(
            TableName=self._tabela,
            IndexName="GSI1",
            KeyConditionExpression="GSI1PK = :loja AND GSI1SK > :desde",
            ExpressionAttributeValues={":loja": {"S": f"LOJA#{loja}"}, ":desde": {"S": inicio}},
            Limit=MUDANCAS_NO_MAXIMO,
        )
        pedidos = [_linha_atual(item) for item in resposta["Items"]]
        return Mudancas(
            pedidos=pedidos,
            reposicoes=self.reposicoes(loja),
            desde=max([para_iso(de_iso(desde)), *(pedido["gravadoEm"] for pedido in pedidos)]),
            incompleta="LastEvaluatedKey" in resposta,
        )

    def reposicoes(self, loja: str, cursor: str | None = None) -> Reposicoes:
        """What the store still has to put back, page by page: cancelled after being packed before cancelled and never
        seen packed (TALVEZ), each the newest first; acknowledged ones are not there.
        """
        pedido: dict[str, Any] = {
            "TableName": self._tabela,
            "IndexName": "GSI2",
            "KeyConditionExpression": "GSI2PK = :loja",
            "ExpressionAttributeValues": {":loja": {"S": chave_reposicao(loja)}},
            "ScanIndexForward": False,
            "Limit": REPOSICOES_NO_MAXIMO,
        }
        if cursor is not None:
            pedido["ExclusiveStartKey"] = _chave_da_reposicao(loja, cursor)
        resposta = self._cliente.query(**pedido)
        ultima = resposta.get("LastEvaluatedKey")
        proxima = f"{ultima['GSI2SK']['S']}#{_ordem_de(ultima['SK']['S'])}" if ultima else None
        linhas = [
            {
                "pedidoId": item["pedidoId"]["S"],
                "ordem": _ordem_de(item["SK"]["S"]),
                "em": item["em"]["S"],
                "certeza": item.get("conferirReposicao", {}).get("S", "SIM"),
            }
            for item in resposta["Items"]
        ]
        return Reposicoes(linhas, proxima)

    def pedido(self, pedido_id: str) -> Linha:
        """Current state and whole timeline of one order, oldest first; PedidoNaoEncontradoError when never seen."""
        itens: list[Mapping[str, Any]] = []
        argumentos: dict[str, Any] = {
            "TableName": self._tabela,
            "KeyConditionExpression": "PK = :pk",
            "ExpressionAttributeValues": {":pk": {"S": chave_pedido(pedido_id)}},
            "ConsistentRead": True,
        }
        while len(itens) < HISTORICO_NO_MAXIMO:
            resposta = self._cliente.query(**argumentos)
            itens += resposta["Items"]
            if "LastEvaluatedKey" not in resposta:
                break
            argumentos["ExclusiveStartKey"] = resposta["LastEvaluatedKey"]
        atual = next((item for item in itens if item["SK"]["S"] == ATUAL), None)
        if atual is None:
            raise PedidoNaoEncontradoError("o painel nunca viu este pedido")
        historico = [_linha_do_historico(item) for item in itens if item["SK"]["S"] != ATUAL]
        # Transitions sort by sequence; a gap has none and goes by its instant.
        historico.sort(key=lambda linha: (linha["em"], linha["ordem"]))
        return {**_linha_atual(atual), "historico": _com_saltos(historico)}

    def reconhecer(
        self, pedido_id: str, sk: str, loja: str, por: str, em: str
    ) -> Literal["reconhecida", "jaReconhecida"]:
        """Record that the store put the goods back; the first acknowledgement stands.

        Duplicate: a second one changes nothing and says so. The store is part of the condition, so that nobody
        acknowledges another store's.
        """
        try:
            self._cliente.update_item(
                TableName=self._tabela,
                Key={"PK": {"S": chave_pedido(pedido_id)}, "SK": {"S": sk}},
                UpdateExpression="SET reconhecidoEm = :em, reconhecidoPor = :por REMOVE GSI2PK, GSI2SK",
                ConditionExpression="attribute_exists(GSI2PK) AND loja = :loja",
                ExpressionAttributeValues={":em": {"S": em}, ":por": {"S": por}, ":loja": {"S": loja}},
            )
        except self._cliente.exceptions.ConditionalCheckFailedException:
            pass
        else:
            return "reconhecida"
        linha = next((lido for lido in self.pedido(pedido_id)["historico"] if _ordem_de(sk) == lido["ordem"]), None)
        if linha is None or linha["loja"] != loja or "reconhecidoEm" not in linha:
            raise PedidoNaoEncontradoError("nothing to acknowledge there")
        return "jaReconhecida"


def _linha_atual(item: Mapping[str, Any]) -> Linha:
    linha = {nome: item[nome]["S"] for nome in ("pedidoId", "loja", "status", "statusAnterior", "em", "gravadoEm")}
    linha["versao"] = item.get("sequencia", item["gravadoEm"])["S"]
    if "reconstruidoAte" in item:
        linha["reconstruido"] = True
    return linha


def _linha_do_historico(item: Mapping[str, Any]) -> Linha:
    lacuna = item["SK"]["S"].startswith(PREFIXO_LACUNA)
    linha: Linha = {
        "tipo": "LACUNA" if lacuna else "TRANSICAO",
        "ordem": _ordem_de(item["SK"]["S"]),
        "loja": item["loja"]["S"],
        "de": item["ultimoConhecido" if lacuna else "de"]["S"],
        "para": item["encontrado" if lacuna else "para"]["S"],
        "em": item["em"]["S"],
        "gravadoEm": item["gravadoEm"]["S"],
    }
    if "alerta" in item or "conferirReposicao" in item:
        linha["reposicao"] = item.get("conferirReposicao", {}).get("S", "SIM")
        linha["alerta"] = item.get("alerta", {}).get("S", "NENHUM")
    if "reconhecidoEm" in item:
        linha["reconhecidoEm"] = item["reconhecidoEm"]["S"]
    return linha


def _com_saltos(historico: list[Linha]) -> list[Linha]:
    """The history with a gap wherever a transition leaves a status that the line before it did not reach.

    Found at each reading and never written: the gap closes if the missing record comes back from the on-failure queue.
    """
    linhas = historico[:1]
    for antes, linha in pairwise(historico):
        if linha["tipo"] == "TRANSICAO" and antes["para"] != linha["de"]:
            quando = {nome: linha[nome] for nome in ("loja", "em", "gravadoEm")}
            linhas.append(
                {"tipo": "LACUNA", "ordem": f"S{linha['ordem']}", "de": antes["para"], "para": linha["de"], **quando}
            )
        linhas.append(linha)
    return linhas


def _ordem_de(sk: str) -> str:
    return (
        "L" + sk.removeprefix(PREFIXO_LACUNA) if sk.startswith(PREFIXO_LACUNA) else "T" + sk.removeprefix("TRANSICAO#")
    )


def _cursor_de(linha: Linha) -> str:
    return f"{linha['gravadoEm']}#{linha['pedidoId']}"


def _chave_do_cursor(loja: str, cursor: str | None) -> dict[str, Any] | None:
    if cursor is None:
        return None
    partes = _CURSOR.match(cursor)
    if partes is None:
        raise ConsultaInvalidaError("O cursor da página é inválido.")
    return {
        "PK": {"S": chave_pedido(partes.group(2))},
        "SK": {"S": ATUAL},
        "GSI1PK": {"S": f"LOJA#{loja}"},
        "GSI1SK": {"S": cursor},
    }


def _chave_da_reposicao(loja: str, cursor: str) -> dict[str, Any]:
    partes = _CURSOR_REPOSICAO.match(cursor)
    if partes is None:
        raise ConsultaInvalidaError("O cursor da página é inválido.")
    return {
        "PK": {"S": chave_pedido(partes[2])},
        "SK": {"S": validar_ordem(partes[3])},
        "GSI2PK": {"S": chave_reposicao(loja)},
        "GSI2SK": {"S": partes[1]},
    }


def _validar(forma: re.Pattern[str], texto: str, mensagem: str) -> str:
    if not forma.match(texto):
        raise ConsultaInvalidaError(mensagem)
    return texto
