"""`embed`: one query's vector by token length, beside sentence-transformers on the same weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tokenizers import Tokenizer

from bench.figures import Table
from bench.measure import durations_ms, summary
from bench.texts import sentences
from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.embedding.weights import bundled_model

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from bench.figures import Row

_SENTENCES_PER_TEXT: Final = 16
"""Enough for 256 tokens."""
_SPECIAL_TOKENS: Final = 2
_WARM_UP: Final = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument("--tokens", default="8,16,32,64,128,256", help="lengths of the texts")
    parser.add_argument("--calls", type=int, default=100, help="timed calls for each figure")


def measure(options: argparse.Namespace) -> list[Table]:
    """Embed distinct texts of each length, one at a time."""
    # Imported on use: it brings torch, seconds and hundreds of megabytes.
    import torch
    from sentence_transformers import SentenceTransformer

    ours = MiniLM()
    reference: Any = SentenceTransformer(str(bundled_model()), device="cpu")
    all_threads = torch.get_num_threads()
    tables: list[Table] = []
    for length in map(int, options.tokens.split(",")):
        texts = list(_texts_of(length, options.calls + _WARM_UP))
        mine = summary(
            "ours", durations_ms(lambda text: ours.embed([text]), texts, warm_up=_WARM_UP)
        )
        theirs: list[Row] = []
        for threads in sorted({1, all_threads}):
            torch.set_num_threads(threads)
            times = durations_ms(
                lambda text: reference.encode(text, show_progress_bar=False),
                texts,
                warm_up=_WARM_UP,
            )
            theirs.append(summary(f"sentence-transformers, torch threads: {threads}", times))
        tables.append(
            Table(title=f"{length} tokens", unit="ms", rows=(mine,), baselines=tuple(theirs))
        )
    return tables


def _texts_of(length: int, count: int) -> Iterator[str]:
    """Yield texts of exactly `length` tokens, the two that frame every text included."""
    tokenizer = Tokenizer.from_file(str(bundled_model() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    source = sentences(count * _SENTENCES_PER_TEXT, f"of {length}")
    for group in zip(*[source] * _SENTENCES_PER_TEXT, strict=True):
        text = " ".join(group)
        offsets = tokenizer.encode(text, add_special_tokens=False).offsets
        yield text[: offsets[length - _SPECIAL_TOKENS - 1][1]]
