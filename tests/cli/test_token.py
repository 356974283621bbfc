"""`graymatter token` as a user runs it."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.command import Command

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.in_process import InProcess

TOKEN = re.compile(r"gm_[A-Za-z0-9_-]{43}")
ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")


def test_a_token_is_shown_once_and_its_list_never_holds_it(here: InProcess) -> None:
    """Contract 11.2: {id, name, scope, project?, expires_at?, token}; list without token."""
    plain = here.json("token", "create")
    assert TOKEN.fullmatch(plain.pop("token"))
    assert ULID.fullmatch(plain["id"])
    assert plain == {"id": plain["id"], "name": "", "scope": "full"}
    options = ["--name", "ci 東京", "--scope", "read_only", "--project", "web"]
    full = here.json("token", "create", *options, "--expires", "2099-01-31T12:00:00+02:00")
    assert TOKEN.fullmatch(full.pop("token"))
    assert full == {
        "id": full["id"],
        "name": "ci 東京",
        "scope": "read_only",
        "project": "web",
        "expires_at": "2099-01-31T10:00:00.000000Z",
    }
    assert here.json("token", "list") == [plain, full]


def test_nothing_in_the_directory_holds_a_token(here: InProcess, tmp_path: Path) -> None:
    """Contract 10.3: stored as SHA-256."""
    secrets = [here.json("token", "create")["token"] for _ in range(2)]
    first = here.json("token", "list")[0]["id"]
    secrets.append(here.json("token", "rotate", first)["token"])
    content = b"".join(path.read_bytes() for path in (tmp_path / ".graymatter").iterdir())
    assert [secret for secret in secrets if secret[3:].encode() in content] == []
    assert len(set(secrets)) == 3


def test_a_duration_counts_from_now(here: InProcess) -> None:
    """Contract 11.5: durations."""
    before = datetime.now(UTC)
    made = here.json("token", "create", "--expires", "36h")
    ends = datetime.fromisoformat(made["expires_at"])
    assert before <= ends - timedelta(hours=36) <= datetime.now(UTC)


def test_a_revoked_token_is_gone_and_the_others_stay(here: InProcess) -> None:
    """Contract 11.2: {id, revoked: true}."""
    one, other = here.json("token", "create"), here.json("token", "create")
    assert here.json("token", "revoke", one["id"]) == {"id": one["id"], "revoked": True}
    assert [left["id"] for left in here.json("token", "list")] == [other["id"]]
    again = here("--json", "token", "revoke", one["id"])
    assert again.complaint["code"] == "not_found"


def test_a_rotated_token_keeps_its_rights_and_expiry_under_a_new_id(here: InProcess) -> None:
    """Data plane 8: scope, pin and expiry copied, the old one revoked in the same step."""
    options = ["--name", "ci", "--scope", "read_only", "--project", "web", "--expires", "3d"]
    old = here.json("token", "create", *options)
    new = here.json("token", "rotate", old["id"])
    assert new["token"] != old["token"]
    assert new["id"] != old["id"]
    assert {**new, "id": "", "token": ""} == {**old, "id": "", "token": ""}
    assert [left["id"] for left in here.json("token", "list")] == [new["id"]]


def test_people_read_the_token_alone_on_its_line(here: InProcess) -> None:
    """Contract 11.1: quiet drops the prose, never the answer."""
    first, second = here("token", "create", "--name", "ci").stdout.splitlines()
    assert TOKEN.fullmatch(first)
    assert not TOKEN.search(second)
    assert TOKEN.fullmatch(here("--quiet", "token", "create").stdout.strip())
    listed = here("token", "list").stdout
    assert "ci" in listed
    assert not TOKEN.search(listed)


@pytest.mark.parametrize(
    "arguments",
    [
        ["create", "--scope", "write"],
        ["create", "--name", "x" * 65],
        ["create", "--name", "two\nlines"],
        ["create", "--project", ""],
        ["create", "--project", "x" * 129],
        ["create", "--project", "\x1b[31m"],
        ["create", "--expires", "soon"],
        ["create", "--expires", "0"],
        ["create", "--expires", "2020-01-01T00:00:00Z"],
        ["create", "--expires", "2099-01-01T00:00:00"],
        ["create", "--expires", "9999-12-31T23:59:59-12:00"],
        ["create", "--expires", "9" * 9 + "d"],
        ["revoke"],
        ["lisst"],
    ],
)
def test_a_bad_argument_is_one_error_and_makes_no_token(
    here: InProcess, arguments: list[str]
) -> None:
    """Contract 11.1."""
    made = here.json("token", "create")
    outcome = here("--json", "token", *arguments)
    assert outcome.complaint["code"] == "invalid_argument"
    assert "\n" not in outcome.complaint["error"]
    assert [one["id"] for one in here.json("token", "list")] == [made["id"]]


@pytest.mark.parametrize("command", [["list"], ["revoke", "x"], ["rotate", "x"]])
def test_looking_for_tokens_makes_no_memory(
    here: InProcess, command: list[str], tmp_path: Path
) -> None:
    """Contract 10.1: only a write makes one."""
    assert here("--json", "token", *command).complaint["code"] == "routing"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b"[" * 100_000,
        b'{"version": 1}',
        b'{"version": 2, "tokens": []}',
        b'{"version": 1, "tokens": [{"id": "x"}]}',
        b'{"version": 1, "tokens": [{"id": "x", "name": "", "scope": "all", "project": null,'
        b'"created_at": "2026-01-01T00:00:00Z", "expires_at": null, "sha256": "00"}]}',
    ],
)
def test_a_damaged_file_is_refused_and_left_as_it_is(
    here: InProcess, content: bytes, tmp_path: Path
) -> None:
    """House 4: what was wrong and what to do; nothing is made of what cannot be read."""
    here.json("token", "create")
    file = tmp_path / ".graymatter" / "graymatter.tokens.json"
    file.write_bytes(content)
    for command in (["create"], ["list"], ["revoke", "x"]):
        complaint = here("--json", "token", *command).complaint
        assert complaint["code"] == "store_unavailable"
        assert "graymatter.tokens.json" in complaint["error"]
    assert file.read_bytes() == content


@pytest.mark.parametrize("umask", [0o000, 0o777])
def test_token_files_are_private_whatever_the_umask(
    here: InProcess, umask: int, tmp_path: Path
) -> None:
    """Issue: 0600 in 0700."""
    (tmp_path / ".graymatter").mkdir(mode=0o700)
    before = os.umask(umask)
    try:
        here.json("token", "create")
        here.json("token", "create")
    finally:
        os.umask(before)
    directory = tmp_path / ".graymatter"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}
    assert modes["graymatter.tokens.json"] == 0o600
    assert all(mode & 0o077 == 0 for mode in modes.values())


def test_what_a_crash_left_half_written_is_in_nobodys_way(here: InProcess, tmp_path: Path) -> None:
    """Issue: kill -9 leaves the old file or the new; the rest is swept away."""
    first = here.json("token", "create")
    left = tmp_path / ".graymatter" / "graymatter.tokens.json.new"
    left.write_bytes(b'{"vers')
    left.chmod(0o644)
    second = here.json("token", "create")
    assert [one["id"] for one in here.json("token", "list")] == [first["id"], second["id"]]
    assert not left.exists()


def test_tokens_made_and_revoked_at_once_are_neither_lost_nor_kept(graymatter: Command) -> None:
    """Issue: concurrent create and revoke, each a process of its own."""
    doomed = [graymatter.json("token", "create")["id"] for _ in range(3)]
    calls = [["create"] for _ in range(5)] + [["revoke", one] for one in doomed]

    def run(call: list[str]) -> Any:
        return graymatter.json("token", *call)

    with ThreadPoolExecutor(len(calls)) as pool:
        done = list(pool.map(run, calls))
    left = {one["id"] for one in graymatter.json("token", "list")}
    assert left == {one["id"] for one in done[:5]}


KILLED = """
import sys
from pathlib import Path
from graymatter_mcp.surfaces.tokens import TokenFile

tokens = TokenFile(Path(sys.argv[1]))
while True:
    print(tokens.create().stored.id, flush=True)
"""


@pytest.mark.parametrize("after", [1, 2, 5, 9, 17])
def test_a_kill_in_the_middle_loses_no_token_that_was_shown(tmp_path: Path, after: int) -> None:
    """Issue: kill -9 leaves the old or the new file."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        shown = [process.stdout.readline().decode().strip() for _ in range(after)]
        process.send_signal(signal.SIGKILL)
        # Not `communicate`: with a time-out it reads past what `readline` has taken ahead.
        rest = process.stdout.read()
    shown += [line for line in rest.decode().split("\n")[:-1] if line]
    document = json.loads((tmp_path / "graymatter.tokens.json").read_bytes())
    kept = [one["id"] for one in document["tokens"]]
    assert kept[: len(shown)] == shown
    assert len(kept) <= len(shown) + 1
