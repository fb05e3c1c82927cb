"""The derivatives of the functions of numbers: a table.

For each function one formula for each of its arguments. A formula gets the value y that the function gave, then the
arguments; `zero` stands where the function does not change with that argument, almost everywhere. Where a function has
a corner the formula gives a slope of one of its sides, or between: abs and hypot at 0 give 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ...ir import make
from ...ir.expr import Const
from ...ir.node import Expr
from .. import math as te

Formula = Callable[..., Expr | None]


def zero(*_: Expr) -> None:
    """The derivative of what is constant between jumps."""
    return


def one(y: Expr, *_: Expr) -> Expr:
    """The derivative of what moves with its argument."""
    return make.const(1, y.dtype)


def _root_product(x: Expr) -> Expr:
    """Return 1 / sqrt(1 - x * x), as exact near x = 1 as near 0."""
    return te.rsqrt((1 - x) * (1 + x))


def _power_of_base(_: Expr, x: Expr, exponent: Expr) -> Expr:
    if isinstance(exponent, Const):
        less = exponent.value - 1
        return exponent * x if less == 1 else exponent * te.pow(x, less)
    return make.select(exponent == 0, 0.0, exponent * te.pow(x, exponent - 1))


def _power_of_exponent(y: Expr, x: Expr, _: Expr) -> Expr:
    """0 ** exponent stays 0."""
    return y * te.log(make.select(x == 0, 1.0, x))


def _sign(x: Expr) -> Expr:
    return make.select(x == 0, 0.0, make.select(x < 0, make.const(-1, x.dtype), 1.0))


def _copied_sign(_: Expr, x: Expr, sign: Expr) -> Expr:
    unit = make.const(1, x.dtype)
    return te.copysign(unit, x) * te.copysign(unit, sign)


def _along(y: Expr, side: Expr) -> Expr:
    """Return how the hypotenuse y grows with a side."""
    return make.select(y == 0, 0.0, side / y)


DERIVATIVES: dict[str, tuple[Formula, ...]] = {
    "exp": (lambda y, x: y,),
    "exp2": (lambda y, x: y * math.log(2),),
    "exp10": (lambda y, x: y * math.log(10),),
    "expm1": (lambda y, x: te.exp(x),),
    "log": (lambda y, x: 1 / x,),
    "log2": (lambda y, x: 1 / (x * math.log(2)),),
    "log10": (lambda y, x: 1 / (x * math.log(10)),),
    "log1p": (lambda y, x: 1 / (1 + x),),
    "sqrt": (lambda y, x: 0.5 / y,),
    "rsqrt": (lambda y, x: y * -0.5 / x,),
    "pow": (_power_of_base, _power_of_exponent),
    "sin": (lambda y, x: te.cos(x),),
    "cos": (lambda y, x: -te.sin(x),),
    "tan": (lambda y, x: 1 + y * y,),
    "asin": (lambda y, x: _root_product(x),),
    "acos": (lambda y, x: -_root_product(x),),
    "atan": (lambda y, x: 1 / (1 + x * x),),
    "atan2": (lambda y, a, b: b / (a * a + b * b), lambda y, a, b: -a / (a * a + b * b)),
    "sinh": (lambda y, x: te.cosh(x),),
    "cosh": (lambda y, x: te.sinh(x),),
    "tanh": (lambda y, x: 1 - y * y,),
    "asinh": (lambda y, x: te.rsqrt(x * x + 1),),
    "acosh": (lambda y, x: te.rsqrt((x - 1) * (x + 1)),),
    "atanh": (lambda y, x: 1 / ((1 - x) * (1 + x)),),
    "erf": (lambda y, x: te.exp(-(x * x)) * (2 / math.sqrt(math.pi)),),
    "sigmoid": (lambda y, x: y * (1 - y),),
    "abs": (lambda y, x: _sign(x),),
    "hypot": (lambda y, a, b: _along(y, a), lambda y, a, b: _along(y, b)),
    "fma": (lambda y, a, b, c: b, lambda y, a, b, c: a, one),
    "copysign": (_copied_sign, zero),
    "fmod": (one, lambda y, a, b: -te.trunc(a / b)),
    "nextafter": (one, zero),
    "ldexp": (lambda y, x, n: te.ldexp(make.const(1, x.dtype), n), zero),
    "floor": (zero,),
    "ceil": (zero,),
    "trunc": (zero,),
    "round": (zero,),
    "nearbyint": (zero,),
}  # fmt: skip
