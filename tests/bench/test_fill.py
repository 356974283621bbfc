"""What is measured is a real store: distinct sentences, each with the vector it should have."""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from bench.client import SHELF
from bench.fill import Vectors, fact_count, fill
from bench.texts import questions, sentences
from graymatter_mcp import Config, Memory
from graymatter_mcp.embedding.base import to_fixed_point
from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.settings import DATABASE_FILE
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from pathlib import Path


def test_texts_are_distinct_sentences_and_the_same_every_time() -> None:
    """Issue: texts must be real or realistic sentences, not one word repeated."""
    texts = list(sentences(3000))
    assert len(set(texts)) == 3000
    assert texts[:100] == list(sentences(100))
    assert not set(texts) & set(sentences(3000, "another"))
    assert len({word for text in texts for word in text.split()}) > 3000
    assert all("{" not in text and 8 <= len(text.split()) <= 30 for text in texts)
    queries = list(questions(3000, "one"))
    assert len(set(queries)) == 3000
    assert not set(queries) & set(questions(3000, "another"))


def test_a_filled_store_finds_its_facts_and_nothing_waits_for_the_model(tmp_path: Path) -> None:
    """Issue: vectors are stored with the facts, so no figure includes the embedding of others."""
    assert fill(tmp_path / "store", 40, Vectors()) > 0
    with closing(DuckDBStore(tmp_path / "store" / DATABASE_FILE)) as store:
        store.use_model(MiniLM.model_key)
        assert store.pending_vectors(1) == []
        assert [fact.text for fact in reversed(store.list(Namespace(SHELF)))] == list(sentences(40))
    for model in ("all-MiniLM-L6-v2", "none"):
        with Memory(config=Config(data_dir=tmp_path / "store", model=model)) as memory:
            assert memory.wait_until_settled()
            for text in islice(sentences(40), 5):
                assert text in memory.recall(SHELF, text)


def test_stored_vectors_are_those_of_the_model() -> None:
    """Issue: up to 20,000 facts the vectors are real."""
    vectors = Vectors()
    made = list(vectors.for_store(6))
    model = MiniLM()
    expected = [to_fixed_point(model.embed([text])[0]) for text in sentences(6)]
    assert all(np.array_equal(one, other) for one, other in zip(made, expected, strict=True))


def test_stand_ins_are_near_their_real_vector_and_all_different() -> None:
    """Issue: above 20,000 facts vectors may be real embeddings plus noise, renormalised."""
    vectors = Vectors(real_up_to=3, pool=3)
    assert vectors.note(3) == ""
    assert "3 distinct sentences" in vectors.note(9)
    made = np.concatenate(list(vectors.for_store(9))).astype(np.float64)
    made /= np.linalg.norm(made, axis=1)[:, None]
    pool = np.concatenate(list(vectors.real(3)))
    # Noise of length 0.5 at a right angle leaves a cosine of 1 / sqrt(1.25) = 0.894.
    cosines = np.sum(made * np.tile(pool, (3, 1)), axis=1)
    assert np.all(np.abs(cosines - 0.894) < 0.05)
    assert len(np.unique(made, axis=0)) == 9


def test_sizes_are_written_short() -> None:
    """Issue: ``--sizes 1k,10k,100k``."""
    assert [fact_count(word) for word in ("30", "1k", "100k")] == [30, 1_000, 100_000]
