"""Conversations with questions, read from a file that stays outside the repository."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FACTS: Final = ("turns", "observations")
CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""Others, which ask for what was never said, are left out."""
_EVIDENCE: Final = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and which facts hold its answer."""

    text: str
    category: str
    evidence: frozenset[str]
    """Keys of facts; never empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What is stored on one shelf, and what is asked there."""

    name: str
    facts: dict[str, str]
    """Texts by key, oldest first."""
    questions: tuple[Question, ...]


def load(path: Path, facts: str) -> list[Conversation]:
    """Read conversations in the form of LoCoMo's `locomo10.json`.

    Args:
        path: Of the file.
        facts: One of `FACTS`: what was said, turn by turn, or the observations made of it.
    """
    found: list[Conversation] = []
    for number, raw in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        texts, keys_of = (_turns if facts == "turns" else _observations)(raw)
        asked = [_question(one, keys_of) for one in raw["qa"] if one["category"] in CATEGORIES]
        found.append(
            Conversation(
                name=str(raw.get("sample_id", number)),
                facts=texts,
                questions=tuple(question for question in asked if question.evidence),
            )
        )
    return found


def _question(raw: Any, keys_of: dict[str, set[str]]) -> Question:
    # Some entries hold several keys in one text, and some keys a zero too many.
    turns = _EVIDENCE.findall(" ".join(raw.get("evidence") or []))
    turns = [re.sub(r":0+(?=\d)", ":", turn) for turn in turns]
    return Question(
        text=raw["question"],
        category=CATEGORIES[raw["category"]],
        evidence=frozenset(key for turn in turns for key in keys_of.get(turn, ())),
    )


def _turns(raw: Any) -> tuple[dict[str, str], dict[str, set[str]]]:
    texts: dict[str, str] = {}
    for head, number in _sessions(raw):
        for turn in raw["conversation"][f"session_{number}"]:
            text = f"{head}{turn['speaker']}: {turn['text']}"
            if turn.get("blip_caption"):
                text += f" [shared image: {turn['blip_caption']}]"
            texts[turn["dia_id"]] = text
    return texts, {key: {key} for key in texts}


def _observations(raw: Any) -> tuple[dict[str, str], dict[str, set[str]]]:
    texts: dict[str, str] = {}
    keys_of: dict[str, set[str]] = defaultdict(set)
    for head, number in _sessions(raw):
        by_speaker: dict[str, list[tuple[str, Any]]] = raw.get("observation", {}).get(
            f"session_{number}_observation", {}
        )
        for text, source in (one for items in by_speaker.values() for one in items):
            key = f"O{len(texts)}"
            texts[key] = head + text
            for turn in _EVIDENCE.findall(json.dumps(source)):
                keys_of[turn].add(key)
    return texts, keys_of


def _sessions(raw: Any) -> Iterator[tuple[str, int]]:
    """Yield the stamp that stands before each text, and the session's number."""
    said = raw["conversation"]
    names = (re.fullmatch(r"session_(\d+)", key) for key in said if said[key])
    for number in sorted(int(name[1]) for name in names if name):
        day = said.get(f"session_{number}_date_time", "")
        yield (f"[{day}] " if day else ""), number
