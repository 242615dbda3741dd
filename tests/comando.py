"""A command as somebody types it at the top of the repository, with nobody at the keyboard."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from engine.settings import ROOT


def digitar(
    palavras: Sequence[str], *, ambiente: Mapping[str, str] | None = None, limite_s: float = 120
) -> subprocess.CompletedProcess[str]:
    """What it printed and how it ended, however it ended; in this process's environment unless another is given.

    Raises
    ------
    subprocess.TimeoutExpired
        It was still running after ``limite_s`` seconds, and was killed.
    """
    return subprocess.run(
        palavras,
        cwd=ROOT,
        env=ambiente,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=limite_s,
    )
