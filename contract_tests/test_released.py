"""Frozen bundles and notices: what a release froze is kept, a break is announced first."""

from __future__ import annotations

import json
import shutil
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.manifest import promise
from graymatter_mcp.contract.compat import read_release
from graymatter_mcp.contract.compat.enforce import problems
from graymatter_mcp.contract.load import BrokenContractError
from graymatter_mcp.contract.released import (
    PINNED,
    checkout_root,
    freeze,
    read_released,
    released_versions,
    stray_bundles,
    verify,
)
from graymatter_mcp.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graymatter_mcp.contract.compat import Release

ROOT: Final = Path(__file__).parents[1]
SCHEMAS: Final = ROOT / "schemas"

NOTICE: Final = {
    "what": "input:default-changed",
    "where": "t/input/properties/limit",
    "announced_in": "0.2.0",
    "remove_not_before": "0.3.0",
    "instead": "say limit",
}


@promise("contract:frozen")
def test_the_tree_keeps_every_frozen_bundle() -> None:
    """House, section 3: CI compares with every bundle of the major."""
    assert verify(metadata.version("graymatter-mcp"), SCHEMAS) == []


@promise("contract:frozen")
def test_every_bundle_is_pinned_and_is_what_was_frozen() -> None:
    """House, section 3: never edited."""
    assert stray_bundles(SCHEMAS) == []
    for version in released_versions(SCHEMAS):
        assert read_released(version, SCHEMAS)["version"] == version


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """A copy of the schema files without a release."""
    ignored = shutil.ignore_patterns("released", PINNED)
    return Path(shutil.copytree(SCHEMAS, tmp_path / "schemas", ignore=ignored))


