"""Where an array's elements lie: gaps, spans of memory, elements that share it."""

from __future__ import annotations

from typing import Any

import numpy as np

_SHARE_WORK = 100_000
"""How much searching `shares` does before it takes two interleaved arrays for overlapping."""


def compact_strides(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return the strides, in bytes, of a row-major array without gaps."""
    strides: list[int] = []
    for extent in reversed(shape):
        strides.append(size)
        size *= extent
    return tuple(reversed(strides))


def is_compact(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> bool:
    """Return whether an array is row-major without gaps; strides of single elements do not matter."""
    if 0 in shape:
        return True
    wanted = compact_strides(shape, size)
    return all(extent == 1 or x == y for extent, x, y in zip(shape, strides, wanted, strict=True))


def span(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> tuple[int, int]:
    """Return the bytes an array covers, first and one past the last, counted from its element 0."""
    if 0 in shape:
        return 0, 0
    reaches = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    return sum(min(reach, 0) for reach in reaches), sum(max(reach, 0) for reach in reaches) + size


def overlaps_itself(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> bool:
    """Return whether two elements may share memory: some dimension steps less than what those inside it cover."""
    if 0 in shape:
        return False
    covered = size
    steps = sorted((abs(stride), extent) for stride, extent in zip(strides, shape, strict=True) if extent > 1)
    for stride, extent in steps:
        if stride < covered:
            return True
        covered += (extent - 1) * stride
    return False


def shares(a: Any, b: Any) -> bool:
    """Return whether two arrays whose spans meet have an element in common, and true where that is hard to say."""
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return True
    try:
        share: Any = np.shares_memory  # NumPy's stub allows only 0 and -1 as max_work
        return bool(share(a, b, max_work=_SHARE_WORK))
    except (RuntimeError, OverflowError):  # NumPy's TooHardError is one
        return True
