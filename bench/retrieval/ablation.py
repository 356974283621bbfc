"""Parts of the recipe that a run can leave out, to see what each is worth."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.ranking import context, core_lists, names, tokens
from graymatter_mcp.ranking.hybrid import fusion

if TYPE_CHECKING:
    from collections.abc import Generator

_PATCHES: Final[dict[str, tuple[tuple[Any, str, Any], ...]]] = {
    "neighbours": ((context, "ONE_STEP", 0.0), (context, "TWO_STEPS", 0.0)),
    "names": ((names, "_MOST", 2.0),),
    "irregular": ((tokens, "BASE_OF", {}),),
    "subject": ((core_lists, "_ABOUT", 0.0),),
    "short": ((core_lists, "FULL_TOKENS", 1), (fusion, "FULL_TOKENS", 1)),
    "end": ((core_lists, "_KEYWORD_FLOOR", 0.0), (core_lists, "_ALONE_FLOOR", 0.0)),
    "graph": (),
}
"""What becomes of a module's constant without a part."""
PARTS: Final = tuple(_PATCHES)
CORE_ONLY: Final = ("end",)
PLANE_ONLY: Final = ("graph",)
WEIGHTS: Final = {"subject": {"entity": 0.0}, "graph": {"graph": 0.0}}
"""What the data plane is asked for instead."""


def parts_of(surface: str) -> list[str]:
    """Return the parts that a surface has."""
    others = PLANE_ONLY if surface == "core" else CORE_ONLY
    return [part for part in PARTS if part not in others]


@contextmanager
def without(part: str) -> Generator[None]:
    """Run with a part left out; memories must be opened inside."""
    before = [(module, name, getattr(module, name)) for module, name, _ in _PATCHES[part]]
    for module, name, value in _PATCHES[part]:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)
