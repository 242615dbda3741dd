"""Deployed permissions, one by one: what each function's role may do, and taking exactly one of them away.

A probe (``@sonda``) is the smallest use of one permission. A new permission needs a new probe: a test says so.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from provas.alvo import Alvo

# Written by the Lambda service itself, outside the function's code; the local engine does not check them.
FORA_DO_MOTOR = ("logs:", "xray:")
# Used by a stream mapping with the function's role, which the local engine does not check: the plan's test reads them.
DO_MAPEAMENTO = {
    (funcao, acao)
    for funcao in ("ConsumidorPedidos", "BaixarReserva")
    for acao in (
        "dynamodb:DescribeStream",
        "dynamodb:GetRecords",
        "dynamodb:GetShardIterator",
        "dynamodb:ListStreams",
        "sqs:SendMessage",
    )
}


@dataclass(frozen=True)
class Permissao:
    """One action of one statement of one function's role."""

    funcao: str  # logical id
    acao: str
    recurso: str  # last part of the first resource's ARN
    papel: str
    politica: str
    sentenca: int  # index in the policy

    def __str__(self) -> str:
        return f"{self.funcao} {self.acao} {self.recurso}"


@dataclass(frozen=True)
class Desfecho:
    """What a probe saw: whether it worked, and the sign of it."""

    funcionou: bool
    visto: str


Sonda = Callable[..., Desfecho]
SONDAS: dict[tuple[str, str, str], Sonda] = {}


def sonda(funcao: str, *acoes: str, recurso: str = "") -> Callable[[Sonda], Sonda]:
    """Register the probe of one or more actions of a function; ``recurso`` (part of the ARN) tells twins apart."""

    def registrar(f: Sonda) -> Sonda:
        for acao in acoes:
            chave = (funcao, acao, recurso)
            assert chave not in SONDAS, f"two probes for {chave}"
            SONDAS[chave] = f
        return f

    return registrar


def sonda_de(p: Permissao) -> Sonda | None:
    """The probe of a permission, or None."""
    achadas = [
        f
        for (funcao, acao, recurso), f in SONDAS.items()
        if (funcao, acao) == (p.funcao, p.acao) and recurso in p.recurso
    ]
    assert len(achadas) <= 1, f"two probes fit {p}"
    return achadas[0] if achadas else None


def permissoes(alvo: Alvo) -> list[Permissao]:
    """Every action that every deployed function's role allows, read from IAM."""
    iam = alvo.cliente("iam")
    achadas = []
    for funcao, papel in sorted(alvo.saida("papeis").items()):
        assert iam.list_attached_role_policies(RoleName=papel)["AttachedPolicies"] == [], (
            f"{papel} has managed policies"
        )
        for politica in iam.list_role_policies(RoleName=papel)["PolicyNames"]:
            documento = ler(alvo, papel, politica)
            for i, sentenca in enumerate(documento["Statement"]):
                for acao in _lista(sentenca["Action"]):
                    if not acao.startswith(FORA_DO_MOTOR) and (funcao, acao) not in DO_MAPEAMENTO:
                        recurso = _lista(sentenca["Resource"])[0].split(":", 5)[-1]
                        achadas.append(Permissao(funcao, acao, recurso, papel, politica, i))
    return achadas


def ler(alvo: Alvo, papel: str, politica: str) -> dict[str, Any]:
    """A role's inline policy."""
    documento = alvo.cliente("iam").get_role_policy(RoleName=papel, PolicyName=politica)["PolicyDocument"]
    return json.loads(documento) if isinstance(documento, str) else documento


def sem(alvo: Alvo, p: Permissao) -> AbstractContextManager[None]:
    """Take one action away from the deployed role, and give the very same policy back."""

    def podar(politica: dict[str, Any]) -> None:
        sentenca = politica["Statement"][p.sentenca]
        sentenca["Action"] = [a for a in _lista(sentenca["Action"]) if a != p.acao]
        if not sentenca["Action"]:
            del politica["Statement"][p.sentenca]

    return _mudada(alvo, p, podar)


