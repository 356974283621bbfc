"""Where what is made lies in a checkout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.contract.load import load_bundle, toolset_names
from graymatter_mcp.contract.pages.python_types import python_types
from graymatter_mcp.contract.pages.reference import reference_pages
from graymatter_mcp.contract.pages.typescript_types import typescript_types

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

REFERENCE = "docs/reference"


def made_files() -> Mapping[str, str]:
    """Return every file that is made from the schemas, by its path in the checkout."""
    bundle = load_bundle(toolset_names())
    return {
        **{f"{REFERENCE}/{name}": page for name, page in reference_pages(bundle).items()},
        "graymatter_mcp/contract/payloads.py": python_types(bundle),
        "examples/typescript/graymatter.ts": typescript_types(bundle),
    }


def write(checkout: Path) -> list[str]:
    """Write them all; return their paths. Pages of tools that are gone go too."""
    made = made_files()
    for page in (checkout / REFERENCE).glob("*.md"):
        if f"{REFERENCE}/{page.name}" not in made:
            page.unlink()
    for name, text in made.items():
        path = checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(made)
