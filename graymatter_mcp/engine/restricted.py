"""The engine's entry for callers who may not do everything: the one place that stops them.

A method that is not known as a read is refused, so that a new one is never open by accident.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, cast

from graymatter_mcp.engine.methods import OPEN, READS
from graymatter_mcp.errors import ForbiddenError, ReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.model.access import Rights
    from graymatter_mcp.model.requests import RecallRequest
    from graymatter_mcp.model.results import RecallResult


def restrict(memory: Memory, rights: Rights) -> Memory:
    """Return the memory as a caller may use it: itself, where nothing is held back."""
    if rights.may_write and rights.project is None and rights.reaches_core:
        return memory
    return cast("Memory", _RestrictedMemory(memory, rights))  # its methods go by name


class _RestrictedMemory:
    def __init__(self, memory: Memory, rights: Rights) -> None:
        self._memory = memory
        self._rights = rights

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return the method, or what refuses it."""
        method = getattr(self._memory, name)
        if name in OPEN:
            return method
        if not self._rights.reaches_core:
            return _refuse_stranger
        if self._rights.project is not None:
            # No fact of this engine belongs to a project yet, so none is inside the walls.
            return _refuse_confined
        return method if name in READS else _refuse_write

    def recall(self, request: RecallRequest) -> Awaitable[RecallResult]:
        """Rank as ever, and learn nothing: an alias that is learnt is written."""
        if not self._rights.reaches_core:
            return _refuse_stranger()
        if self._rights.project is not None:
            return _refuse_confined()
        return self._memory.recall(replace(request, learn=False))


async def _refuse_write(*_: object, **__: object) -> NoReturn:
    raise ReadOnlyError("token is read-only")


async def _refuse_stranger(*_: object, **__: object) -> NoReturn:
    raise ForbiddenError("the core's facts are another user's: use the data plane")


async def _refuse_confined(*_: object, **__: object) -> NoReturn:
    raise ForbiddenError("token is confined to its project")
