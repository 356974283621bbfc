"""The evaluation: whether memory keeps its promises, here and now; only reads.

Source: data-plane contract 7.2.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.engine.plane.corpus import Filter
from graymatter_mcp.engine.plane.rule_checks import RULES
from graymatter_mcp.engine.plane.scratch import Scratch
from graymatter_mcp.engine.plane.search import Query
from graymatter_mcp.errors import GraymatterError, InvalidArgumentError
from graymatter_mcp.model.reports import Evaluation, EvaluationCase
from graymatter_mcp.policy.sensitivity import SENSITIVITIES
from graymatter_mcp.ranking.hybrid.stop_words import is_stop_word
from graymatter_mcp.ranking.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from graymatter_mcp.engine.plane.corpus import Corpus
    from graymatter_mcp.engine.plane.reports import Reporter
    from graymatter_mcp.engine.plane.search import Found, Searcher
    from graymatter_mcp.engine.plane.writes import Parts
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.model.scopes import Scope
    from graymatter_mcp.store.base import MemoryStore

CORE: Final = "core"
RETRIEVAL: Final = "retrieval"
SAMPLE: Final = 20
"""Facts that a case looks at."""
RAREST: Final = 8
"""Terms of a query for a fact that is known."""
TOP: Final = 5
LEAST_FOUND: Final = 0.95
HYGIENE_K: Final = 5
INVENTED: Final = "zyxquorl blenvithar morgulathe prindwex"
"""Words that nobody has written."""
_QUERY_CHARS: Final = 8192

NO_MODEL: Final = "there is no model"
NO_SCRATCH: Final = "there is no store in memory to try it on"


@dataclass(frozen=True, slots=True)
class _Verdict:
    passed: bool
    detail: str = ""
    is_skipped: bool = False


def _skipped(why: str) -> _Verdict:
    return _Verdict(True, why, is_skipped=True)


class Evaluator:
    """Runs suites; synchronous, for worker threads."""

    def __init__(
        self,
        parts: Parts,
        searcher: Searcher,
        reporter: Reporter,
        scratch: Callable[[], MemoryStore] | None,
    ) -> None:
        """Prepare.

        Args:
            parts: Of the data plane.
            searcher: Likewise; it counts nothing.
            reporter: Likewise.
            scratch: Makes an empty store in memory that indexes as ours does; None where there is
                none, and its cases are skipped.
        """
        self._parts = parts
        self._searcher = searcher
        self._reporter = reporter
        self._scratch = scratch

    def evaluate(self, caller: Caller, suite: str = CORE) -> Evaluation:
        """Run a suite over what the caller can see.

        Raises:
            InvalidArgumentError: There is no such suite.
        """
        if suite not in (CORE, RETRIEVAL):
            raise InvalidArgumentError("suite must be core or retrieval")
        scopes = self._parts.accounts.reach.all_scopes(caller)
        now = self._parts.clock.now()
        corpus = self._parts.corpora.gather(scopes, None, Filter(now=now))
        cases: dict[str, Callable[[], _Verdict]] = {
            "stored facts are found again": lambda: self._found_again(corpus, now),
            "meaning is found without shared words": self._meaning,
            "an unanswerable query returns nothing": lambda: self._unanswerable(corpus, now),
            "hidden facts stay hidden": lambda: self._hidden(scopes, corpus, now),
            "scratch round trip": self._round_trip,
        }
        verdicts = {} if suite == RETRIEVAL else {name: _rule(rule) for name, rule in RULES.items()}
        verdicts |= {name: _tried(case) for name, case in cases.items()}
        return Evaluation(
            suite=suite,
            cases=tuple(
                EvaluationCase(
                    name=name,
                    passed=verdict.passed,
                    is_skipped=verdict.is_skipped,
                    detail=verdict.detail,
                )
                for name, verdict in verdicts.items()
            ),
            hygiene=self._reporter.report(corpus, now, HYGIENE_K),
        )

    def _search(self, corpus: Corpus, text: str, now: datetime, k: int) -> Found:
        query = Query(text=text[:_QUERY_CHARS], k=k, weights={}, now=now, abstain_below=0.0)
        return self._searcher.search(corpus, query)

    def _found_again(self, corpus: Corpus, now: datetime) -> _Verdict:
        """Ask for some facts with the rarest words of each."""
        rows = np.flatnonzero(corpus.eligible).tolist()
        asked = found = 0
        for row in _sample(corpus, rows):
            words = self._rarest(corpus, _text(corpus, row))
            if not words:
                continue
            asked += 1
            results = self._search(corpus, " ".join(words), now, TOP).rows
            # Equal texts stand for each other.
            found += row in results or _text(corpus, row) in {_text(corpus, r) for r in results}
        return _Verdict(found >= LEAST_FOUND * asked, f"{found} of {asked} were found")

    def _rarest(self, corpus: Corpus, text: str) -> list[str]:
        words = list(dict.fromkeys(word for word in tokenize(text) if not is_stop_word(word)))
        terms = [self._parts.analyzer.index_term(word) for word in words]
        counts: Counter[str] = Counter()
        for part in corpus.parts:
            distinct = list(dict.fromkeys(terms))
            for term, posting in zip(distinct, part.snapshot.postings(distinct), strict=True):
                counts[term] += len(posting.rows)
        by_rarity = sorted(zip(words, terms, strict=True), key=lambda one: (counts[one[1]], one[0]))
        return [word for word, _ in by_rarity[:RAREST]]

    def _meaning(self) -> _Verdict:
        models = self._parts.models
        if not models.is_wanted or models.degraded is not None:
            return _skipped(NO_MODEL)
        if self._scratch is None:
            return _skipped(NO_SCRATCH)
        return _Verdict(Scratch(self._parts, self._scratch()).finds_meaning())

    def _round_trip(self) -> _Verdict:
        if self._scratch is None:
            return _skipped(NO_SCRATCH)
        return _Verdict(Scratch(self._parts, self._scratch()).makes_a_round_trip())

    def _unanswerable(self, corpus: Corpus, now: datetime) -> _Verdict:
        """Ask what nobody can know; silence means something only where there is a floor."""
        if not corpus.count:
            return _skipped("nothing is stored")
        if self._parts.models.degraded is not None:
            return _skipped(NO_MODEL)
        if self._searcher.calibration.abstain_below <= 0:
            return _skipped("the model has no calibrated floor")
        found = self._searcher.search(corpus, Query(text=INVENTED, k=TOP, weights={}, now=now))
        return _Verdict(found.abstained and not found.rows)

    def _hidden(self, scopes: Sequence[Scope], corpus: Corpus, now: datetime) -> _Verdict:
        """Search hidden facts by their own text."""
        whole = self._parts.corpora.gather(
            scopes, None, Filter(now=now, max_sensitivity=SENSITIVITIES[-1])
        )
        visible = {_id(corpus, row) for row in np.flatnonzero(corpus.eligible).tolist()}
        hidden = [row for row in range(whole.size) if _id(whole, row) not in visible]
        tried = _sample(whole, hidden)
        for row in tried:
            rows = self._search(corpus, _text(whole, row), now, SAMPLE).rows
            if _id(whole, row) in {_id(corpus, found) for found in rows}:
                return _Verdict(False, "a hidden fact came back")
        return _Verdict(True, f"{len(tried)} were searched for")


def _rule(rule: Callable[[], bool]) -> _Verdict:
    return _Verdict(rule())


def _tried(case: Callable[[], _Verdict]) -> _Verdict:
    try:
        return case()
    except GraymatterError:
        return _Verdict(False, "the case could not be carried out")


def _sample(corpus: Corpus, rows: Sequence[int]) -> list[int]:
    """Return some rows, always the same: those whose ids have the smallest digests."""
    return sorted(rows, key=lambda row: sha256(_id(corpus, row).encode()).digest())[:SAMPLE]


def _id(corpus: Corpus, row: int) -> FactId:
    part, at = corpus.locate(row)
    return part.snapshot.fact_ids([at])[0]


def _text(corpus: Corpus, row: int) -> str:
    part, at = corpus.locate(row)
    return part.snapshot.texts([at])[0]
