"""`python -m graymatter_mcp` is the command."""

from graymatter_mcp.surfaces.cli.main import main

main()
