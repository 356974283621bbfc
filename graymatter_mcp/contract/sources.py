"""Where a contract can be read from: files, releases, git revisions, running servers."""

from __future__ import annotations

import io
import json
import re
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.contract.bundle import bundle_document
from graymatter_mcp.contract.compat import NotAContractError, read_release
from graymatter_mcp.contract.load import MAJOR, BrokenContractError
from graymatter_mcp.contract.released import read_released, released_versions
from graymatter_mcp.contract.wire.base import HANDSHAKE_REVISIONS, WireError
from graymatter_mcp.contract.wire.session import Session, read_target
from graymatter_mcp.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.contract.compat import Release

STDIO: Final = "stdio:"
GIT: Final = "git:"
TREE: Final = "tree"
_VERSION: Final = re.compile(r"v?(\d+\.\d+\.\d+)")
_NEWEST: Final = HANDSHAKE_REVISIONS[-1]


def read_source(name: str, headers: Mapping[str, str] | None = None) -> Release:
    """Read the contract that a word names.

    Args:
        name: ``tree`` (the schema files of this package), a released version, a file that holds a
            bundle or a list of tools, a directory of schema files, a URL, ``stdio:`` and the
            command that starts a server, or a git revision (``git:`` where it could be a file).
        headers: Sent to a URL.

    Raises:
        InvalidArgumentError: It names nothing that holds a contract.
    """
    try:
        return read_release(_document(name, headers or {}))
    except (BrokenContractError, NotAContractError, WireError) as exc:
        raise InvalidArgumentError(f'"{name}" holds no contract: {exc}') from exc


def _document(name: str, headers: Mapping[str, str]) -> Any:
    if name.startswith(STDIO):
        return _ask_server(name.removeprefix(STDIO), headers)
    if "://" in name:
        return _ask_server(name, headers)
    if name == TREE:
        return bundle_document(TREE)
    version = _VERSION.fullmatch(name)
    if version is not None and version[1] in released_versions():
        return read_released(version[1])
    path = Path(name)
    if path.is_dir():
        return bundle_document(name, path if (path / MAJOR).is_dir() else path / "schemas")
    if path.is_file():
        return _read_file(path)
    return _read_git(name.removeprefix(GIT))


def _read_file(path: Path) -> Any:
    try:
        document: Any = json.loads(path.read_bytes())
    except ValueError as exc:
        raise NotAContractError("the file is not JSON") from exc
    # An answer to tools/list may be kept whole.
    whole = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    return whole.get("result", cast("Any", document))


def _ask_server(words: str, headers: Mapping[str, str]) -> Any:
    session = Session(read_target([words], headers).connect(), _NEWEST)
    try:
        return {"version": session.server_info().get("version", ""), "tools": session.tools()}
    finally:
        session.close()


def _read_git(revision: str) -> Any:
    if revision.startswith("-"):
        raise NotAContractError("a git revision does not begin with a dash")
    archive = _git("archive", "--format=tar", f"{revision}^{{tree}}", "schemas")
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        return bundle_document(revision, Path(folder, "schemas"))


def _git(*arguments: str) -> bytes:
    try:
        top = subprocess.run(
            ["git", "rev-parse", "--show-toplevel"],  # noqa: S607 - the user's own git
            capture_output=True,
            check=True,
        ).stdout.decode()
        return subprocess.run(  # noqa: S603
            ["git", "-C", top.strip(), *arguments],  # noqa: S607
            capture_output=True,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError) as exc:
        raise NotAContractError(
            "it is no file, no released version and no git revision with schemas here"
        ) from exc
