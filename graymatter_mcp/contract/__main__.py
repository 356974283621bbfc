"""`python -m graymatter_mcp.contract` makes reference pages and types anew in a checkout."""

from __future__ import annotations

import sys

from graymatter_mcp.contract.pages.written import write
from graymatter_mcp.contract.released import checkout_root

if __name__ == "__main__":
    sys.stdout.write("\n".join(write(checkout_root().parent)) + "\n")
