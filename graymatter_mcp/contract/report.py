"""Differences as text: a table for people, a document for programs, Markdown for pull requests."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.compat import Level, gravest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.contract.compat import Change

_ADVICE: Final = {
    Level.SAME: "Nothing that a client can notice changed.",
    Level.PROSE: "Only words for people changed.",
    Level.ADDITIVE: "Callers go on as they are. It needs a higher revision, a minor release and a"
    " line in the changelog.",
    Level.BREAKING: "A caller that keeps the old contract may fail. It needs a notice in a release"
    " of the prior minor, or the next major of the contract.",
}


def as_document(old: str, new: str, changes: Sequence[Change]) -> dict[str, Any]:
    """Return a report as JSON."""
    return {
        "old": old,
        "new": new,
        "level": gravest(changes).word,
        "changes": [
            {"level": one.level.word, "rule": one.rule, "path": one.path, "text": one.text}
            for one in _gravest_first(changes)
        ],
    }


def as_table(changes: Sequence[Change]) -> str:
    """Return a report for people: the gravest changes first."""
    rows = [(one.level.word, one.path, one.text, one.rule) for one in _gravest_first(changes)]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
    lines = [
        f"{level:{widths[0]}}  {path:{widths[1]}}  {text} [{rule}]"
        for level, path, text, rule in rows
    ]
    return "\n".join([*lines, _summary(changes)])


def as_markdown(old: str, new: str, changes: Sequence[Change]) -> str:
    """Return a report as a comment on a pull request."""
    level = gravest(changes)
    lines = [f"### Contract: {level.word}", "", f"`{old}` to `{new}`. {_ADVICE[level]}"]
    if changes:
        lines += ["", "| level | where | what | rule |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {one.level.word} | `{_cell(one.path)}` | {_cell(one.text)} | `{one.rule}` |"
        for one in _gravest_first(changes)
    ]
    return "\n".join(lines)


def _gravest_first(changes: Sequence[Change]) -> list[Change]:
    return sorted(changes, key=lambda change: (-change.level, change.path, change.rule))


def _summary(changes: Sequence[Change]) -> str:
    level = gravest(changes)
    counts = Counter(change.level for change in changes)
    numbers = ", ".join(f"{counts[one]} {one.word}" for one in sorted(counts, reverse=True))
    return f"{level.word} ({numbers}). {_ADVICE[level]}" if changes else _ADVICE[level]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
