"""Every promise that a client can hold us to: its source, its words, the tests that keep it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.promises import (
    access,
    arguments,
    contract,
    curation,
    field,
    http,
    legacy,
    life,
    plane,
    plane_accounts,
    plane_reads,
    plane_reports,
    plane_search,
    plane_wire,
    plane_writes,
    processes,
    recall,
    storage,
    surface,
    writes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contract_tests.promises import Promise

PROMISES: Final[Mapping[str, Promise]] = {
    name: row
    for topic in (
        surface,
        arguments,
        curation,
        recall,
        writes,
        field,
        processes,
        access,
        http,
        legacy,
        life,
        plane,
        plane_accounts,
        plane_reads,
        plane_reports,
        plane_search,
        plane_wire,
        plane_writes,
        storage,
        contract,
    )
    for name, row in topic.ROWS.items()
}


def promise(*ids: str) -> pytest.MarkDecorator:
    """Bind a test to rows; an id without a row fails when the test is collected."""
    unknown = [row for row in ids if row not in PROMISES]
    if unknown:
        raise KeyError(f"no such promise: {unknown}")
    return pytest.mark.promise(*ids)
