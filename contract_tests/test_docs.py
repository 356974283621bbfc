"""Figures in our pages: each has a command that made it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from contract_tests.manifest import promise

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
FIGURE: Final = re.compile(r"\d (?:ms|µs|facts/s|op/s|calls/s)\b|\bR@\d+\s*(?:=|of|:)?\s*\.?\d")
COMMAND: Final = re.compile(r"\bbench/([\w/]+\.py)|-m bench\.?([\w.]*)")
DATE: Final = re.compile(r"\b20\d\d-\d\d-\d\d\b")


def pages() -> Iterator[Path]:
    """Return what users read; decisions record what was measured when they were made."""
    yield from (page for page in (ROOT / "README.md",) if page.is_file())
    yield from (page for page in (ROOT / "docs").rglob("*.md") if "adr" not in page.parts)


def complaints(text: str) -> list[str]:
    """Return what a page with figures lacks."""
    if not FIGURE.search(text):
        return []
    lacking: list[str] = []
    commands = COMMAND.findall(text)
    if not commands:
        lacking.append("no command of bench/ is named")
    scripts = [ROOT / "bench" / script for script, _ in commands if script]
    lacking += [f"{script.name} does not exist" for script in scripts if not script.is_file()]
    if not DATE.search(text):
        lacking.append("no date")
    return lacking


@promise("docs:figures-have-a-source")
def test_every_page_with_figures_names_command_and_date() -> None:
    """F30."""
    found = {page.name: complaints(page.read_text(encoding="utf-8")) for page in pages()}
    assert {name: lacking for name, lacking in found.items() if lacking} == {}


@promise("docs:figures-have-a-source")
def test_a_figure_without_a_source_would_be_seen() -> None:
    """House, section 5, question 8."""
    assert complaints("A search takes 3 ms.") == ["no command of bench/ is named", "no date"]
    assert complaints("A search takes 3 ms (`python bench/no_such.py`, 2026-01-31).") == [
        "no_such.py does not exist"
    ]
    assert complaints("Nothing is measured here.") == []