def estreita(alvo: Alvo, p: Permissao, recurso: str) -> AbstractContextManager[None]:
    """Point one resource of the statement elsewhere, and give the very same policy back."""

    def apontar(politica: dict[str, Any]) -> None:
        sentenca = politica["Statement"][p.sentenca]
        outro = "arn:aws:sqs:sa-east-1:000000000000:outra" if recurso == "*" else f"{recurso.removesuffix(':*')}-outro"
        sentenca["Resource"] = [outro if r == recurso else r for r in _lista(sentenca["Resource"])]

    return _mudada(alvo, p, apontar)


def recursos_de(alvo: Alvo, p: Permissao) -> list[str]:
    """Every resource of the permission's statement."""
    return _lista(ler(alvo, p.papel, p.politica)["Statement"][p.sentenca]["Resource"])


@contextmanager
def _mudada(alvo: Alvo, p: Permissao, mudar: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    inteira = ler(alvo, p.papel, p.politica)
    podada = copy.deepcopy(inteira)
    mudar(podada)
    gravar = alvo.cliente("iam").put_role_policy
    gravar(RoleName=p.papel, PolicyName=p.politica, PolicyDocument=json.dumps(podada))
    try:
        yield
    finally:
        gravar(RoleName=p.papel, PolicyName=p.politica, PolicyDocument=json.dumps(inteira))


def invocar(alvo: Alvo, funcao: str, evento: Any) -> tuple[bool, Any]:
    """(whether the function failed, what it answered)"""
    r = alvo.cliente("lambda").invoke(FunctionName=alvo.funcao(funcao), Payload=json.dumps(evento).encode())
    return bool(r.get("FunctionError")), json.loads(r["Payload"].read())


def passo(alvo: Alvo, funcao: str, evento: Any) -> Desfecho:
    """Invoke a step of the saga: it works when it does not raise."""
    falhou, resposta = invocar(alvo, funcao, evento)
    return Desfecho(not falhou, str(resposta.get("errorType", resposta))[:200])


def esfriar(alvo: Alvo, funcao: str) -> None:
    """Start the function afresh, as a deploy would: what it keeps in memory (a secret) is forgotten."""
    lambda_, nome = alvo.cliente("lambda"), alvo.funcao(funcao)
    atual = lambda_.get_function_configuration(FunctionName=nome)
    lambda_.update_function_configuration(FunctionName=nome, Timeout=atual["Timeout"])
    lambda_.get_waiter("function_updated_v2").wait(FunctionName=nome)


def mapeamento(alvo: Alvo, funcao: str, *acoes: str) -> Desfecho:
    """What the event source mapping does in the function's name.

    The engine's poller does not ask IAM, so IAM is asked instead: does the role, as it is now, allow each action that
    Lambda needs on the queue or stream?
    """
    mapas = alvo.cliente("lambda").list_event_source_mappings(FunctionName=alvo.funcao(funcao))["EventSourceMappings"]
    assert mapas, f"{funcao} has no event source mapping"
    conta = mapas[0]["FunctionArn"].split(":")[4]
    papel = f"arn:aws:iam::{conta}:role/{alvo.saida('papeis')[funcao]}"
    negadas = []
    for acao in acoes:
        recurso = "*" if acao.endswith("ListStreams") else mapas[0]["EventSourceArn"]
        lido = alvo.cliente("iam").simulate_principal_policy(
            PolicySourceArn=papel, ActionNames=[acao], ResourceArns=[recurso]
        )
        negadas += [r["EvalActionName"] for r in lido["EvaluationResults"] if r["EvalDecision"] != "allowed"]
    return Desfecho(not negadas, f"negadas: {', '.join(negadas) or 'nenhuma'}")


def _lista(valor: str | list[str]) -> list[str]:
    return [valor] if isinstance(valor, str) else list(valor)
