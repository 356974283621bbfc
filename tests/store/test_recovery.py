"""Damage at open: what is salvaged, what is said, what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from graymatter_mcp.errors import ReadOnlyError, StoreUnavailableError
from graymatter_mcp.model.checks import CheckStatus
from graymatter_mcp.model.times import EPOCH
from graymatter_mcp.store.base import WriteBatch
from graymatter_mcp.store.conformance.kit import (
    MODEL,
    SHELF,
    a_fact,
    add,
    embed,
    patch_of,
    with_terms,
)
from graymatter_mcp.store.duckdb.codec import to_uuid
from graymatter_mcp.store.duckdb.journal import NUMBER, Journal
from graymatter_mcp.store.duckdb.recovery import ledger_of, read_reports, reports_of, wal_of
from graymatter_mcp.store.duckdb.schema import SCHEMA_VERSION
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graymatter_mcp.model.facts import Fact

ROOT = Path(__file__).parents[2]


def die(path: Path, count: int, *how: str) -> None:
    """Write facts in a process that is killed once they are acknowledged."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.dies_after_writing", str(path), str(count), *how],
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == -9


def texts(path: Path) -> list[str]:
    """Open the store, read all facts, and close it."""
    store = DuckDBStore(path)
    try:
        return [fact.text for fact in reversed(store.list(SHELF))]
    finally:
        store.close()


