"""What matrix instructions compute: d = a @ b + c, on arrays of matrices.

Products are exact, here and in hardware. Here the sum is formed in float64 and rounded once, to the nearest. Hardware
adds the products and c as integers, aligned to the greatest of them, with the bits below some place cut off, and cuts
the float32 that comes out too: 24 bits and a few for 16-bit and tf32 factors, about 14 for the 8-bit floats of sm_90.
float64 is summed in an order of its own. Integers are exact, and wrap.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import ml_dtypes
import numpy as np

from .matrix_layout import Array

_SMALL_FLOATS: Final = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}
PTX_TYPES: Final = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "int8": "s8",
    "uint8": "u8",
    "int32": "s32",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
}
"""Types of elements as PTX calls them; a factor of float32 is tf32."""
_TF32_BITS: Final = np.uint32(0xFFFFE000)


@cache
def numpy_type(name: str) -> np.dtype[Any]:
    """Return the NumPy type of an element; float8_e4m3fn and float8_e5m2 are known too."""
    return np.dtype(_SMALL_FLOATS.get(name, name))


def factor_type(name: str) -> str:
    """Return what PTX calls a factor of that type."""
    return "tf32" if name == "float32" else PTX_TYPES[name]


def as_multiplied(values: Array) -> Array:
    """Return in float64 what hardware multiplies: of a float32 the upper 19 bits, tf32, and the others are cut off."""
    if values.dtype == np.float32:
        values = (np.ascontiguousarray(values).view(np.uint32) & _TF32_BITS).view(np.float32)
    return values.astype(np.float64)


def multiply_add(a: Array, b: Array, c: Array | None, result: str) -> Array:
    """Return a @ b + c in type `result`: a (..., m, k), b (..., k, n), c (..., m, n) or None, which adds nothing."""
    with np.errstate(all="ignore"):
        sums = as_multiplied(a) @ as_multiplied(b)
        if result == "int32":  # 32 products of bytes are exact in float64
            whole = sums.astype(np.int64)
            return (whole if c is None else whole + c).astype(np.int32)
        return (sums if c is None else sums + c.astype(np.float64)).astype(numpy_type(result))
