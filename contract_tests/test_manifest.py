"""No promise without a test, no test without a promise."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.binding import OUTPUT
from contract_tests.manifest import PROMISES, promise
from contract_tests.promises.pending import CASES, FIELD_CASES, PENDING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HERE: Final = Path(__file__).parent


def loose_ends(rows: Iterable[str], bindings: Mapping[str, list[str]]) -> list[str]:
    """Return rows without a test and tests without a row."""
    held = {row for names in bindings.values() for row in names}
    return [f"row without a test: {row}" for row in rows if row not in held] + [
        f"test without a row: {test}" for test, names in bindings.items() if not names
    ]


@pytest.fixture(scope="module")
def bindings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What a collection of the whole suite binds, whatever is selected now."""
    output = tmp_path_factory.mktemp("bindings") / "bindings.json"
    collected = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "--collect-only", "-q"),
            *("-p", "no:cacheprovider", "-p", "contract_tests.binding", str(HERE)),
        ],
        capture_output=True,
        check=False,
        cwd=HERE.parent,
        env={**os.environ, OUTPUT: str(output), "PYTEST_ADDOPTS": ""},
    )
    assert collected.returncode == 0, collected.stdout.decode()[-2000:]
    return json.loads(output.read_text(encoding="utf-8"))


@promise("manifest:complete")
def test_every_row_has_a_test_and_every_test_a_row(bindings: dict[str, list[str]]) -> None:
    """House, section 3."""
    assert bindings
    assert loose_ends(PROMISES, bindings) == []


@promise("manifest:complete")
def test_a_loose_end_would_be_seen() -> None:
    """House, section 5, question 8: the check fails when it should."""
    assert loose_ends(["a", "b"], {"test_x": ["a"], "test_y": []}) == [
        "row without a test: b",
        "test without a row: test_y",
    ]
    with pytest.raises(KeyError):
        promise("no:such-row")


@promise("manifest:complete")
def test_every_case_of_the_specification_is_a_row_or_known_to_be_missing() -> None:
    """Issue 7: no promise of the specification is forgotten, none is both held and missing."""
    sources = {row.source for row in PROMISES.values()}
    cases = {f"C{number}" for number in range(1, CASES + 1)}
    cases |= {f"F{number}" for number in range(1, FIELD_CASES + 1)}
    assert cases - sources == PENDING.keys()
    assert all(PENDING.values())


@promise("manifest:complete")
def test_every_row_is_a_sentence_with_a_source() -> None:
    """House, section 3: gaps are said, in the row."""
    for name, row in PROMISES.items():
        assert re.fullmatch(r"[a-z]+:[a-z0-9-]+", name)
        assert row.source
        assert row.text[0].isupper() or row.text[0] == "`"
        assert row.text.endswith(".")
