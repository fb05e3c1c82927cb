"""TE, the tensor expression language: what to compute, apart from how.

A = te.placeholder((n,), name="A")
B = te.compute((n,), lambda i: A[i] * 2.0, name="B")
s = te.create_schedule(B.op)
"""

from ..ir import text as _text  # expressions print themselves with it
from .axis import reduce_axis, thread_axis
from .compute import compute
from .logic import Select, all, any, if_then_else, likely
from .math import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    astype,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    cast,
    ceil,
    clip,
    clz,
    copysign,
    cos,
    cosh,
    div,
    erf,
    exp,
    exp2,
    exp10,
    expm1,
    floor,
    floordiv,
    floormod,
    fma,
    fmod,
    hypot,
    indexdiv,
    indexmod,
    isfinite,
    isinf,
    isnan,
    ldexp,
    log,
    log1p,
    log2,
    log10,
    multiply,
    nearbyint,
    nextafter,
    popcount,
    pow,
    power,
    round,
    rsqrt,
    shift_left,
    shift_right,
    sigmoid,
    sin,
    sinh,
    sqrt,
    subtract,
    tan,
    tanh,
    trunc,
    truncdiv,
    truncmod,
)
from .placeholder import placeholder
from .reducers import argmax, argmin, comm_reducer, max, min, prod, sum
from .scan import scan
from .symbol import const, infinity, max_value, min_value, nan, size_var, var
from .tag import tag_scope
from .tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor, TensorSlice
