"""One table of errors: every code has its row."""

from __future__ import annotations

import pytest

from graymatter_mcp import errors
from graymatter_mcp.errors import ErrorCode, StoreUnavailableError
from graymatter_mcp.surfaces.error_map import ERROR_MAP, reason_of


def test_every_code_has_a_row_and_every_row_a_phrase() -> None:
    """Contract 9.4, house 2."""
    assert set(ERROR_MAP) == set(ErrorCode)
    assert all(row.phrase for row in ERROR_MAP.values())


def test_every_error_class_has_a_code_of_the_table() -> None:
    """Contract 9.4."""
    classes = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type)
        and issubclass(kind, errors.GraymatterError)
        and kind is not errors.GraymatterError
    ]
    assert {kind.code for kind in classes} == set(ERROR_MAP)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("invalid_argument", 400),
        ("not_found", 404),
        ("no_checkpoints", 404),
        ("fact_changed", 409),
        ("retry_recall", 409),
        ("corrupt_record", 500),
        ("read_only", 403),
        ("unauthorized", 401),
        ("forbidden", 403),
        ("capability_unsupported", 501),
        ("commit_unknown", 502),
        ("committed_but_failed", 500),
        ("store_unavailable", 503),
    ],
)
def test_a_code_has_the_documented_http_status(code: str, status: int) -> None:
    """Contract 9.4."""
    assert ERROR_MAP[ErrorCode(code)].http_status == status


def test_every_error_ends_a_command_with_exit_code_one() -> None:
    """Contract 9.4, 11.1."""
    assert {row.exit_code for row in ERROR_MAP.values()} == {1}


def test_an_error_without_text_still_has_a_reason() -> None:
    """House 4."""
    assert reason_of(StoreUnavailableError("disk full")) == "disk full"
    assert reason_of(StoreUnavailableError("")) == "store unavailable"
