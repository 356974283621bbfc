"""Reference pages, examples and types: made from the schema files, and true."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_type_hints

import pytest
from jsonschema import Draft202012Validator

from contract_tests.manifest import promise
from graymatter_mcp.contract import payloads
from graymatter_mcp.contract.load import load_bundle, toolset_names
from graymatter_mcp.contract.pages.reference import examples_of
from graymatter_mcp.contract.pages.written import REFERENCE, made_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graymatter_mcp.contract.load import ToolContract

ROOT: Final = Path(__file__).parents[1]
TOOLS: Final = load_bundle(toolset_names()).tools
EVERY: Final = pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])

USES_PYTHON: Final = """
from graymatter_mcp.contract.payloads import (
    CheckpointResumeOutput,
    MemoryHybridSearchOutput,
    MemorySearchInput,
)

good: MemorySearchInput = {"agent_id": "a", "query": "q", "min_confidence": "verified"}


def vectors(answer: MemoryHybridSearchOutput) -> list[float]:
    return [item["signals"]["vector"] for item in answer["results"] if "signals" in item]


def goal(answer: CheckpointResumeOutput) -> object:
    return answer["state"] if "state" in answer else None
"""

USES_TYPESCRIPT: Final = """
import type { MemorySearchInput, Tools } from "./graymatter.js";

export const good: MemorySearchInput = { agent_id: "a", query: "q", min_confidence: "verified" };
export type Answer = Tools["checkpoint_resume"]["output"];
export function state(answer: Answer): unknown {
  return "found" in answer ? undefined : answer.state;
}
export function vectors(answer: Tools["memory_hybrid_search"]["output"]): (number | undefined)[] {
  return answer.results.map((item) => item.signals?.vector);
}
"""


def fits(schema: Any, value: Any) -> bool:
    """Ask an independent validator."""
    return cast("Any", Draft202012Validator(schema)).is_valid(value)  # its stubs are unknown


@promise("contract:pages")
def test_pages_and_types_are_what_the_schema_files_make() -> None:
    """Issue 7: run `python -m graymatter_mcp.contract` after a change of the schemas."""
    made = made_files()
    found = {name: (ROOT / name).read_text("utf-8") for name in made if (ROOT / name).is_file()}
    assert found == dict(made)
    pages = {f"{REFERENCE}/{page.name}" for page in (ROOT / REFERENCE).iterdir()}
    assert pages == {name for name in made if name.startswith(REFERENCE)}


@promise("contract:pages")
@EVERY
def test_every_example_is_valid(tool: ToolContract) -> None:
    """Issue 7: one valid example for each branch."""
    examples = examples_of(tool.name)
    for example in examples:
        assert set(example) == {"title", "input", "output"}
        assert fits(tool.input_schema, example["input"]), example["title"]
        assert fits(tool.output_schema, example["output"]), example["title"]
    for branch in tool.output_schema.get("oneOf", [tool.output_schema]):
        assert [one for one in examples if fits(branch, one["output"])]


def declared(schema: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every property that a schema declares."""
    for branch in [schema, *schema.get("oneOf", [])]:
        for name, part in branch.get("properties", {}).items():
            yield f"{path}{name}"
            yield from declared(part, f"{path}{name}.")
            yield from declared(part.get("items", {}), f"{path}{name}.")


def leaf(path: str) -> str:
    """Return the last name of a path."""
    return path.rpartition(".")[2]


def used(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every property that a value holds."""
    if isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from used(item, path)
    elif isinstance(value, dict):
        for name, part in cast("dict[str, Any]", value).items():
            yield f"{path}{name}"
            yield from used(part, f"{path}{name}.")


SHOWN: Final = {
    leaf(path)
    for tool in TOOLS
    if tool.toolset != "core"
    for example in examples_of(tool.name)
    for path in used(example["output"])
}
"""Names of keys that some example of a twin answers with."""


@promise("contract:pages")
@EVERY
def test_every_property_is_seen_in_an_example(tool: ToolContract) -> None:
    """Issue 7: what is declared is shown."""
    for schema, side in ((tool.input_schema, "input"), (tool.output_schema, "output")):
        seen = {path for example in examples_of(tool.name) for path in used(example[side])}
        unseen = set(declared(schema)) - seen
        if tool.toolset != "core" and side == "output":
            # Twins share the parts of their answers, and not each part comes from each twin.
            unseen = {path for path in unseen if leaf(path) not in SHOWN}
        assert unseen == set()


@promise("contract:pages")
@EVERY
def test_the_types_have_the_keys_of_the_schemas(tool: ToolContract) -> None:
    """Issue 7: types that callers can build on."""
    base = "".join(word.capitalize() for word in tool.name.split("_"))
    branches = tool.output_schema.get("oneOf", [tool.output_schema])
    names = [f"{base}Output{number}" for number in range(1, len(branches) + 1)]
    pairs = [(f"{base}Input", tool.input_schema)]
    pairs += zip(names if len(branches) > 1 else [f"{base}Output"], branches, strict=True)
    for name, schema in pairs:
        kind = getattr(payloads, name)
        assert set(get_type_hints(kind)) == set(schema.get("properties", {}))
        assert kind.__required_keys__ == frozenset(schema.get("required", ()))


@promise("contract:pages")
@pytest.mark.slow
def test_the_python_types_take_what_fits_and_refuse_what_does_not(tmp_path: Path) -> None:
    """Issue 7: compiled in CI."""
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    program = tmp_path / "uses.py"
    for text, complaint in (
        (USES_PYTHON, None),
        (USES_PYTHON.replace('"verified"', '"certain"'), "certain"),
        (USES_PYTHON.replace('"query": "q", ', ""), "query"),
    ):
        program.write_text(text)
        checked = subprocess.run(
            [
                *(sys.executable, "-m", "pyright", "--outputjson"),
                *("--pythonpath", sys.executable, str(program)),
            ],
            capture_output=True,
            check=False,
            cwd=tmp_path,
        )
        found = [one["message"] for one in json.loads(checked.stdout)["generalDiagnostics"]]
        assert (found == []) is (complaint is None), found
        assert complaint is None or complaint in found[0]


@promise("contract:pages")
@pytest.mark.interop
def test_the_typescript_types_compile_strictly(tmp_path: Path) -> None:
    """Issue 7: tsc in the interop stage."""
    project = tmp_path / "typescript"
    example = ROOT / "examples" / "typescript"
    shutil.copytree(example, project, ignore=shutil.ignore_patterns("node_modules", "dist"))
    subprocess.run(["npm", "ci"], cwd=project, check=True, capture_output=True)
    config = json.loads((project / "tsconfig.json").read_text("utf-8"))
    (project / "tsconfig.json").write_text(json.dumps({**config, "files": ["uses.ts"]}))
    for text, is_good in (
        (USES_TYPESCRIPT, True),
        (USES_TYPESCRIPT.replace('"verified"', '"certain"'), False),
        (re.sub(r"query: .q., ", "", USES_TYPESCRIPT), False),
    ):
        (project / "uses.ts").write_text(text)
        built = subprocess.run(["npx", "tsc"], cwd=project, check=False, capture_output=True)
        assert (built.returncode == 0) is is_good, built.stdout.decode()
