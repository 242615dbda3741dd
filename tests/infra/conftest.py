"""Terraform's root applied to a mocked provider: nothing is called, every value Terraform would send can be read."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.settings import ROOT
from engine.terraform import cli_configuration, require_terraform

CONFIGURACAO = ROOT / "terraform"


@dataclass(frozen=True)
class Estado:
    """State after apply: resources by address (``module.saga.aws_sqs_queue.pedidos_criados``), and outputs by name."""

    recursos: dict[str, dict[str, Any]]
    saidas: dict[str, Any]

    def do_tipo(self, tipo: str) -> dict[str, dict[str, Any]]:
        """Resources of one type by address."""
        return {endereco: valores for endereco, valores in self.recursos.items() if f"{tipo}." in endereco}

    def politicas(self) -> dict[str, list[dict[str, Any]]]:
        """Statements of each role's policy by role name."""
        politicas: dict[str, list[dict[str, Any]]] = {}
        for valores in self.do_tipo("aws_iam_role_policy").values():
            politicas.setdefault(valores["role"], []).extend(json.loads(valores["policy"])["Statement"])
        return politicas

    def funcoes(self) -> dict[str, dict[str, Any]]:
        """Functions by name."""
        return {valores["function_name"]: valores for valores in self.do_tipo("aws_lambda_function").values()}


def _recursos(modulo: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for recurso in modulo.get("resources", []):
        if recurso["mode"] == "managed":
            yield recurso["address"], recurso["values"]
    for filho in modulo.get("child_modules", []):
        yield from _recursos(filho)


@pytest.fixture(scope="session")
def terraform(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """``terraform("test", "-no-color")`` in the root module, initialised, or in the folder ``em``; what it printed."""
    pasta = tmp_path_factory.mktemp("terraform")
    ambiente = {nome: valor for nome, valor in os.environ.items() if not nome.startswith(("AWS_", "TF_"))} | {
        "TF_CLI_CONFIG_FILE": str(cli_configuration(pasta / "terraform.rc")),
        "TF_DATA_DIR": str(pasta / "dados"),
        "TF_IN_AUTOMATION": "1",
        "CHECKPOINT_DISABLE": "1",
    }

    def executar(*argumentos: str, em: Path = CONFIGURACAO) -> str:
        feito = subprocess.run(
            [require_terraform(), f"-chdir={em}", *argumentos],
            env=ambiente | ({} if em == CONFIGURACAO else {"TF_DATA_DIR": str(em / ".terraform")}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=570,
        )
        if feito.returncode != 0:
            pytest.fail(f"terraform {argumentos[0]}:\n{feito.stdout[-4000:]}\n{feito.stderr[-4000:]}", pytrace=False)
        return feito.stdout

    # The committed lock must verify as it is, from a mirror as from the registry.
    executar("init", "-backend=false", "-input=false", "-no-color", "-lockfile=readonly")
    return executar


@pytest.fixture(scope="session")
def esquemas(terraform: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the provider says of each resource type: its schema block by type."""
    pasta = tmp_path_factory.mktemp("esquemas")
    for nome in ("versions.tf", ".terraform.lock.hcl"):  # asked in the root, its backend would have to be reached
        shutil.copy(CONFIGURACAO / nome, pasta)
    terraform("init", "-input=false", "-no-color", "-lockfile=readonly", em=pasta)
    provedores = json.loads(terraform("providers", "schema", "-json", em=pasta))["provider_schemas"]
    [provedor] = [e["resource_schemas"] for nome, e in provedores.items() if nome.endswith("hashicorp/aws")]
    return {tipo: esquema["block"] for tipo, esquema in provedor.items()}


@pytest.fixture(scope="session")
def aplicar(terraform: Callable[..., str]) -> Callable[..., dict[str, Estado]]:
    """``aplicar("conta", arquivo_modelo="...")``: the state after each run of that file of tests, by the run's name.

    Variables that the file gives itself cannot be given here.
    """

    def executar(arquivo: str, **variaveis: str) -> dict[str, Estado]:
        definidas = [f"-var={nome}={valor}" for nome, valor in variaveis.items()]
        saida = terraform("test", "-json", "-verbose", f"-filter=tests/{arquivo}.tftest.hcl", *definidas)
        estados = {}
        for linha in map(json.loads, saida.splitlines()):
            if linha["type"] == "test_state":
                valores = linha["test_state"].get("values", linha["test_state"])
                saidas = {nome: saida["value"] for nome, saida in valores["outputs"].items()}
                estados[linha["@testrun"]] = Estado(dict(_recursos(valores["root_module"])), saidas)
        return estados

    return executar


@pytest.fixture(scope="session")
def aplicados(aplicar: Callable[..., dict[str, Estado]]) -> dict[str, Estado]:
    """The root as it is and after each choice, by the names of the runs in aplicacao.tftest.hcl."""
    return aplicar("aplicacao")


@pytest.fixture(scope="session")
def estado(aplicados: dict[str, Estado]) -> Estado:
    """The root as it is, with every stand-in on."""
    return aplicados["aplicar"]


@pytest.fixture(scope="session")
def conta(aplicar: Callable[..., dict[str, Estado]]) -> Estado:
    """An account with only what it has to say: its environment, its gateway and the artifact."""
    return aplicar("conta")["aplicar"]
