"""Frozen bundles: one file a release, never edited, held by a digest."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.contract.bundle import bundle_document
from graymatter_mcp.contract.compat import read_release
from graymatter_mcp.contract.compat.enforce import problems
from graymatter_mcp.contract.compat.versions import in_order
from graymatter_mcp.contract.load import MAJOR, BrokenContractError, schema_root
from graymatter_mcp.contract.snapshot import canonical_json
from graymatter_mcp.errors import InvalidArgumentError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from graymatter_mcp.contract.compat import Release

PINNED: Final = "PINNED.json"
FOLDER: Final = "released"


def released_versions(root: Traversable | None = None) -> list[str]:
    """Return the versions that are frozen, oldest first."""
    return in_order(_pins(schema_root() if root is None else root))


def read_released(version: str, root: Traversable | None = None) -> dict[str, Any]:
    """Read a frozen bundle.

    Raises:
        BrokenContractError: It is missing, or is not what was frozen.
        InvalidArgumentError: No such version is frozen.
    """
    folder = schema_root() if root is None else root
    pins = _pins(folder)
    if version not in pins:
        known = ", ".join(in_order(pins)) or "none"
        raise InvalidArgumentError(f'version "{version}" is not released; released: {known}')
    try:
        content = folder.joinpath(FOLDER, f"{version}.json").read_bytes()
    except OSError as exc:
        raise BrokenContractError(f"the bundle of {version} cannot be read") from exc
    if sha256(content).hexdigest() != pins[version]:
        raise BrokenContractError(f"the bundle of {version} is not the one that was frozen")
    return json.loads(content)


def stray_bundles(root: Traversable | None = None) -> list[str]:
    """Return bundles that no pin holds."""
    folder = schema_root() if root is None else root
    released = folder.joinpath(FOLDER)
    found = [one.name for one in released.iterdir()] if released.is_dir() else []
    return sorted(set(found) - {f"{version}.json" for version in _pins(folder)})


def verify(version: str, root: Traversable | None = None) -> list[str]:
    """Return what stands in the way of releasing the schema files under a version.

    Raises:
        BrokenContractError: A file is missing, or a bundle is not what was frozen.
    """
    frozen = [_release(one, root) for one in released_versions(root)]
    tree = read_release(bundle_document(version, root))
    mine = [release for release, major in frozen if major == MAJOR]
    stray = [f"released/{name} is held by no pin" for name in stray_bundles(root)]
    return stray + problems(tree, mine)


def freeze(version: str, root: Path) -> Path:
    """Freeze what the schema files hold as the bundle of a version.

    Args:
        version: Must not be frozen yet.
        root: The directory of schemas in a checkout.

    Raises:
        InvalidArgumentError: The version is frozen already, or something stands in its way.
        BrokenContractError: The schema files are inconsistent.
    """
    pins = _pins(root)
    if version in pins:
        raise InvalidArgumentError(f"{version} is frozen and never edited: choose a later version")
    found = verify(version, root)
    if found:
        raise InvalidArgumentError(f"{version} cannot be frozen: {'; '.join(found)}")
    content = canonical_json(bundle_document(version, root)).encode()
    target = root / FOLDER / f"{version}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(content)
    pins[version] = sha256(content).hexdigest()
    ordered = {one: pins[one] for one in in_order(pins)}
    (root / PINNED).write_text(json.dumps(ordered, indent=2) + "\n", encoding="utf-8")
    return target


def checkout_root() -> Path:
    """Return the schemas of the source checkout that this package runs from.

    Raises:
        InvalidArgumentError: The package is installed, and its schemas are not to be changed.
    """
    root = schema_root()
    if not isinstance(root, Path) or root.parent.name == "graymatter_mcp":
        raise InvalidArgumentError("only a source checkout has schema files that can be frozen")
    return root


def _release(version: str, root: Traversable | None) -> tuple[Release, str]:
    document = read_released(version, root)
    return read_release(document), str(document.get("contract"))


def _pins(root: Traversable) -> dict[str, str]:
    path = root.joinpath(PINNED)
    if not path.is_file():
        return {}
    try:
        return cast("dict[str, str]", json.loads(path.read_text("utf-8")))
    except ValueError as exc:
        raise BrokenContractError(f"{PINNED} cannot be read") from exc
