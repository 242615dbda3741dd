"""Each role's policy against what its code and the state machines call: not one action less, not one more."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import yaml

from engine.settings import ROOT

from .chamadas import actions_of
from .conftest import CONFIGURACAO, Estado

LAMBDAS = ROOT / "lambdas"
HANDLERS = {
    recurso["Properties"]["FunctionName"]: recurso["Properties"]["Handler"]
    for recurso in yaml.safe_load((ROOT / "template.yaml").read_text())["Resources"].values()
}

# What Lambda itself does with the function's role, by kind of source, for an event source mapping.
DE_MAPEAMENTO = {
    "sqs": {"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"},
    "dynamodb": {
        "dynamodb:DescribeStream",
        "dynamodb:GetRecords",
        "dynamodb:GetShardIterator",
        "dynamodb:ListStreams",
    },
}

# The only resources "*" in the system: actions AWS documents as taking no resource.
SEM_RECURSO = {
    ("cesta-saga-pedido-role", "EntregarLogs"),
    ("cesta-compensacao-manual-role", "EntregarLogs"),
    ("cesta-baixar-reserva-role", "ListarStreams"),
    ("ffv-lab-consumidor-pedidos-role", "ListarStreams"),
}

# What both machines' roles need to have an execution log: of AWS's example, what sets the delivery up, which writes in
# its own name. A function writes its own log.
# https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html#cloudwatch-iam-policy
ENTREGAR_LOGS = {
    "logs:CreateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:DescribeLogGroups",
    "logs:DescribeResourcePolicies",
    "logs:GetLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:UpdateLogDelivery",
}
ESCREVER_LOG = {"logs:CreateLogStream", "logs:PutLogEvents"}

# Sending a trace takes no resource either; only where tracing is on.
RASTRO = "EnviarRastro"
DO_RASTRO = {
    "lambda": {"xray:PutTelemetryRecords", "xray:PutTraceSegments"},
    "maquina": {
        "xray:GetSamplingRules",
        "xray:GetSamplingTargets",
        "xray:PutTelemetryRecords",
        "xray:PutTraceSegments",
    },
}

# Kinds of resource a function is told about by name, URL or ARN.
ARNS_DE_DADOS = tuple(f"arn:aws:{servico}:" for servico in ("dynamodb", "sqs", "sns", "ssm"))

# Named by what the function reads: the discarded message says which stream, shard and position it is about.
DITO_PELA_MENSAGEM = {("ffv-lab-reprocessar-dlq", "LerStream")}

# Open at the end: the log stream and the execution are named while the system runs.
SUFIXOS_ABERTOS = (
    r"arn:aws:logs:[^:*]+:\d+:log-group:/aws/lambda/[^:*]+:\*",
    r"arn:aws:states:[^:*]+:\d+:execution:[^:*]+:\*",
)


def _lista(valor: Any) -> list[Any]:
    return valor if isinstance(valor, list) else [valor]


def acoes_da_funcao(estado: Estado, nome: str) -> set[str]:
    """Actions the function's role allows, its own log aside."""
    return {
        acao
        for declaracao in estado.politicas()[f"{nome}-role"]
        for acao in _lista(declaracao["Action"])
        if declaracao["Sid"] != "EscreverOProprioLog"
    }


@cache
def _alcancadas(handler: str) -> frozenset[str]:
    return frozenset(actions_of(LAMBDAS, handler))


def acoes_precisas(estado: Estado, nome: str) -> set[str]:
    """Actions the function's code reaches, plus those of its event source mappings."""
    arn = estado.funcoes()[nome]["arn"]
    precisas = set(_alcancadas(HANDLERS[nome]))
    if estado.funcoes()[nome]["tracing_config"][0]["mode"] == "Active":
        precisas |= DO_RASTRO["lambda"]
    for mapeamento in estado.do_tipo("aws_lambda_event_source_mapping").values():
        if mapeamento["function_name"] in (arn, nome):
            precisas |= DE_MAPEAMENTO[mapeamento["event_source_arn"].split(":")[2]]
            for destino in mapeamento.get("destination_config") or []:
                for falha in destino.get("on_failure") or []:
                    precisas.add(
                        {"sqs": "sqs:SendMessage", "sns": "sns:Publish"}.get(
                            falha["destination_arn"].split(":")[2], "s3:PutObject"
                        )
                    )
    return precisas


