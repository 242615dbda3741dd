"""The input queue's poison, by the tests of the other engine: here the alarm rings from the engine's own metrics."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from test_fila_de_entrada import (  # noqa: F401 - collected here against this engine
    test_a_poison_message_does_not_hold_back_its_batch,
    test_poison_reaches_the_dlq_after_five_receives_and_its_alarm_fires,
    visibilidade_curta,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]
