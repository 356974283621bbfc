"""How often a store says that it holds no answer: where it holds one, and where it cannot.

What no store can answer is asked of it by taking the questions of the next conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bench.figures import Row, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.retrieval.asking import Asker
    from bench.retrieval.conversations import Conversation

FLOORS: Final = (0.1, 0.2, 0.3, 0.4, 0.5)
"""Of the data plane's `abstainBelow`; the default of the model comes first, without a number."""
_K: Final = 10


async def curve(asker: Asker, conversations: Sequence[Conversation], title: str) -> Table:
    """Ask everything at every floor; of the core, whose answers only say it, once."""
    floors: tuple[float | None, ...] = (None, *FLOORS) if asker.is_plane else (None,)
    counts: dict[tuple[bool, float | None], list[bool]] = {
        (is_own, floor): [] for is_own in (True, False) for floor in floors
    }
    for at, one in enumerate(conversations):
        other = conversations[(at + 1) % len(conversations)]
        for is_own, asked in ((True, one), (False, other)):
            for question in asked.questions:
                for floor in floors:
                    is_weak = await asker.is_weak(one.name, question.text, _K, floor)
                    counts[is_own, floor].append(is_weak)
    return Table(title=title, unit="share", rows=tuple(_rows(counts)))


def _rows(counts: dict[tuple[bool, float | None], list[bool]]) -> Iterator[Row]:
    for (is_own, floor), found in counts.items():
        kind = "answerable: answered" if is_own else "unanswerable: nothing, or marked weak"
        weak = sum(found) / len(found)
        yield Row(
            what=f"{kind}, {'default' if floor is None else f'floor {floor}'}",
            value=1 - weak if is_own else weak,
            count=len(found),
        )
