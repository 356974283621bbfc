"""`graymatter mcp serve`: one MCP client on stdio."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import click

from graymatter_mcp.surfaces.mcp.claim import claim_stdio

if TYPE_CHECKING:
    from graymatter_mcp.surfaces.cli.app import Invocation
    from graymatter_mcp.surfaces.mcp.stdio import StdioWire


@click.group()
def mcp() -> None:
    """Serve the Model Context Protocol."""


@mcp.command()
@click.option("--no-create", is_flag=True, help="Fail unless the directory has a memory already.")
@click.pass_obj
def serve(invocation: Invocation, no_create: bool) -> None:
    """Serve one client on stdin and stdout."""
    # From here on nothing but the transport reaches stdout; imports below may print.
    claim_stdio()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(name)s: %(message)s")
    config = invocation.config()
    from graymatter_mcp.compose import open_memory
    from graymatter_mcp.contract.load import load_bundle
    from graymatter_mcp.surfaces.mcp.dispatch import Dispatcher
    from graymatter_mcp.surfaces.mcp.server import build_server
    from graymatter_mcp.surfaces.mcp.stdio import run_stdio, serve_stdio

    owned = open_memory(config, may_create=not no_create)
    bundle = load_bundle(("core",))
    dispatcher = Dispatcher(bundle, owned.memory, invocation.settings.answer_budget)
    if not invocation.is_quiet:
        sys.stderr.write(f"graymatter: serving {config.data_dir}\n")

    async def main(wire: StdioWire) -> None:
        try:
            await serve_stdio(build_server(bundle, dispatcher), wire=wire)
        finally:
            await owned.aclose()

    run_stdio(main)
