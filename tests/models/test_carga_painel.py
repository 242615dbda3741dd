"""``make painel-carga``, small: the command itself runs, injects failures and finds nothing lost."""

import os
import re
import subprocess
import sys

from engine.settings import ROOT


def test_a_small_load_passes() -> None:
    feito = subprocess.run(
        [sys.executable, "-m", "tests.models.carga_painel", "--pedidos=20", "--transicoes=200", "--taxa=0.05"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "lambdas")},
        capture_output=True,
        text=True,
        check=False,
    )

    assert feito.returncode == 0, feito.stdout + feito.stderr
    injetadas = re.search(r"200 transições em 20 pedidos, (\d+) falhas injetadas", feito.stdout)
    assert injetadas and int(injetadas[1]) > 0, feito.stdout
    assert feito.stdout.endswith("passou\n")
