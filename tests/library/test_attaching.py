"""The library beside an owner: the same memory, through its door."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp import Config, Memory, StoreUnavailableError, WriteOptions
from graymatter_mcp.owner.client import ask_owner, is_owned

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def owned(tmp_path: Path) -> Iterator[Path]:
    """Return a directory whose owner runs, started by a command."""
    directory = tmp_path / "memory"
    environment = {**os.environ, "GRAYMATTER_MODEL": "none", "GRAYMATTER_IDLE_EXIT": "60s"}
    command = [sys.executable, "-m", "graymatter_mcp", "--dir", str(directory)]
    subprocess.run([*command, "remember", "a", "from the command"], check=True, env=environment)
    assert is_owned(directory)
    yield directory
    if is_owned(directory):
        subprocess.run([*command, "daemon", "stop"], check=True, env=environment)


def test_the_library_and_the_command_share_one_memory(owned: Path) -> None:
    """Contract 9: a Memory attaches to the owner of its directory."""
    with Memory(owned) as memory:
        memory.remember_with_options("a", "from the library", WriteOptions(confidence="verified"))
        assert sorted(memory.recall("a", "from")) == ["from the command", "from the library"]
        facts = memory.advanced().list("a")
        assert [fact.origin.source for fact in facts] == ["library", "cli remember"]
        memory.advanced().save_checkpoint("a", {"step": 1, "share": 0.5})
        assert memory.advanced().resume_checkpoint("a").state == {"step": 1, "share": 0.5}
    assert is_owned(owned)


def test_settings_of_ones_own_are_never_ignored_in_silence(owned: Path) -> None:
    """Contract 9.3: what is configured holds, or opening fails and names who is in the way."""
    pid = ask_owner(owned, "GET", "/owner")["pid"]
    with pytest.raises(StoreUnavailableError, match=str(pid)):
        Memory(config=Config(data_dir=owned, top_k=3))
