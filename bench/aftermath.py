"""What is in a store after a crash run, held against what its clients were told."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graymatter_mcp import Config, EmbeddingMode, Memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from bench.scribes import Log, Write

_MISSING: Final = re.compile(r"(\d+) acknowledged commits are missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Counts of writes."""

    acknowledged: int
    refused: int
    unknown: int
    silences: int
    lost: int
    """Acknowledged additions that are not there."""
    undone: int
    """Acknowledged replacements that are not there, or whose target is live still."""
    twice: int
    denied: int
    """There, though the answer said that nothing was stored."""
    reported: int
    """Rows that the store itself said were lost."""


def examine(directory: Path, logs: Sequence[Log]) -> Findings:
    """Open the store, read all of it, and compare."""
    found: Counter[str] = Counter()
    live: set[str] = set()
    config = Config(data_dir=directory, embedding_mode=EmbeddingMode.KEYWORD)
    with Memory(config=config) as memory:
        advanced = memory.advanced()
        for agent in advanced.list_agents():
            for fact in advanced.list(agent):
                found[fact.text] += 1
                if not fact.is_superseded:
                    live.add(fact.text)
    acknowledged = [write for log in logs for write in log.acknowledged]
    lost = lost_writes(acknowledged, found, live)
    denied = {write.text for log in logs for write in log.denied}
    return Findings(
        acknowledged=len(acknowledged),
        refused=sum(len(log.refused) for log in logs),
        unknown=sum(len(log.unknown) for log in logs),
        silences=sum(log.silences for log in logs),
        lost=sum(not write.replaced for write in lost),
        undone=sum(bool(write.replaced) for write in lost),
        twice=sum(count > 1 for count in found.values()),
        denied=len(denied & set(found)),
        reported=_reported(directory),
    )


def lost_writes(acknowledged: Iterable[Write], found: Counter[str], live: set[str]) -> list[Write]:
    """Return the writes whose effect is not there, or only half of it."""
    return [write for write in acknowledged if not found[write.text] or write.replaced in live]


def _reported(directory: Path) -> int:
    """Add up the losses in the store's own reports."""
    try:
        lines = (directory / "gray.damage").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return 0
    return sum(int(count) for line in lines for count in _MISSING.findall(json.loads(line)["what"]))
