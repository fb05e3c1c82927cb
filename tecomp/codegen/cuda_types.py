"""Element types as CUDA C++ spells them, and numbers as it reads them."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..dtype import DType
from ..errors import UnsupportedError
from ..ir import expr as E
from .precedence import ATOM, UNARY, Text

C_TYPES: Final = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "index": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float16": "half",
    "bfloat16": "bfloat16",
    "float32": "float",
    "float64": "double",
    "handle": "void*",
}
"""Of each element type. half and bfloat16 are the prelude's."""

_SUFFIX: Final = {"int64": "ll", "index": "ll", "uint32": "u", "uint64": "ull", "float32": "f"}
SMALL_FLOATS: Final = ("float16", "bfloat16")
"""Kept in 16 bits, computed in float: each operation is rounded once."""


def c_type(dtype: DType) -> str:
    """Return the C++ type of one element; UnsupportedError for buffers of vectors."""
    if dtype.lanes > 1:
        raise UnsupportedError(f"a buffer of {dtype} on cuda", because="its elements are vectors", legal=dtype.element)
    return C_TYPES[dtype]


def register_type(dtype: DType) -> str:
    """Return the C++ type of what a thread keeps in registers, vectors too."""
    return C_TYPES[dtype] if dtype.lanes == 1 else f"Vec<{C_TYPES[dtype.element]}, {dtype.lanes}>"


def literal(node: E.Const) -> Text:
    """Return a number as C++ reads it, exactly: 2 -> 2, 0.1 as float32 -> 0.1f, of float16 -> half(0.1f)."""
    dtype, value = node.dtype.element, node.value
    if dtype.is_bool:
        return Text("true" if value else "false")
    if dtype.is_float:
        return _float(float(value), dtype)
    return _integer(int(value), dtype)


def _integer(value: int, dtype: DType) -> Text:
    suffix = _SUFFIX.get(dtype, "")
    if dtype.kind != "uint" and dtype.bits >= 32 and value == -(1 << dtype.bits - 1):
        return Text(f"(-{-(value + 1)}{suffix} - 1)")  # the digits alone would not fit
    return Text(f"{value}{suffix}", UNARY if value < 0 else ATOM)


def _float(value: float, dtype: DType) -> Text:
    if dtype in SMALL_FLOATS:
        return Text(f"{C_TYPES[dtype]}({_float(value, DType('float32'))})")
    sign = "-" if math.copysign(1.0, value) < 0 and not math.isnan(value) else ""
    if math.isfinite(value):
        digits = repr(abs(value)) if dtype.bits == 64 else str(np.float32(abs(value)))
        return Text(f"{sign}{digits}{_SUFFIX.get(dtype, '')}", UNARY if sign else ATOM)
    name = "NAN" if math.isnan(value) else "INFINITY"
    if dtype.bits == 64:
        return Text(f"(double){sign}{name}", UNARY)
    return Text(sign + name, UNARY if sign else ATOM)
