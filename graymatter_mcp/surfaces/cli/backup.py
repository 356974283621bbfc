"""`graymatter backup`, `graymatter restore` and `graymatter compact`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.surfaces.cli.daemon import describe_owner
from graymatter_mcp.surfaces.cli.door import call_memory

if TYPE_CHECKING:
    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.model.checks import BackupReport
    from graymatter_mcp.surfaces.cli.app import Invocation


@click.command()
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.pass_obj
def backup(invocation: Invocation, out: Path, force: bool) -> None:
    """Write a verified copy to OUT while the memory stays in use."""
    target = str(out.absolute())

    async def work(memory: Memory) -> BackupReport:
        return await memory.backup(target, replace=force)

    made = call_memory(invocation, work, may_create=False, may_start=False)
    document = {"path": made.path, "bytes": made.bytes, "facts": made.facts, "verified": True}
    invocation.show(document, f"{made.facts} facts, {made.bytes} bytes, verified: {made.path}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace the memory that is there; it is kept.")
@click.pass_obj
def restore(invocation: Invocation, file: Path, force: bool) -> None:
    """Make a backup the memory; no owner may run."""
    from graymatter_mcp.upkeep import restore_store

    config = invocation.config()
    _refuse_owner(config.data_dir)
    made, replaced = restore_store(config, file.absolute(), replace=force)
    document = {"path": made.path, "bytes": made.bytes, "facts": made.facts, "verified": True}
    text = f"{made.facts} facts restored to {made.path}"
    if replaced:
        document["replaced"] = replaced
        text += f"; the memory that was there is kept as {replaced}"
    invocation.show(document, text)


@click.command()
@click.pass_obj
def compact(invocation: Invocation) -> None:
    """Drop dead rows and write the file anew; no owner may run, since the file is exchanged."""
    from graymatter_mcp.upkeep import compact_store

    config = invocation.config()
    _refuse_owner(config.data_dir)
    made = compact_store(config)
    document = {
        "path": str(config.data_dir),
        "bytes_before": made.bytes_before,
        "bytes_after": made.bytes_after,
        "rows_dropped": made.rows_dropped,
    }
    invocation.show(
        document,
        f"{made.bytes_before} -> {made.bytes_after} bytes, {made.rows_dropped} dead rows dropped",
    )


def _refuse_owner(directory: Path) -> None:
    owner = describe_owner(directory)
    if owner["running"]:
        raise StoreUnavailableError(
            f"an owner (pid {owner['pid']}) has this memory open: the file cannot be exchanged"
            " under it; run: graymatter daemon stop"
        )
