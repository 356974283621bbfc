from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from graymatter_mcp.bridge.main import built_answers as read_built
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.settings import Settings
from graymatter_mcp.surfaces.mcp.built import built_answers, built_file, selections

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module", params=selections(), ids=",".join)
def toolsets(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Each choice that a client can make."""
    return request.param


@pytest.fixture(scope="module")
def built(toolsets: tuple[str, ...]) -> dict[str, Any]:
    """What the package ships."""
    return read_built(",".join(toolsets))


def test_the_built_file_says_what_the_server_says_in_every_revision(
    built: dict[str, Any], toolsets: tuple[str, ...]
) -> None:
    """mcp-wire 6: equal as JSON values; after a change run graymatter_mcp.surfaces.mcp.built."""
    assert built == json.loads(json.dumps(anyio.run(built_answers, toolsets)))
    tools = built["handshake"]["tools/list"]["tools"]
    assert [tool["name"] for tool in tools] == [tool.name for tool in load_bundle(toolsets).tools]


def test_the_built_file_is_of_this_version_and_its_settings(built: dict[str, Any]) -> None:
    """Design 2: the hello carries its version, and misspelt variables are found by it."""
    assert built["version"] == metadata.version("graymatter-mcp")
    assert set(built["variables"]) == {
        f"GRAYMATTER_{name.upper()}" for name in Settings.model_fields
    }


def test_the_built_files_are_of_this_package_and_no_other_is_left() -> None:
    """Issue 3.2: they are shipped beside the bridge, which imports nothing of ours to find them."""
    core = built_file(("core",))
    assert json.loads(core.read_text(encoding="utf-8"))["newest"] == "2025-11-25"
    found: set[Path] = set(core.parent.glob("built*.json"))
    assert found == {built_file(chosen) for chosen in selections()}