def edit(path: Path, change: Callable[[Any], None]) -> None:
    """Change one JSON file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def add_property(schemas: Path, *, revision: int) -> None:
    """Add an optional argument to the search."""
    search = schemas / "v1" / "tools" / "memory_search"
    edit(
        search / "input.json",
        lambda file: file["properties"].update(since={"type": "string", "description": "Since."}),
    )
    edit(search / "tool.json", lambda file: file.update(revision=revision))


@promise("contract:frozen")
def test_a_freeze_writes_a_bundle_once_and_pins_it(schemas: Path) -> None:
    """House, section 3."""
    path = freeze("0.1.0", schemas)
    assert released_versions(schemas) == ["0.1.0"]
    names = [tool["name"] for tool in read_released("0.1.0", schemas)["tools"]]
    toolsets = json.loads((schemas / "v1/toolsets.json").read_text("utf-8"))
    assert names == [name for listed in toolsets.values() for name in listed]
    with pytest.raises(InvalidArgumentError, match="never edited"):
        freeze("0.1.0", schemas)
    path.write_text(path.read_text("utf-8").replace("Search one", "Find in one"), encoding="utf-8")
    with pytest.raises(BrokenContractError, match="not the one that was frozen"):
        verify("0.1.0", schemas)


@promise("contract:frozen")
def test_an_addition_needs_a_revision_and_a_minor_release(schemas: Path) -> None:
    """Contract 1.2, rule 3."""
    freeze("0.1.0", schemas)
    add_property(schemas, revision=1)
    (problem,) = verify("0.2.0", schemas)
    assert "the revision did not" in problem
    add_property(schemas, revision=2)
    assert verify("0.2.0", schemas) == []
    (problem,) = verify("0.1.1", schemas)
    assert "needs a minor release" in problem
    freeze("0.2.0", schemas)
    assert released_versions(schemas) == ["0.1.0", "0.2.0"]
    assert [text for text in verify("0.1.9", schemas) if "frozen already" in text]


@promise("contract:frozen")
def test_a_bundle_without_a_pin_is_seen(schemas: Path) -> None:
    """House, section 3."""
    freeze("0.1.0", schemas)
    shutil.copy(schemas / "released/0.1.0.json", schemas / "released/0.0.9.json")
    assert verify("0.1.0", schemas) == ["released/0.0.9.json is held by no pin"]


@promise("contract:frozen")
def test_only_a_checkout_can_freeze(monkeypatch: pytest.MonkeyPatch) -> None:
    """House, section 3: what was shipped is not edited."""
    from graymatter_mcp.contract import released

    assert checkout_root() == SCHEMAS
    installed = Path("/site/graymatter_mcp/schemas")
    monkeypatch.setattr(released, "schema_root", lambda: installed)
    with pytest.raises(InvalidArgumentError, match="source checkout"):
        checkout_root()


def release(version: str, default: int, *notices: dict[str, str]) -> Release:
    """Build a release with one tool, whose one argument has a default."""
    limit = {"type": "number", "default": default, "description": "Deprecated default."}
    tool = {
        "name": "t",
        "revision": default,
        "inputSchema": {"type": "object", "properties": {"limit": limit}},
    }
    return read_release({"version": version, "tools": [tool], "deprecations": list(notices)})


FIRST: Final = release("0.1.0", 1)
SILENT: Final = release("0.2.0", 1)
ANNOUNCED: Final = release("0.2.0", 1, NOTICE)


@promise("contract:notices")
@pytest.mark.parametrize(
    ("frozen", "tree", "is_good"),
    [
        ([FIRST], release("0.2.0", 1, NOTICE), True),
        ([FIRST, ANNOUNCED], release("0.3.0", 2, NOTICE), True),
        ([FIRST, ANNOUNCED], release("0.3.1", 2, NOTICE), True),
        ([FIRST, SILENT], release("0.3.0", 2), False),
        ([FIRST, SILENT], release("0.3.0", 2, NOTICE), False),
        ([FIRST], release("0.2.0", 2, NOTICE), False),
        ([FIRST, ANNOUNCED], release("0.2.1", 2, NOTICE), False),
        ([FIRST, ANNOUNCED], release("0.3.0", 2), False),
        ([FIRST, ANNOUNCED], release("0.3.0", 2, {**NOTICE, "remove_not_before": "0.4.0"}), False),
    ],
)
def test_a_break_needs_a_notice_in_the_prior_minor(
    frozen: Sequence[Release], tree: Release, is_good: bool
) -> None:
    """Contract 1.2, rule 2."""
    assert (problems(tree, frozen) == []) is is_good


@promise("contract:notices")
def test_no_notice_lets_a_parameter_go_before_one_zero() -> None:
    """Contract 1.2, rule 1."""
    gone = {**NOTICE, "what": "input:property-removed"}
    frozen = [FIRST, release("0.2.0", 1, gone)]
    empty: dict[str, Any] = {"type": "object", "properties": {}}
    bare = {"name": "t", "revision": 2, "inputSchema": empty}
    for version, is_allowed in (("0.3.0", False), ("1.0.0", True)):
        tree = read_release({"version": version, "tools": [bare], "deprecations": [gone]})
        breaks = [text for text in problems(tree, frozen) if text.startswith("breaks")]
        assert (breaks == []) is is_allowed


@promise("contract:notices")
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"announced_in": "0.9.0", "remove_not_before": "0.10.0"}, "in a release to come"),
        ({"remove_not_before": "0.2.5"}, "wait for a later minor"),
        ({"what": "input:property-removed"}, "before 1.0"),
        ({"where": "t/input/properties/other"}, "nothing is there"),
        ({"where": "u/input/properties/limit"}, "nothing is there"),
        ({"where": "t/input"}, "does not say that it is deprecated"),
        ({"announced_in": "soon"}, "no version"),
        ({"announced_in": "0.1.0"}, "does not hold it"),
    ],
)
def test_a_notice_that_promises_too_little_is_refused(
    change: dict[str, str], complaint: str
) -> None:
    """House, section 3: announced_in and remove_not_before are enforced."""
    found = problems(release("0.2.0", 1, {**NOTICE, **change}), [FIRST])
    assert [text for text in found if complaint in text]


@promise("contract:notices")
def test_every_notice_stands_in_the_changelog() -> None:
    """Contract 1.2, rule 2: a line for callers, in the release that announces it."""
    notices = json.loads((SCHEMAS / "deprecations.json").read_text("utf-8"))["notices"]
    assert notices
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8").split("\n## ")
    for notice in notices:
        tool, *_, name = notice["where"].split("/")
        (chapter,) = [one for one in changelog if one.startswith(f"{notice['announced_in']} ")]
        _, _, deprecated = chapter.partition("### Deprecated")
        (line,) = [one for one in deprecated.splitlines() if f"`{name}`" in one and tool in one]
        assert notice["instead"] in line
        assert ".".join(notice["remove_not_before"].split(".")[:2]) in line
