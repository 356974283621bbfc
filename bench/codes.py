"""`codes`: what sign codes before exact products cost in recall and bring in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bench.figures import Row, Table
from bench.fill import Vectors, fact_count
from bench.measure import durations_ms, summary
from bench.texts import questions
from graymatter_mcp.embedding.base import to_fixed_point
from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.store.duckdb.codes import sign_codes, similarities

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray

TOP: Final = 8
_WARM_UP: Final = 2
_EXACT_AT_ONCE: Final = 50_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument("--sizes", default="100k,1000k", help="vectors; k means thousand")
    parser.add_argument("--calls", type=int, default=50, help="queries for each figure")


def measure(options: argparse.Namespace) -> list[Table]:
    """Compare both ways on the same vectors and queries."""
    made = Vectors()
    model = MiniLM()
    queries = [
        to_fixed_point(model.embed([text])[0])[0]
        for text in questions(options.calls + _WARM_UP, "codes")
    ]
    tables: list[Table] = []
    for word in options.sizes.split(","):
        count = fact_count(word)
        vectors = np.empty((count, model.dim), np.int16)
        for place, windows in enumerate(made.for_store(count)):
            vectors[place] = windows[0]
        tables += _tables(vectors, queries, made.note(count))
    return tables


def _tables(vectors: NDArray[np.int16], queries: list[NDArray[np.int16]], note: str) -> list[Table]:
    codes = sign_codes(vectors)
    everything = np.ones(len(vectors), np.bool_)

    def coded(query: NDArray[np.int16]) -> NDArray[np.float32]:
        return similarities(vectors, codes, query, everything)

    whole = vectors.astype(np.float32)
    ours = durations_ms(coded, queries, warm_up=_WARM_UP)
    exact = durations_ms(lambda q: whole @ q.astype(np.float32), queries, warm_up=_WARM_UP)
    recall = [_recall(vectors, query, coded(query)) for query in queries]
    title = f"{len(vectors):,} vectors"
    return [
        Table(
            title=f"{title}: one query",
            unit="ms",
            rows=(summary("codes, then exact products", ours),),
            baselines=(summary("all products exact", exact),),
            note=note,
        ),
        Table(
            title=f"{title}: recall@{TOP} of the exact order",
            unit="count",
            rows=(
                Row(what="mean", value=float(np.mean(recall)), count=len(recall)),
                Row(what="worst query", value=min(recall), count=len(recall)),
            ),
        ),
    ]


def _recall(
    vectors: NDArray[np.int16], query: NDArray[np.int16], found: NDArray[np.float32]
) -> float:
    parts = np.split(vectors, range(_EXACT_AT_ONCE, len(vectors), _EXACT_AT_ONCE))
    exact = np.concatenate([part.astype(np.float32) @ query.astype(np.float32) for part in parts])
    return len(_best(exact) & _best(found)) / TOP


def _best(similarity: NDArray[np.float32]) -> set[int]:
    return set(np.argsort(-similarity, kind="stable")[:TOP].tolist())
