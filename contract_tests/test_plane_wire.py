"""The data plane: the shape of requests and answers, and of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_wire import DOORS

if TYPE_CHECKING:
    from contract_tests.plane_wire import Plane

ULID: Final = r"[0-9A-HJKMNP-TV-Z]{26}"

by_door = pytest.mark.parametrize("door", DOORS)


@promise("plane:remember-recent")
@by_door
def test_what_is_remembered_is_listed(plane: Plane, door: str) -> None:
    """D1."""
    shelf = plane.shelf()
    written = plane.ok(door, "remember", content="The lab opens at nine", namespace=shelf)
    assert written.keys() == {"id", "embedded"}
    assert written["embedded"] is True
    (item,) = plane.alike("recent", namespace=shelf)["results"]
    assert item["id"] == written["id"]
    assert item["content"] == "The lab opens at nine"
    assert item["score"] == 1.0
    assert "signals" not in item
