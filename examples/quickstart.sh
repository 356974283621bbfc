#!/bin/sh
# Install graymatter into .venv of this checkout, then run a scripted MCP conversation over stdio.
set -eu
cd "$(dirname "$0")/.."
echo "Installing into .venv (a few minutes the first time) ..."
sh .ci/environment
exec .venv/bin/python examples/python_client.py
