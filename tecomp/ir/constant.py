"""Constants: numbers checked against their type, and folded in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtype import BOOL, INDEX, INT32, DType
from ..errors import UserError
from . import expr as E
from .node import Expr
from .rounding import rounded

TRUE = E.Const(True, BOOL)
FALSE = E.Const(False, BOOL)


def const(value: Any, dtype: str = INT32) -> E.Const:
    """Return `value` as a constant of `dtype`; UserError where an integer does not fit."""
    kind = DType(dtype)
    if isinstance(value, E.Const):
        value = value.value
    if kind.is_float:
        return _float_const(value, kind)
    if kind.is_bool:
        return TRUE if value else FALSE
    if isinstance(value, float) and not value.is_integer():
        raise UserError(f"{value!r} is no {kind}", because="it has a fraction", legal="a float type, or a whole number")
    number = int(value)
    if kind is not INDEX:
        low, high = kind.limits()
        if not low <= number <= high:
            raise UserError(
                f"{number} does not fit in {kind}",
                because=f"{kind} holds {low} to {high}",
                legal="a wider type, or a cast",
            )
    return E.Const(number, kind)


def _float_const(value: float, kind: DType) -> E.Const:
    held = rounded(value, kind)
    if math.isinf(held) and not (isinstance(value, float) and math.isinf(value)):
        legal = "a wider type, or float('inf')"
        raise UserError(f"{value} does not fit in {kind}", because="it would become infinite", legal=legal)
    return E.Const(held, kind)


def wrap(value: int, dtype: DType) -> int:
    """Return `value` as two's complement arithmetic in `dtype` leaves it (index is exact)."""
    if dtype is INDEX or dtype.element is INDEX:
        return value
    low, high = dtype.element.limits()
    return (value - low) % (high - low + 1) + low


def cast_const(value: int | float | bool, kind: DType) -> Expr:
    """Return the number converted to `kind`; a Cast where no integer of that type is what a float truncates to."""
    if kind.is_bool:
        return TRUE if value != 0 else FALSE
    if kind.is_float:
        return E.Const(rounded(value, kind), kind)
    if not isinstance(value, float):
        return E.Const(wrap(int(value), kind), kind)
    low, high = (-math.inf, math.inf) if kind is INDEX else kind.limits()
    if not math.isfinite(value) or not low <= math.trunc(value) <= high:  # what that gives is decided when it runs
        return E.Cast(kind, E.Const(value, DType("float64")))
    return E.Const(math.trunc(value), kind)


def fold_numbers(fold: Callable[[Any, Any], Any], dtype: DType, a: Any, b: Any) -> E.Const:
    """Fold in the type itself: integers wrap, floats round once."""
    if dtype.is_float:
        with np.errstate(all="ignore"):
            kind = dtype.numpy.type
            return E.Const(float(fold(kind(a), kind(b))), dtype)
    return E.Const(wrap(fold(a, b), dtype), dtype)


def trunc_quotient(p: int, q: int) -> int:
    """Return p / q rounded toward zero."""
    return abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1)
