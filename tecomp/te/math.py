"""Functions of numbers. On floats they keep the type and mean what NumPy's of that name do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dtype import BOOL
from ..errors import UserTypeError
from ..ir import make
from ..ir.dtype_name import dtype_of
from ..ir.node import OPERATORS, Expr

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cast",
    "ceil",
    "clip",
    "clz",
    "copysign",
    "cos",
    "cosh",
    "div",
    "erf",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "floor",
    "floordiv",
    "floormod",
    "fma",
    "fmod",
    "hypot",
    "indexdiv",
    "indexmod",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "log",
    "log1p",
    "log2",
    "log10",
    "multiply",
    "nearbyint",
    "nextafter",
    "popcount",
    "pow",
    "power",
    "round",
    "rsqrt",
    "shift_left",
    "shift_right",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "trunc",
    "truncdiv",
    "truncmod",
]  # fmt: skip

Unary = Callable[[Any], Expr]
Binary = Callable[[Any, Any], Expr]


def _float_unary(name: str, meaning: str) -> Unary:
    def function(x: Any) -> Expr:
        value = make.convert(x)
        if not value.dtype.is_float:
            raise _not_float(name, value)
        return make.call(name, value.dtype, value)

    return _named(function, name, f"Return {meaning} of a float.")


def _rounding(name: str, meaning: str) -> Unary:
    def function(x: Any) -> Expr:
        value = make.convert(x)
        if value.dtype.is_integer:
            return value
        if not value.dtype.is_float:
            raise _not_float(name, value)
        return make.call(name, value.dtype, value)

    return _named(function, name, f"Return {meaning}; an integer as it is.")


def _test(name: str, of_integers: bool, meaning: str) -> Unary:
    def function(x: Any) -> Expr:
        value = make.convert(x)
        if value.dtype.is_float:
            return make.call(name, BOOL.with_lanes(value.dtype.lanes), value)
        return make.broadcast(make.TRUE if of_integers else make.FALSE, value.dtype.lanes)

    return _named(function, name, f"Return whether a number is {meaning}, as a bool.")


def _bits(name: str, meaning: str) -> Unary:
    def function(x: Any) -> Expr:
        value = make.convert(x)
        if value.dtype.is_integer:
            return make.call(name, value.dtype, value)
        raise UserTypeError(
            f"te.{name} of {value!r}",
            because=f"it is {value.dtype}; te.{name} is of integers",
            legal="x.astype('int32')",
        )

    return _named(function, name, f"Return {meaning} of an integer.")


def _float_binary(name: str, meaning: str, instead: str, call: str = "") -> Binary:
    def function(x: Any, y: Any) -> Expr:
        a, b = make.pair(x, y)
        if not a.dtype.is_float:
            raise UserTypeError(
                f"te.{name} of {a!r} and {b!r}", because=f"they are {a.dtype}; te.{name} is of floats", legal=instead
            )
        return make.call(call or name, a.dtype, a, b)

    return _named(function, name, f"Return {meaning} of two floats.")


def _named(function: Any, name: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _not_float(name: str, value: Expr) -> UserTypeError:
    return UserTypeError(
        f"te.{name} of {value!r}",
        because=f"it is {value.dtype}; te.{name} is of floats",
        legal=f"te.{name}(x.astype('float32'))",
    )


exp = _float_unary("exp", "e to the power")
exp2 = _float_unary("exp2", "2 to the power")
exp10 = _float_unary("exp10", "10 to the power")
expm1 = _float_unary("expm1", "exp(x) - 1, exact near 0,")
log = _float_unary("log", "the natural logarithm")
log2 = _float_unary("log2", "the logarithm to base 2")
log10 = _float_unary("log10", "the logarithm to base 10")
log1p = _float_unary("log1p", "log(1 + x), exact near 0,")
sqrt = _float_unary("sqrt", "the square root")
rsqrt = _float_unary("rsqrt", "1 / sqrt(x)")
sin = _float_unary("sin", "the sine")
cos = _float_unary("cos", "the cosine")
tan = _float_unary("tan", "the tangent")
asin = _float_unary("asin", "the arc sine")
acos = _float_unary("acos", "the arc cosine")
atan = _float_unary("atan", "the arc tangent")
sinh = _float_unary("sinh", "the hyperbolic sine")
cosh = _float_unary("cosh", "the hyperbolic cosine")
tanh = _float_unary("tanh", "the hyperbolic tangent")
asinh = _float_unary("asinh", "the inverse hyperbolic sine")
acosh = _float_unary("acosh", "the inverse hyperbolic cosine")
atanh = _float_unary("atanh", "the inverse hyperbolic tangent")
erf = _float_unary("erf", "the error function")
sigmoid = _float_unary("sigmoid", "1 / (1 + exp(-x))")

floor = _rounding("floor", "the greatest integer not above x")
ceil = _rounding("ceil", "the least integer not below x")
trunc = _rounding("trunc", "x without its fraction")
round = _rounding("round", "the nearest integer, halves away from zero")
nearbyint = _rounding("nearbyint", "the nearest integer, halves to the even one")

isnan = _test("isnan", False, "no number")
isinf = _test("isinf", False, "infinite")
isfinite = _test("isfinite", True, "neither infinite nor NaN")

popcount = _bits("popcount", "the number of set bits")
clz = _bits("clz", "the number of zero bits above the highest set one")

atan2 = _float_binary("atan2", "the angle of the point (y, x)", "te.atan2(y.astype('float32'), x.astype('float32'))")
fmod = _float_binary("fmod", "the remainder with the sign of x", "te.truncmod")
hypot = _float_binary("hypot", "sqrt(x * x + y * y)", "te.hypot(x.astype('float32'), y.astype('float32'))")
copysign = _float_binary("copysign", "the magnitude of x with the sign of y", "te.abs, te.if_then_else")
nextafter = _float_binary("nextafter", "the next float after x toward y", "x + 1")
power = _float_binary("power", "x to the power y", "a product, or te.power(x.astype('float32'), y)", call="pow")
pow = power


def _to_the_power(x: Any, exponent: Any) -> Expr:
    """Return x ** exponent; a square is a product, of integers too."""
    base, to = make.pair(x, exponent)
    return make.mul(base, base) if to is make.const(2, to.dtype) else power(base, to)


OPERATORS["pow"] = _to_the_power


def ldexp(x: Any, exponent: Any) -> Expr:
    """Return x * 2 ** exponent, of a float and an integer."""
    value, power_of_two = make.convert(x), make.convert(exponent)
    if not value.dtype.is_float:
        raise _not_float("ldexp", value)
    if not power_of_two.dtype.is_integer:
        raise UserTypeError(
            f"te.ldexp by {power_of_two!r}",
            because=f"it is {power_of_two.dtype}",
            legal="an integer, or x * te.exp2(y)",
        )
    return make.call("ldexp", value.dtype, value, power_of_two)


def fma(x: Any, y: Any, z: Any) -> Expr:
    """Return x * y + z of floats, rounded once."""
    a, b = make.pair(x, y)
    a, c = make.pair(a, z)
    a, b = make.pair(a, b)
    if not a.dtype.is_float:
        raise _not_float("fma", a)
    return make.call("fma", a.dtype, a, b, c)


def clip(x: Any, a_min: Any, a_max: Any) -> Expr:
    """Return x, or the limit that it passes; NaN when it is NaN."""
    return make.minimum(make.maximum(x, a_min), a_max)


def abs(x: Any) -> Expr:
    """Return the magnitude; of the least signed integer, that integer (it wraps)."""
    return make.absolute(x)


def cast(value: Any, dtype: str) -> Expr:
    """Return the value converted to `dtype`: floats to integers truncate, integers wrap, anything to bool is != 0."""
    return make.cast(dtype_of("te.cast", dtype), value)


astype = cast
add, subtract, multiply = make.add, make.sub, make.mul
floordiv, floormod, truncdiv, truncmod = make.floordiv, make.floormod, make.truncdiv, make.truncmod
indexdiv, indexmod = floordiv, floormod
shift_left, shift_right = make.shift_left, make.shift_right
bitwise_and, bitwise_or, bitwise_xor, bitwise_not = (
    make.bitwise_and,
    make.bitwise_or,
    make.bitwise_xor,
    make.bitwise_not,
)


def div(a: Any, b: Any) -> Expr:
    """Return a / b: of floats the quotient, of integers the quotient rounded toward zero (C's)."""
    x, y = make.pair(a, b)
    return make.truncdiv(x, y) if x.dtype.is_integer else make.div(x, y)
