"""Similarity over very many vectors: sign codes choose, exact products decide.

One bit a component says on which side of zero it lies; two vectors differ in about angle / pi of
their bits. Counting differing bits reads a thirty-second of the memory that products read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.store.duckdb.parts import in_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORTLIST: Final = 16_384
"""Vectors whose products are exact; more where codes tie."""
_NEVER: Final = (1 << 16) - 1
"""A distance beyond all that codes can have."""
_CHUNK: Final = 1 << 16
"""Vectors counted at once: the temporaries of a chunk stay in the cache."""


def sign_codes(vectors: NDArray[np.int16]) -> NDArray[np.uint64]:
    """Return one bit a component, shape (words, vectors): words of all vectors lie together."""
    packed = np.packbits(vectors > 0, axis=1)
    padding = -packed.shape[1] % 8
    padded = np.pad(packed, ((0, 0), (0, padding)))
    return np.ascontiguousarray(padded.view(np.uint64).T)


def distances(codes: NDArray[np.uint64], query: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Count the bits in which each vector differs from the query.

    Args:
        codes: Shape (words, vectors).
        query: Shape (words,).
    """
    counts = np.zeros(codes.shape[1], np.uint16)
    for start in range(0, codes.shape[1], _CHUNK):
        part = counts[start : start + _CHUNK]
        for word, bits in zip(codes, query, strict=True):
            part += np.bitwise_count(word[start : start + _CHUNK] ^ bits)
    return counts


def exact_products(vectors: NDArray[np.float32], query: NDArray[np.int16]) -> NDArray[np.float32]:
    """Return the product of each vector with the query; whole numbers, so no order changes them.

    Args:
        vectors: Fixed point, shape (vectors, dim).
        query: Fixed point, shape (dim,).
    """
    other = query.astype(np.float32)
    products = np.empty(len(vectors), np.float32)

    def multiply(part: slice) -> None:
        np.matmul(vectors[part], other, out=products[part])

    in_parts(len(vectors), multiply)
    return products


def similarities(
    vectors: NDArray[np.int16],
    codes: NDArray[np.uint64],
    query: NDArray[np.int16],
    wanted: NDArray[np.bool_],
    shortlist: int = SHORTLIST,
) -> NDArray[np.float32]:
    """Return exact products for the nearest by code, and below them the rest in code order.

    Args:
        vectors: Fixed point, shape (vectors, dim).
        codes: Their `sign_codes`.
        query: Fixed point, shape (dim,).
        wanted: Which vectors may be chosen; at least one.
        shortlist: How many at least get their exact product.

    Returns:
        Shape (vectors,); whole numbers, without meaning where not wanted.
    """
    counts = distances(codes, sign_codes(query[np.newaxis])[:, 0])
    counts[~wanted] = _NEVER
    totals = np.cumsum(np.bincount(counts, minlength=_NEVER + 1)[:_NEVER])
    within = min(int(np.searchsorted(totals, shortlist)), _NEVER - 1)
    near = np.flatnonzero(counts <= within)
    exact = vectors[near].astype(np.float32) @ query.astype(np.float32)
    found = exact.min() - np.float32(1) - counts.astype(np.float32)
    found[near] = exact
    return found
