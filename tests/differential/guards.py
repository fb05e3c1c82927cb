"""Arrays with guard words before and after, poisoned where the program must write."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

GUARD = 64
"""Bytes of guard on either side."""
PATTERN = 0xA5


class Guarded:
    """An array in the middle of a larger one whose other bytes must stay as they are."""

    def __init__(self, shape: Sequence[int], dtype: np.dtype | str) -> None:
        kind = np.dtype(dtype)
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        self.bytes = np.full(size + 2 * GUARD, PATTERN, np.uint8)
        self.array = self.bytes[GUARD : GUARD + size].view(kind).reshape(shape)

    @classmethod
    def of(cls, values: np.ndarray) -> Guarded:
        """Return a guarded copy of an input."""
        guarded = cls(values.shape, values.dtype)
        guarded.array[...] = values
        return guarded

    def check(self, what: str) -> None:
        """Fail when a guard word was written."""
        for end, part in (("before", self.bytes[:GUARD]), ("after", self.bytes[-GUARD:])):
            touched = np.flatnonzero(part != PATTERN)
            assert touched.size == 0, f"{touched.size} bytes {end} {what} were written, the first at {touched[0]}"
