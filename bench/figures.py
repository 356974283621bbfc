"""What a benchmark leaves behind: tables of figures, and how, when and with what they were made."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PACKAGES: Final = (
    "graymatter-mcp",
    "mcp",
    "duckdb",
    "numpy",
    "tokenizers",
    "sentence-transformers",
    "torch",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure. `value` is the median where several calls were timed."""

    what: str
    value: float
    low: float | None = None
    """With `high`, the 95 % interval of a mean."""
    high: float | None = None
    p95: float | None = None
    worst: float | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Figures of one unit, and the baselines measured beside them."""

    title: str
    unit: str
    """``ms``, ``MB`` (10**6 bytes), ``op/s``, ``facts/s``, ``count`` or ``share`` (of 1)."""
    rows: tuple[Row, ...]
    baselines: tuple[Row, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One run of one benchmark."""

    name: str
    command: str
    date: str
    python: str
    system: str
    cpus: int
    versions: dict[str, str]
    tables: tuple[Table, ...]


def result_of(name: str, command: str, tables: Sequence[Table]) -> Result:
    """Stamp tables with date, versions and machine; no host name, no path."""
    return Result(
        name=name,
        command=command,
        date=datetime.now(UTC).date().isoformat(),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        cpus=os.cpu_count() or 1,
        versions={package: version(package) for package in _PACKAGES},
        tables=tuple(tables),
    )


def save(result: Result, path: Path) -> None:
    """Write the result as JSON that diffs well."""
    document = json.dumps(asdict(result), indent=1, ensure_ascii=False)
    path.write_text(document + "\n", encoding="utf-8")


def load(path: Path) -> Result:
    """Read what `save` wrote."""
    return TypeAdapter(Result).validate_json(path.read_bytes(), strict=True)
