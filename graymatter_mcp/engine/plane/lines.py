"""Names that people give."""

from __future__ import annotations

from graymatter_mcp.errors import InvalidArgumentError


def check_line(what: str, text: str, longest: int) -> None:
    """Refuse a name that would not stay on its line of a list or a log.

    Args:
        what: The field.
        text: Its value.
        longest: Characters.

    Raises:
        InvalidArgumentError: It is empty, too long, or not printable.
    """
    if not text.strip() or len(text) > longest or not text.isprintable():
        raise InvalidArgumentError(
            f"{what} must be one line of 1 to {longest} printable characters"
        )
