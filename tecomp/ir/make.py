"""Building expressions: types promoted, constants folded in their type, operators installed.

The rules of promotion: a Python number takes the other side's type; the wider type of one kind wins; an integer with a
float takes the float's type; uintN with intN takes the next wider signed type. bool is no number.

One file because every operator rests on the promotion and folding written first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..dtype import FLOAT32, INDEX, INT32, DType
from ..errors import UserError, UserTypeError
from . import expr as E
from .constant import FALSE, TRUE, cast_const, const, fold_numbers, trunc_quotient, wrap
from .dtype_name import dtype_of
from .node import OPERATORS, Expr


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


def _numbers(name: str, a: Any, b: Any) -> tuple[Expr, Expr]:
    x, y = pair(a, b)
    if x.dtype.is_bool or _is_bool(a) or _is_bool(b):
        legal = "te.any, te.all, te.if_then_else, or .astype('int32')"
        raise UserError(f"{name} of bools", because="bool is no number", legal=legal)
    return x, y


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or str(getattr(value, "dtype", "")).startswith("bool")


def add(a: Any, b: Any) -> Expr:
    """Return a + b."""
    x, y = _numbers("+", a, b)
    if isinstance(x, E.Const) and isinstance(y, E.Const):
        return fold_numbers(lambda p, q: p + q, x.dtype, x.value, y.value)
    if _is_zero(y):
        return x
    return y if _is_zero(x) else E.Add(x, y)


def sub(a: Any, b: Any) -> Expr:
    """Return a - b."""
    x, y = _numbers("-", a, b)
    if isinstance(x, E.Const) and isinstance(y, E.Const):
        return fold_numbers(lambda p, q: p - q, x.dtype, x.value, y.value)
    return x if _is_zero(y) else E.Sub(x, y)


def mul(a: Any, b: Any) -> Expr:
    """Return a * b."""
    x, y = _numbers("*", a, b)
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
    x, y = _numbers("/", a, b)
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
        x, y = _numbers(symbol, a, b)
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
    x, y = _numbers("ceildiv", a, b)
    return floordiv(add(x, sub(y, 1)), y)


def _extreme(
    node: type[E.Binary], integers: Callable[[Any, Any], Any], floats: Callable[[Any, Any], Any], symbol: str
) -> Callable[[Any, Any], Expr]:
    def build(a: Any, b: Any) -> Expr:
        x, y = _numbers(symbol, a, b)
        if isinstance(x, E.Const) and isinstance(y, E.Const):
            if x.dtype.is_integer:
                return x if integers(x.value, y.value) == x.value else y
            return fold_numbers(floats, x.dtype, x.value, y.value)
        return x if x is y else node(x, y)

    build.__doc__ = f"Return the {symbol} of both; NaN when either is NaN."
    return build


minimum = _extreme(E.Min, min, np.minimum, "min")
maximum = _extreme(E.Max, max, np.maximum, "max")


def _comparison(node: type[E.Compare], fold: Callable[[Any, Any], bool], symbol: str) -> Callable[[Any, Any], Expr]:
    def build(a: Any, b: Any) -> Expr:
        x, y = pair(a, b)
        if isinstance(x, E.Const) and isinstance(y, E.Const):
            return TRUE if fold(x.value, y.value) else FALSE
        return node(x, y)

    build.__doc__ = f"Return a {symbol} b as a bool."
    return build


lt = _comparison(E.Lt, lambda p, q: p < q, "<")
le = _comparison(E.Le, lambda p, q: p <= q, "<=")
_eq = _comparison(E.Eq, lambda p, q: p == q, "==")
_ne = _comparison(E.Ne, lambda p, q: p != q, "!=")


def eq(a: Any, b: Any) -> Any:
    """Return a == b as a bool expression; Python's own == also asks this, of values that are no expressions."""
    return _eq(a, b) if _comparable(a) and _comparable(b) else NotImplemented


def ne(a: Any, b: Any) -> Any:
    """Return a != b as a bool expression."""
    return _ne(a, b) if _comparable(a) and _comparable(b) else NotImplemented


def _comparable(value: Any) -> bool:
    return isinstance(value, (Expr, bool, int, float, np.generic)) or hasattr(value, "as_expr")


def _bools(name: str, values: Iterable[Any]) -> list[Expr]:
    operands = [convert(value) for value in values]
    for operand in operands:
        if not operand.dtype.is_bool:
            legal = "a comparison, or .astype('bool')"
            raise UserError(f"te.{name} of {operand.dtype}", because="it takes bools", legal=legal)
    return operands


def logical_and(*values: Any) -> Expr:
    """Return whether all hold; constants are folded."""
    result: Expr = TRUE
    for operand in _bools("all", values):
        if result is FALSE or operand is TRUE:
            continue
        result = operand if result is TRUE or operand is FALSE else E.And(result, operand)
    return result


def logical_or(*values: Any) -> Expr:
    """Return whether any holds; constants are folded."""
    result: Expr = FALSE
    for operand in _bools("any", values):
        if result is TRUE or operand is FALSE:
            continue
        result = operand if result is FALSE or operand is TRUE else E.Or(result, operand)
    return result


def logical_not(value: Any) -> Expr:
    """Return the other bool; comparisons of integers are turned round."""
    (operand,) = _bools("not", [value])
    if isinstance(operand, E.Const):
        return FALSE if operand.value else TRUE
    if isinstance(operand, E.Not):
        return operand.a
    if isinstance(operand, (E.Lt, E.Le)) and operand.a.dtype.is_integer:
        return E.Le(operand.b, operand.a) if isinstance(operand, E.Lt) else E.Lt(operand.b, operand.a)
    if isinstance(operand, (E.Eq, E.Ne)):
        return E.Ne(operand.a, operand.b) if isinstance(operand, E.Eq) else E.Eq(operand.a, operand.b)
    return E.Not(operand)


def _choice(node: type[E.Select] | type[E.IfElse], name: str) -> Callable[[Any, Any, Any], Expr]:
    def build(condition: Any, yes: Any, no: Any) -> Expr:
        (test,) = _bools(name, [condition])
        x, y = pair(yes, no)
        if isinstance(test, E.Const):
            return x if test.value else y
        if x is y:
            return x
        if test.dtype.lanes > 1:
            x, y = broadcast(x, test.dtype.lanes), broadcast(y, test.dtype.lanes)
        return node(test, x, y)

    return build


select = _choice(E.Select, "select")
select.__doc__ = "Return yes where condition holds, else no; both are evaluated."
if_then_else = _choice(E.IfElse, "if_then_else")
if_then_else.__doc__ = "Return yes if condition holds, else no; the side not taken is never evaluated."


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
        x, y = _numbers(name, a, b)
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
