"""What the named operations mean: one table of names, with the value NumPy gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from ..dtype import DType
from ..errors import InternalError, TecompError, UnsupportedError
from .expr import Call
from .instruction import INSTRUCTIONS
from .make import wrap
from .rounding import floats, rounded, rounder


def _half_away(value: Any) -> Any:
    """Round to the nearest integer, ties away from zero: C's round."""
    whole = np.trunc(value)
    return whole + np.copysign(value.dtype.type(1), value) if abs(value - whole) >= 0.5 else whole


def _fused(a: Any, b: Any, c: Any) -> Any:
    """Return a * b + c rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    return a.dtype.type(rounded(exact, DType(a.dtype.name))) if exact else a * b + c


def power(a: Any, b: Any) -> Any:
    """Return C's pow: NumPy takes the square root for 0.5, which differs of -0.0 and minus infinity."""
    found = np.power(a, b)
    half = np.asarray(b) == 0.5
    return np.where(half & np.isneginf(a), np.inf, np.where(half, found + 0, found)).astype(found.dtype)[()]


FLOAT_CALLS: Final[dict[str, Callable[..., Any]]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": lambda x: x.dtype.type(math.erf(x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": _half_away,
    "nearbyint": np.rint,
    "abs": np.abs,
    "pow": power,
    "atan2": np.arctan2,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "ldexp": np.ldexp,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "fma": _fused,
}
"""Of floats, given as float32 or float64 scalars; the 16-bit types are computed in float32 and rounded."""


def _shift_count(count: int, dtype: DType) -> int:
    if not 0 <= count < dtype.bits:
        raise ValueError(f"a shift by {count} of {dtype}, which has {dtype.bits} bits")
    return count


def _dot_of_bytes(dtype: DType, a: int, b: int, c: int) -> int:
    """Return c + the sum over the four bytes of a and b, which have the sign of their type."""
    signed = dtype.kind == "int"
    x, y = ((value % (1 << 32)).to_bytes(4, "little") for value in (a, b))
    products = [
        int.from_bytes([p], signed=signed) * int.from_bytes([q], signed=signed) for p, q in zip(x, y, strict=True)
    ]
    return wrap(c + sum(products), dtype)


def joined(source: DType, result: DType) -> Callable[..., Any]:
    """Return what makes one number of several, the lowest bits first."""

    def join(*parts: Any) -> Any:
        raw = np.array(parts, source.numpy).view(result.numpy)[0]
        return raw if result.is_float else int(raw)

    return join


def part_of(source: DType, result: DType) -> Callable[[Any, int], Any]:
    """Return what takes one of several numbers out of one, counted from the lowest bits on."""

    def part(whole: Any, number: int) -> Any:
        raw = np.array([whole], source.numpy).view(result.numpy)[number]
        return raw if result.is_float else int(raw)

    return part


def _reinterpreted(source: DType, result: DType, value: Any) -> Any:
    """Return the number that the same bits are in another type."""
    raw = np.array(value, source.numpy).view(result.numpy)[()]
    return raw if result.is_float else int(raw)


INTEGER_CALLS: Final[dict[str, Callable[..., int]]] = {
    "abs": lambda dtype, a: wrap(abs(a), dtype),
    "popcount": lambda dtype, a: (a % (1 << dtype.bits)).bit_count(),
    "clz": lambda dtype, a: dtype.bits - (a % (1 << dtype.bits)).bit_length(),
    "shift_left": lambda dtype, a, b: wrap(a << _shift_count(b, dtype), dtype),
    "shift_right": lambda dtype, a, b: a >> _shift_count(b, dtype),
    "bitwise_and": lambda _, a, b: a & b,
    "bitwise_or": lambda _, a, b: a | b,
    "bitwise_xor": lambda _, a, b: a ^ b,
    "fma": lambda dtype, a, b, c: wrap(a * b + c, dtype),
    **dict.fromkeys(("floor", "ceil", "trunc", "round", "nearbyint"), lambda _, a: a),
}
"""Of integers and bools; the first argument is the type of the operands."""

WORD_CALLS: Final[dict[str, Callable[..., int]]] = {"dp4a": _dot_of_bytes}
"""Of 32-bit integers; the first argument is their type."""

OWN_TYPE_CALLS: Final[dict[str, Callable[..., Any]]] = {"nextafter": np.nextafter}
"""Of floats, computed in the type itself."""

EFFECT_CALLS: Final = {"barrier_block", "barrier_grid", "prefetch"}
"""Evaluated for what they do: a barrier parts the threads of a block, a prefetch changes nothing."""

VALUELESS: Final = EFFECT_CALLS | {name for name in INSTRUCTIONS if name.startswith("fence_")}
"""What has no value to compute; a fence is nothing to threads that run one after the other."""

CALLS: Final = frozenset({*FLOAT_CALLS, *INTEGER_CALLS, *WORD_CALLS, *OWN_TYPE_CALLS, *EFFECT_CALLS, "reinterpret"})


def meaning(call: Call) -> Callable[..., Any] | None:
    """Return the function of scalars that computes `call`; None when there is none for its operands' type."""
    operand = call.args[0].dtype.element if call.args else call.dtype
    if call.name == "reinterpret":
        return lambda value: _reinterpreted(operand, call.dtype.element, value)
    if not operand.is_float:
        known = INTEGER_CALLS.get(call.name) or (WORD_CALLS.get(call.name) if operand.bits == 32 else None)
        return None if known is None else lambda *args: known(operand, *args)
    own = OWN_TYPE_CALLS.get(call.name)
    if own is not None:
        return own
    function = FLOAT_CALLS.get(call.name)
    if function is None or operand.bits > 16 or call.dtype.is_bool:
        return function
    wide, narrow = floats(operand).type, rounder(operand)
    return lambda *args: narrow(function(*(arg if isinstance(arg, int) else wide(arg) for arg in args)))


def unknown(call: Call) -> TecompError:
    """Return the error of a call that has no meaning here."""
    if call.name in INSTRUCTIONS:
        return UnsupportedError(
            f"{call.name} in the interpreter",
            because="threads run one after the other there, and the instruction is about threads that run together",
            legal='target="cuda-sim"',
            ir=repr(call),
        )
    kinds = ", ".join(arg.dtype for arg in call.args)
    return InternalError(f"call of {call.name}({kinds})", because="the interpreter knows no such operation")