def conferir_acoes(estado: Estado) -> None:
    """Every deployed function may do exactly what it does."""
    diferencas = {
        nome: {"falta": sorted(precisas - permitidas), "sobra": sorted(permitidas - precisas)}
        for nome in estado.funcoes()
        if (precisas := acoes_precisas(estado, nome)) != (permitidas := acoes_da_funcao(estado, nome))
    }
    assert diferencas == {}


def conferir_curingas(estado: Estado) -> None:
    """No action has a wildcard; no resource has one, but the listed ones."""
    achados = []
    for papel, declaracoes in estado.politicas().items():
        for declaracao in declaracoes:
            achados += [f"{papel}: {acao}" for acao in _lista(declaracao["Action"]) if "*" in acao]
            for recurso in _lista(declaracao["Resource"]):
                aberto = any(re.fullmatch(padrao, recurso) for padrao in SUFIXOS_ABERTOS)
                sem_recurso = (papel, declaracao["Sid"]) in SEM_RECURSO or declaracao["Sid"] == RASTRO
                justificado = recurso == "*" and sem_recurso
                if "*" in recurso and not aberto and not justificado:
                    achados.append(f"{papel}: {declaracao['Sid']} em {recurso}")
    assert achados == []


def conferir_recursos(estado: Estado) -> None:
    """A table or queue in a policy is one the function is told about; so is a parameter or topic."""
    estranhos = {}
    for nome, funcao in estado.funcoes().items():
        mapeamentos = [
            mapeamento
            for mapeamento in estado.do_tipo("aws_lambda_event_source_mapping").values()
            if mapeamento["function_name"] in (funcao["arn"], nome)
        ]
        texto = json.dumps([funcao["environment"][0]["variables"], mapeamentos])
        for declaracao in estado.politicas()[f"{nome}-role"]:
            for recurso in _lista(declaracao["Resource"]):
                if not recurso.startswith(ARNS_DE_DADOS) or (nome, declaracao["Sid"]) in DITO_PELA_MENSAGEM:
                    continue
                # Of a table's index or stream, the table; of a parameter, its whole path.
                curto = re.split(r":(?:table/|parameter(?=/))?", recurso, maxsplit=5)[-1].split("/index/")[0]
                if f'"{curto.split("/stream/")[0]}"' not in texto and f'{curto}"' not in texto:
                    estranhos.setdefault(nome, []).append(recurso)
    assert estranhos == {}


def conferir_maquina(estado: Estado) -> None:
    """Each machine's role invokes the functions its definition names, and does what its direct integrations do."""
    maquinas = {m["name"]: m for m in estado.do_tipo("aws_sfn_state_machine").values()}
    assert {"cesta-saga-pedido", "cesta-compensacao-manual"} <= set(maquinas)
    for nome, maquina in maquinas.items():
        recursos = set(re.findall(r'"Resource": "([^"]+)"', maquina["definition"]))
        funcoes = {r for r in recursos if ":function:" in r}
        integracoes = {r.split(":::", 1)[1] for r in recursos if ":states:::" in r}
        declaracoes = {d["Sid"]: d for d in estado.politicas()[f"{nome}-role"]}

        assert funcoes
        assert set(declaracoes["InvocarAsFuncoesQueOrquestra"]["Resource"]) == funcoes
        assert declaracoes["InvocarAsFuncoesQueOrquestra"]["Action"] == ["lambda:InvokeFunction"]
        permitidas = {
            acao
            for sid, declaracao in declaracoes.items()
            if sid not in ("InvocarAsFuncoesQueOrquestra", "EntregarLogs")
            for acao in _lista(declaracao["Action"])
        }
        do_rastro = DO_RASTRO["maquina"] if maquina["tracing_configuration"][0]["enabled"] else set()
        assert permitidas == {_acao(integracao) for integracao in integracoes} | do_rastro


