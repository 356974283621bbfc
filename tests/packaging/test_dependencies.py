"""What pyproject.toml promises about the libraries that we build on."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

from tests.spawned import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIREMENTS = {one.name: one for one in map(Requirement, PROJECT["dependencies"])}


@pytest.mark.parametrize(
    ("name", "good", "bad"), [("mcp", "2.3.0", "3.0.0"), ("duckdb", "2.0.1", "2.1.0")]
)
def test_a_fresh_install_never_pulls_the_next_major_of(name: str, good: str, bad: str) -> None:
    """F4: a newer SDK or file format must not arrive by itself."""
    specifier = REQUIREMENTS[name].specifier
    assert (good in specifier, bad in specifier) == (True, False)


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_dependency_has_an_upper_bound(name: str) -> None:
    """F4: a new major is taken up on purpose."""
    assert {one.operator for one in REQUIREMENTS[name].specifier} & {"<", "<=", "==", "~="}


BROUGHT_ALONG = {
    "mcp-types": "pinned exactly by mcp",
    "transformers": "sentence-transformers is built on it, and one imports it only with the other",
}
"""Distributions that come with a declared one and only ever with it."""

FOR_DEVELOPERS = {"pytest", "hypothesis"}
"""What the suite for authors of a store needs, and only it."""


def test_what_the_package_imports_is_what_it_declares() -> None:
    """F4: a library that only happens to be there is gone with somebody else's next release."""
    owners = packages_distributions()
    imported = {
        _normal(owners[name][0])
        for path in (ROOT / "graymatter_mcp").rglob("*.py")
        for name in _imports(path)
        if "conformance" not in path.parts or name not in FOR_DEVELOPERS
    }
    assert imported - {_normal(name) for name in REQUIREMENTS} == set(BROUGHT_ALONG)


def _imports(path: Path) -> Iterator[str]:
    """Yield the top-level names of others' packages that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            top = name.split(".")[0]
            if top != "graymatter_mcp" and top not in sys.stdlib_module_names:
                yield top


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
