"""How much the functions' package weighs once unzipped, the SDK not in it."""

from __future__ import annotations

import zipfile
from math import ceil
from typing import Any

from engine.build import BuildPlan, build


def pacote(plano: BuildPlan) -> dict[str, Any]:
    """Megabytes (10^6, in tenths, rounded up) of the artifact unzipped, and the machine its wheels are for."""
    with zipfile.ZipFile(build(plano)) as artefato:
        tamanho_total = sum(arquivo.file_size for arquivo in artefato.infolist())
    return {"mb": ceil(tamanho_total / 1e5) / 10, "runtime": plano.runtime, "arquitetura": plano.architecture}
