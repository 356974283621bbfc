"""How mirrors share memory, seen through the store that owns them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.store.duckdb.mirrors import Mirrors

if TYPE_CHECKING:
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.store.duckdb.read import MirrorRow


class Loads:
    """An empty database that notes which namespaces were read."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(
        self, namespace: Namespace
    ) -> tuple[list[MirrorRow], list[tuple[bytes, int, bytes]]]:
        """Read nothing."""
        self.asked.append(namespace)
        return [], []


def no_facts(*_: object, **__: object) -> list[Fact]:
    """Fetch nothing."""
    return []


def test_the_mirror_asked_for_longest_ago_leaves_when_memory_is_short() -> None:
    """Issue: mirrors are bounded by what they take, least recently used first."""
    loads = Loads()
    mirrors = Mirrors(str, loads, max_bytes=0)
    for name in ("a", "b", "a"):
        mirrors.snapshot(Namespace(name), 0, no_facts)
    assert loads.asked == ["a", "b", "a"]


def test_a_mirror_that_fits_is_read_once() -> None:
    """Issue: mirrors are loaded lazily and kept."""
    loads = Loads()
    mirrors = Mirrors(str, loads)
    for name in ("a", "b", "a", "b"):
        mirrors.snapshot(Namespace(name), 0, no_facts)
    assert loads.asked == ["a", "b"]
