"""`graymatter doctor`: what is well and what is not; writes nothing and starts nothing."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import click

from graymatter_mcp.bridge import directory
from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.model.checks import Check, CheckStatus
from graymatter_mcp.owner.client import RemoteMemory
from graymatter_mcp.owner.filesystems import FORCE_VARIABLE, filesystem_of, is_network
from graymatter_mcp.settings import DATABASE_FILE, unknown_variables
from graymatter_mcp.surfaces.cli.daemon import describe_owner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.model.config import Config
    from graymatter_mcp.surfaces.cli.app import Invocation

_UNUSED_S: Final = 24 * 3600
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_MARKS: Final = {"ok": "ok  ", "info": "info", "warn": "WARN", "fail": "FAIL"}


@click.command()
@click.option("--full", is_flag=True, help="Read every value, and build every index anew.")
@click.pass_obj
@click.pass_context
def doctor(context: click.Context, invocation: Invocation, full: bool) -> None:
    """Check the directory, the owner, the model and the store; exit 1 when a check fails."""
    config = invocation.config()
    checks = examine(invocation, config, full=full)
    document = report(config.data_dir, checks)
    invocation.show(document, _text(config.data_dir, checks))
    if not document["ok"]:
        context.exit(1)


def report(data_dir: Path, checks: Sequence[Check]) -> dict[str, Any]:
    """Return the JSON form; a hint that says nothing is left out."""
    order = list(CheckStatus)
    worst = max((check.status for check in checks), key=order.index, default=CheckStatus.OK)
    return {
        "data_dir": str(data_dir),
        "ok": worst is not CheckStatus.FAIL,
        "status": worst.value,
        "diagnostic_mode": "read_only",
        "checks": [
            {"name": check.name, "status": check.status.value, "detail": check.detail}
            | ({"hint": check.hint} if check.hint else {})
            for check in checks
        ],
    }


def examine(invocation: Invocation, config: Config, *, full: bool) -> list[Check]:
    """Carry out every check that makes sense here."""
    # Imported on use: it brings the database.
    from graymatter_mcp.upkeep import check_model

    checks = [_directory(invocation, config.data_dir), _environment(), check_model(config)]
    checks += [_home(config.data_dir), _filesystem(config)]
    if not config.data_dir.is_dir():
        return checks
    checks += [_permissions(config.data_dir), _plain_text(), _owner(config.data_dir)]
    if (config.data_dir / DATABASE_FILE).exists():
        checks += [_activity(config.data_dir), _damage(config), *_store(config, full=full)]
    return checks


def _check(name: str, status: CheckStatus, detail: str, hint: str = "") -> Check:
    return Check(name=name, status=status, detail=detail, hint=hint)


def _directory(invocation: Invocation, data_dir: Path) -> Check:
    environment = {**os.environ, "GRAYMATTER_DIR": invocation.settings.dir}
    _, why = directory.locate(invocation.directory, environment)
    where = f"{data_dir} (by {why})"
    if not data_dir.exists():
        hint = "the first write makes it; if facts should be here, look at --dir and GRAYMATTER_DIR"
        return _check("directory", CheckStatus.WARN, f"{where} does not exist", hint)
    if not data_dir.is_dir() or not os.access(data_dir, os.R_OK | os.X_OK):
        return _check("directory", CheckStatus.FAIL, f"{where} cannot be read", "check its owner")
    if not directory.holds_store(str(data_dir)):
        return _check("directory", CheckStatus.WARN, f"{where} holds no memory yet")
    if not os.access(data_dir, os.W_OK):
        hint = "searches work; writes are refused"
        return _check("directory", CheckStatus.WARN, f"{where} can only be read", hint)
    return _check("directory", CheckStatus.OK, where)


def _environment() -> Check:
    unknown = unknown_variables(os.environ)
    if unknown:
        detail = f"not known to this version: {', '.join(unknown)}"
        return _check("environment", CheckStatus.WARN, detail, "are they misspelt?")
    return _check("environment", CheckStatus.OK, "every GRAYMATTER_ variable is known")


def _home(data_dir: Path) -> Check:
    if data_dir.parent.resolve() == Path.home().resolve():
        hint = "started outside a project, clients share it; name a directory with --dir"
        return _check("home_folder", CheckStatus.WARN, "the store lies in the home folder", hint)
    return _check("home_folder", CheckStatus.OK, "the store belongs to a project")


def _filesystem(config: Config) -> Check:
    kind = filesystem_of(config.data_dir)
    if not is_network(kind):
        return _check("filesystem", CheckStatus.OK, kind or "of unknown type")
    detail = f"{kind} comes over a network: its locks and flushes are not dependable"
    if config.force_network_fs:
        return _check("filesystem", CheckStatus.WARN, f"{detail}; {FORCE_VARIABLE} insists on it")
    hint = f"use a local directory, or set {FORCE_VARIABLE}=1"
    return _check("filesystem", CheckStatus.FAIL, detail, hint)


def _permissions(data_dir: Path) -> Check:
    open_to_others = [
        one.name
        for one in (data_dir, *sorted(data_dir.iterdir()))
        if not one.is_symlink() and one.stat().st_mode & _OTHERS
    ]
    if open_to_others:
        detail = f"others may use: {', '.join(open_to_others)}"
        hint = f"chmod -R go= {data_dir}"
        return _check("permissions", CheckStatus.WARN, detail, hint)
    return _check("permissions", CheckStatus.OK, "only this user may read the directory")


def _plain_text() -> Check:
    detail = "facts are stored as plain text (files 0600 in a directory 0700); there is no key"
    return _check("encryption", CheckStatus.INFO, detail)


def _owner(data_dir: Path) -> Check:
    found = describe_owner(data_dir)
    if found["running"]:
        detail = f"pid {found['pid']}, version {found['version']}, {found['clients']} clients"
        return _check("owner", CheckStatus.OK, detail)
    note = directory.read_owner(str(data_dir))
    if note is None:
        return _check("owner", CheckStatus.INFO, "none runs; the first client starts one")
    if "lines" not in note and _is_alive(note.get("pid")):
        return _check("owner", CheckStatus.INFO, f"pid {note['pid']} has the memory to itself")
    hint = "the next client replaces it"
    return _check("owner", CheckStatus.WARN, "owner.json is stale: nobody answers", hint)


def _is_alive(pid: object) -> bool:
    try:
        os.kill(int(str(pid)), 0)
    except (ValueError, OverflowError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True


def _activity(data_dir: Path) -> Check:
    stamps = [one.stat().st_mtime for one in data_dir.glob("gray.*") if one.is_file()]
    hours = (time.time() - max(stamps)) / 3600
    if hours * 3600 > _UNUSED_S:
        hint = "is the client's configuration still there?"
        detail = f"the store was not used for {hours:.0f} hours"
        return _check("activity", CheckStatus.WARN, detail, hint)
    return _check("activity", CheckStatus.OK, "the store was used within 24 hours")


def _damage(config: Config) -> Check:
    from graymatter_mcp.upkeep import damage_reports

    reports = damage_reports(config)
    if reports:
        hint = f"delete gray.damage in {config.data_dir} once you have read this"
        return _check("damage", CheckStatus.WARN, "; ".join(reports), hint)
    return _check("damage", CheckStatus.OK, "none was found at any open")


def _store(config: Config, *, full: bool) -> tuple[Check, ...]:
    if describe_owner(config.data_dir)["running"]:
        memory = cast("Memory", RemoteMemory(config.data_dir))  # methods by name

        async def ask() -> tuple[Check, ...]:
            try:
                return await memory.check(full=full)
            finally:
                await memory.aclose()

        try:
            return anyio.run(ask)
        except GraymatterError as exc:
            hint = "see owner.log; graymatter daemon stop, then ask again"
            return (_check("store", CheckStatus.FAIL, f"the owner could not say: {exc}", hint),)
    from graymatter_mcp.upkeep import inspect_store

    return inspect_store(config, full=full)


def _text(data_dir: Path, checks: Sequence[Check]) -> str:
    lines = [str(data_dir)]
    for check in checks:
        lines.append(f"{_MARKS[check.status]} {check.name}: {check.detail}")
        if check.hint:
            lines.append(f"     {check.hint}")
    return "\n".join(lines)
