"""`core`: add and search in stores of several sizes, in process and over stdio."""

from __future__ import annotations

import shutil
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Final

from bench.baselines import append_and_sync, per_second, python_memory, python_start
from bench.doors import BUNDLED, NO_MODEL, LibraryDoor, WireDoor
from bench.figures import Row, Table
from bench.fill import Vectors, fact_count, fill
from bench.measure import durations_ms, summary
from bench.texts import questions, sentences

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from bench.doors import Door

_MODES: Final = {BUNDLED: "semantic", NO_MODEL: "keyword only"}
_BATCH: Final = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument(
        "--sizes", default="1k,3k,10k,100k", help="facts in the store; k means thousand"
    )
    parser.add_argument("--calls", type=int, default=200, help="timed calls for each figure")


def measure(options: argparse.Namespace) -> list[Table]:
    """Measure every size through both doors, with and without the model."""
    sizes = [fact_count(word) for word in options.sizes.split(",")]
    vectors = Vectors()
    calls: list[Table] = []
    memory: list[Row] = []
    rates: list[Row] = []
    with TemporaryDirectory(dir=options.dir) as name:
        base = Path(name)
        for size in sizes:
            sys.stderr.write(f"{size:,} facts\n")
            rate = fill(base / "filled", size, vectors)
            rates.append(Row(what=f"{size:,} facts", value=rate))
            rows: list[Row] = []
            for model, mode in _MODES.items():
                with _Copy(base) as directory, closing(LibraryDoor(directory, model)) as library:
                    rows += _calls(library, mode, options.calls)
                    if model == BUNDLED:
                        rows += _adds_and_vectors(library, options.calls)
                with (
                    _Copy(base) as directory,
                    closing(WireDoor(directory, model, options.server)) as wire,
                ):
                    rows += _calls(wire, mode, options.calls)
                    memory += wire.memory_rows(f"{mode}, {size:,} facts")
            append = append_and_sync(base)
            calls.append(
                Table(
                    title=f"{size:,} facts",
                    unit="ms",
                    rows=tuple(rows),
                    baselines=(append, python_start()),
                    note=vectors.note(size),
                )
            )
            shutil.rmtree(base / "filled")
        return [*calls, _memory_table(memory), _rate_table(rates, append_and_sync(base))]


class _Copy:
    """The filled store for one session alone: what it adds is gone with it."""

    def __init__(self, base: Path) -> None:
        self._filled, self._copy = base / "filled", base / "copy"

    def __enter__(self) -> Path:
        shutil.copytree(self._filled, self._copy)
        return self._copy

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._copy)


def _calls(door: Door, mode: str, calls: int) -> list[Row]:
    """Measure searches first, since adds are followed by work in the background."""
    label = f"{door.name}, {mode}"
    warm_up = min(20, calls)
    asked = questions(2 * warm_up + 2 * calls + _BATCH * (warm_up + calls), label)
    plain = [next(asked) for _ in range(warm_up + calls)]
    explained = [next(asked) for _ in range(warm_up + calls)]
    batches = [tuple(batch) for batch in zip(*[asked] * _BATCH, strict=True)]
    searches = durations_ms(door.search, plain, warm_up=warm_up)
    extra = _explain_extra_ms(door, explained)
    together = durations_ms(door.search_batch, batches, warm_up=warm_up)
    added = durations_ms(door.add, sentences(warm_up + calls, label), warm_up=warm_up)
    return [
        summary(f"{label}: memory_search", searches),
        summary(f"{label}: what explain adds to the same search, query cached", extra),
        summary(f"{label}: memory_search_batch of {_BATCH}", together),
        summary(f"{label}: memory_add", added),
    ]


def _explain_extra_ms(door: Door, queries: Sequence[str]) -> list[float]:
    """Return explained minus plain, pair by pair; each query is known to the cache by then."""
    extra: list[float] = []
    for number, query in enumerate(queries):
        door.search(query)
        pair = (door.search, door.explain)
        order = pair if number % 2 else pair[::-1]
        times = {call: durations_ms(call, [query], warm_up=0)[0] for call in order}
        extra.append(times[door.explain] - times[door.search])
    return extra


def _adds_and_vectors(library: LibraryDoor, calls: int) -> list[Row]:
    """Time adds while no earlier text is being embedded, and what a fact and its vector take."""

    def at_rest() -> Iterator[str]:
        for text in sentences(calls, "at rest"):
            library.settle()
            yield text

    alone = durations_ms(library.add, at_rest(), warm_up=1)
    library.settle()
    texts = list(sentences(calls, "with vector"))
    start = perf_counter()
    for text in texts:
        library.add(text)
    library.settle()
    share = (perf_counter() - start) * 1e3 / calls
    label = "library, semantic: memory_add"
    return [
        summary(f"{label}, no vector being made", alone),
        Row(what=f"{label} and its vector, adds in a row", value=share),
    ]


def _memory_table(rows: Sequence[Row]) -> Table:
    bare = python_memory()
    return Table(
        title="resident memory after the calls above",
        unit="MB",
        rows=tuple(rows),
        baselines=() if bare is None else (bare,),
        note="MB are 10^6 bytes, all pages in memory, those shared with others included.",
    )


def _rate_table(rows: Sequence[Row], append: Row) -> Table:
    return Table(
        title="facts stored in batches of 1,000, searchable by their words at once",
        unit="facts/s",
        rows=tuple(rows),
        baselines=per_second(append),
        note="Through the store in process; vectors come later and are not in this figure.",
    )
