from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp import (
    Config,
    EmbeddingMode,
    InvalidArgumentError,
    Memory,
    NoStoreError,
    PlaneConfig,
    ReadOnlyError,
    SignalWeights,
    StoreUnavailableError,
)
from tests.library.dies_after_remembering import FACTS

if TYPE_CHECKING:
    from collections.abc import Sequence

DEADLINE_S = 60.0


@pytest.mark.parametrize("value", [-0.01, 0.51, float("nan"), float("inf"), float("-inf")])
def test_a_confidence_weight_out_of_range_refuses_opening(config: Config, value: float) -> None:
    """C61, by the field; by the variable see test_settings.py."""
    with pytest.raises(InvalidArgumentError, match="confidence_weight"):
        Memory.open(replace(config, confidence_weight=value))
    assert not config.data_dir.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("top_k", 0),
        ("min_relevance", 1.1),
        ("min_relevance", float("nan")),
        ("signal_weights", SignalWeights(vector=-1)),
        ("signal_weights", SignalWeights(keyword=float("nan"))),
        ("signal_weights", SignalWeights(recency=float("inf"))),
        ("consolidate_threshold", 0),
        ("max_async_consolidations", 0),
        ("usage_alias_affinity", -2),
        ("decay_half_life", timedelta(0)),
        ("vector_reconcile_interval", timedelta(seconds=-1)),
        ("embedding_mode", "telepathy"),
        ("stem_language", "klingon"),
    ],
)
def test_a_setting_out_of_range_refuses_opening_and_is_named(
    config: Config, field: str, value: Any
) -> None:
    """Contract 9.3, rules."""
    with pytest.raises(InvalidArgumentError, match=field):
        Memory.open(replace(config, **{field: value}))
    assert not config.data_dir.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_entries", 0),
        ("writes_per_minute", 0),
        ("max_captured", -1),
        ("decay_base_days", 0),
        ("fan_out", 17),
        ("decay_every", timedelta(seconds=-1)),
        ("changes_kept", timedelta(0)),
        ("audit_kept", timedelta(0)),
    ],
)
def test_a_setting_of_the_data_plane_out_of_range_is_named(
    config: Config, field: str, value: Any
) -> None:
    """Data plane 8, 7.5: likewise."""
    with pytest.raises(InvalidArgumentError, match=field):
        Memory.open(replace(config, plane=PlaneConfig(**{field: value})))
    assert not config.data_dir.exists()


