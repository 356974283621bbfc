from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.embedding import weights
from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.model.results import Degraded
from graymatter_mcp.store.duckdb.store import DuckDBStore
from tests.engine.desk import DEADLINE_S, Desk, FailingEmbedder, make_store, until
from tests.engine.dies_half_way import OTHER_DIM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.embedding.base import Embedder, Windows
    from graymatter_mcp.model.results import RecallResult
    from tests.engine.conftest import DeskMaker

PER_BATCH = 32


class Gate:
    """Holds a thread up until the test lets it pass."""

    def __init__(self) -> None:
        self._is_open = threading.Event()

    def open(self) -> None:
        """Let pass, from now on."""
        self._is_open.set()

    def wait(self) -> None:
        """Wait to pass."""
        assert self._is_open.wait(DEADLINE_S)


class CountingEmbedder(HashedEmbedder):
    """Remembers what it was asked for; may be held up."""

    def __init__(self, dim: int = 64, gate: Gate | None = None) -> None:
        super().__init__(dim)
        self.asked: list[str] = []
        self._gate = gate

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed, once the gate is open."""
        if self._gate is not None:
            self._gate.wait()
        self.asked.extend(texts)
        return super().embed(texts)


@pytest.fixture
def open_file(portal: BlockingPortal, tmp_path: Path) -> Iterator[Callable[..., Desk]]:
    """Open one DuckDB file again and again, each time with a model of the test's choice."""
    desks: list[Desk] = []

    def open_again(load: Callable[[], Embedder] | None) -> Desk:
        if desks:
            desks[-1].close()
        store = make_store("duckdb", tmp_path / "gray.duckdb")
        desks.append(Desk(portal, store, load=load))
        return desks[-1]

    yield open_again
    for desk in desks:
        desk.close()


def vector_ranks(desk: Desk, query: str) -> list[int]:
    """Return the vector rank of each fact, best fact first."""
    return [one.ranks.vector_rank for one in desk.receipts(query, top_k=1000)]


def once_loaded(desk: Desk, query: str) -> RecallResult:
    """Search as soon as the model is loaded, whatever it has to do then."""
    until(lambda: desk.recall(query).degraded is not Degraded.MODEL_LOADING)
    return desk.recall(query, top_k=100)


def test_while_the_model_loads_adds_and_searches_go_on_by_keyword(make_desk: DeskMaker) -> None:
    """Contract 2.5, F29: `model_loading`, and nothing waits."""
    gate = Gate()

    def load() -> Embedder:
        gate.wait()
        return HashedEmbedder()

    desk = make_desk(load=load)
    desk.add("deploys run on Tuesday")
    early = desk.recall("deploys")
    assert (early.facts, early.degraded) == (("deploys run on Tuesday",), Degraded.MODEL_LOADING)
    assert vector_ranks(desk, "deploys") == [0]
    gate.open()
    desk.settle()
    assert desk.recall("deploys").degraded is None
    assert vector_ranks(desk, "deploys") == [1]


def altered(directory: Path) -> Path:
    """Return a directory whose files have the names of the model's and other bytes."""
    for name in weights.PINNED:
        (directory / name).write_bytes(b"other bytes")
    return directory


@pytest.mark.parametrize("fault", ["not installed", "file missing", "altered"])
def test_without_its_weights_the_memory_works_by_keyword(
    make_desk: DeskMaker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fault: str
) -> None:
    """Contract 2.5: `model_missing`; never a download, never a refusal."""
    if fault == "not installed":
        monkeypatch.setattr(weights, "_PACKAGE", "no_such_package_anywhere")
    else:
        directory = altered(tmp_path) if fault == "altered" else tmp_path
        monkeypatch.setattr(weights, "_model_directory", lambda: directory)
    desk = make_desk(load=MiniLM)
    desk.settle()
    desk.add("deploys run on Tuesday")
    result = desk.recall("deploys", min_confidence="inferred")
    assert (result.facts, result.degraded) == (
        ("deploys run on Tuesday",),
        Degraded.MODEL_MISSING,
    )
    desk.update("deploys run on Tuesday", "deploys run on Friday")
    assert desk.facts("deploys") == ["deploys run on Friday"]
    desk.settle()


def unloadable() -> Embedder:
    """Fail as a library may that somebody updated."""
    raise RuntimeError("/secret/place is not what it was")


