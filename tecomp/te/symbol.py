"""Symbols and typed numbers."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes

from ..dtype import FLOAT32, INT32
from ..errors import UserError
from ..ir import make
from ..ir.dtype_name import dtype_of
from ..ir.expr import Const, Var
from ..ir.node import Expr
from .shape import name_of


def var(name: str = "tindex", dtype: str = INT32) -> Var:
    """Return a new symbol: a size in shapes, or a scalar argument of any type.

    A var that is an extent of a shape is known to be >= 0.
    """
    return Var(name_of("te.var", name), dtype_of("te.var", dtype))


def size_var(name: str = "size", dtype: str = INT32) -> Var:
    """Return a new symbol of an integer type that is known to be >= 0."""
    kind = dtype_of("te.size_var", dtype)
    if not kind.is_integer:
        raise UserError(f"te.size_var: dtype {kind}", because="a size is an integer", legal="int32, int64, or te.var")
    return Var(name_of("te.size_var", name), kind, make.const(0, kind))


def const(value: Any, dtype: str | None = None) -> Const:
    """Return a typed number: `dtype`, or int32, float32, bool by the Python type; UserError where it does not fit."""
    if isinstance(value, Expr) and not isinstance(value, Const):
        raise UserError(
            f"te.const of {value!r}", because="its value is known only when the program runs", legal="te.cast"
        )
    if dtype is not None:
        return make.const(value, dtype_of("te.const", dtype))
    known = make.convert(value)
    assert isinstance(known, Const)
    return known


def min_value(dtype: str) -> Const:
    """Return the least finite value of a type."""
    return _limit("te.min_value", dtype, 0)


def max_value(dtype: str) -> Const:
    """Return the greatest finite value of a type."""
    return _limit("te.max_value", dtype, 1)


def _limit(asked: str, dtype: str, side: int) -> Const:
    kind = dtype_of(asked, dtype).element
    if not kind.is_float:
        return make.const(kind.limits()[side], kind)
    greatest = float(ml_dtypes.finfo(kind.numpy).max)
    return Const(greatest if side else -greatest, kind)


def infinity(dtype: str = FLOAT32) -> Const:
    """Return +inf of a float type; -te.infinity(dtype) is the other one."""
    return _special("te.infinity", dtype, math.inf)


def nan(dtype: str = FLOAT32) -> Const:
    """Return the quiet NaN of a float type."""
    return _special("te.nan", dtype, math.nan)


def _special(asked: str, dtype: str, value: float) -> Const:
    kind = dtype_of(asked, dtype).element
    if not kind.is_float:
        raise UserError(f"{asked} of {kind}", because="only float types have it", legal="te.min_value, te.max_value")
    return Const(value, kind)
