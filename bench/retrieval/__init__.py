"""`retrieval`: what is found of the evidence of labelled questions, over the real engine."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import anyio

from bench.figures import Row, Table
from bench.retrieval.ablation import WEIGHTS, parts_of, without
from bench.retrieval.abstention import curve
from bench.retrieval.asking import SURFACES, Asker
from bench.retrieval.bm25_alone import BASELINE, Bm25Alone
from bench.retrieval.conversations import FACTS, load
from bench.retrieval.scores import Score, interval, mean, score
from bench.retrieval.wire import WIRE_SURFACES, WireAsker

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from bench.retrieval.conversations import Conversation

DEPTH: Final = 10
MODES: Final = ("vectors", "words")
ABLATED: Final = ("R@5", "R@10", "MRR")
BY_CATEGORY: Final = ("R@10", "MRR")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument("data", type=Path, help="conversations with questions, in LoCoMo's form")
    parser.add_argument(
        "--surface", default=",".join((*SURFACES, BASELINE)), help="what is asked; bm25 compares"
    )
    parser.add_argument("--facts", default=",".join(FACTS), help="what is stored")
    parser.add_argument("--mode", default=",".join(MODES), help="with vectors, by words alone")
    parser.add_argument(
        "--degraded", dest="mode", action="store_const", const=MODES[1], help="--mode words"
    )
    parser.add_argument("--wire", action="store_true", help="ask over HTTP: core, plane or context")
    parser.add_argument("--abstention", action="store_true", help="ask what it cannot answer")
    parser.add_argument(
        "--ablation", action="store_true", help="leave out one part of the recipe after another"
    )
    parser.add_argument("--vectors", type=Path, help="file that keeps vectors between runs")


def measure(options: argparse.Namespace) -> list[Table]:
    """Store every conversation on a shelf of its own, then ask its questions there.

    Raises:
        ValueError: A surface is not known there, or parts are to be left out of a server, which is
            another process.
    """
    surfaces = options.surface.split(",")
    known = (*(WIRE_SURFACES if options.wire else SURFACES), BASELINE)
    if not set(surfaces) <= set(known):
        raise ValueError(f"--surface takes {', '.join(known)}")
    if options.wire and options.ablation:
        raise ValueError("--ablation works in process: leave --wire out")
    return [
        anyio.run(_table, options, load(options.data, facts), facts, surface, mode)
        for facts in options.facts.split(",")
        for surface in surfaces
        for mode in options.mode.split(",")
        # The baseline has no vectors, no parts and no doubts.
        if surface != BASELINE
        or (mode == MODES[1] and not (options.ablation or options.abstention))
    ]


async def _table(
    options: argparse.Namespace,
    conversations: Sequence[Conversation],
    facts: str,
    surface: str,
    mode: str,
) -> Table:
    with TemporaryDirectory(dir=options.dir) as directory:
        kind = Bm25Alone if surface == BASELINE else WireAsker if options.wire else Asker
        async with kind(
            Path(directory), surface, vectors=options.vectors, has_model=mode == MODES[0]
        ) as asker:
            await asker.store(conversations)
            title = f"{surface}{' over HTTP' if options.wire else ''}, {facts}, {mode}"
            if options.abstention:
                return await curve(asker, conversations, title)
            rows = list(_rows(await _scores(asker, conversations)))
            if options.ablation:
                rows = rows[: len(Score.METRICS)]
                for part in parts_of(surface):
                    with without(part):
                        await asker.reopen(WEIGHTS.get(part))
                        scores = await _scores(asker, conversations)
                    rows += [_row(f"{name}, without {part}", name, scores) for name in ABLATED]
            return Table(title=title, unit="share", rows=tuple(rows))


async def _scores(asker: Asker, conversations: Sequence[Conversation]) -> list[Score]:
    return [
        score(await asker.ask(one.name, question.text, DEPTH), question, one.name)
        for one in conversations
        for question in one.questions
    ]


def _rows(scores: Sequence[Score]) -> Iterator[Row]:
    for name in Score.METRICS:
        yield _row(name, name, scores)
    for category in sorted({one.category for one in scores}):
        of_it = [one for one in scores if one.category == category]
        for name in BY_CATEGORY:
            yield _row(f"{name}, {category}", name, of_it)


def _row(what: str, metric: str, scores: Sequence[Score]) -> Row:
    low, high = interval(scores, metric)
    return Row(what=what, value=mean(scores, metric), low=low, high=high, count=len(scores))
