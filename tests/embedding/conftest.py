from __future__ import annotations

import pytest

from graymatter_mcp.embedding.minilm import MiniLM


@pytest.fixture(scope="session")
def minilm() -> MiniLM:
    """Return the bundled model, loaded once a process."""
    return MiniLM()
