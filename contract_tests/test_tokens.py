"""The command `graymatter token`, as a program that hands out tokens uses it."""

from __future__ import annotations

import json
import os
import re
import stat
from typing import TYPE_CHECKING, Any

from contract_tests.manifest import promise
from contract_tests.processes import command

if TYPE_CHECKING:
    from pathlib import Path


def token(directory: Path, *arguments: str) -> Any:
    """Run one command that succeeds; return its document."""
    done = command(directory, "--json", "token", *arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


@promise("tokens:shown-once")
def test_a_token_is_shown_once_and_kept_as_a_digest(tmp_path: Path) -> None:
    """Contract 11.2, 10.3."""
    made = token(tmp_path, "create", "--name", "ci", "--scope", "read_only")
    secret = made.pop("token")
    assert re.fullmatch(r"gm_[A-Za-z0-9_-]{43}", secret)
    assert made == {"id": made["id"], "name": "ci", "scope": "read_only"}
    assert token(tmp_path, "list") == [made]
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret[3:].encode() not in kept
    assert token(tmp_path, "revoke", made["id"]) == {"id": made["id"], "revoked": True}
    assert token(tmp_path, "list") == []


@promise("tokens:rotated")
def test_a_rotated_token_has_the_rights_of_the_old_one(tmp_path: Path) -> None:
    """Contract 11.2; data plane 8."""
    options = ("--name", "ci", "--scope", "read_only", "--project", "web", "--expires", "3d")
    old = token(tmp_path, "create", *options)
    new = token(tmp_path, "rotate", old["id"])
    assert old.pop("token") != new.pop("token")
    assert token(tmp_path, "list") == [new]
    assert {**new, "id": old["id"]} == old


@promise("tokens:private-files")
def test_files_about_tokens_are_private(tmp_path: Path) -> None:
    """Issue 4: 0600 in 0700, whatever the umask."""
    directory = tmp_path / "memory"
    before = os.umask(0)
    try:
        token(directory, "create")
    finally:
        os.umask(before)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()} == {0o600}
