"""Whether a store can answer a question at all: the evidence of each fact, and the floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from graymatter_mcp.ranking.bm25 import idf

if TYPE_CHECKING:
    from collections.abc import Sequence

_SLACK: Final = 1e-9
"""Evidence that equals the floor on paper may fall short of it by a rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The constants of one embedding model."""

    min_vector_score: float
    """Cosine from which a fact is no noise."""
    abstain_below: float
    """Evidence under which nothing is answered; 0 answers always."""
    unrelated_cosine: float = 0.15
    """Cosine that two texts without relation may have."""
    cosine_span: float = 0.40
    """How far above it full evidence lies."""


Lent = tuple[NDArray[np.int32], NDArray[np.float64]]

BUNDLED: Final = Calibration(min_vector_score=0.25, abstain_below=0.30)
UNCALIBRATED: Final = Calibration(min_vector_score=0.0, abstain_below=0.0)


def evidence(
    term_rows: Sequence[NDArray[np.int32]],
    cosine: NDArray[np.float64] | None,
    eligible: NDArray[np.bool_],
    calibration: Calibration = BUNDLED,
    lent: Sequence[Lent] = (),
) -> NDArray[np.float64]:
    """Return how far each fact answers the query: 1 - (1 - c)(1 - s), 0.0 where not eligible.

    c is the share of the query's terms that the fact holds, weighed by idf; s is its cosine, from
    unrelated to certain.

    Args:
        term_rows: For each distinct content term of the query, the rows that hold it; empty for an
            unknown term.
        cosine: NaN or -inf where a row has no vector; None when the leg did not run.
        eligible: Rows that exist.
        calibration: Constants of the model that made the cosines.
        lent: For unknown terms, the rows that hold them inside of other words, and the part of the
            term that each holds so; they count as unknown all the same.

    Source: data-plane contract 4.9.
    """
    count = int(np.count_nonzero(eligible))
    found, mass = np.zeros(eligible.size, np.float64), 0.0
    for rows in term_rows:
        held = rows[eligible[rows]]
        weight = idf(count, held.size)
        mass += weight
        found[held] += weight
    for rows, part in lent:
        kept = eligible[rows]
        found[rows[kept]] += part[kept] * idf(count, 0)
    share = found / mass if mass > 0 else found
    near = np.zeros(eligible.size, np.float64)
    if cosine is not None:
        near = nearness(cosine, calibration)
    return np.where(eligible, joined(share, near), 0.0)


def nearness(cosine: NDArray[np.float64], calibration: Calibration) -> NDArray[np.float64]:
    """Return s: 0.0 at the cosine of unrelated texts and below or where it is missing, up to 1."""
    known = np.where(np.isfinite(cosine), cosine, -1.0)
    above = known - calibration.unrelated_cosine
    return np.clip(above / calibration.cosine_span, 0.0, 1.0)


def joined(share: NDArray[np.float64], near: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 - (1 - c)(1 - s): either part alone can be enough."""
    return 1.0 - (1.0 - share) * (1.0 - near)


def abstains(
    evidence: NDArray[np.float64],
    eligible: NDArray[np.bool_],
    *,
    floor: float,
    degraded: bool,
    has_content_terms: bool,
) -> bool:
    """Whether to answer nothing, since no eligible fact has evidence of at least `floor`.

    Never when nothing is eligible, a leg is missing (that proves no absence), the query consists of
    stop words, or the floor is 0.
    """
    if degraded or not has_content_terms or floor == 0 or not eligible.any():
        return False
    return bool(evidence[eligible].max() < floor - _SLACK)
