"""All index terms of a mirror as one string: letters inside of terms are found at C speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_END: Final = "\n"
"""Stands in no term: terms are stored with white space between them."""


class Vocabulary:
    """Built when it is first asked for: most searches know their words."""

    def __init__(self) -> None:
        self._text = _END
        self._count = 0

    def of(self, terms: Sequence[str]) -> str:
        """Return the terms, each between two ends of line.

        Args:
            terms: Those of the last call, and what was appended since.
        """
        if self._count < len(terms):
            self._text += _END.join(terms[self._count :]) + _END
            self._count = len(terms)
        return self._text

    @property
    def nbytes(self) -> int:
        """About what it takes in memory."""
        return len(self._text)


def words_with(vocabulary: str, part: str) -> list[str]:
    """Return the terms of a vocabulary that contain some letters."""
    found: list[str] = []
    at = vocabulary.find(part)
    while at >= 0:
        end = vocabulary.index(_END, at)
        found.append(vocabulary[vocabulary.rindex(_END, 0, at) + 1 : end])
        at = vocabulary.find(part, end)
    return found
