from __future__ import annotations

import json
from importlib import metadata
from typing import Any

import anyio
import pytest

from graymatter_mcp.bridge.main import built_answers as read_built
from graymatter_mcp.settings import Settings
from graymatter_mcp.surfaces.mcp.built import BUILT_FILE, built_answers


@pytest.fixture(scope="module")
def built() -> dict[str, Any]:
    """What the package ships."""
    return read_built()


def test_the_built_file_says_what_the_server_says_in_every_revision(built: dict[str, Any]) -> None:
    """mcp-wire 6: equal as JSON values; after a change run graymatter_mcp.surfaces.mcp.built."""
    assert built == json.loads(json.dumps(anyio.run(built_answers)))


def test_the_built_file_is_of_this_version_and_its_settings(built: dict[str, Any]) -> None:
    """Design 2: the hello carries its version, and misspelt variables are found by it."""
    assert built["version"] == metadata.version("graymatter-mcp")
    assert set(built["variables"]) == {
        f"GRAYMATTER_{name.upper()}" for name in Settings.model_fields
    }


def test_the_built_file_is_of_this_package() -> None:
    """Issue 3.2: it is shipped beside the bridge, which imports nothing of ours to find it."""
    assert json.loads(BUILT_FILE.read_text(encoding="utf-8"))["newest"] == "2025-11-25"
