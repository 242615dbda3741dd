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
from dataclasses import dataclass
from pathlib import Path

import yaml

from engine.build import BuildPlan, build
from engine.settings import ROOT, environment_python

PISO = "import boto3; boto3.client('dynamodb')"
# What runs before the clock: what awslambdaric has loaded when it imports a handler.
_PROGRAMA = "import awslambdaric.bootstrap, time; a = time.perf_counter(); {0}; print((time.perf_counter() - a) * 1000)"


@dataclass(frozen=True)
class Tempos:
    """Readings of one statement, in ms."""

    nome: str
    leituras: tuple[float, ...]

    @property
    def mediana(self) -> float:
        """Median, ms."""
        return statistics.median(self.leituras)

    @property
    def espalhamento(self) -> float:
        """Interquartile range over the median."""
        quartis = statistics.quantiles(self.leituras, n=4)
        return (quartis[2] - quartis[0]) / self.mediana


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


def medir(rodadas: int) -> list[Tempos]:
    """Floor first, then every handler's module.

    Parameters
    ----------
    rodadas : int
        Readings of each, at least two.
    """
    python = environment_python("runtime")
    comandos = {"piso": PISO, **{modulo: f"import {modulo}" for modulo in handlers()}}
    leituras: dict[str, list[float]] = {nome: [] for nome in comandos}
    with artefato_aberto() as pasta:
        ambiente = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(pasta),
            "PYTHONPATH": str(pasta),
            "AWS_DEFAULT_REGION": "sa-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "POWERTOOLS_SERVICE_NAME": "cesta",
            "RASTREAMENTO_ATIVO": "false",
        }
        for rodada in range(rodadas + 1):
            for nome, comando in comandos.items():
                feito = subprocess.run(
                    [str(python), "-c", _PROGRAMA.format(comando)],
                    env=ambiente,
                    cwd=pasta,
                    capture_output=True,
                    text=True,
                    check=True,
                )
                if rodada:  # the first only warms the disk's cache
                    leituras[nome].append(float(feito.stdout))
    return [Tempos(nome, tuple(valores)) for nome, valores in leituras.items()]