def test_a_model_that_cannot_be_loaded_is_told_apart_from_one_that_is_missing(
    make_desk: DeskMaker, caplog: pytest.LogCaptureFixture
) -> None:
    """Contract 2.5 has one label for both; the log and `doctor` say what happened."""
    desk = make_desk(load=unloadable)
    desk.settle()
    desk.add("deploys run")
    result = desk.recall("deploys")
    assert (result.facts, result.degraded) == (("deploys run",), Degraded.MODEL_MISSING)
    check = desk.run(desk.memory.check)[0]
    assert (check.name, check.status) == ("model_in_use", "warn")
    assert check.detail == "the model could not be loaded (RuntimeError)"
    assert "owner.log" in check.hint
    assert "answers come without vectors: the model could not be loaded" in caplog.text


class Unusable(DuckDBStore):
    """A store that fails when the model is there."""

    def use_model(self, model_key: str) -> bool:
        """Fail, but not while it is opened."""
        if threading.current_thread().name == "graymatter-model":
            raise StoreUnavailableError("the database did not answer")
        return super().use_model(model_key)


def test_a_model_whose_vectors_cannot_be_looked_up_is_given_up_aloud(
    portal: BlockingPortal, tmp_path: Path
) -> None:
    """Contract 2.5: no answer says for ever that the model is still being loaded."""
    desk = Desk(portal, Unusable(tmp_path / "gray.duckdb"), load=HashedEmbedder)
    desk.settle()
    assert desk.recall("deploys").degraded is Degraded.MODEL_MISSING
    assert desk.run(desk.memory.check)[0].detail.endswith("(StoreUnavailableError)")
    desk.close()


def test_the_check_of_the_model_follows_its_life(make_desk: DeskMaker) -> None:
    """Contract 11.2: doctor says what the model does now."""
    gate = Gate()

    def load() -> Embedder:
        gate.wait()
        return HashedEmbedder()

    desk = make_desk(load=load)
    loading = desk.run(desk.memory.check)[0]
    gate.open()
    desk.settle()
    loaded = desk.run(desk.memory.check)[0]
    assert (loading.status, loaded.status) == ("info", "ok")


def test_keyword_only_by_choice_is_not_degraded(desk: Desk) -> None:
    """Contract 2.5."""
    desk.add("deploys run")
    assert desk.recall("deploys").degraded is None


def test_a_model_that_fails_on_a_query_degrades_a_plain_recall_and_ends_a_filtered_one(
    make_desk: DeskMaker,
) -> None:
    """Contract 5.3: a filter must prove that it saw every eligible fact."""
    desk = make_desk(load=FailingEmbedder)
    desk.add("deploys run")
    desk.settle()
    result = desk.recall("poison deploys")
    assert (result.facts, result.degraded) == (("deploys run",), Degraded.MODEL_MISSING)
    with pytest.raises(StoreUnavailableError, match="embedding model failed"):
        desk.recall("poison deploys", min_confidence="unverified")
    with pytest.raises(StoreUnavailableError, match="embedding model failed"):
        desk.explain("poison deploys", min_confidence="unverified")


def test_a_text_that_the_model_fails_on_does_not_hold_up_the_others(
    make_desk: DeskMaker,
) -> None:
    """F22, F29: it stays found by its words; the others get their vectors, and there is an end."""
    desk = make_desk(load=FailingEmbedder)
    for number in range(PER_BATCH + 8):
        desk.add(f"poison {number}")
    desk.add("deploys run")
    desk.settle()
    best = desk.receipts("deploys", top_k=100)
    assert [one.text for one in best if one.ranks.vector_rank] == ["deploys run"]
    assert desk.facts("poison 3", top_k=1) == ["poison 3"]
    assert desk.run(desk.memory.status).pending_vector_ops == PER_BATCH + 8


