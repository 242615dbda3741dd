"""The floor on the local engine: a function that does nothing, behind the same API and in the same state machine.

Made with the engine's own APIs and removed at the end of the run; Terraform knows nothing of it, so no account has it.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from engine.build import BOOTSTRAP
from provas.alvo import Alvo

NOME = "cesta-bench-nada"
# It says one word, as ours say a line: the engine waits 50 ms for the log of a function that is silent.
CODIGO = """def handler(event, context):
    print("nada")
    return {"statusCode": 202, "headers": {"Content-Type": "application/json"}, "body": "{}"}
"""


@dataclass(frozen=True)
class Piso:
    """Where the floor is: the address of its route and the ARN of its state machine."""

    url: str
    arn_maquina: str


@contextmanager
def no_ar(alvo: Alvo) -> Iterator[Piso]:
    """Make the floor; everything made is removed at the end, what a killed run left is made again."""
    with ExitStack() as pilha:
        arn_funcao = _funcao(alvo, pilha)
        yield Piso(_rota(alvo, pilha, arn_funcao), _maquina(alvo, pilha, arn_funcao))


def _funcao(alvo: Alvo, pilha: ExitStack) -> str:
    """The same runtime, memory, role and environment as the function that answers POST /pedidos."""
    funcoes = alvo.cliente("lambda")
    modelo = funcoes.get_function_configuration(FunctionName=alvo.funcao("CriarPedido"))
    pacote = io.BytesIO()
    with zipfile.ZipFile(pacote, "w") as arquivo:
        arquivo.writestr("nada.py", CODIGO)
        inicio = zipfile.ZipInfo("bootstrap")
        inicio.create_system, inicio.external_attr = 3, 0o100755 << 16
        arquivo.writestr(inicio, BOOTSTRAP)
    if NOME in {funcao["FunctionName"] for funcao in funcoes.list_functions()["Functions"]}:
        funcoes.delete_function(FunctionName=NOME)
    criada = funcoes.create_function(
        FunctionName=NOME,
        Handler="nada.handler",
        Code={"ZipFile": pacote.getvalue()},
        **{nome: modelo[nome] for nome in ("Runtime", "Role", "MemorySize", "Timeout", "Environment", "Architectures")},
    )
    pilha.callback(funcoes.delete_function, FunctionName=NOME)
    return str(criada["FunctionArn"])


def _rota(alvo: Alvo, pilha: ExitStack, arn_funcao: str) -> str:
    """``POST /bench-nada`` on the API of ``POST /pedidos``."""
    apis, base = alvo.cliente("apigatewayv2"), str(alvo.saida("url_api"))
    [api] = [api["ApiId"] for api in apis.get_apis()["Items"] if api["ApiId"] in re.split(r"\W", base)]
    alvo.cliente("lambda").add_permission(
        FunctionName=NOME,
        StatementId="bench",
        Action="lambda:InvokeFunction",
        Principal="apigateway.amazonaws.com",
    )
    integracao = apis.create_integration(
        ApiId=api,
        IntegrationType="AWS_PROXY",
        IntegrationMethod="POST",
        IntegrationUri=f"arn:aws:apigateway:{alvo.regiao}:lambda:path/2015-03-31/functions/{arn_funcao}/invocations",
        PayloadFormatVersion="2.0",
    )["IntegrationId"]
    pilha.callback(apis.delete_integration, ApiId=api, IntegrationId=integracao)
    rota = apis.create_route(ApiId=api, RouteKey="POST /bench-nada", Target=f"integrations/{integracao}")["RouteId"]
    pilha.callback(apis.delete_route, ApiId=api, RouteId=rota)
    return f"{base.rstrip('/')}/bench-nada"


def _maquina(alvo: Alvo, pilha: ExitStack, arn_funcao: str) -> str:
    """The deployed definition with every function replaced; the writes that the machine makes itself stay real."""
    maquinas, papeis = alvo.cliente("stepfunctions"), alvo.cliente("iam")
    saga = maquinas.describe_state_machine(stateMachineArn=alvo.saida("arn_maquina_saga"))
    definicao = re.sub(r'arn:[^"]+:lambda:[^"]+:function:[^"]+', arn_funcao, saga["definition"])
    confianca = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "states.amazonaws.com"}},
        ],
    }
    tabela = alvo.cliente("dynamodb").describe_table(TableName=alvo.saida("tabela_pedidos"))["Table"]["TableArn"]
    politica = {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": arn_funcao},
            {"Effect": "Allow", "Action": "dynamodb:UpdateItem", "Resource": tabela},
        ],
    }
    if NOME in {papel["RoleName"] for papel in papeis.list_roles()["Roles"]}:
        papeis.delete_role_policy(RoleName=NOME, PolicyName=NOME)
        papeis.delete_role(RoleName=NOME)
    papel = papeis.create_role(RoleName=NOME, AssumeRolePolicyDocument=json.dumps(confianca))["Role"]["Arn"]
    pilha.callback(papeis.delete_role, RoleName=NOME)
    papeis.put_role_policy(RoleName=NOME, PolicyName=NOME, PolicyDocument=json.dumps(politica))
    pilha.callback(papeis.delete_role_policy, RoleName=NOME, PolicyName=NOME)
    arn = maquinas.create_state_machine(name=NOME, definition=definicao, roleArn=papel, type="STANDARD")[
        "stateMachineArn"
    ]
    pilha.callback(maquinas.delete_state_machine, stateMachineArn=arn)
    return str(arn)
