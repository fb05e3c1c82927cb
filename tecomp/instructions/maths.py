"""The operations on numbers that a Call names: what they are in CUDA C++, and what they are in NumPy, side by side.

In the text {0}, {1}, {2} are the operands and {a} the first one behind a cast; {t} is its C++ type, {u} the unsigned
one, {bits} its width, {r} the type of the result. An operation of float16 or bfloat16 is the float one, rounded once,
unless it has a column of its own. The NumPy meaning is of all threads at once; integers also pass their type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from ..dtype import DType
from ..ir.interpret_calls import power

Row = dict[str, str]
Array = np.ndarray[Any, Any]


class Operation(NamedTuple):
    """One operation: a text for each type or group of types, its meaning for floats, and for integers."""

    cuda: Row
    floats: Callable[..., Any] | None = None
    integers: Callable[..., Any] | None = None
    own_type: bool = False
    """Whether the meaning of a 16-bit float is in that type, and not the float one rounded."""


def _maths(name: str, floats: Callable[..., Any], arity: int = 1) -> Operation:
    """Return a function of C's maths library: expf of float, exp of double."""
    args = ", ".join(f"{{{position}}}" for position in range(arity))
    return Operation({"float32": f"{name}f({args})", "float64": f"{name}({args})"}, floats)


def _rounding(name: str, floats: Callable[..., Any]) -> Operation:
    """Return one that leaves integers as they are."""
    row = _maths(name, floats)
    return Operation({**row.cuda, "integer": "{0}"}, floats, lambda _, a: a)


def _test(name: str, floats: Callable[..., Any]) -> Operation:
    return Operation({"float": f"{name}({{0}})"}, floats)


def _half_away(value: Any) -> Any:
    """Round to the nearest integer, ties away from zero: C's round."""
    whole = np.trunc(value)
    return np.where(np.abs(value - whole) >= 0.5, whole + np.copysign(np.ones_like(value), value), whole)[()]


