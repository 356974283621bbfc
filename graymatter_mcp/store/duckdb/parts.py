"""Work on long arrays in two parts, one a core, where there are two."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_WORTH_A_THREAD: Final = 1 << 15
"""Vectors above which half of them take longer than waking a thread does."""
_CORES: Final = os.cpu_count() or 1
_pool: Final = ThreadPoolExecutor(_CORES, thread_name_prefix="graymatter-part")


def in_parts(size: int, work: Callable[[slice], object]) -> None:
    """Call `work` with slices that together are `range(size)`, in any order and at once.

    It must release the interpreter's lock for most of its time.
    """
    if size < _WORTH_A_THREAD or _CORES == 1:
        work(slice(0, size))
        return
    half = size // 2
    rest = _pool.submit(work, slice(half, size))
    try:
        work(slice(0, half))
    finally:
        rest.result()
