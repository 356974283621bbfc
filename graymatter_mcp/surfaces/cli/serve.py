"""`graymatter mcp serve`: one MCP client on stdio."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING

import click

from graymatter_mcp.bridge.claim import claim_stdio
from graymatter_mcp.surfaces.cli.daemon import take_over

if TYPE_CHECKING:
    from graymatter_mcp.surfaces.cli.app import Invocation


@click.group()
def mcp() -> None:
    """Serve the Model Context Protocol."""


@mcp.command()
@click.option("--no-create", is_flag=True, help="Fail unless the directory has a memory already.")
@click.pass_obj
def serve(invocation: Invocation, no_create: bool) -> None:
    """Serve one client on stdin and stdout, as the owner of the directory."""
    # From here on nothing but the transport reaches stdout; imports below may print.
    claim_stdio()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    config = invocation.config()
    ownership = take_over(config.data_dir, may_create=not no_create)
    from graymatter_mcp.surfaces.cli.owner import run_owner
    from graymatter_mcp.surfaces.mcp.stdio import StdioWire

    def on_ready() -> None:
        if not invocation.is_quiet:
            sys.stderr.write(f"graymatter: serving {config.data_dir}\n")
            sys.stderr.flush()

    run_owner(
        config,
        invocation.settings,
        ownership,
        is_foreground=True,
        client=StdioWire(claim_stdio(), invocation.settings.max_line_bytes),
        on_ready=on_ready,
    )
    logging.shutdown()
    sys.stderr.flush()
    # The interpreter's own way out takes long, and joins threads still at work.
    os._exit(0)