def numbered(count: int) -> list[str]:
    """Return the texts that `die` writes."""
    return [f"fact {number}" for number in range(count)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a store will be."""
    return tmp_path / "gray.duckdb"


@pytest.fixture
def killed(path: Path) -> Path:
    """Return a store with ten facts in its file and ten more in its log, killed."""
    store = DuckDBStore(path)
    store.close()
    die(path, 20)
    assert wal_of(path).stat().st_size > 0
    return path


def test_a_kill_loses_nothing_and_is_no_damage(killed: Path) -> None:
    """F24: every acknowledged fact is there; nothing is reported, no copy stays."""
    assert texts(killed) == numbered(20)
    assert read_reports(killed) == []
    assert list(killed.parent.glob("*damaged*")) == []


def test_a_torn_tail_that_nobody_was_promised_is_dropped_in_silence(killed: Path) -> None:
    """F24: a torn tail of the log costs only what was never acknowledged."""
    with wal_of(killed).open("ab") as log:
        log.write(os.urandom(300))
    assert texts(killed) == numbered(20)
    assert read_reports(killed) == []
    assert list(killed.parent.glob("*damaged*")) == []


def test_a_lost_tail_is_counted_and_its_log_is_kept(killed: Path) -> None:
    """Issue: a commit_seq sidecar shows a silently lost tail."""
    log = wal_of(killed)
    before = log.read_bytes()
    os.truncate(log, len(before) - 40)
    found = texts(killed)
    assert found == numbered(19)
    (report,) = read_reports(killed)
    assert report["what"].startswith("1 acknowledged commits are missing; the damaged log is kept")
    (copy,) = killed.parent.glob("gray.duckdb.wal.damaged-*")
    assert copy.read_bytes() == before[:-40]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(reports_of(killed).stat().st_mode) == 0o600


def test_damage_is_said_once(killed: Path) -> None:
    """F24: damage is said once."""
    os.truncate(wal_of(killed), wal_of(killed).stat().st_size // 2)
    lost = len(texts(killed))
    assert lost < 20
    assert len(texts(killed)) == lost
    assert len(read_reports(killed)) == 1


def middle(log: bytes) -> bytes:
    """Garble some entries in the middle."""
    return log[: len(log) // 2] + bytes(500) + log[len(log) // 2 + 500 :]


def header(log: bytes) -> bytes:
    """Garble what the log says of itself."""
    return log[:10] + b"\xff" * 20 + log[30:]


def zeros(log: bytes) -> bytes:
    """Leave only the length."""
    return bytes(len(log))


def noise(log: bytes) -> bytes:
    """Leave nothing."""
    return os.urandom(len(log))


def stump(log: bytes) -> bytes:
    """Cut within the header."""
    return log[:3]


@pytest.mark.parametrize(
    ("garble", "expected"),
    [
        (middle, "the write-ahead log was damaged at byte"),
        (header, "the write-ahead log could not be read"),
        (zeros, "20 acknowledged commits are missing"),
        (noise, "20 acknowledged commits are missing"),
        (stump, "20 acknowledged commits are missing"),
    ],
)
def test_a_garbled_log_opens_keeps_a_copy_and_says_so(
    killed: Path, garble: Callable[[bytes], bytes], expected: str
) -> None:
    """F24: cut or garble the write-ahead log: it opens and says so."""
    log = wal_of(killed)
    damaged = garble(log.read_bytes())
    log.write_bytes(damaged)
    found = texts(killed)
    assert found == numbered(len(found))
    (report,) = read_reports(killed)
    assert expected in report["what"]
    (copy,) = killed.parent.glob("gray.duckdb.wal.damaged-*")
    assert copy.read_bytes() == damaged
    # It takes writes again, and they last.
    store = DuckDBStore(killed)
    add(store, a_fact("after the damage"))
    store.close()
    assert "after the damage" in texts(killed)


FIRST_BLOCK = 12_288


def test_a_block_that_a_kill_left_half_rewritten_is_mended_and_said(killed: Path) -> None:
    """F24: a kill within a checkpoint tears a block: it opens, says so, every fact is there."""
    data = bytearray(killed.read_bytes())
    data[FIRST_BLOCK : FIRST_BLOCK + 8] = b"\xa5" * 8
    killed.write_bytes(data)
    assert texts(killed) == numbered(20)
    (report,) = read_reports(killed)
    assert report["what"].startswith("a block of the database file was half rewritten: mended")
    (kept,) = killed.parent.glob("gray.duckdb.damaged-*")
    assert kept.read_bytes() == data
    assert stat.S_IMODE(killed.stat().st_mode) == 0o600
    assert texts(killed) == numbered(20)


def test_a_block_that_is_bad_in_truth_is_refused_and_stays(killed: Path) -> None:
    """F24: what cannot be read is not made to look good."""
    data = bytearray(killed.read_bytes())
    data[FIRST_BLOCK + 8 : FIRST_BLOCK + 60_000] = b"\xa5" * (60_000 - 8)
    killed.write_bytes(data)
    with pytest.raises(StoreUnavailableError, match="damaged or of another kind"):
        DuckDBStore(killed)
    assert killed.read_bytes() == data
    assert list(killed.parent.glob(".*")) == []


def test_facts_in_the_journal_survive_the_loss_of_the_log(path: Path) -> None:
    """F24: every acknowledged fact is there, also when the log of the database is gone."""
    DuckDBStore(path).close()
    die(path, 30, "fresh")
    wal_of(path).unlink(missing_ok=True)
    assert texts(path) == numbered(30)
    assert read_reports(path) == []


@pytest.mark.parametrize("how", ["lose", "keep", "cut"])
@pytest.mark.parametrize("more", [(), ("tidy",)])
def test_replacements_survive_the_loss_of_the_log(
    path: Path, how: str, more: tuple[str, ...]
) -> None:
    """Issue 3: what took a look at the tables is as safe as what did not; once each."""
    DuckDBStore(path).close()
    die(path, 8, "fresh", "replaced", *more)
    log = wal_of(path)
    if log.exists() and how != "keep":
        os.truncate(log, log.stat().st_size // 2 if how == "cut" else 0)
    for _ in range(2):
        store = DuckDBStore(path)
        found = {fact.text: fact.superseded_by for fact in store.list(SHELF)}
        assert len(store.list(SHELF)) == 16
        heirs = {fact.text: fact.id for fact in store.list(SHELF) if fact.text.startswith("heir")}
        for number in range(8):
            assert found[f"fact {number}"] == heirs[f"heir {number}"]
            receipt = store.receipt(f"call {number}")
            assert receipt is not None
            assert receipt.outcome == "o"
        told = [change.change for change in store.changes(0, None)]
        assert (told.count("created"), told.count("superseded")) == (16, 8)
        # What is written next is newer than all of it.
        newest = next(fact for fact in store.list(SHELF) if fact.text == "heir 7")
        store.apply(WriteBatch(patches=(patch_of(newest, pinned_at=EPOCH),)))
        assert store.get(SHELF, [newest.id])[0].pinned
        store.apply(WriteBatch(patches=(patch_of(newest, pinned_at=None),)))
        store.close()
    assert read_reports(path) == []


def test_what_was_erased_does_not_come_back_from_the_journal(path: Path) -> None:
    """House 5, question 6: the journal holds the replacement still, and the tables know better."""
    DuckDBStore(path).close()
    die(path, 3, "fresh", "replaced", "erased")
    for _ in range(2):
        assert texts(path) == []


def test_a_change_fits_a_text_whose_own_change_was_lost(path: Path) -> None:
    """House 5, question 6: a vector of the text before must not stay."""
    store = DuckDBStore(path)
    fact, other = a_fact("old text"), a_fact("other")
    add(store, fact, other)
    embed(store, fact, [1, 2])
    embed(store, other, [3, 4])
    store.close()
    row = states_row(fact, "new text")
    journal = Journal(path.with_suffix(".journal"))
    unknown = states_row(a_fact("never stored"), "never stored")
    journal.append({"fact_changes": [row, unknown], NUMBER: [(-99,)]})
    journal.close()
    store = DuckDBStore(path)
    store.use_model(MODEL)
    assert [found.text for found in store.get(SHELF, [fact.id])] == ["new text"]
    assert [found.text for found in store.snapshot(SHELF).facts([0, 1])] == ["new text", "other"]
    assert [one.fact_id for one in store.pending_vectors(9)] == [fact.id]
    assert len(store.list(SHELF)) == 2
    odd = [one.name for one in store.check(full=True) if one.status is not CheckStatus.OK]
    assert odd == ["pending_vectors"]
    store.close()


def states_row(fact: Fact, text: str) -> tuple[object, ...]:
    """Return a row of changes of a fact, later than all."""
    fact_id = to_uuid(fact.id)
    return (fact_id, fact.agent_id, 99, 0, text, text, "", "", None, None, None)


def test_deleted_side_files_cost_nothing(path: Path) -> None:
    """F24: delete side files."""
    store = DuckDBStore(path)
    add(store, a_fact("kept"))
    store.close()
    for side in path.parent.iterdir():
        if side != path:
            side.unlink()
    assert texts(path) == ["kept"]
    assert read_reports(path) == []


def test_a_garbled_ledger_says_nothing(path: Path) -> None:
    """F24: a side file that is damaged claims nothing."""
    store = DuckDBStore(path)
    add(store, a_fact("kept"))
    store.close()
    ledger_of(path).write_bytes(os.urandom(16))
    assert texts(path) == ["kept"]
    assert read_reports(path) == []


def test_the_ledger_follows_writes_and_erasures(path: Path) -> None:
    """Issue: the sidecar holds what was acknowledged, and no erasure looks like a loss."""
    store = DuckDBStore(path)
    kept, erased = a_fact("kept"), a_fact("erased")
    add(store, kept, erased)
    store.apply(WriteBatch(facts=(with_terms(a_fact("fresh")),), is_fresh=True))
    assert promised(path) == 3
    store.apply(WriteBatch(delete=((SHELF, erased.id),)))
    assert promised(path) == 2
    store.close()
    DuckDBStore(path).close()
    assert read_reports(path) == []
    assert stat.S_IMODE(ledger_of(path).stat().st_mode) == 0o600


def promised(path: Path) -> int:
    """Read the ledger."""
    return struct.unpack("<8sQ", ledger_of(path).read_bytes())[1]


def test_damaged_vectors_are_dropped_and_wait_to_be_made_again(path: Path) -> None:
    """F24: garble vectors: no crash on every call, repaired without being asked."""
    store = DuckDBStore(path)
    facts = [a_fact(f"fact {number}") for number in range(3)]
    add(store, *facts)
    for fact in facts:
        embed(store, fact, [3, 4])
    store.close()
    connection = duckdb.connect(str(path))
    connection.execute(
        "UPDATE vectors SET vector = 'abc'::BLOB"
        " WHERE fact_id = (SELECT fact_id FROM facts WHERE text = 'fact 1')"
    )
    connection.close()
    store = DuckDBStore(path)
    store.use_model(MODEL)
    assert store.snapshot(SHELF).count == 3
    assert [one.text for one in store.pending_vectors(9)] == ["fact 1"]
    embed(store, facts[1], [4, 3])
    assert store.pending_vectors(9) == []
    store.close()
    (report,) = read_reports(path)
    assert "1 damaged vectors were dropped" in report["what"]


def test_a_newer_schema_is_refused_and_stays_as_it_is(path: Path) -> None:
    """F35: a newer schema: refusal, bytes unchanged."""
    DuckDBStore(path).close()
    connection = duckdb.connect(str(path))
    connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", [str(SCHEMA_VERSION + 1)])
    connection.close()
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    for read_only in (False, True):
        with pytest.raises(StoreUnavailableError, match="update graymatter-mcp"):
            DuckDBStore(path, read_only=read_only)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_a_newer_schema_in_the_log_alone_is_refused_and_stays_as_it_is(killed: Path) -> None:
    """F35: a newer schema: refusal, bytes unchanged, those of the log too, and no file more."""
    connection = duckdb.connect(str(killed), config={"wal_autocheckpoint": "1TB"})
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", [str(SCHEMA_VERSION + 1)])
    connection.close()
    before = {one.name: one.read_bytes() for one in killed.parent.iterdir()}
    assert before["gray.duckdb.wal"]
    for _ in range(2):
        with pytest.raises(StoreUnavailableError, match="update graymatter-mcp"):
            DuckDBStore(killed)
        assert {one.name: one.read_bytes() for one in killed.parent.iterdir()} == before


def test_a_file_of_another_kind_is_refused_and_stays_as_it_is(path: Path) -> None:
    """F24: what cannot be salvaged is refused by a clear error, never replaced."""
    path.write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreUnavailableError, match="damaged or of another kind"):
        DuckDBStore(path)
    assert path.read_bytes() == b"not a database" * 1000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 12 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m,mode=0700", "tmpfs", str(place)],
        check=False,
        capture_output=True,
    )
    if done.returncode:
        pytest.skip("NOT TESTED: a full disk needs the right to mount a small file system")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path, leave: int) -> Path:
    """Take all but some bytes of a disk."""
    ballast = place / "ballast"
    free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
    with ballast.open("ab") as file:
        file.write(b"\1" * max(0, free - leave))
    return ballast


@pytest.mark.parametrize("is_fresh", [True, False], ids=["journal", "tables"])
def test_a_full_disk_refuses_writes_and_answers_reads_until_there_is_room(
    small_disk: Path, is_fresh: bool
) -> None:
    """Issue: disk full is a clear error, reads go on, writes work again without a restart."""
    path = small_disk / "gray.duckdb"
    store = DuckDBStore(path)
    add(store, a_fact("first"))
    ballast = fill(small_disk, 0)
    big = a_fact("big " + os.urandom(100_000).hex())
    # Two tables: the commit is a statement of its own, and what fails.
    batch = WriteBatch(facts=(with_terms(big),), counters=(("runs", 1),), is_fresh=is_fresh)
    for _ in range(2):
        with pytest.raises(StoreUnavailableError, match=r"^the disk is full; nothing was stored$"):
            store.apply(batch)
        assert [fact.text for fact in store.list(SHELF)] == ["first"]
        assert store.snapshot(SHELF).count == 1
    os.truncate(ballast, 0)
    store.apply(batch)
    assert store.snapshot(SHELF).count == 2
    store.close()
    assert len(texts(path)) == 2
    assert read_reports(path) == []


def test_what_is_acknowledged_on_an_almost_full_disk_is_read_at_once(small_disk: Path) -> None:
    """F22, F24: the journal promises nothing that the tables have no room to take."""
    store = DuckDBStore(small_disk / "gray.duckdb")
    expected: set[str] = set()
    ballast = fill(small_disk, 0)
    for left in (4096, 12_288, 40_960, 163_840, 300_000, 600_000):
        os.truncate(ballast, 0)
        fill(small_disk, left)
        for number in range(40):
            fact = a_fact(f"{left} {number} " + "x" * 3000)
            with suppress(StoreUnavailableError):
                store.apply(WriteBatch(facts=(with_terms(fact),), is_fresh=True))
                expected.add(fact.text)
            assert {one.text for one in store.list(SHELF)} == expected
    assert expected
    os.truncate(ballast, 0)
    store.close()
    assert set(texts(small_disk / "gray.duckdb")) == expected


def test_a_store_with_old_book_keeping_opens_on_a_full_disk(small_disk: Path) -> None:
    """Issue: searches go on, after a restart as well: tidying up can wait."""
    path = small_disk / "gray.duckdb"
    DuckDBStore(path).close()
    for _ in range(3):
        die(path, 5, "fresh")
        DuckDBStore(path).close()
    fill(small_disk, 0)
    assert texts(path) == numbered(15)


def test_a_checkpoint_without_room_costs_neither_reads_nor_writes(small_disk: Path) -> None:
    """Issue: a checkpoint that fails invalidates the database; it is opened again at once."""
    path = small_disk / "gray.duckdb"
    store = DuckDBStore(path)
    for number in range(100):
        add(store, a_fact(f"{number} " + os.urandom(5000).hex()))
    ballast = fill(small_disk, 20_000)
    database = store._database  # pyright: ignore[reportPrivateUsage] - no other way to fail one
    with pytest.raises(duckdb.FatalException), database.restarting(), database.use() as cursor:
        cursor.execute("CHECKPOINT")
    assert len(store.list(SHELF)) == 100
    assert not database.checkpoint()
    os.truncate(ballast, 0)
    add(store, a_fact("later"))
    assert database.checkpoint()
    store.close()
    assert len(texts(path)) == 101
    assert read_reports(path) == []


def test_a_store_opens_on_a_full_disk(small_disk: Path) -> None:
    """Issue: searches go on, after a restart as well."""
    path = small_disk / "gray.duckdb"
    DuckDBStore(path).close()
    die(path, 20)
    fill(small_disk, 0)
    assert texts(path) == numbered(20)


def test_a_store_that_found_no_room_at_its_birth_is_born_later(small_disk: Path) -> None:
    """F24: no half-made file takes the place of the store for good."""
    path = small_disk / "gray.duckdb"
    ballast = fill(small_disk, 0)
    for left in (0, 4096, 100_000):
        os.truncate(ballast, ballast.stat().st_size - left)
        with pytest.raises(StoreUnavailableError, match=r"cannot be opened: the disk is full$"):
            DuckDBStore(path)
        assert [one.name for one in small_disk.iterdir()] == ["ballast"]
    os.truncate(ballast, 0)
    assert texts(path) == []


@pytest.mark.parametrize("how", [(), ("fresh",)], ids=["tables", "journal"])
def test_a_store_on_a_read_only_disk_answers_and_refuses_writes(
    small_disk: Path, how: tuple[str, ...]
) -> None:
    """Issue: a read-only directory opens for reading, with all that was acknowledged."""
    path = small_disk / "gray.duckdb"
    DuckDBStore(path).close()
    die(path, 5, *how)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    try:
        store = DuckDBStore(path, read_only=True)
        assert [fact.text for fact in reversed(store.list(SHELF))] == numbered(5)
        with pytest.raises(ReadOnlyError, match="store is read-only"):
            add(store, a_fact("new"))
        store.close()
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert texts(path) == numbered(5)


def test_a_journal_without_room_in_the_tables_is_read_and_waits(small_disk: Path) -> None:
    """Issue: on a full disk searches go on, after a crash as well."""
    path = small_disk / "gray.duckdb"
    DuckDBStore(path).close()
    die(path, 2000, "fresh")
    # As if the tables had got nothing yet.
    wal_of(path).unlink(missing_ok=True)
    ballast = fill(small_disk, 0)
    store = DuckDBStore(path)
    assert len(store.list(SHELF)) == 2000
    with pytest.raises(StoreUnavailableError, match=r"^the disk is full; nothing was stored$"):
        add(store, a_fact("new"))
    store.close()
    os.truncate(ballast, 0)
    assert texts(path) == numbered(2000)


def test_a_damaged_line_of_the_journal_costs_that_line_alone(path: Path) -> None:
    """F24: damage is salvaged around, and counted."""
    DuckDBStore(path).close()
    die(path, 30, "fresh")
    wal_of(path).unlink(missing_ok=True)
    journal = path.with_suffix(".journal")
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[10] = lines[10].replace(b"fact 10", b"fact xx")
    journal.write_bytes(b"".join(lines) + b"torn")
    assert texts(path) == [text for text in numbered(30) if text != "fact 10"]
    (report,) = read_reports(path)
    assert report["what"].startswith("1 acknowledged commits are missing")


def test_nothing_is_written_into_a_torn_line_of_the_journal(tmp_path: Path) -> None:
    """F24: a torn tail costs nothing that is acknowledged later."""
    path = tmp_path / "gray.journal"
    journal = Journal(path)
    journal.append({NUMBER: [(1,)]})
    journal.close()
    with path.open("ab") as file:
        file.write(b"0123 torn")
    journal = Journal(path)
    assert journal.read() == [{NUMBER: [(1,)]}]
    journal.append({NUMBER: [(2,)]})
    assert journal.read() == [{NUMBER: [(1,)]}, {NUMBER: [(2,)]}]
    journal.close()


def test_reports_are_bounded_and_survive_a_damaged_line(path: Path) -> None:
    """F24: what was said can be read by `doctor`, whatever happened to the file since."""
    reports_of(path).write_text("nonsense\n" + json.dumps({"at": "t", "what": "w"}) + "\n")
    assert read_reports(path) == [{"at": "t", "what": "w"}]