def _fused(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c rounded once: the product and the sum of two doubles are exact in two doubles each."""
    if np.asarray(a).dtype != np.float64:
        wide = np.float64
        product = np.multiply(a, b, dtype=wide)
        total = product + np.asarray(c, wide)
        lost = _lost(product, np.asarray(c, wide), total)
        toward = np.where(lost > 0, np.inf, -np.inf)
        even = (total.view(np.int64) & 1) == 0
        odd = np.where((lost != 0) & np.isfinite(total) & even, np.nextafter(total, toward), total)
        return odd.astype(np.asarray(a).dtype)[()]
    return np.vectorize(_fused_double, otypes=[np.float64])(a, b, c)[()]


def _lost(a: Array, b: Array, total: Array) -> Array:
    """Return what a + b is more than its rounded sum."""
    part = total - a
    return (a - (total - part)) + (b - part)


def _fused_double(a: float, b: float, c: float) -> float:
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c


def _shift(shift: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a shift by a count that is less than the width."""
    return lambda dtype, a, b: shift(a, np.where((b >= 0) & (b < dtype.bits), b, 0).astype(np.asarray(a).dtype))


def _clz(dtype: DType, a: Any) -> Any:
    rest = np.array(a).view(f"u{dtype.bits // 8}").astype(np.uint64)
    length = np.zeros(rest.shape, np.uint64)
    for step in (32, 16, 8, 4, 2, 1):
        large = rest >= np.uint64(1) << np.uint64(step)
        length += np.where(large, np.uint64(step), np.uint64(0))
        rest = np.where(large, rest >> np.uint64(step), rest)
    return (dtype.bits - (length + rest).astype(np.int64)).astype(dtype.numpy)


def _dot_of_bytes(dtype: DType, a: Any, b: Any, c: Any) -> Any:
    """Return c + the sum over the four bytes of a and b, which have the sign of their type."""
    byte = "i1" if dtype.kind == "int" else "u1"
    x, y = (np.atleast_1d(np.array(word)).view(byte).reshape(-1, 4).astype(dtype.numpy) for word in (a, b))
    found = np.asarray(c) + (x * y).sum(axis=1, dtype=dtype.numpy)
    return found if max(np.ndim(a), np.ndim(b), np.ndim(c)) else found[0]


def _erf(value: Any) -> Any:
    return np.vectorize(math.erf, otypes=[np.float64])(value).astype(np.asarray(value).dtype)[()]


MATHS: Final[dict[str, Operation]] = {
    "exp": _maths("exp", np.exp),
    "exp2": _maths("exp2", np.exp2),
    "exp10": _maths("exp10", lambda x: np.power(np.asarray(x).dtype.type(10), x)),
    "expm1": _maths("expm1", np.expm1),
    "log": _maths("log", np.log),
    "log2": _maths("log2", np.log2),
    "log10": _maths("log10", np.log10),
    "log1p": _maths("log1p", np.log1p),
    "sqrt": _maths("sqrt", np.sqrt),
    "rsqrt": _maths("rsqrt", lambda x: 1 / np.sqrt(x)),
    "sin": _maths("sin", np.sin),
    "cos": _maths("cos", np.cos),
    "tan": _maths("tan", np.tan),
    "asin": _maths("asin", np.arcsin),
    "acos": _maths("acos", np.arccos),
    "atan": _maths("atan", np.arctan),
    "sinh": _maths("sinh", np.sinh),
    "cosh": _maths("cosh", np.cosh),
    "tanh": _maths("tanh", np.tanh),
    "asinh": _maths("asinh", np.arcsinh),
    "acosh": _maths("acosh", np.arccosh),
    "atanh": _maths("atanh", np.arctanh),
    "erf": _maths("erf", _erf),
    "pow": _maths("pow", power, 2),
    "atan2": _maths("atan2", np.arctan2, 2),
    "fmod": _maths("fmod", np.fmod, 2),
    "hypot": _maths("hypot", np.hypot, 2),
    "copysign": _maths("copysign", np.copysign, 2),
    "ldexp": _maths("ldexp", lambda x, n: np.ldexp(x, np.asarray(n).astype(np.int32)), 2),
    "floor": _rounding("floor", np.floor),
    "ceil": _rounding("ceil", np.ceil),
    "trunc": _rounding("trunc", np.trunc),
    "round": _rounding("round", _half_away),
    "nearbyint": _rounding("nearbyint", np.rint),
    "isnan": _test("isnan", np.isnan),
    "isinf": _test("isinf", np.isinf),
    "isfinite": _test("isfinite", np.isfinite),
    "nextafter": Operation(
        {
            "float32": "nextafterf({0}, {1})",
            "float64": "nextafter({0}, {1})",
            "float16": "next_float({0}, {1})",
            "bfloat16": "next_float({0}, {1})",
        },
        np.nextafter,
        own_type=True,
    ),
    "sigmoid": Operation({"float32": "sigmoid({0})", "float64": "sigmoid({0})"}, lambda x: 1 / (1 + np.exp(-x))),
    "abs": Operation(
        {
            "float32": "fabsf({0})",
            "float64": "fabs({0})",
            "uint": "{0}",
            "small": "abs({0})",
            "integer": "wrapping_abs({0})",
        },
        np.abs,
        lambda _, a: np.abs(a),
    ),
    "fma": Operation(
        {
            "float32": "fmaf({0}, {1}, {2})",
            "float64": "fma({0}, {1}, {2})",
            "float16": "fma_half({0}, {1}, {2})",
            "bfloat16": "fma_bfloat16({0}, {1}, {2})",
            "integer": "wrapping_fma<{t}>({0}, {1}, {2})",
        },
        _fused,
        lambda _, a, b, c: a * b + c,
        own_type=True,
    ),
    "popcount": Operation(
        {"small": "__popc(({u}){a})", "integer": "__popc({0})", "64": "__popcll({0})"},
        integers=lambda dtype, a: np.bitwise_count(np.array(a).view(f"u{dtype.bits // 8}")).astype(dtype.numpy)[()],
    ),
    "clz": Operation(
        {"small": "__clz(({u}){a}) - (32 - {bits})", "integer": "__clz({0})", "64": "__clzll({0})"}, integers=_clz
    ),
    "dp4a": Operation({"32": "dot_of_bytes({0}, {1}, {2})"}, integers=_dot_of_bytes),
    "shift_left": Operation({"integer": "shift_left<{t}>({0}, {1})"}, integers=_shift(np.left_shift)),
    "shift_right": Operation({"integer": "shift_right<{t}>({0}, {1})"}, integers=_shift(np.right_shift)),
    "bitwise_and": Operation({"integer": "{0} & {1}", "bool": "{0} & {1}"}, integers=lambda _, a, b: a & b),
    "bitwise_or": Operation({"integer": "{0} | {1}", "bool": "{0} | {1}"}, integers=lambda _, a, b: a | b),
    "bitwise_xor": Operation({"integer": "{0} ^ {1}", "bool": "{0} ^ {1}"}, integers=lambda _, a, b: a ^ b),
    "reinterpret": Operation(
        dict.fromkeys(("integer", "float"), "bits_as<{r}>({0})"),
        own_type=True,
    ),
}
"""A column is a dtype, or what several share; `cuda_intrinsics` says which serve a type, the first that there is."""
