"""Instructions of x86 that programs call by LLVM's names, as the interpreter computes them: one lane of 32 bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np

from ..dtype import INT32
from .make import wrap


def _bytes(word: int, kind: type[np.integer[Any]]) -> list[int]:
    """Return the four bytes of a word, the lowest first, as numbers of a type."""
    return np.array([word], np.int32).view(kind).tolist()


def _dot_of_bytes(total: int, a: int, b: int) -> int:
    """Return total + the sum of the products of the bytes of a, unsigned, and of b, signed."""
    products = (x * y for x, y in zip(_bytes(a, np.uint8), _bytes(b, np.int8), strict=True))
    return wrap(total + sum(products), INT32)


def _dot_of_halves(total: Any, a: int, b: int) -> Any:
    """Return total + the products of the two bfloat16 in a and in b, the upper one first."""
    pairs = (np.array([word], np.int32).view(ml_dtypes.bfloat16).astype(np.float32) for word in (a, b))
    (low_a, high_a), (low_b, high_b) = pairs
    return np.float32(
        np.float64(np.float32(np.float64(total) + np.float64(high_a) * high_b)) + np.float64(low_a) * low_b
    )


LLVM_MEANINGS: Final[dict[str, Callable[..., Any]]] = {
    "llvm.x86.avx512.vpdpbusd.512": _dot_of_bytes,
    "llvm.x86.avx512bf16.dpbf16ps.512": _dot_of_halves,
}
"""Of each instruction what it makes of one lane of each operand."""
