"""Numbers as their bits, and arithmetic that processors do on packed or fixed-point integers."""

from __future__ import annotations

from typing import Any, NoReturn

from ..dtype import INT32, INT64
from ..errors import UserError, UserTypeError
from ..ir import make
from ..ir.dtype_name import dtype_of
from ..ir.node import Expr


def reinterpret(dtype: str, value: Any) -> Expr:
    """Return the number of type `dtype` that has the bits of `value`; both types are of one width.

    Of a vector, each lane in an element type of its width; or all lanes as those of a vector of as many bits, the
    lowest first: int8x4 as int32.
    """
    kind, operand = dtype_of("te.reinterpret", dtype), make.convert(value)
    if kind.lanes == 1 and kind.bits == operand.dtype.bits:
        kind = kind.with_lanes(operand.dtype.lanes)
    if kind.bits * kind.lanes != operand.dtype.bits * operand.dtype.lanes or kind.is_bool or operand.dtype.is_bool:
        raise UserTypeError(
            f"te.reinterpret of {operand!r} as {kind}",
            because=f"it is {operand.dtype}, of other bits",
            legal=f"a number type of {operand.dtype.bits} bits, or .astype",
        )
    if kind is operand.dtype:
        return operand
    return make.call("reinterpret" if kind.lanes == operand.dtype.lanes else "regroup", kind, operand)


def dp4a(vec1: Any, vec2: Any, acc: Any = 0) -> Expr:
    """Return acc plus the sum of the products of four bytes: all three int32 (bytes with sign), or all uint32.

    The bytes may be given as int8x4, or as uint8x4 where acc is uint32.
    """
    a, b = make.pair(*(_packed(make.convert(value)) for value in (vec1, vec2)))
    c = make.convert(acc, a.dtype)
    if a.dtype.element not in ("int32", "uint32") or c.dtype.element is not a.dtype.element:
        raise UserTypeError(
            f"te.dp4a of {a!r}, {b!r} and {c!r}",
            because=f"they are {a.dtype}, {b.dtype} and {c.dtype}",
            legal="three int32, or three uint32, each of the first two with four bytes in it: te.reinterpret",
        )
    return make.call("dp4a", a.dtype, a, b, c)


def _packed(value: Expr) -> Expr:
    """Return four bytes as one number of 32 bits."""
    return reinterpret(f"{value.dtype.kind}32", value) if value.dtype in ("int8x4", "uint8x4") else value


def q_multiply_shift(x: Any, y: Any, q: Any, s: Any) -> Expr:
    """Return x * y * 2**(s - q) of int32, computed in 64 bits and rounded to the nearest, halves up.

    x, y are numbers of q fractional bits; s is how far the product is shifted left, right where it is negative.
    """
    shift = _int32("q_multiply_shift", s)
    left, right = make.maximum(shift, 0), make.maximum(make.neg(shift), 0)
    return _fixed_point("q_multiply_shift", x, y, left, make.add(right, _int32("q_multiply_shift", q)))


def q_multiply_shift_per_axis(
    x: Any, y: Any, ls: Any, rs: Any, q: Any, is_lshift_required: bool = True, is_rshift_required: bool = True
) -> Expr:
    """Return x * y * 2**(ls - rs - q) of int32, rounded as `q_multiply_shift` does; ls and rs are 0 or more.

    A shift that is not required is left out.
    """
    name = "q_multiply_shift_per_axis"
    left = _int32(name, ls) if is_lshift_required else make.const(0, INT32)
    right = _int32(name, rs) if is_rshift_required else make.const(0, INT32)
    return _fixed_point(name, x, y, left, make.add(right, _int32(name, q)))


def _fixed_point(name: str, x: Any, y: Any, left: Expr, right: Expr) -> Expr:
    a, b = (make.cast(INT64, _int32(name, value)) for value in (x, y))
    product = make.mul(make.shift_left(a, make.cast(INT64, left)), b)
    down = make.cast(INT64, right)
    half = make.select(make.lt(0, down), make.shift_left(make.const(1, INT64), make.maximum(make.sub(down, 1), 0)), 0)
    return make.cast(INT32, make.shift_right(make.add(product, half), down))


def _int32(name: str, value: Any) -> Expr:
    operand = make.convert(value)
    if operand.dtype.element is not INT32:
        raise UserTypeError(f"te.{name} of {operand!r}", because=f"it is {operand.dtype}", legal="int32")
    return operand


def _of_vectors(name: str) -> Any:
    def refuse(*args: Any) -> NoReturn:
        raise UserError(
            f"tir.{name}", because="an expression is a scalar: a schedule makes vectors of it", legal="s[T].vectorize"
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Refuse: vectors come of a schedule."
    return refuse


vectorlow, vectorhigh, vectorcombine = (_of_vectors(name) for name in ("vectorlow", "vectorhigh", "vectorcombine"))
