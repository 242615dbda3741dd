"""template.yaml and Terraform say the same, because Terraform reads it: a change there reaches what would be sent."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.settings import ROOT

from .conftest import CONFIGURACAO, Estado

RECURSOS: dict[str, Any] = yaml.safe_load((ROOT / "template.yaml").read_text())["Resources"]
PROPRIEDADES = {
    recurso["Properties"]["FunctionName"]: recurso["Properties"]
    for recurso in RECURSOS.values()
    if recurso["Type"] == "AWS::Serverless::Function"
}


def _do_modelo(funcao: dict[str, Any]) -> dict[str, Any]:
    return {"Handler": funcao["handler"], "Timeout": funcao["timeout"], "MemorySize": funcao["memory_size"]}


def test_every_function_is_deployed_as_the_template_says(estado: Estado) -> None:
    enviadas = {nome: _do_modelo(funcao) for nome, funcao in estado.funcoes().items()}

    assert enviadas == {
        nome: {chave: propriedades[chave] for chave in ("Handler", "Timeout", "MemorySize")}
        for nome, propriedades in PROPRIEDADES.items()
    }


def test_a_change_in_the_template_reaches_the_function(
    aplicar: Callable[..., dict[str, Estado]], tmp_path: Path
) -> None:
    modelo = yaml.safe_load((ROOT / "template.yaml").read_text())
    mudada = modelo["Resources"]["ReservarEstoque"]["Properties"]
    mudada |= {"Timeout": mudada["Timeout"] + 2, "MemorySize": 1024, "Handler": "estoque.outro.handler"}
    copia = tmp_path / "template.yaml"
    copia.write_text(yaml.safe_dump(modelo))

    estado = aplicar("conta", arquivo_modelo=str(copia))["aplicar"]

    assert _do_modelo(estado.funcoes()["cesta-reservar-estoque"]) == {
        "Handler": "estoque.outro.handler",
        "Timeout": mudada["Timeout"],
        "MemorySize": 1024,
    }


def test_nothing_in_terraform_repeats_the_template() -> None:
    """A handler, a timeout or a memory written in a module would win over the template without a word."""
    proibido = re.compile(r"^\s*(handler|timeout|memory_size|function_name)\s*=\s*(\"[^$]|\d)", re.MULTILINE)

    repetidos = {
        str(arquivo.relative_to(ROOT)): achados
        for arquivo in CONFIGURACAO.rglob("*.tf")
        if ".terraform" not in arquivo.parts and (achados := proibido.findall(arquivo.read_text()))
    }

    assert repetidos == {}


@pytest.mark.parametrize("nome", ["cesta-cobrar-pagamento", "cesta-estornar-pagamento", "cesta-criar-pedido-sincrono"])
def test_a_gateway_call_ends_before_its_function(estado: Estado, nome: str) -> None:
    funcao = estado.funcoes()[nome]
    variaveis = funcao["environment"][0]["variables"]

    conexao, total = (float(variaveis[f"TIMEOUT_{parte}_GATEWAY_S"]) for parte in ("CONEXAO", "TOTAL"))

    assert 0 < conexao < total < funcao["timeout"]


def test_the_slow_card_is_slower_than_the_client_and_faster_than_its_own_function(estado: Estado) -> None:
    funcoes = estado.funcoes()
    simulado = funcoes["cesta-gateway-simulado"]
    lento = float(simulado["environment"][0]["variables"]["ATRASO_LENTO_S"])
    total = float(funcoes["cesta-cobrar-pagamento"]["environment"][0]["variables"]["TIMEOUT_TOTAL_GATEWAY_S"])

    assert total < lento < simulado["timeout"]


def test_every_function_runs_the_same_artifact(estado: Estado) -> None:
    artefatos = {(f["s3_bucket"], f["s3_key"], f["source_code_hash"]) for f in estado.funcoes().values()}

    assert len(artefatos) == 1
    [(_, chave, _)] = artefatos
    assert re.fullmatch(r"funcoes/[0-9a-f]{64}\.zip", chave)


def test_fault_injection_follows_its_variable(estado: Estado) -> None:
    def valores(de: Estado) -> set[str]:
        variaveis = [funcao["environment"][0]["variables"] for funcao in de.funcoes().values()]
        return {v["PERMITIR_INJECAO_FALHAS"] for v in variaveis if "PERMITIR_INJECAO_FALHAS" in v}

    assert valores(estado) == {"true"}
    assert CONFIGURACAO.joinpath("variables.tf").read_text().count("permitir_injecao_falhas") >= 1
    assert "default     = false" in _bloco(CONFIGURACAO / "variables.tf", 'variable "permitir_injecao_falhas"')


def _bloco(arquivo: Path, cabecalho: str) -> str:
    texto = arquivo.read_text()
    inicio = texto.index(cabecalho)
    return texto[inicio : texto.index("\n}\n", inicio)]
