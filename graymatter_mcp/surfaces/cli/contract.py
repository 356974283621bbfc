"""`graymatter contract diff|check|verify|freeze`: the contract as something to compare and hold.

What a command needs is imported by it: the other commands start without validators and clients.
"""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Final

import click

from graymatter_mcp.contract.compat import Level, compare_releases, gravest
from graymatter_mcp.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.surfaces.cli.app import Invocation

EXIT_CODES: Final = {Level.SAME: 0, Level.PROSE: 0, Level.ADDITIVE: 2, Level.BREAKING: 3}
"""Exit status of `contract diff`; 1 stays what it is for every command, an error."""

_HEADER: Final = click.option(
    "--header", "headers", multiple=True, help="Sent to a URL, as Name: value; repeatable."
)


@click.group()
def contract() -> None:
    """Compare contracts, and hold servers to them."""


@contract.command()
@click.argument("old")
@click.argument("new")
@click.option("--markdown", is_flag=True, help="Write Markdown, as for a pull request.")
@_HEADER
@click.pass_obj
def diff(
    invocation: Invocation, old: str, new: str, markdown: bool, headers: tuple[str, ...]
) -> None:
    """Say what changed from OLD to NEW, and whom it breaks.

    Each is `tree` (these schema files), a released version, a file or directory, a git revision,
    a URL, or `stdio:` and the command that starts a server.
    Exit 0: nothing or words only; 2: additive; 3: breaking; 1: an error.
    """
    from graymatter_mcp.contract.report import as_document, as_markdown, as_table
    from graymatter_mcp.contract.sources import read_source

    sent = _headers(headers)
    changes = compare_releases(read_source(old, sent), read_source(new, sent))
    text = as_markdown(old, new, changes) if markdown else as_table(changes)
    invocation.show(as_document(old, new, changes), text)
    click.get_current_context().exit(EXIT_CODES[gravest(changes)])


@contract.command(context_settings={"ignore_unknown_options": True})
@click.argument("target", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--read-only", is_flag=True, help="Leave out what stores something.")
@click.option("--revision", "revisions", multiple=True, help="Protocol revision; default all.")
@click.option("--only", multiple=True, help="Id of a promise; repeatable.")
@click.option("--against", help="Released version that the server claims; default: this one.")
@_HEADER
@click.pass_obj
def check(
    invocation: Invocation,
    *,
    target: tuple[str, ...],
    read_only: bool,
    revisions: tuple[str, ...],
    only: tuple[str, ...],
    against: str | None,
    headers: tuple[str, ...],
) -> None:
    """Hold a server to the promises of the contract.

    TARGET is a URL, or after `--` the command that starts a server over stdio. Facts are stored
    in namespaces below `contract-check/` and retired at the end; --read-only stores nothing.
    """
    from graymatter_mcp.contract.bundle import bundle_document
    from graymatter_mcp.contract.kit.checks import CHECKS
    from graymatter_mcp.contract.kit.run import check_server
    from graymatter_mcp.contract.released import read_released
    from graymatter_mcp.contract.wire.base import REVISIONS, WireError
    from graymatter_mcp.contract.wire.session import read_target

    _refuse_unknown("revision", revisions, REVISIONS)
    _refuse_unknown("promise", only, [one.id for one in CHECKS])
    try:
        server = read_target(target, _headers(headers))
    except (WireError, ValueError) as exc:
        raise InvalidArgumentError(str(exc)) from exc
    verdict = check_server(
        server,
        bundle_document("") if against is None else read_released(against),
        revisions=revisions or REVISIONS,
        read_only=read_only,
        checks=[one for one in CHECKS if not only or one.id in only],
    )
    invocation.show(verdict.document(), verdict.table())
    click.get_current_context().exit(0 if verdict.is_kept else 1)


@contract.command("verify")
@click.pass_obj
def verify_command(invocation: Invocation) -> None:
    """Compare the schema files with every frozen bundle; exit 1 when a rule is broken."""
    from graymatter_mcp.contract.released import released_versions

    version = metadata.version("graymatter-mcp")
    found = _guarded(version)
    good = f"{version} keeps {', '.join(released_versions()) or 'no release yet'}"
    document = {"ok": not found, "version": version, "problems": found}
    invocation.show(document, "\n".join(found or [good]))
    click.get_current_context().exit(1 if found else 0)


@contract.command("freeze")
@click.argument("version")
@click.pass_obj
def freeze_command(invocation: Invocation, version: str) -> None:
    """Freeze the schema files of this checkout as the bundle of VERSION."""
    from graymatter_mcp.contract.load import BrokenContractError
    from graymatter_mcp.contract.released import checkout_root, freeze

    package = metadata.version("graymatter-mcp")
    if version != package:
        raise InvalidArgumentError(
            f"the package is version {package}: set the version in pyproject.toml and install first"
        )
    try:
        path = freeze(version, checkout_root())
    except BrokenContractError as exc:
        raise InvalidArgumentError(str(exc)) from exc
    shown = f"schemas/{path.parent.name}/{path.name}"
    invocation.show({"version": version, "path": shown}, f"frozen: {shown}")


def _guarded(version: str) -> list[str]:
    from graymatter_mcp.contract.load import BrokenContractError
    from graymatter_mcp.contract.released import verify

    try:
        return verify(version)
    except BrokenContractError as exc:
        return [str(exc)]


def _headers(lines: Sequence[str]) -> dict[str, str]:
    from graymatter_mcp.contract.wire.http import as_header

    try:
        return dict(as_header(line) for line in lines)
    except ValueError as exc:
        raise InvalidArgumentError(str(exc)) from exc


def _refuse_unknown(what: str, named: Sequence[str], known: Sequence[str]) -> None:
    for name in named:
        if name not in known:
            raise InvalidArgumentError(f'unknown {what} "{name}"; known: {", ".join(known)}')