def test_vectors_that_cannot_be_stored_do_not_keep_the_model_busy(
    make_desk: DeskMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F22: a full disk is no reason to embed the same text for ever."""
    embedder = CountingEmbedder()
    desk = make_desk(load=lambda: embedder)
    desk.settle()
    desk.add("first")
    desk.settle()
    apply = desk.store.apply

    def refuse_vectors(batch: object) -> None:
        if getattr(batch, "vectors", ()):
            raise StoreUnavailableError("the disk is full; nothing was stored")
        apply(batch)  # type: ignore[arg-type] - handed through

    monkeypatch.setattr(desk.store, "apply", refuse_vectors)
    desk.add("second")
    desk.settle()
    assert embedder.asked == ["first", "second"]


def test_a_read_only_file_is_read_without_embedding_anything(
    open_file: Callable[..., Desk], portal: BlockingPortal, tmp_path: Path
) -> None:
    """C64: pending vectors stay pending, quietly."""
    desk = open_file(None)
    desk.add("deploys run")
    desk.close()
    embedder = CountingEmbedder()
    store = DuckDBStore(tmp_path / "gray.duckdb", read_only=True)
    reader = Desk(portal, store, load=lambda: embedder)
    reader.settle()
    assert reader.facts("deploys") == ["deploys run"]
    assert embedder.asked == ["deploys"]
    reader.close()


def test_what_waits_for_a_vector_gets_it_after_a_restart(open_file: Callable[..., Desk]) -> None:
    """F22: pending is what the store has no vector for, so nothing is lost."""
    desk = open_file(None)
    for number in range(PER_BATCH + 8):
        desk.add(f"fact {number}")
    again = open_file(HashedEmbedder)
    again.settle()
    assert again.run(again.memory.status).pending_vector_ops == 0
    assert 0 not in vector_ranks(again, "fact 1")


def test_another_model_answers_by_keyword_until_every_fact_is_embedded_anew(
    open_file: Callable[..., Desk],
) -> None:
    """F23: the same facts at once, `reembedding` until complete, vectors never mixed."""
    texts = [f"fact {number}" for number in range(PER_BATCH + 8)]
    desk = open_file(HashedEmbedder)
    for text in texts:
        desk.add(text)
    desk.settle()
    gate = Gate()
    other = CountingEmbedder(OTHER_DIM, gate)
    desk = open_file(lambda: other)
    result = once_loaded(desk, "fact 7")
    assert (result.degraded, result.facts[0]) == (Degraded.REEMBEDDING, "fact 7")
    assert set(result.facts) == set(texts)
    assert set(vector_ranks(desk, "fact 7")) == {0}
    gate.open()
    desk.settle()
    assert desk.recall("fact 7").degraded is None
    assert sorted(vector_ranks(desk, "fact 7")) == list(range(1, len(texts) + 1))
    assert sorted(other.asked) == sorted([*texts, "fact 7"])

    back = CountingEmbedder()
    desk = open_file(lambda: back)
    desk.settle()
    assert desk.recall("fact 7").degraded is None
    assert sorted(vector_ranks(desk, "fact 7")) == list(range(1, len(texts) + 1))
    assert back.asked == ["fact 7"]


def test_reembedding_goes_on_where_it_was_killed(
    open_file: Callable[..., Desk], tmp_path: Path
) -> None:
    """F23: killed in the second batch, so the first is kept and the rest is made."""
    desk = open_file(HashedEmbedder)
    for number in range(80):
        desk.add(f"fact {number}")
    desk.settle()
    desk.close()
    command = [sys.executable, "-m", "tests.engine.dies_half_way", str(tmp_path / "gray.duckdb")]
    killed = subprocess.run(command, check=False, timeout=DEADLINE_S)
    assert killed.returncode == -9
    gate = Gate()
    other = CountingEmbedder(OTHER_DIM, gate)
    desk = open_file(lambda: other)
    assert once_loaded(desk, "fact 7").degraded is Degraded.REEMBEDDING
    gate.open()
    desk.settle()
    assert len(other.asked) == 80 - PER_BATCH
    assert sorted(vector_ranks(desk, "fact 7")) == list(range(1, 81))


def test_waiting_after_a_write_waits_for_its_vector(make_desk: DeskMaker) -> None:
    """F22: settled means that what was answered before is embedded."""
    desk = make_desk(load=HashedEmbedder)
    desk.settle()
    for number in range(30):
        desk.add(f"deploys {number}")
        desk.settle()
        assert desk.run(desk.memory.status).pending_vector_ops == 0


def test_a_long_text_is_found_by_what_only_its_end_says(make_desk: DeskMaker) -> None:
    """Issue 2, item 6: texts beyond 256 tokens in windows, by the real model."""
    desk = make_desk(load=MiniLM)
    filler = "The quarterly budget was reviewed and the meeting minutes were filed. " * 40
    ending = "A fire-breathing dragon guards the golden hoard in the mountain cave."
    desk.add(filler + ending)
    for subject in ("train timetables", "tomato soup recipes", "office parking", "tax forms"):
        desk.add(f"Everything about {subject} is written down in the handbook.")
    desk.settle()
    best = min(
        desk.receipts("which mythical monsters protect treasure"),
        key=lambda one: one.ranks.vector_rank,
    )
    assert (best.text, best.ranks.vector_rank) == (filler + ending, 1)
