"""Which token a server has."""

from __future__ import annotations

import base64
import os
import stat
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import InvalidArgumentError, StoreUnavailableError
from graymatter_mcp.surfaces.server_token import server_token

if TYPE_CHECKING:
    from pathlib import Path

NAME = "graymatter.http-token"


def test_the_first_that_exists_is_taken(tmp_path: Path) -> None:
    """Contract 10.3: flag, variable, file; trimmed."""
    (tmp_path / NAME).write_text("  from-file\n")
    given = [(" flag ", "variable"), (None, " variable\n"), (None, None), ("", "v"), (None, " ")]
    found = [server_token(tmp_path, flag, variable) for flag, variable in given]
    assert [(one.secret, one.origin) for one in found] == [
        ("flag", "--token"),
        ("variable", "GRAYMATTER_HTTP_TOKEN"),
        ("from-file", NAME),
        ("", "--token"),
        ("", "GRAYMATTER_HTTP_TOKEN"),
    ]
    assert (tmp_path / NAME).read_text() == "  from-file\n"


def test_a_given_token_is_never_written(tmp_path: Path) -> None:
    """Contract 10.3."""
    server_token(tmp_path, "flag", None)
    server_token(tmp_path, None, "variable")
    assert not list(tmp_path.iterdir())


def test_the_first_start_mints_one_and_the_second_finds_it(tmp_path: Path) -> None:
    """Contract 10.3: 256 random bits, 0600, whatever the umask."""
    before = os.umask(0)
    try:
        minted = server_token(tmp_path, None, None)
    finally:
        os.umask(before)
    assert minted.minted_at == tmp_path / NAME
    assert len(base64.urlsafe_b64decode(minted.secret + "=")) == 32
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    found = server_token(tmp_path, None, None)
    assert (found.secret, found.minted_at) == (minted.secret, None)
    assert minted.secret not in repr(minted)


def test_an_empty_file_is_an_empty_token_and_not_a_missing_one(tmp_path: Path) -> None:
    """Contract 10.3: it exists, so it counts, and refuses everything."""
    (tmp_path / NAME).touch()
    assert not server_token(tmp_path, None, None).secret


@pytest.mark.parametrize("given", ["two words", "ü", "a\nb", "a\x00b"])
def test_what_no_client_can_send_is_refused_by_where_it_stands(tmp_path: Path, given: str) -> None:
    """House 4: what was wrong and what to do, and not what it was."""
    with pytest.raises(InvalidArgumentError, match=r"^--token: ") as caught:
        server_token(tmp_path, given, None)
    with pytest.raises(InvalidArgumentError, match=r"^GRAYMATTER_HTTP_TOKEN: "):
        server_token(tmp_path, None, given)
    (tmp_path / NAME).write_text(given)
    with pytest.raises(InvalidArgumentError, match=r"^graymatter\.http-token: "):
        server_token(tmp_path, None, None)
    assert given not in str(caught.value)


def test_a_file_that_is_no_file_is_refused(tmp_path: Path) -> None:
    """House 4."""
    (tmp_path / NAME).mkdir()
    with pytest.raises(StoreUnavailableError, match="cannot be read"):
        server_token(tmp_path, None, None)


def test_where_nothing_can_be_kept_the_message_says_how_to_give_one(tmp_path: Path) -> None:
    """House 4."""
    with pytest.raises(StoreUnavailableError, match="--token or GRAYMATTER_HTTP_TOKEN"):
        server_token(tmp_path / "missing", None, None)
