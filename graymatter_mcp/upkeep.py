"""Work on a store that nobody serves: look at it, put a backup in its place, rewrite it."""

from __future__ import annotations

import secrets
import shutil
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import duckdb

from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.embedding.weights import WeightsError, bundled_model
from graymatter_mcp.errors import InvalidArgumentError, StoreUnavailableError
from graymatter_mcp.model.checks import BackupReport, Check, CheckStatus, CompactReport
from graymatter_mcp.model.config import BUNDLED_MODEL
from graymatter_mcp.owner.election import Ownership, prepare_directory
from graymatter_mcp.settings import DATABASE_FILE, holds_store
from graymatter_mcp.store.duckdb.backup import put_in_place
from graymatter_mcp.store.duckdb.checks import run_checks
from graymatter_mcp.store.duckdb.compact import rewrite
from graymatter_mcp.store.duckdb.database import Database
from graymatter_mcp.store.duckdb.recovery import read_reports, wal_of
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from graymatter_mcp.model.config import Config

_RESTORE_HINT: Final = "restore a backup: graymatter restore FILE --force"


def check_model(config: Config) -> Check:
    """Say whether the model is there and is the one we know."""
    if config.is_keyword_only:
        return Check(name="model", status=CheckStatus.OK, detail="none, by choice")
    if config.model != BUNDLED_MODEL:
        detail = f"{config.model}: loaded by sentence-transformers when an owner starts"
        return Check(name="model", status=CheckStatus.INFO, detail=detail)
    try:
        bundled_model()
    except WeightsError as exc:
        hint = "until then facts are found by their words alone"
        return Check(name="model", status=CheckStatus.WARN, detail=str(exc), hint=hint)
    return Check(name="model", status=CheckStatus.OK, detail=f"{BUNDLED_MODEL}, verified")


def inspect_store(config: Config, *, full: bool) -> tuple[Check, ...]:
    """Check the store of a directory that no owner serves; nothing is written."""
    path = config.data_dir / DATABASE_FILE
    try:
        database = Database(path, read_only=True)
    except StoreUnavailableError as exc:
        is_busy = "another process" in str(exc)
        status = CheckStatus.WARN if is_busy else CheckStatus.FAIL
        hint = "ask again when that process has ended" if is_busy else _RESTORE_HINT
        return (Check(name="store", status=status, detail=str(exc), hint=hint),)
    try:
        with database.use() as connection:
            checks = run_checks(connection, _model_key(config), full=full)
    finally:
        database.close()
    return (*checks, _journal(path))


def _journal(path: Path) -> Check:
    journal = path.with_suffix(".journal")
    waiting = journal.stat().st_size if journal.exists() else 0
    if waiting:
        detail = f"{waiting} bytes of durable writes reach the tables at the next open"
        return Check(name="journal", status=CheckStatus.INFO, detail=detail)
    return Check(name="journal", status=CheckStatus.OK, detail="nothing waits for the tables")


def _model_key(config: Config) -> str | None:
    if config.is_keyword_only:
        return ""
    return MiniLM.model_key if config.model == BUNDLED_MODEL else None


def damage_reports(config: Config) -> list[str]:
    """Return what was found damaged at earlier opens, oldest first."""
    return [f"{one['at']}: {one['what']}" for one in read_reports(config.data_dir / DATABASE_FILE)]


def restore_store(config: Config, source: Path, *, replace: bool) -> tuple[BackupReport, str]:
    """Make a backup the store; the store that was there is kept beside it.

    Returns:
        What was restored, and the name of what it replaced ("" for nothing).

    Raises:
        InvalidArgumentError: `source` is no backup, or there is a store and `replace` is off.
        StoreUnavailableError: An owner serves the directory, or `source` is damaged.
    """
    path = config.data_dir / DATABASE_FILE
    if not source.is_file():
        raise InvalidArgumentError("there is no such file")
    if wal_of(source).exists():
        raise InvalidArgumentError("the file is a store in use, not a backup: it has a log beside")
    if path.exists() and not replace:
        raise InvalidArgumentError("a memory is here already; --force replaces it and keeps it")
    with _held(config):
        fresh = path.with_name(f".restore-{secrets.token_hex(8)}")
        try:
            shutil.copyfile(source, fresh)
            fresh.chmod(0o600)
            facts = _proven(fresh)
            # Its log and its journal go into its own file first, if they can.
            with suppress(StoreUnavailableError):
                if path.exists():
                    DuckDBStore(path).close()
            kept = put_in_place(fresh, path, f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
        except OSError as exc:
            raise StoreUnavailableError("the backup could not be copied here") from exc
        finally:
            fresh.unlink(missing_ok=True)
    report = BackupReport(path=str(path), bytes=path.stat().st_size, facts=facts)
    return report, "" if kept is None else kept.name


def _proven(copy: Path) -> int:
    database = Database(copy, read_only=True)
    try:
        with database.use() as connection:
            failed = [
                check.name
                for check in run_checks(connection, "", full=True)
                if check.status is CheckStatus.FAIL
            ]
            if failed:
                raise StoreUnavailableError(
                    f"the backup fails the checks {', '.join(failed)}; nothing was replaced"
                )
            return connection.execute("SELECT count(*) FROM facts").fetchall()[0][0]
    except duckdb.Error as exc:
        raise StoreUnavailableError("the backup cannot be read; nothing was replaced") from exc
    finally:
        database.close()


def compact_store(config: Config) -> CompactReport:
    """Drop what nothing reads any more and write the file anew.

    No owner may run: the file is exchanged, and everybody would have to let go of it.

    Raises:
        NoStoreError: There is no store.
        StoreUnavailableError: An owner serves the directory, or the copy failed.
    """
    path = config.data_dir / DATABASE_FILE
    with _held(config, may_create=False):
        # Salvage, migration and the journal, as at any open.
        DuckDBStore(path).close()
        return rewrite(path, _model_key(config))


@contextmanager
def _held(config: Config, *, may_create: bool = True) -> Generator[None]:
    """Hold the directory while the body runs."""
    prepare_directory(
        config.data_dir,
        DATABASE_FILE,
        may_create=may_create,
        has_store=holds_store(config.data_dir),
    )
    with Ownership(config.data_dir) as ownership:
        ownership.announce({})
        yield
