"""When the model is asked again after it failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.engine.retries import Retries
from tests.engine.desk import until

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from graymatter_mcp.embedding.base import Windows
    from tests.engine.conftest import DeskMaker


class Ill(HashedEmbedder):
    """Fails until it is well."""

    is_well = False

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed, or fail."""
        if not self.is_well:
            raise EmbeddingError("a component is not finite")
        return super().embed(texts)


def test_waits_double_from_a_second_to_ten_minutes(caplog: pytest.LogCaptureFixture) -> None:
    """Data plane, 7.4: one line of ERROR a minute, with a count; success begins anew."""
    now = 0.0
    retries = Retries(30.0, lambda: now)
    assert retries.left_s() is None
    waits: list[float] = []
    for _ in range(12):
        retries.note(3)
        left = retries.left_s()
        assert left is not None
        waits.append(left)
        retries.note(4)
        assert retries.left_s() == left
        now += left
        assert retries.left_s() == 0.0
        retries.begin()
        assert retries.left_s() is None
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]
    assert [record.levelname for record in caplog.records] == ["ERROR"] * 7
    assert "3 texts" in caplog.text
    retries.note(0)
    assert retries.left_s() is None
    retries.note(1)
    assert retries.left_s() == 1.0


def test_a_model_that_is_well_again_makes_up_for_what_it_missed(make_desk: DeskMaker) -> None:
    """Data plane, 7.4: long before the store is asked for what was missed, which is in an hour."""
    model = Ill()
    desk = make_desk(load=lambda: model)
    desk.add("deploys run on Tuesday")
    desk.settle()
    assert desk.run(desk.memory.status).pending_vector_ops == 1
    model.is_well = True
    until(lambda: desk.run(desk.memory.status).pending_vector_ops == 0)
