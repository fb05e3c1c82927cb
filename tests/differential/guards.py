"""Arrays with guard words around them, poisoned where the program must write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

GUARD = 64
"""Bytes of guard on either side: a multiple of what any access is aligned to."""
PATTERN = 0xA5
"""Bytes that must stay as they are."""
POISON = 0xFF
"""Bytes of what nothing has written yet: not a number in any float, -1 in integers."""


class Guarded:
    """An array in the middle of a larger one whose other bytes must stay as they are; `arrays` is NumPy or CuPy.

    With `gaps`, every other element of the last dimension is a guard too.
    """

    def __init__(self, shape: Sequence[int], dtype: np.dtype | str, arrays: Any = np, *, gaps: bool = False) -> None:
        self.kind, self.step = np.dtype(dtype), 1 + gaps
        self.extents = (*shape[:-1], shape[-1] * self.step) if shape else ()
        self.size = int(np.prod(self.extents, dtype=np.int64)) * self.kind.itemsize
        self.bytes = arrays.full(self.size + 2 * GUARD, PATTERN, np.uint8)
        self.array = self._inside(self.bytes, self.kind)
        self.array[...] = _poison(self.kind)

    @classmethod
    def of(cls, values: np.ndarray, arrays: Any = np, *, gaps: bool = False) -> Guarded:
        """Return a guarded copy of an input."""
        guarded = cls(values.shape, values.dtype, arrays, gaps=gaps)
        guarded.array[...] = arrays.asarray(values)
        return guarded

    def _inside(self, everything: Any, kind: np.dtype) -> Any:
        """Return the array among the guards, its elements seen as `kind`."""
        inside = everything[GUARD : GUARD + self.size].view(kind).reshape(self.extents)
        return inside[..., :: self.step] if self.extents else inside

    def numpy(self) -> np.ndarray:
        """Return the array in the host's memory."""
        return _on_host(self.array)

    def check(self, what: str) -> None:
        """Fail when a guard word was written."""
        everything = _on_host(self.bytes).copy()
        raw = np.dtype(f"V{self.kind.itemsize}")  # a bool would not keep the pattern
        self._inside(everything, raw)[...] = np.full(raw.itemsize, PATTERN, np.uint8).view(raw)[0]
        touched = np.flatnonzero(everything != PATTERN)
        assert touched.size == 0, (
            f"{touched.size} bytes around {what} were written, the first at {touched[0] - GUARD} of {self.size}"
        )


def _poison(kind: np.dtype) -> Any:
    return np.full(kind.itemsize, POISON, np.uint8).view(kind)[0]


def _on_host(array: Any) -> np.ndarray:
    return array if isinstance(array, np.ndarray) else array.get()
