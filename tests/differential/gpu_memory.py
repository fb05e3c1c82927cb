"""The GPU memory that a call allocates for itself: with guard words, and poisoned until something is stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from .guards import PATTERN, POISON

GUARD = 256
"""Bytes of guard on either side: what CuPy aligns allocations to, at least."""


class GuardedAllocations:
    """Inside `with`, what CuPy allocates lies between guard words; `check` tells whether they are as they were."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._allocator = cupy.cuda.using_allocator(self._allocate)
        self._made: list[tuple[Any, int]] = []

    def __enter__(self) -> GuardedAllocations:
        self._allocator.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self._allocator.__exit__(*failure)

    def _allocate(self, size: int) -> Any:
        whole = self._cupy.get_default_memory_pool().malloc(size + 2 * GUARD)
        self._made.append((whole, size))
        whole.memset_async(PATTERN, size + 2 * GUARD)
        inside = whole + GUARD
        inside.memset_async(POISON, size)
        return inside

    def check(self, what: str) -> None:
        """Fail when a guard word was written."""
        for number, (whole, size) in enumerate(self._made):
            every = self._cupy.ndarray((size + 2 * GUARD,), np.uint8, memptr=whole).get()
            touched = np.flatnonzero(np.r_[every[:GUARD], every[GUARD + size :]] != PATTERN)
            assert touched.size == 0, f"{touched.size} bytes around temporary {number} were written ({what})"
