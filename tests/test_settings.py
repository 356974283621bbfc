from __future__ import annotations

import logging
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from graymatter_mcp.errors import InvalidArgumentError, RoutingConflictError
from graymatter_mcp.model.config import BUNDLED_MODEL, Config
from graymatter_mcp.model.plane_config import PlaneConfig
from graymatter_mcp.settings import (
    Settings,
    holds_store,
    locate,
    parse_duration,
    read_settings,
    unknown_variables,
)


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Start from an environment and a working directory without anything of ours."""
    for name in os.environ:
        if name.startswith("GRAYMATTER_") or name == "CLAUDE_PROJECT_DIR":
            monkeypatch.delenv(name)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


# Variable, field, a good spelling, what it means, a bad one.
VARIABLES: list[tuple[str, str, str, Any, str]] = [
    ("TOP_K", "top_k", "3", 3, "0"),
    ("MIN_RELEVANCE", "min_relevance", "0.5", 0.5, "1.5"),
    ("CONFIDENCE_WEIGHT", "confidence_weight", "0.2", 0.2, "0.51"),
    ("STEM_KEYWORDS", "stem_keywords", "off", False, "maybe"),
    ("KG", "kg", "YES", True, "2"),
    ("USAGE_ALIAS", "usage_alias", "on", True, ""),
    ("USAGE_ALIAS_AFFINITY", "usage_alias_affinity", "-1", -1, "-2"),
    ("ANSWER_BUDGET", "answer_budget", "0", 0, "-1"),
    ("NO_DAEMON", "no_daemon", "1", True, "yess"),
    ("IDLE_EXIT", "idle_exit", "3s", timedelta(seconds=3), "3 weeks"),
    ("MAX_ENTRIES", "max_entries", "50", 50, "-1"),
    ("WRITES_PER_MINUTE", "writes_per_minute", "2", 2, "-1"),
    ("CHANGES_KEPT", "changes_kept", "7d", timedelta(days=7), "0"),
    ("AUDIT_KEPT", "audit_kept", "365d", timedelta(days=365), "0d"),
    ("MAX_CAPTURED", "max_captured", "0", 0, "-1"),
    ("DECAY_INTERVAL", "decay_interval", "0", timedelta(0), "-1"),
    ("DECAY_BASE_DAYS", "decay_base_days", "14", 14, "0"),
    ("FAN_OUT", "fan_out", "0", 0, "17"),
]
TEXTS = [
    ("DIR", "dir"),
    ("MODEL", "model"),
    ("STEM_LANGUAGE", "stem_language"),
    ("PUBLIC_URL", "public_url"),
    ("OAUTH_ISSUER", "oauth_issuer"),
    ("OAUTH_AUDIENCE", "oauth_audience"),
    ("OAUTH_JWKS_URL", "oauth_jwks_url"),
    ("OAUTH_SCOPES", "oauth_scopes"),
    ("OAUTH_WRITE_SCOPE", "oauth_write_scope"),
]


@pytest.mark.parametrize(("name", "field", "good", "value", "bad"), VARIABLES)
def test_each_variable_works_alone_and_a_bad_value_names_it(
    monkeypatch: pytest.MonkeyPatch, name: str, field: str, good: str, value: Any, bad: str
) -> None:
    """Contract 11.5; C58, C61."""
    defaults = Settings().model_dump()
    monkeypatch.setenv(f"GRAYMATTER_{name}", good)
    assert read_settings().model_dump() == {**defaults, field: value}
    for wrong in (bad, "nonsense", "nan", "inf"):
        monkeypatch.setenv(f"GRAYMATTER_{name}", wrong)
        with pytest.raises(InvalidArgumentError, match=f"GRAYMATTER_{name}: "):
            read_settings()


@pytest.mark.parametrize(("name", "field"), TEXTS)
def test_a_variable_that_is_a_text_is_taken_as_it_is(
    monkeypatch: pytest.MonkeyPatch, name: str, field: str
) -> None:
    """Contract 11.5."""
    monkeypatch.setenv(f"GRAYMATTER_{name}", " Ünï ")
    assert getattr(read_settings(), field) == " Ünï "


@pytest.mark.parametrize("value", ["", "s3cret"])
def test_the_server_token_is_read_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """Contract 10.3, F16: empty is set, and another thing than not set."""
    assert read_settings().http_token is None
    monkeypatch.setenv("GRAYMATTER_HTTP_TOKEN", value)
    token = read_settings().http_token
    assert token is not None
    assert token.get_secret_value() == value
    assert "s3cret" not in f"{read_settings()!r} {read_settings()} {token!r}"


def test_settings_become_the_configuration_of_a_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Contract 9.3: field and variable mean the same."""
    assert read_settings().config(tmp_path) == Config(data_dir=tmp_path)
    for name, _, good, _, _ in VARIABLES:
        monkeypatch.setenv(f"GRAYMATTER_{name}", good)
    monkeypatch.setenv("GRAYMATTER_STEM_LANGUAGE", "german")
    monkeypatch.setenv("GRAYMATTER_PERSONAL_TERMS", "Rex, the boat,,")
    assert read_settings().config(tmp_path) == Config(
        data_dir=tmp_path,
        top_k=3,
        min_relevance=0.5,
        confidence_weight=0.2,
        model=BUNDLED_MODEL,
        stem_keywords=False,
        stem_language="german",
        knowledge_graph=True,
        usage_alias=True,
        usage_alias_affinity=-1,
        plane=PlaneConfig(
            max_entries=50,
            writes_per_minute=2,
            changes_kept=timedelta(days=7),
            audit_kept=timedelta(days=365),
            max_captured=0,
            personal_terms=("Rex", "the boat"),
            decay_every=timedelta(0),
            decay_base_days=14,
            fan_out=0,
        ),
    )


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("15", 15), ("1.5", 1.5), ("3s", 3), ("15m", 900), ("2h", 7200), ("1d", 86400), ("0", 0),
     (" 15M ", 900)],
)  # fmt: skip
def test_a_duration_is_a_number_of_seconds_or_has_a_unit(text: str, seconds: float) -> None:
    """Contract 11.5."""
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "m", "-1", "1w", "1e3", "1 m s", "9" * 30 + "d", "nan"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    """Contract 11.5; also one beyond any calendar."""
    with pytest.raises(ValueError, match="must be"):
        parse_duration(text)


