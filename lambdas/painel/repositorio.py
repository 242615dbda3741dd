"""The table ``painel_operacao``: current state, transition log, gaps, and what the store still has to put back.

Items of one order (partition ``PEDIDO#<id>``):

``ATUAL``
    Latest known state. Indexed by store in GSI1 (``LOJA#<loja>``, ``<gravadoEm>#<id>``): the order of *writing*, not of
    happening, so that a browser which asks "what changed since T" never misses a change that arrived late.
``TRANSICAO#<sequence padded to 40>``
    One change; its facts are never rewritten. When a packed order was cancelled it also carries ``alerta`` (PENDENTE →
    PUBLICADO) and, until the store acknowledges, a place in GSI2 (``REPOSICAO#LOJA#<loja>``).
``LACUNA#<instant>``
    Written by reconciliation only: the stream lost changes here; the states in between are not known and not invented.

Of no order: ``PAINEL`` / ``INICIO``, when the panel began, and ``RECONCILIACAO#<scope>`` / ``ANDAMENTO``.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from painel.reconciliacao import Andamento, Certeza, EstadoNoPainel, Lacuna, ate_o_segundo
from painel.transicao import Transicao

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = dict[str, Any]
EstadoAlerta = Literal["PENDENTE", "PUBLICADO"]

ATUAL = "ATUAL"
PREFIXO_TRANSICAO = "TRANSICAO#"
PREFIXO_LACUNA = "LACUNA#"
INDICE_LOJA, INDICE_REPOSICAO = "GSI1", "GSI2"
PESOS: dict[Certeza, int] = {"SIM": 2, "TALVEZ": 1}


@dataclass(frozen=True)
class Registro:
    """Outcome of writing a transition: whether it is new, and the alert's state if it asks for one."""

    novo: bool
    alerta: EstadoAlerta | None


def chave_pedido(pedido_id: str) -> str:
    """Partition key of an order."""
    return f"PEDIDO#{pedido_id}"


def chave_reposicao(loja: str) -> str:
    """Partition key, in GSI2, of what a store has to put back."""
    return f"REPOSICAO#LOJA#{loja}"


