"""`plane`: search, context and capture over REST, and reports over many projects."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import anyio

from bench.baselines import append_and_sync, python_start
from bench.client import SHELF
from bench.doors import BUNDLED
from bench.figures import Table
from bench.fill import Vectors, fact_count, fill
from bench.http import http_server
from bench.line import EVERYTHING, Line
from bench.measure import durations_ms, summary
from bench.texts import questions, sentences
from graymatter_mcp import Config, Fact
from graymatter_mcp.compose import open_memory
from graymatter_mcp.engine.clock import Clock, utc_now
from graymatter_mcp.engine.plane.details import Details
from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.model.config import EmbeddingMode
from graymatter_mcp.model.scopes import LOCAL, project_scope, shelf
from graymatter_mcp.ranking.tokens import Analyzer, tokenize
from graymatter_mcp.settings import DATABASE_FILE
from graymatter_mcp.store.base import NewFact, WriteBatch
from graymatter_mcp.store.duckdb.store import DuckDBStore
from graymatter_mcp.surfaces.rest.all_operations import BY_ROUTE
from graymatter_mcp.surfaces.rest.operations import Asked

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from bench.figures import Row

_CHUNK: Final = 1_000
_WARM_UP: Final = 20
_NAMED: Final = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument("--sizes", default="10k,100k", help="facts in the store; k means thousand")
    parser.add_argument("--calls", type=int, default=100, help="timed calls for each figure")
    parser.add_argument("--shared-facts", default="200k", help="facts of the reports, in projects")
    parser.add_argument("--projects", type=int, default=50, help="projects of the reports")


def measure(options: argparse.Namespace) -> list[Table]:
    """Measure every size over REST, then the reports in process."""
    vectors = Vectors()
    tables: list[Table] = []
    with TemporaryDirectory(dir=options.dir) as name:
        base = Path(name)
        for size in map(fact_count, options.sizes.split(",")):
            directory = base / str(size)
            fill(directory, size, vectors)
            with http_server(directory, BUNDLED) as (host, port):
                rows = _calls(Line(host, port), options.calls)
            tables.append(
                Table(
                    title=f"{size:,} facts on one shelf, over REST, vectors included",
                    unit="ms",
                    rows=tuple(rows),
                    baselines=(append_and_sync(base), python_start()),
                    note=vectors.note(size),
                )
            )
        facts = fact_count(options.shared_facts)
        rows = anyio.run(_reports, base / "shared", facts, options.projects)
        tables.append(
            Table(
                title=f"{facts:,} facts in {options.projects} projects, in process",
                unit="ms",
                rows=tuple(rows),
                baselines=(python_start(),),
                note="After one call each: the first reads every shelf into memory.",
            )
        )
    return tables


def _calls(line: Line, calls: int) -> list[Row]:
    number = calls + _WARM_UP

    def timed(what: str, call: Callable[[str], object], texts: Iterator[str]) -> Row:
        return summary(what, durations_ms(call, texts, warm_up=_WARM_UP))

    def posted(path: str, field: str, **more: Any) -> Callable[[str], object]:
        return lambda text: line.rest(path, {field: text, **more})

    shelf_name = {"namespace": SHELF}
    return [
        timed(
            "search", posted("/v1/search", "query", **EVERYTHING), questions(number, "plane search")
        ),
        timed(
            "context",
            posted("/v1/context", "message", **EVERYTHING),
            questions(number, "plane context"),
        ),
        timed("memory_add over HTTP", line.add, sentences(number, "plane add")),
        timed(
            "remember",
            posted("/v1/remember", "content", **shelf_name),
            sentences(number, "plane remember"),
        ),
        timed(
            "capture",
            posted("/v1/capture", "content", **shelf_name),
            sentences(number, "plane capture"),
        ),
        timed("hygiene", lambda _: line.rest("/v1/hygiene", {}), iter(["again"] * (_WARM_UP + 5))),
    ]


async def _reports(directory: Path, facts: int, projects: int) -> list[Row]:
    config = Config(data_dir=directory, embedding_mode=EmbeddingMode.KEYWORD)
    owned = open_memory(config)
    made = [
        owned.memory.plane.accounts.projects.create(LOCAL_CALLER, f"p{n}") for n in range(projects)
    ]
    await owned.aclose()
    _fill_projects(directory, facts, [one.id for one in made])
    owned = open_memory(config)
    try:
        plane = owned.memory.plane

        # A read names at most so many projects.
        fields = {"recent": {"includeProjects": [one.id for one in made[:_NAMED]]}}

        async def ask(route: str) -> None:
            sent = fields.get(route, {})
            asked = Asked(caller=LOCAL_CALLER, fields=sent, now=datetime.now(UTC))
            await BY_ROUTE[route](plane, asked)

        rows: list[Row] = []
        for route in ("stats", "recent", "hygiene"):
            await ask(route)
            times = [await _timed(ask, route) for _ in range(10)]
            rows.append(summary(route, times))
        return rows
    finally:
        await owned.aclose()


async def _timed(ask: Callable[[str], Any], route: str) -> float:
    start = anyio.current_time()
    await ask(route)
    return (anyio.current_time() - start) * 1e3


def _fill_projects(directory: Path, facts: int, projects: Sequence[str]) -> None:
    start = utc_now() - timedelta(seconds=facts)
    moments = (start + timedelta(seconds=second) for second in count())
    clock = Clock(lambda: next(moments))
    store = DuckDBStore(directory / DATABASE_FILE, stem=Analyzer("english").index_term)
    try:
        batch: list[tuple[Fact, Details]] = []
        for number, text in enumerate(sentences(facts)):
            at, fact_id = clock.stamp()
            namespace = shelf(project_scope(LOCAL, projects[number % len(projects)]), "default")
            fact = Fact(id=fact_id, agent_id=namespace, text=text, created_at=at, accessed_at=at)
            details = Details(sensitivity="private", content_at=at, updated_at=at)
            batch.append((fact, details))
            if len(batch) == _CHUNK:
                _store(store, batch)
                batch = []
        _store(store, batch)
    finally:
        store.close()


def _store(store: DuckDBStore, batch: Sequence[tuple[Fact, Details]]) -> None:
    store.apply(
        WriteBatch(
            facts=tuple(NewFact(fact=fact, terms=tokenize(fact.text)) for fact, _ in batch),
            details=tuple(details.under(fact.agent_id, fact.id) for fact, details in batch),
        )
    )
