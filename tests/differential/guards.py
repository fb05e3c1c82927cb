"""Arrays with guard words before and after, poisoned where the program must write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

GUARD = 64
"""Bytes of guard on either side: a multiple of what any access is aligned to."""
PATTERN = 0xA5
POISON = 0xFF
"""Bytes of what nothing has written yet: not a number in any float, -1 in integers."""


class Guarded:
    """An array in the middle of a larger one whose other bytes must stay as they are; `arrays` is NumPy or CuPy."""

    def __init__(self, shape: Sequence[int], dtype: np.dtype | str, arrays: Any = np) -> None:
        kind = np.dtype(dtype)
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        self.bytes = arrays.full(size + 2 * GUARD, PATTERN, np.uint8)
        inside = self.bytes[GUARD : GUARD + size]
        inside[...] = POISON
        self.array = inside.view(kind).reshape(shape)

    @classmethod
    def of(cls, values: np.ndarray, arrays: Any = np) -> Guarded:
        """Return a guarded copy of an input."""
        guarded = cls(values.shape, values.dtype, arrays)
        guarded.array[...] = arrays.asarray(values)
        return guarded

    def numpy(self) -> np.ndarray:
        """Return the array in the host's memory."""
        return self.array if isinstance(self.array, np.ndarray) else self.array.get()

    def check(self, what: str) -> None:
        """Fail when a guard word was written."""
        everything = self.bytes if isinstance(self.bytes, np.ndarray) else self.bytes.get()
        for end, part in (("before", everything[:GUARD]), ("after", everything[-GUARD:])):
            touched = np.flatnonzero(part != PATTERN)
            assert touched.size == 0, f"{touched.size} bytes {end} {what} were written, the first at {touched[0]}"