class RepositorioPainel:
    """Every read and write of ``painel_operacao``."""

    def __init__(self, cliente: "DynamoDBClient", tabela: str) -> None:
        self._cliente = cliente
        self._tabela = tabela
        self._inicio: str | None = None

    # --- writing: the consumer ---------------------------------------------------------------------------------------

    def registrar_transicao(self, transicao: Transicao, gravado_em: str) -> Registro:
        """Append the transition and, in the same write, claim its alert and its place in the store's restock list.

        Duplicate: the key is the stream's sequence number, so the condition refuses the second write and answers with
        the item already there, whose ``alerta`` tells a retry whether the alert still has to go out.
        """
        item: Item = {
            "PK": _s(chave_pedido(transicao.pedido_id)),
            "SK": _s(PREFIXO_TRANSICAO + transicao.sequencia),
            "pedidoId": _s(transicao.pedido_id),
            "loja": _s(transicao.loja),
            "de": _s(transicao.de),
            "para": _s(transicao.para),
            "em": _s(transicao.em),
            "sequencia": _s(transicao.sequencia),
            "gravadoEm": _s(gravado_em),
        }
        if transicao.pede_reposicao:
            item["alerta"] = _s("PENDENTE")
            item |= _lugar_na_reposicao(transicao.loja, "SIM", transicao.em, transicao.pedido_id)
        existente = self._criar(item)
        if existente is None:
            return Registro(novo=True, alerta=_alerta(item))
        return Registro(novo=False, alerta=_alerta(existente))

    def atualizar_atual(self, transicao: Transicao, gravado_em: str) -> str | None:
        """Move ATUAL forward to this transition; None when it already shows something later.

        The answer is the status ATUAL showed before it, the transition's own ``de`` when there was none. It is kept
        with ATUAL (``vistoAntes``), so that a re-sent record is told the same.

        Do after undo: a record re-sent from an earlier checkpoint, or brought back from the on-failure queue, has a
        lower sequence than the one stored and cannot move the panel backwards. A state rebuilt by reconciliation has no
        sequence, so it is compared by instant instead.
        """
        try:
            atual = self._cliente.update_item(
                TableName=self._tabela,
                Key={"PK": _s(chave_pedido(transicao.pedido_id)), "SK": _s(ATUAL)},
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                UpdateExpression=(
                    "SET vistoAntes = if_not_exists(#status, :de),"
                    " pedidoId = :id, loja = :loja, #status = :para, statusAnterior = :de, em = :em,"
                    " sequencia = :seq, gravadoEm = :gravado, GSI1PK = :gsi1pk, GSI1SK = :gsi1sk"
                    " REMOVE reconstruidoAte"
                ),
                ConditionExpression=(
                    "(attribute_not_exists(sequencia) OR sequencia < :seq)"
                    " AND (attribute_not_exists(reconstruidoAte) OR reconstruidoAte <= :em)"
                ),
                ExpressionAttributeNames={"#status": "status"},
                ExpressionAttributeValues={
                    ":id": _s(transicao.pedido_id),
                    ":loja": _s(transicao.loja),
                    ":para": _s(transicao.para),
                    ":de": _s(transicao.de),
                    ":em": _s(transicao.em),
                    ":seq": _s(transicao.sequencia),
                    ":gravado": _s(gravado_em),
                    ":gsi1pk": _s(f"LOJA#{transicao.loja}"),
                    ":gsi1sk": _s(f"{gravado_em}#{transicao.pedido_id}"),
                },
            )["Attributes"]
        except self._cliente.exceptions.ConditionalCheckFailedException as erro:
            lido = _textos(cast(Mapping[str, Any], erro.response).get("Item", {}))
            return lido.get("vistoAntes") if lido.get("sequencia") == transicao.sequencia else None
        return str(atual["vistoAntes"]["S"])

    def pedir_conferencia(self, transicao: Transicao) -> None:
        """Put on the store's restock list, as TALVEZ, a transition that says the order had been cancelled unseen.

        Its facts stay. Duplicate: asked once, acknowledged or not.
        """
        lugar = _lugar_na_reposicao(transicao.loja, "TALVEZ", transicao.em, transicao.pedido_id)
        try:
            self._cliente.update_item(
                TableName=self._tabela,
                Key={"PK": _s(chave_pedido(transicao.pedido_id)), "SK": _s(PREFIXO_TRANSICAO + transicao.sequencia)},
                UpdateExpression="SET conferirReposicao = :talvez, GSI2PK = :loja, GSI2SK = :lugar",
                ConditionExpression="attribute_exists(PK) AND attribute_not_exists(conferirReposicao)",
                ExpressionAttributeValues={
                    ":talvez": _s("TALVEZ"),
                    ":loja": lugar["GSI2PK"],
                    ":lugar": lugar["GSI2SK"],
                },
            )
        except self._cliente.exceptions.ConditionalCheckFailedException:
            return

    def marcar_alerta_publicado(self, pedido_id: str, sk: str, publicado_em: str) -> None:
        """PENDENTE → PUBLICADO on the item that claimed the alert; already published is success."""
        try:
            self._cliente.update_item(
                TableName=self._tabela,
                Key={"PK": _s(chave_pedido(pedido_id)), "SK": _s(sk)},
                UpdateExpression="SET alerta = :publicado, publicadoEm = :em",
                ConditionExpression="alerta = :pendente",
                ExpressionAttributeValues={
                    ":publicado": _s("PUBLICADO"),
                    ":pendente": _s("PENDENTE"),
                    ":em": _s(publicado_em),
                },
            )
        except self._cliente.exceptions.ConditionalCheckFailedException:
            return

    def marcar_inicio(self, instante: str) -> str:
        """Keep when the panel began, and answer what is kept: asked of the table once per process.

        Duplicate: the condition keeps the first.
        """
        if self._inicio is None:
            existente = self._criar({"PK": _s("PAINEL"), "SK": _s("INICIO"), "em": _s(instante)})
            self._inicio = str(existente["em"]["S"]) if existente else instante
        return self._inicio

    def ler_inicio(self) -> str | None:
        """When the panel began; None when nothing was kept yet."""
        return _textos(self._ler(_s("PAINEL"), _s("INICIO"))).get("em")

    # --- writing: reconciliation -------------------------------------------------------------------------------------

    def gravar_lacuna(self, lacuna: Lacuna, gravado_em: str) -> bool:
        """Mark a gap and bring ATUAL to what the source says, both or neither; False when ATUAL is no longer what was
        compared (the stream delivered meanwhile) or the gap is already marked.

        Duplicate: the gap's key is its instant. Do after undo: the condition on ATUAL is exactly the state compared.
        """
        pedido = lacuna.pedido
        item: Item = {
            "PK": _s(chave_pedido(pedido.pedido_id)),
            "SK": _s(lacuna.sk),
            "pedidoId": _s(pedido.pedido_id),
            "loja": _s(pedido.loja),
            "ultimoConhecido": _s(lacuna.ultimo_conhecido or "NENHUM"),
            "encontrado": _s(pedido.status),
            "em": _s(pedido.atualizado_em),
            "gravadoEm": _s(gravado_em),
            "reconstruido": {"BOOL": True},
        }
        if lacuna.reposicao is not None:
            item["conferirReposicao"] = _s(lacuna.reposicao)
            item |= _lugar_na_reposicao(pedido.loja, lacuna.reposicao, pedido.atualizado_em, pedido.pedido_id)
        if lacuna.reposicao == "SIM":
            item["alerta"] = _s("PENDENTE")
        try:
            self._cliente.transact_write_items(
                TransactItems=[
                    {
                        "Put": {
                            "TableName": self._tabela,
                            "Item": item,
                            "ConditionExpression": "attribute_not_exists(PK)",
                        }
                    },
                    {"Update": self._atual_reconstruido(lacuna, gravado_em)},
                ]
            )
        except self._cliente.exceptions.TransactionCanceledException as erro:
            motivos = cast(Mapping[str, Any], erro.response).get("CancellationReasons", [])
            if any(motivo.get("Code") == "ConditionalCheckFailed" for motivo in motivos):
                return False
            raise
        return True

    def _atual_reconstruido(self, lacuna: Lacuna, gravado_em: str) -> Any:
        pedido = lacuna.pedido
        atribuicoes = (
            "SET pedidoId = :id, loja = :loja, #status = :status, statusAnterior = :anterior, em = :em,"
            " gravadoEm = :gravado, reconstruidoAte = :ate, GSI1PK = :gsi1pk, GSI1SK = :gsi1sk"
        )
        valores: Item = {
            ":id": _s(pedido.pedido_id),
            ":loja": _s(pedido.loja),
            ":status": _s(pedido.status),
            ":anterior": _s(lacuna.ultimo_conhecido or "NENHUM"),
            ":em": _s(pedido.atualizado_em),
            ":gravado": _s(gravado_em),
            ":ate": _s(ate_o_segundo(pedido.atualizado_em)),
            ":gsi1pk": _s(f"LOJA#{pedido.loja}"),
            ":gsi1sk": _s(f"{gravado_em}#{pedido.pedido_id}"),
        }
        if lacuna.reposicao == "SIM":
            # The claim of the gap's alert, where the next run looks for it.
            atribuicoes += ", alertaLacuna = :lacuna"
            valores[":lacuna"] = _s(lacuna.sk)
        if lacuna.ultimo_conhecido is None:
            condicao = "attribute_not_exists(PK)"
        else:
            condicao = "#status = :anterior"
            if lacuna.sequencia_conhecida is None:
                condicao += " AND attribute_not_exists(sequencia)"
            else:
                condicao += " AND sequencia = :sequencia"
                valores[":sequencia"] = _s(lacuna.sequencia_conhecida)
        return {
            "TableName": self._tabela,
            "Key": {"PK": _s(chave_pedido(pedido.pedido_id)), "SK": _s(ATUAL)},
            "UpdateExpression": atribuicoes,
            "ConditionExpression": condicao,
            "ExpressionAttributeNames": {"#status": "status"},
            "ExpressionAttributeValues": valores,
        }

    def encerrar_alerta_lacuna(self, pedido_id: str) -> None:
        """The gap's alert went out: its claim leaves ATUAL."""
        self._cliente.update_item(
            TableName=self._tabela,
            Key={"PK": _s(chave_pedido(pedido_id)), "SK": _s(ATUAL)},
            UpdateExpression="REMOVE alertaLacuna",
        )

    def ler_estados(self, pedidos: list[str]) -> dict[str, EstadoNoPainel]:
        """ATUAL of each order that has one, read consistently, 100 keys a call."""
        estados: dict[str, EstadoNoPainel] = {}
        chaves = [{"PK": _s(chave_pedido(pedido)), "SK": _s(ATUAL)} for pedido in dict.fromkeys(pedidos)]
        while chaves:
            lote, chaves = chaves[:100], chaves[100:]
            resposta = self._cliente.batch_get_item(RequestItems={self._tabela: {"Keys": lote, "ConsistentRead": True}})
            for item in resposta["Responses"].get(self._tabela, []):
                lido = _textos(item)
                estados[lido["pedidoId"]] = EstadoNoPainel(
                    status=lido["status"],
                    em=lido["em"],
                    sequencia=lido.get("sequencia"),
                    alerta_lacuna=lido.get("alertaLacuna"),
                )
            if self._tabela in resposta["UnprocessedKeys"]:
                chaves += cast(list[Any], resposta["UnprocessedKeys"][self._tabela]["Keys"])
        return estados

    def guardar_andamento(self, andamento: Andamento) -> bool:
        """Keep a reconciliation's progress; False when a run of the same scope that began later has taken its place."""
        item: Item = {
            "PK": _s(f"RECONCILIACAO#{andamento.escopo}"),
            "SK": _s("ANDAMENTO"),
            "inicio": _s(andamento.inicio),
            "atualizadoEm": _s(andamento.atualizado_em),
            "proxima": _s(json.dumps(andamento.proxima)),
            "concluida": {"BOOL": andamento.concluida},
            "contagem": _s(json.dumps(andamento.contagem)),
            "exemplos": _s(json.dumps(andamento.exemplos)),
            "repeticao": {"BOOL": andamento.repeticao},
        }
        if andamento.repetir_apos is not None:
            item["repetirApos"] = _s(andamento.repetir_apos)
        try:
            self._cliente.put_item(
                TableName=self._tabela,
                Item=item,
                ConditionExpression="attribute_not_exists(inicio) OR inicio <= :inicio",
                ExpressionAttributeValues={":inicio": _s(andamento.inicio)},
            )
        except self._cliente.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def ler_andamento(self, escopo: str) -> Andamento | None:
        """Progress of the last run of this scope, finished or not; None when there was none."""
        item = self._ler(_s(f"RECONCILIACAO#{escopo}"), _s("ANDAMENTO"))
        if not item:
            return None
        textos = _textos(item)
        return Andamento(
            escopo=escopo,
            inicio=textos.get("inicio", ""),
            atualizado_em=textos.get("atualizadoEm", ""),
            proxima=json.loads(textos["proxima"]),
            concluida=item["concluida"]["BOOL"],
            contagem=Counter(json.loads(textos["contagem"])),
            exemplos=json.loads(textos["exemplos"]),
            repeticao=item.get("repeticao", {}).get("BOOL", False),
            repetir_apos=textos.get("repetirApos"),
        )

    # --- helpers -----------------------------------------------------------------------------------------------------

    def _criar(self, item: Item) -> Item | None:
        """Put an item that must not exist; the existing item when it does."""
        try:
            self._cliente.put_item(
                TableName=self._tabela,
                Item=item,
                ConditionExpression="attribute_not_exists(PK)",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except self._cliente.exceptions.ConditionalCheckFailedException as erro:
            return cast(Item, cast(Mapping[str, Any], erro.response)["Item"])
        return None

    def _ler(self, pk: Any, sk: Any) -> Item:
        resposta = self._cliente.get_item(TableName=self._tabela, Key={"PK": pk, "SK": sk}, ConsistentRead=True)
        return cast(Item, resposta.get("Item", {}))


def _textos(item: Mapping[str, Any]) -> dict[str, str]:
    """The string attributes of an item, as plain text."""
    return {nome: str(valor["S"]) for nome, valor in item.items() if "S" in valor}


def _s(valor: str) -> Any:
    return {"S": valor}


def _lugar_na_reposicao(loja: str, certeza: Certeza, em: str, pedido_id: str) -> Item:
    # Read from the end: what is certain before what may be, and each the newest first.
    return {"GSI2PK": _s(chave_reposicao(loja)), "GSI2SK": _s(f"{PESOS[certeza]}#{em}#{pedido_id}")}


def _alerta(item: Item) -> EstadoAlerta | None:
    return cast(EstadoAlerta | None, item.get("alerta", {}).get("S"))