@pytest.mark.parametrize("word", ["1", "true", "YES", "On"])
def test_words_that_switch_on(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """Contract 11.5."""
    monkeypatch.setenv("GRAYMATTER_KG", word)
    assert read_settings().kg


@pytest.mark.parametrize("word", ["0", "false", "No", "OFF"])
def test_words_that_switch_off(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """Contract 11.5."""
    monkeypatch.setenv("GRAYMATTER_STEM_KEYWORDS", word)
    assert not read_settings().stem_keywords


def test_a_misspelt_variable_is_warned_about_by_name(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Contract 11.5; F3."""
    monkeypatch.setenv("GRAYMATTER_TOPK", "3")
    monkeypatch.setenv("GRAYMATTER_TOP_K", "3")
    with caplog.at_level(logging.WARNING):
        assert read_settings().top_k == 3
    assert ["GRAYMATTER_TOPK" in record.getMessage() for record in caplog.records] == [True]
    assert unknown_variables({"GRAYMATTER_B": "", "GRAYMATTER_A": "", "OTHER": ""}) == [
        "GRAYMATTER_A",
        "GRAYMATTER_B",
    ]


def with_store(path: Path, name: str = "MEMORY.md") -> Path:
    """Make a directory that holds a store."""
    path.mkdir(parents=True)
    (path / name).touch()
    return path


def test_the_directory_comes_from_flag_variable_project_and_working_directory_in_this_order(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Contract 10.1."""
    work, project = tmp_path / "work", tmp_path / "project"
    project.mkdir()
    assert locate(None, read_settings()) == work / ".graymatter"
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(project))
    assert locate(None, read_settings()) == project / ".graymatter"
    assert locate(None, read_settings(), is_service=True) == work / ".graymatter"
    monkeypatch.setenv("GRAYMATTER_DIR", "by-variable")
    assert locate(None, read_settings()) == work / "by-variable"
    assert locate("by-flag", read_settings()) == work / "by-flag"
    assert not list(work.iterdir())


@pytest.mark.parametrize("value", ["", "relative", "/no/such/directory/anywhere"])
def test_a_project_directory_that_cannot_be_is_an_error_and_no_fallback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    """Contract 10.1; a flag, a variable and services do not look at it."""
    (tmp_path / "work" / "relative").mkdir()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", value)
    with pytest.raises(RoutingConflictError, match="CLAUDE_PROJECT_DIR"):
        locate(None, read_settings())
    assert locate("flag", read_settings()) == tmp_path / "work" / "flag"
    assert locate(None, read_settings(), is_service=True) == tmp_path / "work" / ".graymatter"


@pytest.mark.parametrize("name", ["gray.duckdb", "MEMORY.md"])
def test_two_stores_are_a_conflict_that_asks_for_a_flag(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """Contract 10.1: whether or not the project has a store already."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "project"))
    with_store(tmp_path / "work" / ".graymatter", name)
    with pytest.raises(RoutingConflictError, match="--dir"):
        locate(None, read_settings())
    with_store(tmp_path / "project" / ".graymatter")
    with pytest.raises(RoutingConflictError, match="--dir"):
        locate(None, read_settings())


def test_one_store_by_two_ways_is_no_conflict(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Contract 10.1: physically different is what counts."""
    with_store(tmp_path / "work" / ".graymatter")
    (tmp_path / "project").symlink_to(tmp_path / "work")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(tmp_path / "project"))
    assert locate(None, read_settings()) == tmp_path / "project" / ".graymatter"


def test_a_directory_is_ours_when_it_holds_the_database_or_the_marker(tmp_path: Path) -> None:
    """Contract 10.1."""
    assert holds_store(with_store(tmp_path / "a", "gray.duckdb"))
    assert holds_store(with_store(tmp_path / "b", "MEMORY.md"))
    assert not holds_store(with_store(tmp_path / "c", "notes.md"))
    assert not holds_store(tmp_path / "nowhere")
    (tmp_path / "d" / "gray.duckdb").mkdir(parents=True)
    assert not holds_store(tmp_path / "d")
