"""Building expressions: promotion, folding in the type itself, and what is refused with the whole message."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tecomp.dtype import BOOL, FLOAT32, INDEX, INT32, DType
from tecomp.errors import UserError, UserTypeError
from tecomp.ir import expr as E
from tecomp.ir import make as M
from tecomp.ir.axis import AxisKind, IterVar, Range
from tecomp.ir.node import Expr

a, i, x = E.Var("a", INT32), E.Var("i", INDEX), E.Var("x", FLOAT32)
h, u, p = E.Var("h", DType("float16")), E.Var("u", DType("uint8")), E.Var("p", BOOL)
k = IterVar(Range(M.const(0), M.const(8)), E.Var("k", INT32), AxisKind.REDUCE)

PROMOTED = """
int32   int32    int32
int8    int64    int64
uint8   uint32   uint32
uint8   int8     int16
uint8   int16    int16
uint16  int8     int32
uint32  int32    int64
uint32  int64    int64
int64   float16  float16
uint64  float32  float32
float16 float32  float32
float16 bfloat16 float32
bfloat16 float32 float32
float32 float64  float64
index   int32    index
index   uint64   index
index   float32  float32
bool    int8     int8
bool    uint8    uint8
bool    index    index
bool    float16  float16
"""


@pytest.mark.parametrize("row", PROMOTED.strip().splitlines())
def test_promotion(row: str) -> None:
    one, other, both = map(DType, row.split())
    assert M.promoted(one, other) is M.promoted(other, one) is both
    assert M.promoted(one.with_lanes(4), other) is both.with_lanes(4)


def refused(call: Callable[[], Any]) -> list[str]:
    """Return the message less its place."""
    with pytest.raises(UserError) as caught:
        call()
    lines = str(caught.value).splitlines()
    assert lines[1].startswith("  --> test_make.py:")
    return [lines[0], *lines[4:]]


REFUSED: list[tuple[Callable[[], Any], list[str]]] = [
    (
        lambda: M.promoted(DType("uint64"), INT32),
        ["uint64 with int32", "  because: no integer type holds both", "  legal: cast one side with .astype"],
    ),
    (lambda: M.promoted(DType("int8x4"), DType("int8x2")), ["int8x4 with int8x2", "  because: 4 lanes do not meet 2"]),
    (
        lambda: M.const(300, "int8"),
        ["300 does not fit in int8", "  because: int8 holds -128 to 127", "  legal: a wider type, or a cast"],
    ),
    (
        lambda: M.const(-1, "uint16"),
        ["-1 does not fit in uint16", "  because: uint16 holds 0 to 65535", "  legal: a wider type, or a cast"],
    ),
    (
        lambda: a + 2**31,
        [
            "2147483648 does not fit in int32",
            "  because: int32 holds -2147483648 to 2147483647",
            "  legal: a wider type, or a cast",
        ],
    ),
    (
        lambda: M.const(2.5, "int32"),
        ["2.5 is no int32", "  because: it has a fraction", "  legal: a float type, or a whole number"],
    ),
    (
        lambda: M.const(1e39, "float32"),
        [
            "1e+39 does not fit in float32",
            "  because: it would become infinite",
            "  legal: a wider type, or float('inf')",
        ],
    ),
    (
        lambda: h * 65520,
        [
            "65520 does not fit in float16",
            "  because: it would become infinite",
            "  legal: a wider type, or float('inf')",
        ],
    ),
    (
        lambda: a / 2,
        [
            "/ of two integers",
            "  because: its rounding would be a guess",
            "  legal: a // b and a % b (floor), te.truncdiv and te.truncmod (C), or .astype('float32') first",
        ],
    ),
    (lambda: x // 2.0, ["// of float32", "  because: it is defined for integers", "  legal: te.fmod, te.floor(a / b)"]),
    (lambda: x % 2.0, ["% of float32", "  because: it is defined for integers", "  legal: te.fmod, te.floor(a / b)"]),
    (lambda: a // 0, ["division by zero", "  because: the divisor of // is the constant 0"]),
    (lambda: M.truncmod(3, a * 0), ["division by zero", "  because: the divisor of truncmod is the constant 0"]),
    (
        lambda: p + 1,
        ["+ of bools", "  because: bool is no number", "  legal: te.any, te.all, te.if_then_else, or .astype('int32')"],
    ),
    (
        lambda: x * (a < 3),
        ["* of bools", "  because: bool is no number", "  legal: te.any, te.all, te.if_then_else, or .astype('int32')"],
    ),
    (
        lambda: M.minimum(p, p),
        [
            "min of bools",
            "  because: bool is no number",
            "  legal: te.any, te.all, te.if_then_else, or .astype('int32')",
        ],
    ),
    (
        lambda: a - np.bool_(True),
        ["- of bools", "  because: bool is no number", "  legal: te.any, te.all, te.if_then_else, or .astype('int32')"],
    ),
    (
        lambda: M.logical_and(p, a),
        ["te.all of int32", "  because: it takes bools", "  legal: a comparison, or .astype('bool')"],
    ),
    (
        lambda: M.logical_or(x),
        ["te.any of float32", "  because: it takes bools", "  legal: a comparison, or .astype('bool')"],
    ),
    (
        lambda: M.if_then_else(a, 1, 2),
        ["te.if_then_else of int32", "  because: it takes bools", "  legal: a comparison, or .astype('bool')"],
    ),
    (lambda: x & 1, ["bitwise_and of float32", "  because: it is defined for integers and bools"]),
    (lambda: ~x, ["~ of float32", "  because: it is defined for integers and bools"]),
    (lambda: x << 1, ["shift_left of float32", "  because: it is defined for integers"]),
    (lambda: a << 32, ["shift_left by 32", "  because: int32 has 32 bits", "  legal: 0 to 31"]),
    (lambda: a >> -1, ["shift_right by -1", "  because: int32 has 32 bits", "  legal: 0 to 31"]),
    (
        lambda: a + "b",
        ["'b' is no expression", "  because: it is a str", "  legal: a number, an axis, a tensor element"],
    ),
    (
        lambda: bool(a < 3),
        [
            "an expression was used as a Python condition",
            "  because: its value is known only when the program runs",
            "  legal: te.all, te.any, te.if_then_else in place of and, or, not, if",
        ],
    ),
    (
        lambda: math.exp(x),
        [
            "x was used as a Python number",
            "  because: its value is known only when the program runs",
            "  legal: the functions of te in place of those of math and numpy, .astype in place of int and float",
        ],
    ),
    (
        lambda: x.astype("float7"),
        [
            "astype: dtype 'float7'",
            "  because: no element type has that name",
            "  legal: bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, vectors: float32x4",
        ],
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message[0] for _, message in REFUSED])
def test_refusals(call: Callable[[], Any], message: list[str]) -> None:
    assert refused(call) == message


def test_a_thing_of_another_kind_is_a_type_error() -> None:
    with pytest.raises(UserTypeError):
        M.convert(object())


def test_python_numbers_take_the_other_sides_type() -> None:
    for value in (a, i, x, h, u):
        for built in (value + 1, 1 + value, value * 2, 2 - value, M.minimum(3, value)):
            assert built.dtype is value.dtype
    assert (x + 1).operands()[1] is M.const(1.0, FLOAT32)
    assert (a + 1.5).dtype is FLOAT32
    assert (h * 0.1).operands()[1].value == float(np.float16(0.1))  # type: ignore[attr-defined]


def test_constants_are_python_numbers() -> None:
    assert (int(M.const(7)), float(M.convert(0.5)), int(M.const(3) * 2)) == (7, 0.5, 6)


def test_numpy_leaves_its_operators_to_expressions() -> None:
    for two in (np.float64(2), np.float32(2), np.array(2.0)):
        assert two * x is M.mul(2.0, x)
    assert refused(lambda: np.ones(2) + x)[0] == "array([1., 1.]) is no expression"
    with pytest.raises(TypeError, match="does not support ufuncs"):
        np.exp(x)


def test_numpy_numbers_keep_their_type() -> None:
    assert (a + np.int64(1)).dtype == "int64"
    assert (h + np.float32(1)).dtype is FLOAT32
    assert (h + np.float64(1)).dtype is h.dtype
    assert M.convert(np.uint8(3)) is M.const(3, "uint8")
    assert M.convert(np.bool_(True)) is M.TRUE


def test_axes_stand_for_their_variables() -> None:
    assert k + 1 is k.var + 1
    assert (k < 3) is (k.var < 3)
    assert k.name == "k" and k.dtype is INT32
    assert repr(k) == "IterVar(k, reduce)"


FOLDED: list[tuple[Any, Any]] = [
    (M.const(100, "int8") + 100, M.const(-56, "int8")),
    (M.const(0, "uint8") - 1, M.const(255, "uint8")),
    (M.const(2**31 - 1) * 2, M.const(-2)),
    (M.const(-(2**31)) // -1, M.const(-(2**31))),
    (M.const(-7) // 2, M.const(-4)),
    (M.const(-7) % 2, M.const(1)),
    (M.const(7) % -2, M.const(-1)),
    (M.truncdiv(-7, 2), M.const(-3)),
    (M.truncmod(-7, 2), M.const(-1)),
    (M.ceildiv(M.const(7), 2), M.const(4)),
    (M.const(2**70, INDEX) * 4, M.const(2**72, INDEX)),
    (M.minimum(M.const(2**70, INDEX), 3), M.const(3, INDEX)),
    (M.maximum(M.const(-1, "int8"), 1), M.const(1, "int8")),
    (M.maximum(M.const(math.nan, "float32"), 1.0), M.const(math.nan, "float32")),
    (M.const(0.1, "float32") + 0.2, M.const(float(np.float32(0.1) + np.float32(0.2)), "float32")),
    (M.const(2050.0, "float16") + 1.0, M.const(2052.0, "float16")),
    (M.const(2048.0, "float16") + 1.0, M.const(2048.0, "float16")),
    (M.const(1.0, "bfloat16") + 2**-9, M.const(1.0, "bfloat16")),
    (M.const(1.0, "float32") / 0.0, M.const(math.inf, "float32")),
    (M.const(3e38, "float32") * 10.0, M.const(math.inf, "float32")),
    (M.neg(M.const(0.0, "float32")), M.const(-0.0, "float32")),
    (-M.const(-128, "int8"), M.const(-128, "int8")),
    (abs(M.const(-128, "int8")), M.const(-128, "int8")),
    (abs(M.const(-2.5, "float32")), M.const(2.5, "float32")),
    (M.const(3) < 4, M.TRUE),
    (M.const(math.nan, "float32") == M.const(math.nan, "float32"), M.FALSE),
    (M.const(5) & 6 | 8, M.const(12)),
    (M.TRUE & M.FALSE, M.FALSE),
    (M.TRUE ^ M.TRUE, M.FALSE),
    (~M.const(5, "uint8"), M.const(250, "uint8")),
    (~M.const(5), M.const(-6)),
    (M.const(-128, "int8") << 1, M.const(0, "int8")),
    (M.const(-128, "int8") >> 7, M.const(-1, "int8")),
    (M.cast("int8", M.const(300)), M.const(44, "int8")),
    (M.cast("int8", M.const(-2.7, "float32")), M.const(-2, "int8")),
    (M.cast("bool", M.const(0.5, "float32")), M.TRUE),
    (M.cast("float16", M.const(math.nextafter(1.00048828125, 2), "float64")), M.const(1.0009765625, "float16")),
    (M.cast("float32", M.const(2**60 + 2**36 + 1, "int64")), M.const(2.0**60 + 2.0**37, "float32")),
    (M.cast("float32", M.const(1e300, "float64")), M.const(math.inf, "float32")),
    (M.cast("float64", M.TRUE), M.const(1.0, "float64")),
    (M.select(M.TRUE, a, 2), a),
    (M.if_then_else(M.FALSE, a, 2), M.const(2)),
    (M.logical_and(), M.TRUE),
    (M.logical_and(p, M.TRUE, p < M.FALSE), E.And(p, p < M.FALSE)),
    (M.logical_and(p, M.FALSE, p), M.FALSE),
    (M.logical_or(M.FALSE, p), p),
    (M.logical_or(p, M.TRUE), M.TRUE),
]


@pytest.mark.parametrize(("found", "want"), FOLDED, ids=repr)
def test_constants_fold_in_their_type(found: Expr, want: Expr) -> None:
    assert found is want


UNTOUCHED: list[tuple[Any, Any]] = [
    (a + 0, a),
    (0 + a, a),
    (a - 0, a),
    (a * 1, a),
    (a * 0, M.const(0)),
    (a // 1, a),
    (a % 1, M.const(0)),
    (x + 0.0, E.Add(x, M.const(0.0, FLOAT32))),
    (x * 0.0, E.Mul(x, M.const(0.0, FLOAT32))),
    (x * 1.0, x),
    (x / 1.0, x),
    (M.minimum(a, a), a),
    (M.select(p, a, a), a),
    (M.cast("int32", a), a),
    (abs(u), u),
    (M.logical_not(M.logical_not(p)), p),
    (M.logical_not(a < 3), M.le(3, a)),
    (M.logical_not(a <= 3), M.lt(3, a)),
    (M.logical_not(x < 3), E.Not(x < 3)),
    (M.logical_not(x == 3), x != 3),
    (M.logical_not(x != 3), x == 3),
    (M.logical_not(M.TRUE), M.FALSE),
    (~p, E.Not(p)),
    (-a, E.Sub(M.const(0), a)),
    (a > 3, M.lt(3, a)),
    (a >= 3, M.le(3, a)),
    (1 - a, E.Sub(M.const(1), a)),
    (3 // a, E.FloorDiv(M.const(3), a)),
    (3 % a, E.FloorMod(M.const(3), a)),
    (1.0 / x, E.Div(M.const(1.0, FLOAT32), x)),
    (1 << a, E.Call(INT32, "shift_left", (M.const(1), a))),
    (1 & a, M.bitwise_and(1, a)),
    (1 | a, M.bitwise_or(1, a)),
    (1 ^ a, M.bitwise_xor(1, a)),
    (8 >> a, M.shift_right(8, a)),
]


@pytest.mark.parametrize(("found", "want"), UNTOUCHED, ids=repr)
def test_identities_hold_for_integers_and_leave_floats_alone(found: Expr, want: Expr) -> None:
    assert found is want


def test_floats_that_no_integer_holds_are_not_folded() -> None:
    for value in (math.nan, math.inf, 1e10):
        cast = M.cast("int8", M.const(value, "float64"))
        assert isinstance(cast, E.Cast)
    assert M.cast(INDEX, M.const(1e10, "float64")) is M.const(10**10, INDEX)


def test_lanes() -> None:
    v = E.Var("v", DType("int32x4"))
    assert (v + 1).operands()[1] is E.Broadcast(M.const(1), 4)
    assert (v + np.int64(1)).dtype == "int64x4"
    assert M.cast("float32", v).dtype == "float32x4"
    assert M.cast("float32x4", a) is E.Broadcast(M.cast("float32", a), 4)
    assert M.cast("float32", E.Broadcast(a, 4)) is E.Broadcast(M.cast("float32", a), 4)
    assert M.cast("int8x4", M.const(300)) is E.Broadcast(M.const(44, "int8"), 4)
    assert M.broadcast(v, 4) is v
    choice = M.if_then_else(v < 3, 1, a)
    assert isinstance(choice, E.IfElse) and choice.yes is E.Broadcast(M.const(1), 4) and choice.dtype == "int32x4"
    assert M.select(p, v, 0).dtype == "int32x4"


def test_index() -> None:
    assert M.index(3) is M.const(3, INDEX)
    assert M.index(a) is E.Cast(INDEX, a)
    assert (i + a).dtype is INDEX


def test_wrap() -> None:
    assert [M.wrap(value, DType("int8")) for value in (127, 128, -129, 256)] == [127, -128, 127, 0]
    assert [M.wrap(value, DType("uint8x4")) for value in (256, -1)] == [0, 255]
    assert M.wrap(2**80, INDEX) == 2**80


def test_equality_with_what_is_no_expression_is_pythons() -> None:
    assert (a == "a") is False
    assert (a != None) is True  # noqa: E711
    assert a in [a, "b"]
