"""How widely a fact may be shown."""

from __future__ import annotations

from typing import Final

from graymatter_mcp.policy.secrets import looks_secret

SENSITIVITIES: Final = ("public", "internal", "private", "sensitive")
"""From the least to the most guarded."""
_DEFAULT: Final = "private"


def inferred(explicit: str | None, from_metadata: object, content: str) -> tuple[str, bool]:
    """Return the level of a fact and whether somebody named it.

    Args:
        explicit: The request's own field, already checked, or None.
        from_metadata: `metadata.sensitivity` of whatever type; used when it is a legal level.
        content: Makes the fact sensitive when it holds what looks like a secret.

    Source: data-plane contract 5.5.
    """
    if explicit is not None:
        return explicit, True
    if isinstance(from_metadata, str) and from_metadata in SENSITIVITIES:
        return from_metadata, True
    return ("sensitive" if looks_secret(content) else _DEFAULT), False


def stricter(a: str | None, b: str | None) -> str:
    """Return the more guarded of two stored levels; a missing or illegal one is private."""
    return SENSITIVITIES[max(_rank(a), _rank(b))]


def is_at_most(level: str | None, limit: str) -> bool:
    """Whether a fact of this stored level may be shown to a reader with this limit."""
    return _rank(level) <= _rank(limit)


def _rank(level: str | None) -> int:
    return SENSITIVITIES.index(level if level in SENSITIVITIES else _DEFAULT)
