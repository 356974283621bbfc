"""A pytest plug-in that writes down which test holds which promise."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import pytest

OUTPUT: Final = "CONTRACT_BINDINGS"
"""Environment variable with the path of the file to write."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Write {test: [promise]}; first, so that nothing is deselected yet."""
    bindings = {
        item.nodeid.partition("[")[0]: [
            str(row) for mark in item.iter_markers("promise") for row in mark.args
        ]
        for item in items
    }
    Path(os.environ[OUTPUT]).write_text(json.dumps(bindings), encoding="utf-8")
