"""Both faces of one engine, as an owner hands them to its surfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from graymatter_mcp.engine.base import Memory

if TYPE_CHECKING:
    from graymatter_mcp.engine.plane.base import DataPlane


class TwoFacedMemory(Memory, Protocol):
    """The core's memory, with the data plane over the same facts beside it."""

    @property
    def plane(self) -> DataPlane:
        """The operations of the data plane."""
        ...
