"""Whether the packages whose releases have broken us before are within their bounds."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Final

_DISTRIBUTION: Final = "graymatter-mcp"
_WATCHED: Final = ("mcp", "duckdb")


def wrong_version() -> str | None:
    """Return a sentence on the first watched package that is out of bounds; None when all fit.

    Takes about a millisecond. Bounds are those of our own metadata, so they are written once.
    """
    try:
        requirements = metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return None
    for name in _WATCHED:
        for requirement in requirements:
            match = re.match(rf"{name}\s*([<>=][^;]*)", requirement)
            if match is not None and (problem := _misfit(name, match[1].strip())):
                return problem
    return None


def _misfit(name: str, bounds: str) -> str | None:
    wanted = ",".join(sorted(bounds.split(","), reverse=True))
    remedy = f"pip install '{name}{wanted}'"
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return f"{name} is not installed; this version of graymatter needs {name}{wanted}: {remedy}"
    if all(_fits(found, bound) for bound in bounds.split(",")):
        return None
    return f"{name} {found} is installed, but graymatter needs {name}{wanted}: {remedy}"


def _fits(found: str, bound: str) -> bool:
    limit = bound.strip().lstrip("<>=")
    operator = bound.strip().removesuffix(limit)
    one, other = _release(found), _release(limit)
    return {">=": one >= other, "<": one < other, "==": one == other}.get(operator, True)


def _release(version: str) -> tuple[int, ...]:
    """Return the numbers that lead a version; a pre-release counts as its release."""
    numbers = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in numbers[0].split(".")) if numbers else ()
