"""How tests share processes when several run at once: what is deployed exists once, so its tests queue."""

from __future__ import annotations

import pytest


# First: xdist reads the marks in the same hook, and this file may be registered before it.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep each file together, and all tests of the deployed system in one process, in order."""
    for item in items:
        group = "e2e" if item.get_closest_marker("e2e") else item.path.name
        item.add_marker(pytest.mark.xdist_group(group))
