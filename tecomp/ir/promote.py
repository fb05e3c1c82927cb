"""The types of expressions: numbers become expressions, and two expressions meet in one type.

The rules of promotion: a Python number takes the other side's type; the wider type of one kind wins; an integer with a
float takes the float's type; uintN with intN takes the next wider signed type. bool is no number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtype import FLOAT32, INDEX, INT32, DType
from ..errors import UserError, UserTypeError
from . import expr as E
from .constant import FALSE, TRUE, cast_const, const
from .node import Expr


def convert(value: Any, like: DType | None = None) -> Expr:
    """Return `value` as an expression: an Expr, an axis, whatever has `as_expr`, or a Python or NumPy number.

    A Python number takes the type `like` (an integer beside a float becomes that float); without one, int is int32,
    float is float32, bool is bool. A NumPy number keeps its own type, but for float64, which is a Python float too.
    """
    if isinstance(value, Expr):
        return value
    if hasattr(value, "as_expr"):
        return value.as_expr()
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.generic) and not isinstance(value, (bool, int, float)):
        return const(value.item(), value.dtype.name)
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, (int, np.integer)):
        return const(value, like.element if like is not None and not like.is_bool else INT32)
    if isinstance(value, float):
        return const(value, like.element if like is not None and like.is_float else FLOAT32)
    because = f"it is a {type(value).__name__}"
    raise UserTypeError(f"{value!r} is no expression", because, legal="a number, an axis, a tensor element")


def promoted(a: DType, b: DType) -> DType:
    """Return the type in which `a` and `b` meet; UserError when there is none."""
    if a is b:
        return a
    if a.lanes != b.lanes and 1 not in (a.lanes, b.lanes):
        raise UserError(f"{a} with {b}", because=f"{a.lanes} lanes do not meet {b.lanes}")
    lanes, x, y = max(a.lanes, b.lanes), a.element, b.element
    return _promoted_element(x, y).with_lanes(lanes)


def _promoted_element(x: DType, y: DType) -> DType:
    if x is y:
        return x
    if x.is_bool or y.is_bool:
        return y if x.is_bool else x
    if INDEX in (x, y) and x.is_integer and y.is_integer:
        return INDEX
    if x.is_float and y.is_float:
        if x.bits == y.bits:
            return FLOAT32
        return x if x.bits > y.bits else y
    if x.is_float or y.is_float:
        return x if x.is_float else y
    if x.kind == y.kind:
        return x if x.bits > y.bits else y
    signed, unsigned = (x, y) if x.kind == "int" else (y, x)
    if signed.bits > unsigned.bits:
        return signed
    if unsigned.bits == 64:
        raise UserError(f"{x} with {y}", because="no integer type holds both", legal="cast one side with .astype")
    return DType(f"int{unsigned.bits * 2}")


def cast(dtype: str, value: Any) -> Expr:
    """Return `value` converted to `dtype`, which keeps its lanes."""
    operand = convert(value)
    kind = DType(dtype)
    if operand.dtype.lanes > 1 and kind.lanes == 1:
        kind = kind.with_lanes(operand.dtype.lanes)
    if kind is operand.dtype:
        return operand
    if kind.lanes > operand.dtype.lanes == 1:
        return E.Broadcast(cast(kind.element, operand), kind.lanes)
    if isinstance(operand, E.Const):
        return cast_const(operand.value, kind)
    if isinstance(operand, E.Broadcast):
        return E.Broadcast(cast(kind.element, operand.value), operand.lanes)
    return E.Cast(kind, operand)


def broadcast(value: Expr, lanes: int) -> Expr:
    """Return `value` in each of `lanes` lanes; a vector of that many lanes as it is."""
    return value if value.dtype.lanes == lanes else E.Broadcast(value, lanes)


def pair(a: Any, b: Any) -> tuple[Expr, Expr]:
    """Return both as expressions of the one type in which they meet."""
    if isinstance(a, Expr) and isinstance(b, Expr) and a.dtype is b.dtype:
        return a, b
    x = convert(a, b.dtype if hasattr(b, "dtype") and not _plain(b) else None)
    y = convert(b, x.dtype)
    if _plain(a) and not _plain(b):
        x = convert(a, y.dtype)
    dtype = promoted(x.dtype, y.dtype)
    return _as(x, dtype), _as(y, dtype)


def _plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) and not isinstance(value, np.generic)


def _as(value: Expr, dtype: DType) -> Expr:
    return broadcast(cast(dtype.element, value), dtype.lanes)


def numbers(name: str, a: Any, b: Any) -> tuple[Expr, Expr]:
    """Return both as expressions of one type; UserError where one is a bool."""
    x, y = pair(a, b)
    if x.dtype.is_bool or _is_bool(a) or _is_bool(b):
        legal = "te.any, te.all, te.if_then_else, or .astype('int32')"
        raise UserError(f"{name} of bools", because="bool is no number", legal=legal)
    return x, y


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or str(getattr(value, "dtype", "")).startswith("bool")
