"""Import time of each handler against ``import boto3`` and one client, which no function here can do without.

Each reading is a process of its own, with the environment that functions run in and the unzipped artifact, compiled as
the runtime's own packages are. One reading of each in turn, so that a slow moment of the machine falls on all.
"""

from __future__ import annotations

import compileall
import os
import statistics
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from engine.build import BuildPlan, build
from engine.settings import ROOT, environment_python

PISO = "import boto3; boto3.client('dynamodb')"
# What runs before the clock: what awslambdaric has loaded when it imports a handler.
_PROGRAMA = "import awslambdaric.bootstrap, time; a = time.perf_counter(); {0}; print((time.perf_counter() - a) * 1000)"
_COM_CLIENTE = "import {0}; from comum import aws; aws.dynamodb()"


def handlers() -> list[str]:
    """Module of each handler of template.yaml, those of stand-ins left out."""
    recursos = yaml.safe_load((ROOT / "template.yaml").read_text())["Resources"].values()
    modulos = [recurso["Properties"]["Handler"].rpartition(".")[0] for recurso in recursos]
    return sorted(modulo for modulo in modulos if not modulo.startswith("desenhos_minimos."))


@contextmanager
def artefato_aberto() -> Iterator[Path]:
    """The local artifact, unzipped and compiled, gone at the end."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as pasta,
        zipfile.ZipFile(build(BuildPlan.for_target("local"))) as z,
    ):
        z.extractall(pasta)
        compileall.compile_dir(pasta, quiet=2, workers=1)
        yield Path(pasta)


def medir(rodadas: int) -> dict[str, Any]:
    """Every handler's module, alone and with its first client made, against the floor.

    Parameters
    ----------
    rodadas : int
        Readings of each, at least two.

    Returns
    -------
    dict
        ``piso_ms``; ``handlers``, slowest first: handler, median ms, interquartile range over the median, ratio to the
        floor, the same with a client; ``pior``, the slowest.
    """
    modulos = handlers()
    comandos = {"piso": PISO}
    for modulo in modulos:
        comandos |= {modulo: f"import {modulo}", f"{modulo}+cliente": _COM_CLIENTE.format(modulo)}
    leituras: dict[str, list[float]] = {nome: [] for nome in comandos}
    with artefato_aberto() as pasta:
        for rodada in range(rodadas + 1):
            for nome, comando in comandos.items():
                tempo = _cronometrar(comando, pasta)
                if rodada:  # the first only warms the disk's cache
                    leituras[nome].append(tempo)
    medianas = {nome: statistics.median(tempos) for nome, tempos in leituras.items()}
    medidos = [
        {
            "handler": modulo,
            "ms": round(medianas[modulo], 1),
            "espalhamento": round(_espalhamento(leituras[modulo]), 2),
            "razao": round(medianas[modulo] / medianas["piso"], 3),
            "com_cliente": round(medianas[f"{modulo}+cliente"] / medianas["piso"], 3),
        }
        for modulo in sorted(modulos, key=lambda modulo: -medianas[modulo])
    ]
    return {"piso_ms": round(medianas["piso"], 1), "pior": medidos[0], "handlers": medidos}


def _espalhamento(leituras: list[float]) -> float:
    quartis = statistics.quantiles(leituras, n=4)
    return (quartis[2] - quartis[0]) / quartis[1]


def _cronometrar(comando: str, pasta: Path) -> float:
    feito = subprocess.run(
        [str(environment_python("runtime")), "-c", _PROGRAMA.format(comando)],
        env={
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(pasta),
            "PYTHONPATH": str(pasta),
            "AWS_DEFAULT_REGION": "sa-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "POWERTOOLS_SERVICE_NAME": "cesta",
            "RASTREAMENTO_ATIVO": "false",
        },
        cwd=pasta,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(feito.stdout)