@pytest.mark.parametrize(
    "changes",
    [{"embedding_mode": EmbeddingMode.KEYWORD}, {"embedding_mode": "keyword"}, {"model": "none"}],
)
def test_keyword_only_is_chosen_by_mode_or_by_model(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    """Contract 9.3: no model, not degraded."""
    with Memory.open(Config(data_dir=tmp_path / "m", **changes)) as memory:
        memory.remember("ana", "deploys run")
        assert memory.wait_until_settled(1)
        (receipt,) = memory.advanced().recall_explain("ana", "deploys", 1)
        assert receipt.ranks.vector_rank == 0


def test_the_directory_and_the_database_are_private_whatever_the_umask(config: Config) -> None:
    """Design, section 6: 0700 and 0600."""
    old = os.umask(0)
    try:
        with Memory.open(config) as memory:
            memory.remember("ana", "deploys run")
            modes = [
                stat.S_IMODE(path.stat().st_mode)
                for path in (config.data_dir, config.data_dir / "gray.duckdb")
            ]
    finally:
        os.umask(old)
    assert modes == [0o700, 0o600]


def test_reading_only_creates_nothing(config: Config) -> None:
    """C64: where there is no memory yet, there is none to read."""
    with pytest.raises(NoStoreError):
        Memory.open(replace(config, read_only=True))
    assert not config.data_dir.exists()


def test_a_memory_opened_for_reading_answers_and_refuses_writes(config: Config) -> None:
    """C64; an access is not counted either."""
    with Memory.open(config) as memory:
        fact = memory.advanced().put_returning_fact("ana", "deploys run")
    with Memory.open(replace(config, read_only=True, strict_write=True)) as memory:
        assert memory.recall("ana", "deploys") == ["deploys run"]
        for write in (
            lambda: memory.remember("ana", "more"),
            lambda: memory.advanced().retire("ana", [fact.id]),
            lambda: memory.advanced().save_checkpoint("ana", {"step": 1}),
            lambda: memory.consolidate("ana"),
        ):
            with pytest.raises(ReadOnlyError):
                write()
        assert memory.advanced().list("ana") == [fact]


def without_privilege(*arguments: str) -> list[str]:
    """Run Python so that permission bits count, which they do not for the root of a container."""
    if os.geteuid() != 0:
        return [sys.executable, *arguments]
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere here, and setpriv is not installed")
    bounds = "--bounding-set=-dac_override,-dac_read_search"
    return ["setpriv", bounds, sys.executable, *arguments]


FALLBACK = """
import sys
from pathlib import Path
from graymatter_mcp import Config, EmbeddingMode, GraymatterError, Memory
config = Config(
    data_dir=Path(sys.argv[1]),
    embedding_mode=EmbeddingMode.KEYWORD,
    strict_write=sys.argv[2] == "strict",
)
try:
    with Memory.open(config) as memory:
        print(memory.recall("ana", "deploys"))
        memory.remember("ana", "more")
except GraymatterError as exc:
    print(type(exc).__name__)
"""


@pytest.mark.parametrize("locked", ["directory", "file"])
@pytest.mark.parametrize(
    ("mode", "said"),
    [("lenient", ["['deploys run']", "ReadOnlyError"]), ("strict", ["ReadOnlyError"])],
)
def test_a_store_that_can_only_be_read_opens_read_only_unless_told_not_to(
    config: Config, locked: str, mode: str, said: Sequence[str]
) -> None:
    """C64; contract 9.3, strict_write: fail where a read-only opening would be the fallback."""
    with Memory.open(config) as memory:
        memory.remember("ana", "deploys run")
    path = config.data_dir if locked == "directory" else config.data_dir / "gray.duckdb"
    path.chmod(0o500 if locked == "directory" else 0o400)
    try:
        process = subprocess.run(
            without_privilege("-c", FALLBACK, str(config.data_dir), mode),
            check=False,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
        )
    finally:
        path.chmod(0o700)
    assert process.stdout.splitlines() == said, process.stderr


HOLDER = """
import sys
from graymatter_mcp import Config, EmbeddingMode, Memory
from pathlib import Path
with Memory.open(Config(data_dir=Path(sys.argv[1]), embedding_mode=EmbeddingMode.KEYWORD)):
    print("open", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("reads_only", [False, True])
def test_a_second_process_is_told_who_has_the_memory_open(config: Config, reads_only: bool) -> None:
    """Contract 10.2: one owner per directory; the error names its pid."""
    command = [sys.executable, "-c", HOLDER, str(config.data_dir)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        try:
            assert holder.stdout.readline() == "open\n"
            with pytest.raises(StoreUnavailableError, match=rf"\b{holder.pid}\b"):
                Memory.open(replace(config, read_only=reads_only))
        finally:
            holder.stdin.close()
            holder.wait(DEADLINE_S)
    Memory.open(config).close()


def test_a_memory_whose_process_was_killed_opens_again_and_makes_its_vectors(
    tmp_path: Path,
) -> None:
    """F22: kill -9 before the vector; by the real model."""
    command = [sys.executable, "-m", "tests.library.dies_after_remembering", str(tmp_path / "m")]
    killed = subprocess.run(command, check=False, timeout=DEADLINE_S)
    assert killed.returncode == -signal.SIGKILL
    with Memory(tmp_path / "m") as memory:
        assert set(memory.recall("ana", "tomato")) == set(FACTS)
        assert memory.wait_until_settled(DEADLINE_S)
        receipts = memory.advanced().recall_explain("ana", "mythical monsters and treasure", 3)
    assert {one.ranks.vector_rank: one.text for one in receipts}[1] == FACTS[0]
    assert sorted(one.ranks.vector_rank for one in receipts) == [1, 2, 3]


@pytest.mark.parametrize("kind", ["link", "folder", "device"])
def test_a_database_that_is_no_regular_file_is_refused(config: Config, kind: str) -> None:
    """Contract 10.1."""
    config.data_dir.mkdir()
    path = config.data_dir / "gray.duckdb"
    if kind == "link":
        path.symlink_to(config.data_dir / "elsewhere.duckdb")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    with pytest.raises(StoreUnavailableError, match="regular file"):
        Memory.open(config)
    assert [one.name for one in config.data_dir.iterdir()] == ["gray.duckdb"]


def test_a_directory_that_is_a_file_is_refused(config: Config) -> None:
    """Contract 9.4: every failure is one of ours."""
    Path(config.data_dir).write_text("not a directory", encoding="utf-8")
    with pytest.raises(StoreUnavailableError):
        Memory.open(config)
