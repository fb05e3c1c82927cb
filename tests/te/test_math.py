"""Functions of numbers: their calls, their types, NumPy's values."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tecomp import te
from tecomp.ir import evaluate
from tecomp.ir import expr as E
from tests.te.message import message, text

x, y = te.var("x", "float32"), te.var("y", "float32")
h, d = te.var("h", "float16"), te.var("d", "float64")
i, j = te.var("i"), te.var("j")
u = te.var("u", "uint8")

FLOAT_UNARY = (
    "exp exp2 exp10 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "erf sigmoid"
).split()
ROUNDING = "floor ceil trunc round nearbyint".split()
FLOAT_BINARY = "atan2 fmod hypot copysign nextafter".split()


@pytest.mark.parametrize("name", [*FLOAT_UNARY, *ROUNDING])
@pytest.mark.parametrize("value", [x, h, d], ids=["f32", "f16", "f64"])
def test_unary_functions_of_floats_keep_the_type(name, value) -> None:
    made = getattr(te, name)(value)
    assert isinstance(made, E.Call)
    assert (made.name, made.args, made.dtype) == (name, (value,), value.dtype)
    assert getattr(te, name).__name__ == name and getattr(te, name).__doc__.startswith("Return ")


@pytest.mark.parametrize("name", FLOAT_UNARY)
def test_unary_functions_of_integers_are_refused(name) -> None:
    said = text(f"te.{name} of i", f"it is int32; te.{name} is of floats", f"te.{name}(x.astype('float32'))")
    assert message(lambda: getattr(te, name)(i)) == said


def test_python_floats_and_slices_are_arguments() -> None:
    A = te.placeholder((4, 4), name="A")
    assert te.exp(0.5).args[0] is te.const(0.5)
    assert te.exp(A[i][j]).args[0] is A[i, j]
    assert te.exp(te.placeholder((), name="Z")).dtype == "float32"


@pytest.mark.parametrize("name", ROUNDING)
def test_integers_are_rounded_already(name) -> None:
    assert getattr(te, name)(i) is i
    assert message(lambda: getattr(te, name)(i > 0)) == text(
        f"te.{name} of 0 < i", f"it is bool; te.{name} is of floats", f"te.{name}(x.astype('float32'))"
    )


def test_round_and_nearbyint_differ_at_halves() -> None:
    halves = [-2.5, -0.5, 0.5, 1.5, 2.5]
    assert [evaluate(te.round(x), {x: v}) for v in halves] == [-3.0, -1.0, 1.0, 2.0, 3.0]
    assert [evaluate(te.nearbyint(x), {x: v}) for v in halves] == [-2.0, 0.0, 0.0, 2.0, 2.0]


@pytest.mark.parametrize(("name", "of_integers"), [("isnan", False), ("isinf", False), ("isfinite", True)])
def test_tests_are_bools(name, of_integers) -> None:
    made = getattr(te, name)(x)
    assert (made.name, made.dtype) == (name, "bool")
    assert getattr(te, name)(i).value is of_integers


@pytest.mark.parametrize("name", ["popcount", "clz"])
def test_bit_counts(name) -> None:
    assert getattr(te, name)(u).dtype == "uint8"
    said = text(f"te.{name} of x", f"it is float32; te.{name} is of integers", "x.astype('int32')")
    assert message(lambda: getattr(te, name)(x)) == said


@pytest.mark.parametrize("name", FLOAT_BINARY)
def test_binary_functions_of_floats(name) -> None:
    made = getattr(te, name)(x, 2)
    assert (made.name, made.args) == (name, (x, te.const(2.0)))
    assert getattr(te, name)(h, x).dtype == "float32"


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("atan2", "te.atan2(y.astype('float32'), x.astype('float32'))"),
        ("fmod", "te.truncmod"),
        ("hypot", "te.hypot(x.astype('float32'), y.astype('float32'))"),
        ("copysign", "te.abs, te.if_then_else"),
        ("nextafter", "x + 1"),
        ("power", "a product, or te.power(x.astype('float32'), y)"),
    ],
)
def test_binary_functions_of_integers_are_refused(name, instead) -> None:
    said = text(f"te.{name} of i and j", f"they are int32; te.{name} is of floats", instead)
    assert message(lambda: getattr(te, name)(i, j)) == said


def test_power() -> None:
    assert te.power(x, 2).name == te.pow(x, 2).name == "pow"


def test_abs() -> None:
    assert te.abs(i).dtype == "int32" and te.abs(x).name == "abs"
    assert te.abs(u) is u
    assert abs(x) is te.abs(x)


@pytest.mark.parametrize("value", [-3.0, 0.5, 9.0, math.nan, math.inf, -math.inf])
def test_clip_is_numpys(value) -> None:
    np.testing.assert_equal(evaluate(te.clip(x, -1, 2), {x: value}), np.float32(np.clip(np.float32(value), -1, 2)))


def test_clip_of_integers() -> None:
    assert te.clip(u, 3, 9).dtype == "uint8"


def test_ldexp_and_fma() -> None:
    assert te.ldexp(x, i).args == (x, i)
    assert te.fma(x, 2, h).args == (x, te.const(2.0), te.cast(h, "float32"))
    assert te.fma(h, h, d).dtype == "float64"
    assert message(lambda: te.ldexp(i, j)) == text(
        "te.ldexp of i", "it is int32; te.ldexp is of floats", "te.ldexp(x.astype('float32'))"
    )
    assert message(lambda: te.ldexp(x, y)) == text("te.ldexp by y", "it is float32", "an integer, or x * te.exp2(y)")
    assert message(lambda: te.fma(i, j, i)) == text(
        "te.fma of i", "it is int32; te.fma is of floats", "te.fma(x.astype('float32'))"
    )


def test_divisions() -> None:
    assert isinstance(te.div(i, j), E.TruncDiv) and isinstance(te.div(x, y), E.Div)
    assert te.div(-7, 2) is te.const(-3)
    assert te.truncmod(-7, 2) is te.const(-1)
    assert te.floordiv(-7, 2) is te.indexdiv(-7, 2) is te.const(-4)
    assert te.floormod(-7, 2) is te.indexmod(-7, 2) is te.const(1)
    assert te.truncdiv(i, j) is te.div(i, j)


def test_arithmetic_by_name() -> None:
    assert te.add(i, 1) is i + 1
    assert te.subtract(i, 1) is i - 1
    assert te.multiply(i, 2) is i * 2


def test_bits_by_name() -> None:
    assert te.shift_left(i, 2) is i << 2 and te.shift_right(i, 2) is i >> 2
    assert te.bitwise_and(i, j) is i & j and te.bitwise_or(i, j) is i | j
    assert te.bitwise_xor(i, j) is i ^ j and te.bitwise_not(i) is ~i


def test_cast() -> None:
    assert te.cast(i, "float32") is i.astype("float32") is te.astype(i, "float32")
    assert te.cast(2.7, "int32") is te.const(2)
    assert message(lambda: te.cast(i, "foo")) == text(
        "te.cast: dtype 'foo'",
        "no element type has that name",
        "bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, vectors: float32x4",
    )


def test_to_the_power() -> None:
    """A square is a product; other powers are te.power."""
    x, n = te.var("x", "float32"), te.var("n", "int32")
    assert x**2 is x * x
    assert n**2 is n * n
    assert x**0.5 is te.power(x, 0.5)
    assert 2.0**x is te.power(te.const(2.0, "float32"), x)
