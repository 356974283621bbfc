"""The embedding model's life in the engine: loaded in the background, then given what waits."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from graymatter_mcp.embedding.base import EmbeddingError, to_fixed_point
from graymatter_mcp.engine.retries import Retries
from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.model.checks import Check, CheckStatus
from graymatter_mcp.model.results import Degraded
from graymatter_mcp.store.base import NewVectors, PendingVector, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    from numpy.typing import NDArray

    from graymatter_mcp.embedding.base import Embedder
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.store.base import MemoryStore

logger = logging.getLogger(__name__)

_QUERIES_KEPT: Final = 512
_QUERY_CHARS: Final = 8192
"""Characters of a query that get a vector; its words count all."""
_EMBEDDED_CHARS: Final = 65_536
"""Characters of a fact that get vectors: what lies behind is found by its words. A window takes a
core a tenth of a second, and a text of megabytes would keep it for an hour."""
_AT_ONCE_CHARS: Final = 4096
"""Characters of a text that its writer waits for; a longer one would take seconds of a core."""
_QUIET_S: Final = 0.03
_MAX_LAG_S: Final = 2.0
"""Longest that a batch waits to begin while calls keep coming."""
_REST: Final = 3.0
"""How long the thread rests between two texts while calls keep coming, as a multiple of the time
that the first took: it has a quarter of a core then, and all of one when nobody calls."""
_BATCH: Final = 32
"""Texts embedded between two commits."""
_DONE_KEPT: Final = 4096
_WHERE: Final = (
    "facts are found by their words alone; owner.log says more, and graymatter daemon stop lets the"
    " next client try again"
)


class ModelKeeper:
    """Owns the thread that loads the model and embeds what has no vector yet.

    Pending is what the store has no vector for, so a restart loses nothing; the queue in memory
    only saves the question.
    """

    def __init__(
        self,
        store: MemoryStore,
        load: Callable[[], Embedder] | None,
        reconcile_interval_s: float,
        *,
        model_key: str = "",
    ) -> None:
        """Start loading at once.

        Args:
            store: Holds texts and vectors.
            load: Makes the embedder, in the thread; None for keyword only, by choice.
            reconcile_interval_s: How often the store is asked for texts that were missed.
            model_key: The key the embedder will have, where it is known before, so that mirrors
                which are built meanwhile hold the right vectors.
        """
        self._store = store
        self._load = load
        self._interval_s = reconcile_interval_s
        self._retries = Retries(reconcile_interval_s)
        self._embedder: Embedder | None = None
        self._last_call = 0.0
        # Agents ask the same of their own namespace and of the shared one.
        self._query_vector = lru_cache(_QUERIES_KEPT)(self._embed_query)
        self._queue: deque[PendingVector] = deque()
        self._failed: set[tuple[Namespace, FactId]] = set()
        # A fact can be asked for twice: by its writer, and by a reconciliation that saw its commit.
        self._embedded: OrderedDict[tuple[Namespace, FactId], int] = OrderedDict()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._is_closing = False
        self._state: Degraded | None = None if load is None else Degraded.MODEL_LOADING
        self._failure = ""
        """Why there is no model, where one was wanted."""
        self._settled = threading.Event()
        store.use_model(model_key)
        self._thread: threading.Thread | None = None
        if load is None:
            self._settled.set()
        else:
            self._thread = threading.Thread(target=self._run, name="graymatter-model", daemon=True)
            self._thread.start()

    @property
    def degraded(self) -> Degraded | None:
        """Why answers come without vectors; None when they have them, or by choice never do."""
        return self._state

    @property
    def is_wanted(self) -> bool:
        """Whether answers should have vectors: not in a memory that is keyword only by choice."""
        return self._load is not None

    @property
    def model_key(self) -> str:
        """The key of the model in use; empty without one."""
        return "" if self._embedder is None else self._embedder.model_key

    def embed_query(self, text: str) -> NDArray[np.int16] | None:
        """Embed a query; None when answers come without vectors.

        Raises:
            EmbeddingError: The model failed on this text.
        """
        if self._embedder is None or self._state is not None:
            return None
        return self._query_vector(text)

    def _embed_query(self, text: str) -> NDArray[np.int16]:
        assert self._embedder is not None
        (windows,) = self._embedder.embed([text[:_QUERY_CHARS]])
        return to_fixed_point(windows)

    def embed_now(self, pending: PendingVector) -> NewVectors | None:
        """Embed a text in the caller's thread; None when the model is not there or fails on it."""
        embedder = self._embedder
        return None if embedder is None else _embed(embedder, pending)

    def windows_of(self, text: str) -> NDArray[np.int16] | None:
        """Embed the text of a fact in the caller's thread; None when that cannot be done now."""
        embedder = self._embedder
        if embedder is None or len(text) > _AT_ONCE_CHARS:
            return None
        try:
            (windows,) = embedder.embed([text])
        except EmbeddingError:
            return None
        return to_fixed_point(windows)

    def enqueue(self, pending: PendingVector) -> None:
        """Ask for a vector soon; never waits."""
        if self._load is None or self._state is Degraded.MODEL_MISSING:
            return
        with self._lock:
            self._queue.append(pending)
            self._settled.clear()
        self._wake.set()

    def wait_until_settled(self, timeout_s: float) -> bool:
        """Wait until the model is loaded, or known to be missing, and nothing is pending."""
        return self._settled.wait(timeout_s) and not self._is_closing

    def interrupt(self) -> None:
        """Let nobody wait any longer; the thread ends after the text in hand."""
        self._is_closing = True
        self._settled.set()
        self._wake.set()

    def close(self) -> None:
        """Stop after the text in hand, and store what is made."""
        self.interrupt()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        assert self._load is not None
        try:
            embedder = self._load()
            is_other_model = self._store.use_model(embedder.model_key)
        except EmbeddingError as exc:
            # The contract's labels know no other word for an answer without a model; what happened
            # is told by the log and by `doctor`.
            self._give_up(str(exc))
        except Exception as exc:
            logger.exception("the model could not be loaded")
            self._give_up(f"the model could not be loaded ({type(exc).__name__})")
        else:
            self._embedder = embedder
            self._state = Degraded.REEMBEDDING if is_other_model else None
            self._serve(embedder)

    def _give_up(self, why: str) -> None:
        logger.warning("answers come without vectors: %s", why)
        self._failure = why
        self._state = Degraded.MODEL_MISSING
        self._settled.set()

    def check(self) -> Check:
        """Say how the model that this process uses is."""
        if self._load is None:
            return _model_check(CheckStatus.OK, "none is wanted")
        if self._failure:
            return _model_check(CheckStatus.WARN, self._failure, _WHERE)
        if self._state is Degraded.MODEL_LOADING:
            return _model_check(CheckStatus.INFO, "the model is being loaded")
        if self._state is Degraded.REEMBEDDING:
            detail = "facts get vectors of another model; until then words and age alone count"
            return _model_check(CheckStatus.INFO, detail)
        return _model_check(CheckStatus.OK, "the model is loaded")

    def _serve(self, embedder: Embedder) -> None:
        if self._store.read_only:
            self._settled.set()
            return
        is_sure = False
        while not self._is_closing:
            self._wake.clear()
            self.let_others_first(_MAX_LAG_S)
            if self._drain(embedder):
                continue
            # The store is asked at the start and at intervals: each add brings its text by itself.
            if not is_sure and self._reconcile():
                continue
            is_sure = self._rest()

    def _rest(self) -> bool:
        """Wait for work; True when some came, False when the store is to be asked."""
        self._state = None
        with self._lock:
            if not self._queue:
                self._settled.set()
        left_s = self._retries.left_s()
        # New work must not put off for ever what is due to be tried again.
        is_new = left_s != 0 and self._wake.wait(min(self._interval_s, left_s or self._interval_s))
        if self._retries.left_s() == 0:
            self._retries.begin()
            self._failed.clear()
            return False
        return is_new

    def let_others_first(self, at_most_s: float) -> None:
        """Wait while calls follow each other: a core that is at work answers nobody meanwhile."""
        deadline = time.monotonic() + at_most_s
        while (quiet_s := time.monotonic() - self._last_call) < _QUIET_S:
            left_s = deadline - time.monotonic()
            if self._is_closing or left_s <= 0:
                return
            time.sleep(min(_QUIET_S - quiet_s, left_s))

    def note_call(self) -> None:
        """Note that somebody waits for an answer now."""
        self._last_call = time.monotonic()

    def _reconcile(self) -> bool:
        """Queue what the store has no vector for; whether there was any."""
        try:
            pending = self._store.pending_vectors(_BATCH + len(self._failed))
        except GraymatterError:
            return False
        missed = [one for one in pending if (one.namespace, one.fact_id) not in self._failed]
        self._queue.extend(missed)
        return bool(missed)

    def _drain(self, embedder: Embedder) -> bool:
        """Embed one batch from the queue; whether there was any."""
        waiting: dict[tuple[Namespace, FactId], PendingVector] = {}
        while self._queue and len(waiting) < _BATCH:
            pending = self._queue.popleft()
            key = (pending.namespace, pending.fact_id)
            if self._embedded.get(key) != hash(pending.text):
                waiting[key] = pending
        if not waiting:
            return False
        self._settled.clear()
        batch, vectors = self._embed_in_turn(embedder, waiting.values())
        stored = {(new.namespace, new.fact_id) for new in vectors}
        try:
            self._store.apply(WriteBatch(vectors=tuple(vectors), model_key=embedder.model_key))
        except GraymatterError as exc:
            logger.warning("vectors were not stored: %s", exc)
            stored.clear()
        failed = {(one.namespace, one.fact_id) for one in batch} - stored
        self._failed = (self._failed | failed) - stored
        if failed or not self._failed:
            self._retries.note(len(self._failed))
        self._note(one for one in batch if (one.namespace, one.fact_id) in stored)
        return True

    def _embed_in_turn(
        self, embedder: Embedder, waiting: Iterable[PendingVector]
    ) -> tuple[list[PendingVector], list[NewVectors]]:
        """Return the texts that had their turn before the end was asked for, and their vectors."""
        batch: list[PendingVector] = []
        vectors: list[NewVectors] = []
        for pending in waiting:
            start = time.monotonic()
            new = _embed(embedder, pending)
            batch.append(pending)
            if new is not None:
                vectors.append(new)
            if self._is_closing:
                break
            self.let_others_first(_REST * (time.monotonic() - start))
        return batch, vectors

    def _note(self, done: Iterable[PendingVector]) -> None:
        """Remember what has its vector, for as long as it could still be waiting twice."""
        for one in done:
            self._embedded[one.namespace, one.fact_id] = hash(one.text)
        while len(self._embedded) > _DONE_KEPT:
            self._embedded.popitem(last=False)


def _model_check(status: CheckStatus, detail: str, hint: str = "") -> Check:
    return Check(name="model_in_use", status=status, detail=detail, hint=hint)


def _embed(embedder: Embedder, pending: PendingVector) -> NewVectors | None:
    try:
        (windows,) = embedder.embed([pending.text[:_EMBEDDED_CHARS]])
    except EmbeddingError as exc:
        logger.warning("no vector for fact %s: %s", pending.fact_id, exc)
        return None
    return NewVectors(
        namespace=pending.namespace,
        fact_id=pending.fact_id,
        text=pending.text,
        windows=to_fixed_point(windows),
    )
