"""Building expressions: types promoted, constants folded in their type, operators installed.

Arithmetic stands here; types are in `promote`, comparisons and choices in `logic`, bits in `bits`, and all of it is
found as `make.name`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..dtype import INDEX, DType
from ..errors import UserError
from . import expr as E
from .bits import bitwise_and, bitwise_not, bitwise_or, bitwise_xor, shift_left, shift_right
from .constant import FALSE, TRUE, const, fold_numbers, trunc_quotient, wrap
from .dtype_name import dtype_of
from .logic import eq, if_then_else, le, logical_and, logical_not, logical_or, lt, ne, select
from .node import OPERATORS, Expr
from .promote import broadcast, cast, convert, numbers, pair, promoted


def add(a: Any, b: Any) -> Expr:
    """Return a + b."""
    x, y = numbers("+", a, b)
    if isinstance(x, E.Const) and isinstance(y, E.Const):
        return fold_numbers(lambda p, q: p + q, x.dtype, x.value, y.value)
    if _is_zero(y):
        return x
    return y if _is_zero(x) else E.Add(x, y)


def sub(a: Any, b: Any) -> Expr:
    """Return a - b."""
    x, y = numbers("-", a, b)
    if isinstance(x, E.Const) and isinstance(y, E.Const):
        return fold_numbers(lambda p, q: p - q, x.dtype, x.value, y.value)
    return x if _is_zero(y) else E.Sub(x, y)


def mul(a: Any, b: Any) -> Expr:
    """Return a * b."""
    x, y = numbers("*", a, b)
    if isinstance(x, E.Const) and isinstance(y, E.Const):
        return fold_numbers(lambda p, q: p * q, x.dtype, x.value, y.value)
    if _is_one(y) or _is_zero(x):
        return x
    return y if _is_one(x) or _is_zero(y) else E.Mul(x, y)


def _is_zero(value: Expr) -> bool:
    """Integer zero: x + 0.0 and x * 0.0 change floats."""
    return isinstance(value, E.Const) and value.value == 0 and value.dtype.is_integer


def _is_one(value: Expr) -> bool:
    return isinstance(value, E.Const) and value.value == 1 and not value.dtype.is_bool


def neg(a: Any) -> Expr:
    """Return -a (a float's sign is flipped, of zero too)."""
    x = convert(a)
    if x.dtype.is_float:
        return mul(x, const(-1.0, x.dtype.element)) if not isinstance(x, E.Const) else E.Const(-x.value, x.dtype)
    return sub(const(0, x.dtype.element), x)


def div(a: Any, b: Any) -> Expr:
    """Return a / b of floats; UserError for two integers, whose division has several meanings."""
    x, y = numbers("/", a, b)
    if x.dtype.is_integer:
        raise UserError(
            "/ of two integers",
            because="its rounding would be a guess",
            legal="a // b and a % b (floor), te.truncdiv and te.truncmod (C), or .astype('float32') first",
        )
    if isinstance(x, E.Const) and isinstance(y, E.Const):
        return fold_numbers(np.divide, x.dtype, x.value, y.value)
    return x if _is_one(y) else E.Div(x, y)


def _integer_division(node: type[E.Binary], symbol: str, fold: Callable[[int, int], int]) -> Callable[[Any, Any], Expr]:
    def build(a: Any, b: Any) -> Expr:
        x, y = numbers(symbol, a, b)
        if not x.dtype.is_integer:
            legal = "te.fmod, te.floor(a / b)"
            raise UserError(f"{symbol} of {x.dtype}", because="it is defined for integers", legal=legal)
        if isinstance(y, E.Const) and y.value == 0:
            raise UserError("division by zero", because=f"the divisor of {symbol} is the constant 0")
        if isinstance(x, E.Const) and isinstance(y, E.Const):
            return E.Const(wrap(fold(int(x.value), int(y.value)), x.dtype), x.dtype)
        if _is_one(y):
            return x if node in (E.FloorDiv, E.TruncDiv) else const(0, x.dtype)
        return node(x, y)

    build.__doc__ = f"Return a {symbol} b of integers; UserError when b is the constant 0."
    return build


floordiv = _integer_division(E.FloorDiv, "//", lambda p, q: p // q)
floormod = _integer_division(E.FloorMod, "%", lambda p, q: p % q)
truncdiv = _integer_division(E.TruncDiv, "truncdiv", trunc_quotient)
truncmod = _integer_division(E.TruncMod, "truncmod", lambda p, q: p - q * trunc_quotient(p, q))


def ceildiv(a: Any, b: Any) -> Expr:
    """Return a / b rounded up, for b > 0."""
    x, y = numbers("ceildiv", a, b)
    return floordiv(add(x, sub(y, 1)), y)


def _extreme(
    node: type[E.Binary], integers: Callable[[Any, Any], Any], floats: Callable[[Any, Any], Any], symbol: str
) -> Callable[[Any, Any], Expr]:
    def build(a: Any, b: Any) -> Expr:
        x, y = numbers(symbol, a, b)
        if isinstance(x, E.Const) and isinstance(y, E.Const):
            if x.dtype.is_integer:
                return x if integers(x.value, y.value) == x.value else y
            return fold_numbers(floats, x.dtype, x.value, y.value)
        return x if x is y else node(x, y)

    build.__doc__ = f"Return the {symbol} of both; NaN when either is NaN."
    return build


minimum = _extreme(E.Min, min, np.minimum, "min")
maximum = _extreme(E.Max, max, np.maximum, "max")


def load(buffer: Any, indices: Iterable[Expr], mask: Expr = TRUE) -> E.Load:
    """Return buffer[indices]."""
    return E.Load(buffer, tuple(indices), mask)


def index(value: Any) -> Expr:
    """Return an integer (a Python int, an expression) as an index expression."""
    if isinstance(value, int):
        return const(value, INDEX)
    return cast(INDEX, value)


def call(name: str, dtype: str, *args: Any) -> E.Call:
    """Return the operation `name` of the target's table, with a result of `dtype`."""
    return E.Call(DType(dtype), name, tuple(convert(arg) for arg in args))


def absolute(a: Any) -> Expr:
    """Return the magnitude; of the least signed integer, that integer (it wraps)."""
    x = convert(a)
    if x.dtype.kind == "uint":
        return x
    if isinstance(x, E.Const):
        return E.Const(abs(x.value) if x.dtype.is_float else wrap(abs(int(x.value)), x.dtype), x.dtype)
    return E.Call(x.dtype, "abs", (x,))


def truth(value: Expr) -> bool:
    """Answer bool(value): of == and != whether both sides are one expression, of a constant its value; else refuse."""
    if isinstance(value, (E.Eq, E.Ne)):
        return (value.a is value.b) is isinstance(value, E.Eq)
    if isinstance(value, E.Const):
        return bool(value.value)
    raise UserError(
        "an expression was used as a Python condition",
        because="its value is known only when the program runs",
        legal="te.all, te.any, te.if_then_else in place of and, or, not, if",
    )


def number(value: Any) -> int | float:
    """Return the value of a constant, for int(value) and float(value); refuse any other."""
    node = convert(value)
    if isinstance(node, E.Const):
        return node.value
    raise UserError(
        f"{node!r} was used as a Python number",
        because="its value is known only when the program runs",
        legal="the functions of te in place of those of math and numpy, .astype in place of int and float",
    )


OPERATORS.update(
    add=add, sub=sub, mul=mul, div=div, floordiv=floordiv, floormod=floormod, neg=neg,
    lt=lt, le=le, eq=eq, ne=ne, abs=absolute, bool=truth, number=number,
    cast=lambda dtype, value: cast(dtype_of("astype", dtype), value),
    bitwise_and=bitwise_and, bitwise_or=bitwise_or, bitwise_xor=bitwise_xor, bitwise_not=bitwise_not,
    shift_left=shift_left, shift_right=shift_right,
)  # fmt: skip

__all__ = [
    "FALSE", "TRUE", "absolute", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcast", "call",
    "cast", "ceildiv", "const", "convert", "div", "eq", "floordiv", "floormod", "if_then_else", "index", "le", "load",
    "logical_and", "logical_not", "logical_or", "lt", "maximum", "minimum", "mul", "ne", "neg", "number", "pair",
    "promoted", "select", "shift_left", "shift_right", "sub", "truncdiv", "truncmod", "truth",
]  # fmt: skip
