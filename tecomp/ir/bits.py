"""Building what is done to the bits of integers; constants are folded in their type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import UserError
from . import expr as E
from .constant import const, wrap
from .logic import logical_not
from .node import Expr
from .promote import convert, numbers, pair


def _bitwise(name: str, fold: Callable[[int, int], int]) -> Callable[[Any, Any], Expr]:
    def build(a: Any, b: Any) -> Expr:
        x, y = pair(a, b)
        if x.dtype.is_float:
            raise UserError(f"{name} of {x.dtype}", because="it is defined for integers and bools")
        if isinstance(x, E.Const) and isinstance(y, E.Const):
            value = fold(int(x.value), int(y.value))
            return const(value, x.dtype) if x.dtype.is_bool else E.Const(wrap(value, x.dtype), x.dtype)
        return E.Call(x.dtype, name, (x, y))

    build.__doc__ = f"Return {name.replace('_', ' ')} of two integers or bools."
    return build


bitwise_and = _bitwise("bitwise_and", lambda p, q: p & q)
bitwise_or = _bitwise("bitwise_or", lambda p, q: p | q)
bitwise_xor = _bitwise("bitwise_xor", lambda p, q: p ^ q)


def _shift(name: str, fold: Callable[[int, int], int]) -> Callable[[Any, Any], Expr]:
    def build(a: Any, b: Any) -> Expr:
        x, y = numbers(name, a, b)
        if not x.dtype.is_integer:
            raise UserError(f"{name} of {x.dtype}", because="it is defined for integers")
        bits = x.dtype.bits
        if isinstance(y, E.Const) and not 0 <= y.value < bits:
            raise UserError(f"{name} by {y.value}", because=f"{x.dtype} has {bits} bits", legal=f"0 to {bits - 1}")
        if isinstance(x, E.Const) and isinstance(y, E.Const):
            return E.Const(wrap(fold(int(x.value), int(y.value)), x.dtype), x.dtype)
        return E.Call(x.dtype, name, (x, y))

    build.__doc__ = f"Return {name.replace('_', ' ')}: the count lies in the type's width; right shifts keep the sign."
    return build


shift_left = _shift("shift_left", lambda p, q: p << q)
shift_right = _shift("shift_right", lambda p, q: p >> q)


def bitwise_not(a: Any) -> Expr:
    """Return every bit of an integer turned over; of a bool, the other one."""
    x = convert(a)
    if x.dtype.is_bool:
        return logical_not(x)
    if not x.dtype.is_integer:
        raise UserError(f"~ of {x.dtype}", because="it is defined for integers and bools")
    return bitwise_xor(x, const(-1, x.dtype) if x.dtype.kind != "uint" else const(x.dtype.limits()[1], x.dtype))