def conferir_recursos_da_maquina(estado: Estado) -> None:
    """Each direct integration is allowed on the very table or queue that its state names, and on no other."""
    arns = {t["name"]: t["arn"] for t in estado.do_tipo("aws_dynamodb_table").values()}
    arns |= {f["url"]: f["arn"] for f in estado.do_tipo("aws_sqs_queue").values()}
    for nome, maquina in ((m["name"], m) for m in estado.do_tipo("aws_sfn_state_machine").values()):
        nomeados = {
            (_acao(passo["Resource"].split(":::", 1)[1]), arns[alvo])
            for passo in _passos(json.loads(maquina["definition"]))
            if ":states:::" in passo.get("Resource", "")
            for alvo in [passo["Parameters"].get("TableName") or passo["Parameters"]["QueueUrl"]]
        }
        permitidos = {
            (acao, recurso)
            for declaracao in estado.politicas()[f"{nome}-role"]
            for acao in _lista(declaracao["Action"])
            if acao.startswith(("dynamodb:", "sqs:"))
            for recurso in _lista(declaracao["Resource"])
        }
        assert nomeados
        assert permitidos == nomeados


def _passos(definicao: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every state, those of branches and iterators too."""
    for passo in definicao.get("States", {}).values():
        yield passo
        for dentro in [*passo.get("Branches", []), passo.get("Iterator", {}), passo.get("ItemProcessor", {})]:
            yield from _passos(dentro)


def conferir_alcance(estado: Estado) -> None:
    """Whatever data a function is told about, and whatever feeds it, its role reaches."""
    arns = {t["name"]: t["arn"] for t in estado.do_tipo("aws_dynamodb_table").values()}
    arns |= {f["url"]: f["arn"] for f in estado.do_tipo("aws_sqs_queue").values()}
    arns |= {t["arn"]: t["arn"] for t in estado.do_tipo("aws_sns_topic").values()}
    arns |= {p["name"]: p["arn"] for p in estado.do_tipo("aws_ssm_parameter").values()}
    fora = {}
    for nome, funcao in estado.funcoes().items():
        precisos = {arns[v] for v in funcao["environment"][0]["variables"].values() if v in arns}
        for mapeamento in estado.do_tipo("aws_lambda_event_source_mapping").values():
            if mapeamento["function_name"] in (funcao["arn"], nome):
                precisos.add(mapeamento["event_source_arn"])
                precisos |= {f["destination_arn"] for d in mapeamento["destination_config"] for f in d["on_failure"]}
        permitidos = {r for d in estado.politicas()[f"{nome}-role"] for r in _lista(d["Resource"])}
        if faltam := {p for p in precisos if not any(r == p or r.startswith(f"{p}/") for r in permitidos)}:
            fora[nome] = sorted(faltam)
    assert fora == {}


# Which index a function asks: written in its code, where a table's name is not.
INDICES = {
    "cesta-conferir-cobrancas": {"por-status"},
    "ffv-lab-painel-api": {"GSI1", "GSI2"},
    "ffv-lab-polling-pedidos": {"GSI2"},
}


def conferir_indices(estado: Estado) -> None:
    """Query is allowed on the indexes that are asked; where it is the only read of a table, on the table too."""
    indices: dict[str, set[str]] = {}
    for nome in estado.funcoes():
        for declaracao in estado.politicas()[f"{nome}-role"]:
            if "dynamodb:Query" in _lista(declaracao["Action"]):
                nomes = {r.rsplit("/", 1)[1] for r in _lista(declaracao["Resource"]) if "/index/" in r}
                indices.setdefault(nome, set()).update(nomes)
    assert {nome: achados for nome, achados in indices.items() if achados} == INDICES


def conferir_do_servico(estado: Estado) -> None:
    """What a role reaches by name: its log, its executions, the function it invokes; "*" only where AWS says so."""
    regiao = "sa-east-1:123456789012"
    for nome in estado.funcoes():
        [log] = [d for d in estado.politicas()[f"{nome}-role"] if d["Sid"] == "EscreverOProprioLog"]
        assert log["Resource"] == [f"arn:aws:logs:{regiao}:log-group:/aws/lambda/{nome}:*"]
        assert set(log["Action"]) == ESCREVER_LOG
    for maquina in estado.do_tipo("aws_sfn_state_machine").values():
        [entregar] = [d for d in estado.politicas()[f"{maquina['name']}-role"] if d["Sid"] == "EntregarLogs"]
        assert set(entregar["Action"]) == ENTREGAR_LOGS
    [comparar] = [d for d in estado.politicas()["cesta-iniciar-saga-role"] if d["Sid"] == "CompararExecucao"]
    assert comparar["Resource"] == [f"arn:aws:states:{regiao}:execution:cesta-saga-pedido:*"]
    # Recovery reads the stream that the consumer is fed from.
    [recuperar] = [d for d in estado.politicas()["ffv-lab-reprocessar-dlq-role"] if d["Sid"] == "LerStream"]
    assert recuperar["Resource"] == [
        m["event_source_arn"]
        for m in estado.do_tipo("aws_lambda_event_source_mapping").values()
        if m["function_name"] == estado.funcoes()["ffv-lab-consumidor-pedidos"]["arn"]
    ]
    do_rastro = {(papel, RASTRO) for papel, ds in estado.politicas().items() for d in ds if d["Sid"] == RASTRO}
    for papel, sid in SEM_RECURSO | do_rastro:
        [sem_recurso] = [d for d in estado.politicas()[papel] if d["Sid"] == sid]
        assert sem_recurso["Resource"] == ["*"]
    for agenda in estado.do_tipo("aws_scheduler_schedule").values():
        [invocar] = estado.politicas()[f"{agenda['name']}-agenda-role"]
        assert invocar["Resource"] == [agenda["target"][0]["arn"]]
        assert invocar["Action"] == ["lambda:InvokeFunction"]


def _acao(integracao: str) -> str:
    servico, operacao = integracao.split(".")[0].split(":")
    return f"{servico}:{operacao[0].upper()}{operacao[1:]}"


def conferir_confianca(estado: Estado) -> None:
    """No role can be assumed for another account, nor for another machine or schedule of this one."""
    abertos = []
    for papel in estado.do_tipo("aws_iam_role").values():
        for declaracao in json.loads(papel["assume_role_policy"])["Statement"]:
            condicao = declaracao.get("Condition", {})
            if condicao.get("StringEquals", {}).get("aws:SourceAccount") != "123456789012":
                abertos.append(papel["name"])
            # Lambda states no source: a function's role is named by the function, and only its deployer may pass it.
            if declaracao["Principal"]["Service"] == "lambda.amazonaws.com":
                continue
            # Only the machine that has an alias may come with a qualified ARN, and with its own name before it.
            if papel["name"] == "cesta-saga-pedido-role":
                exata = condicao.get("ArnLike", {}).get("aws:SourceArn") == [MAQUINA, f"{MAQUINA}:*"]
            else:
                exata = bool(re.fullmatch(r"arn:aws:[^*]+", condicao.get("ArnEquals", {}).get("aws:SourceArn", "")))
            if not exata:
                abertos.append(papel["name"])
    assert abertos == []


def conferir_iniciador(estado: Estado) -> None:
    """StartExecution of the saga belongs to the Iniciador alone."""
    podem = {
        papel
        for papel, declaracoes in estado.politicas().items()
        for declaracao in declaracoes
        if "states:StartExecution" in _lista(declaracao["Action"])
        and any("cesta-saga-pedido" in recurso for recurso in _lista(declaracao["Resource"]))
    }
    assert podem == {"cesta-iniciar-saga-role"}
    [iniciar] = [d for d in estado.politicas()["cesta-iniciar-saga-role"] if d["Sid"] == "IniciarExecucao"]
    arn = estado.funcoes()["cesta-iniciar-saga"]["environment"][0]["variables"]["ARN_MAQUINA_SAGA"]
    # AWS checks a start against the machine's ARN; an alias is a condition on it.
    maquina, apelido = ":".join(arn.split(":")[:7]), arn.split(":")[7:]
    assert iniciar["Resource"] == [maquina]
    assert iniciar.get("Condition", {}).get("ForAnyValue:StringEquals", {}).get("states:StateMachineQualifier", []) == (
        apelido
    )


CONFERENCIAS: list[Callable[[Estado], None]] = [
    conferir_acoes,
    conferir_curingas,
    conferir_recursos,
    conferir_alcance,
    conferir_indices,
    conferir_do_servico,
    conferir_maquina,
    conferir_recursos_da_maquina,
    conferir_confianca,
    conferir_iniciador,
]


@pytest.mark.parametrize("conferir", CONFERENCIAS, ids=lambda c: c.__name__)
def test_policies_are_exact(estado: Estado, conferir: Callable[[Estado], None]) -> None:
    conferir(estado)


@pytest.fixture(scope="module")
def rastreado(aplicados: dict[str, Estado]) -> Estado:
    """The root with tracing on."""
    return aplicados["com_rastreamento"]


@pytest.mark.parametrize("conferir", CONFERENCIAS, ids=lambda c: c.__name__)
def test_policies_are_exact_with_tracing(rastreado: Estado, conferir: Callable[[Estado], None]) -> None:
    conferir(rastreado)


def test_tracing_reaches_every_function_and_machine_or_none(estado: Estado, rastreado: Estado) -> None:
    for aplicado, modo, ligado in ((estado, "PassThrough", False), (rastreado, "Active", True)):
        funcoes = aplicado.funcoes().values()
        assert {f["tracing_config"][0]["mode"] for f in funcoes} == {modo}
        assert {f["environment"][0]["variables"]["RASTREAMENTO_ATIVO"] for f in funcoes} == {str(ligado).lower()}
        maquinas = aplicado.do_tipo("aws_sfn_state_machine").values()
        assert {m["tracing_configuration"][0]["enabled"] for m in maquinas} == {ligado}
        podem = {p for p, ds in aplicado.politicas().items() for d in ds if d["Sid"] == RASTRO}
        papeis = {f"{nome}-role" for nome in aplicado.funcoes()} | {f"{m['name']}-role" for m in maquinas}
        assert podem == (papeis if ligado else set())


def _com(estado: Estado, papel: str, mudar: Callable[[dict[str, Any]], None]) -> Estado:
    [endereco] = [e for e, r in estado.do_tipo("aws_iam_role_policy").items() if r["role"] == papel]
    recurso = estado.recursos[endereco]
    politica = json.loads(recurso["policy"])
    mudar(politica)
    return Estado({**estado.recursos, endereco: {**recurso, "policy": json.dumps(politica)}}, estado.saidas)


def _acrescentar(sid: str, acao: str, recurso: str) -> Callable[[dict[str, Any]], None]:
    nova = {"Sid": sid, "Effect": "Allow", "Action": [acao], "Resource": [recurso]}
    return lambda politica: politica["Statement"].append(nova)


MAQUINA = "arn:aws:states:sa-east-1:123456789012:stateMachine:cesta-saga-pedido"
COBRAR = "arn:aws:lambda:sa-east-1:123456789012:function:cesta-cobrar-pagamento"
ESTOQUE = "arn:aws:dynamodb:sa-east-1:123456789012:table/cesta-estoque"

QUEBRAS = {
    "an action the code does not call": (
        "cesta-reservar-estoque-role", _acrescentar("Ler", "dynamodb:GetItem", ESTOQUE), conferir_acoes,
    ),
    "a wildcard action": (
        "cesta-reservar-estoque-role", _acrescentar("Tudo", "dynamodb:*", ESTOQUE), conferir_curingas,
    ),
    "a wildcard resource": (
        "cesta-liberar-estoque-role", _acrescentar("Tudo", "dynamodb:UpdateItem", "*"), conferir_curingas,
    ),
    "another context's table": (
        "cesta-confirmar-pedido-role", _acrescentar("Outra", "dynamodb:UpdateItem", ESTOQUE), conferir_recursos,
    ),
    "a second starter of sagas": (
        "cesta-criar-pedido-role", _acrescentar("Iniciar", "states:StartExecution", MAQUINA), conferir_iniciador,
    ),
    "a machine that may replace an order": (
        "cesta-saga-pedido-role", _acrescentar("Gravar", "dynamodb:PutItem", ESTOQUE), conferir_maquina,
    ),
    "an undo that may charge": (
        "cesta-compensacao-manual-role", _acrescentar("Cobrar", "lambda:InvokeFunction", COBRAR), conferir_maquina,
    ),
}  # fmt: skip


@pytest.mark.parametrize("quebra", QUEBRAS)
def test_a_broken_policy_is_caught(estado: Estado, quebra: str) -> None:
    papel, mudar, conferir = QUEBRAS[quebra]

    with pytest.raises(AssertionError):
        conferir(_com(estado, papel, mudar))


def test_each_missing_action_is_caught(estado: Estado) -> None:
    """Taking any single action away from any function's policy fails the check."""
    for nome in estado.funcoes():
        for acao in acoes_da_funcao(estado, nome):

            def tirar(politica: dict[str, Any], acao: str = acao) -> None:
                for declaracao in politica["Statement"]:
                    declaracao["Action"] = [a for a in _lista(declaracao["Action"]) if a != acao]

            with pytest.raises(AssertionError, match="falta"):
                conferir_acoes(_com(estado, f"{nome}-role", tirar))


def _estreitar(indice: int, recurso: str) -> Callable[[dict[str, Any]], None]:
    """Put another resource of the same kind in the place of one."""

    def mudar(politica: dict[str, Any]) -> None:
        declaracao = politica["Statement"][indice]
        outro = "arn:aws:sqs:sa-east-1:123456789012:outra" if recurso == "*" else f"{recurso.removesuffix(':*')}-outro"
        declaracao["Resource"] = [outro if r == recurso else r for r in _lista(declaracao["Resource"])]

    return mudar


def _falha(estado: Estado) -> bool:
    for conferir in CONFERENCIAS:
        try:
            conferir(estado)
        except AssertionError:
            return True
    return False


def test_each_narrowed_resource_is_caught(estado: Estado) -> None:
    """Narrowing any single resource of any role, functions', machines' and schedules', fails some check."""
    passaram, quantos = [], 0
    for papel, declaracoes in estado.politicas().items():
        for indice, declaracao in enumerate(declaracoes):
            for recurso in _lista(declaracao["Resource"]):
                quantos += 1
                if not _falha(_com(estado, papel, _estreitar(indice, recurso))):
                    passaram.append(f"{papel} {declaracao['Sid']} {recurso}")

    assert quantos > 80
    assert passaram == []


def _alargar(indice: int, campo: str, valor: str) -> Callable[[dict[str, Any]], None]:
    def mudar(politica: dict[str, Any]) -> None:
        declaracao = politica["Statement"][indice]
        declaracao[campo] = [*_lista(declaracao[campo]), valor]

    return mudar


ESTRANHAS = ("iam:PassRole", "logs:FilterLogEvents", "xray:GetTraceSummaries")
OUTROS_RECURSOS = ("*", "arn:aws:dynamodb:sa-east-1:123456789012:table/outra")


def test_each_widened_statement_is_caught(rastreado: Estado) -> None:
    """An action or a resource added to any single statement of any role fails some check."""
    passaram = []
    for papel, declaracoes in rastreado.politicas().items():
        for indice, declaracao in enumerate(declaracoes):
            mais = [("Action", acao) for acao in ESTRANHAS] + [("Resource", recurso) for recurso in OUTROS_RECURSOS]
            for campo, valor in mais:
                if valor in declaracao[campo]:
                    continue
                if not _falha(_com(rastreado, papel, _alargar(indice, campo, valor))):
                    passaram.append(f"{papel} {declaracao['Sid']} {valor}")

    assert passaram == []


def test_each_action_of_a_machine_missing_is_caught(estado: Estado) -> None:
    for papel in ("cesta-saga-pedido-role", "cesta-compensacao-manual-role"):
        for indice, declaracao in enumerate(estado.politicas()[papel]):
            for acao in _lista(declaracao["Action"]):

                def tirar(politica: dict[str, Any], indice: int = indice, acao: str = acao) -> None:
                    politica["Statement"][indice]["Action"] = [
                        a for a in _lista(politica["Statement"][indice]["Action"]) if a != acao
                    ]

                assert _falha(_com(estado, papel, tirar)), f"{papel} {acao}"


def _sem_condicao(politica: dict[str, Any]) -> None:
    [iniciar] = [d for d in politica["Statement"] if d["Sid"] == "IniciarExecucao"]
    del iniciar["Condition"]


def test_sagas_start_by_the_alias_alone(estado: Estado, aplicados: dict[str, Estado]) -> None:
    arn = estado.funcoes()["cesta-iniciar-saga"]["environment"][0]["variables"]["ARN_MAQUINA_SAGA"]
    assert arn == f"{MAQUINA}:vigente"
    with pytest.raises(AssertionError):
        conferir_iniciador(_com(estado, "cesta-iniciar-saga-role", _sem_condicao))

    sem_apelido = aplicados["sem_apelido"]

    conferir_iniciador(sem_apelido)
    assert sem_apelido.funcoes()["cesta-iniciar-saga"]["environment"][0]["variables"]["ARN_MAQUINA_SAGA"] == MAQUINA
    assert sem_apelido.do_tipo("aws_sfn_alias") == {}


@pytest.mark.parametrize(
    ("maquina", "condicao", "valor"),
    [
        ("cesta-saga-pedido", "StringEquals", None),
        ("cesta-saga-pedido", "ArnLike", None),
        ("cesta-saga-pedido", "ArnLike", {"aws:SourceArn": MAQUINA.replace("cesta-saga-pedido", "*")}),
        ("cesta-saga-pedido", "ArnLike", {"aws:SourceArn": [MAQUINA, f"{MAQUINA}*"]}),
        ("cesta-compensacao-manual", "StringEquals", None),
        ("cesta-compensacao-manual", "ArnEquals", None),
    ],
)
def test_a_role_open_to_other_accounts_is_caught(
    estado: Estado, maquina: str, condicao: str, valor: dict[str, Any] | None
) -> None:
    quebrado = Estado(copy.deepcopy(estado.recursos), estado.saidas)
    [papel] = [p for p in quebrado.do_tipo("aws_iam_role").values() if p["name"] == f"{maquina}-role"]
    confianca = json.loads(papel["assume_role_policy"])
    del confianca["Statement"][0]["Condition"][condicao]
    if valor:
        confianca["Statement"][0]["Condition"][condicao] = valor
    papel["assume_role_policy"] = json.dumps(confianca)

    with pytest.raises(AssertionError):
        conferir_confianca(quebrado)


def test_charge_and_refund_have_separate_roles(estado: Estado) -> None:
    papeis = {id_logico: papel for id_logico, papel in estado.saidas["papeis"].items() if "Pagamento" in id_logico}

    assert papeis == {
        "CobrarPagamento": "cesta-cobrar-pagamento-role",
        "EstornarPagamento": "cesta-estornar-pagamento-role",
    }


def curingas_sem_razao(texto: str) -> list[str]:
    """Lines of HCL that write a wildcard in a string without a comment on it or in the three lines above."""
    linhas = texto.splitlines()
    achadas = []
    for numero, linha in enumerate(linhas):
        codigo = linha.split(" # ")[0]
        escrita = re.search(r'"(?:[^"]*[:/]\*[^"]*|\*)"', codigo)
        lida = re.search(r"regex\(|contains\(|description|error_message|ObjectCreated", codigo)
        if not escrita or lida or codigo.lstrip().startswith("#"):
            continue
        perto = [linha.partition(" # ")[2], *(v for v in linhas[max(0, numero - 3) : numero] if "#" in v)]
        if not any(perto):
            achadas.append(f"{numero + 1}: {linha.strip()}")
    return achadas


def test_every_wildcard_says_why() -> None:
    sem_razao = {
        str(arquivo.relative_to(ROOT)): achadas
        for arquivo in sorted(CONFIGURACAO.rglob("*.tf"))
        if ".terraform" not in arquivo.parts and (achadas := curingas_sem_razao(arquivo.read_text()))
    }

    assert sem_razao == {}


def test_a_wildcard_without_a_reason_is_caught() -> None:
    assert curingas_sem_razao('Resource = ["*"]') == ['1: Resource = ["*"]']
    assert curingas_sem_razao('# takes no resource\nResource = ["*"]') == []
