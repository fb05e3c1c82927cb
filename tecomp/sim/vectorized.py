"""Operations of C's maths library on the values of all threads, in the types that CUDA computes them in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..dtype import FLOAT32, DType
from ..instructions.maths import MATHS
from ..ir import expr as E

_SMALL: Final = ("float16", "bfloat16")


def vectorized(name: str, node: E.Call) -> Callable[..., Any]:
    """Return what an operation on numbers computes, for the type of its first operand."""
    operation, result = MATHS[name], node.dtype.element
    dtype = node.args[0].dtype.element if node.args else result
    if name == "reinterpret":
        return lambda a: np.asarray(a).view(result.numpy)[()]
    integers, floats = operation.integers, operation.floats
    if not dtype.is_float:
        assert integers is not None, "the printer refuses what CUDA C++ has not"
        return lambda *args: np.asarray(integers(dtype, *args)).astype(result.numpy)[()]
    assert floats is not None, "the printer refuses what CUDA C++ has not"
    if dtype in _SMALL and not operation.own_type:
        return _rounded(floats, result)
    return lambda *args: np.asarray(floats(*args)).astype(result.numpy, copy=False)[()]


def _rounded(floats: Callable[..., Any], result: DType) -> Callable[..., Any]:
    kind = FLOAT32.numpy
    return lambda *args: np.asarray(floats(*(np.asarray(arg).astype(kind) for arg in args))).astype(result.numpy)[()]
