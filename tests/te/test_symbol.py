"""Symbols and typed numbers."""

from __future__ import annotations

import math

import pytest

from tecomp import te
from tecomp.ir import expr as E
from tests.te.message import message, text


def test_var_and_size_var() -> None:
    n, m, alpha = te.var("n"), te.size_var("m", "int64"), te.var("alpha", "float32")
    assert (n.name, n.dtype, n.min) == ("n", "int32", None)
    assert (m.name, m.dtype) == ("m", "int64")
    assert m.min is te.const(0, "int64")
    assert alpha.dtype == "float32"
    assert te.var().name == "tindex" and te.size_var().name == "size"
    assert te.var("n") is not n


def test_const() -> None:
    assert te.const(3).dtype == "int32"
    assert te.const(3.0).dtype == "float32"
    assert te.const(True).dtype == "bool"
    assert te.const(3, "float16").value == 3.0
    assert te.const(te.const(3), "int64").dtype == "int64"


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("int8", -128, 127),
        ("uint64", 0, 2**64 - 1),
        ("bool", False, True),
        ("float32", -3.4028234663852886e38, 3.4028234663852886e38),
        ("float16", -65504.0, 65504.0),
        ("bfloat16", -3.3895313892515355e38, 3.3895313892515355e38),
    ],
)
def test_limits(dtype, low, high) -> None:
    assert te.min_value(dtype).value == low
    assert te.max_value(dtype).value == high
    assert te.max_value(dtype).dtype == dtype


def test_infinity_and_nan() -> None:
    assert te.infinity("float16").value == math.inf
    assert (-te.infinity("float64")).value == -math.inf
    assert math.isnan(te.nan("float32").value)
    assert te.infinity().dtype == te.nan().dtype == "float32"


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: te.size_var("n", "float32"),
            text("te.size_var: dtype float32", "a size is an integer", "int32, int64, or te.var"),
        ),
        (
            lambda: te.const(te.var("n")),
            text("te.const of n", "its value is known only when the program runs", "te.cast"),
        ),
        (
            lambda: te.const(300, "uint8"),
            text("300 does not fit in uint8", "uint8 holds 0 to 255", "a wider type, or a cast"),
        ),
        (
            lambda: te.infinity("int32"),
            text("te.infinity of int32", "only float types have it", "te.min_value, te.max_value"),
        ),
        (
            lambda: te.nan("bool"),
            text("te.nan of bool", "only float types have it", "te.min_value, te.max_value"),
        ),
    ],
)
def test_refused(call, said) -> None:
    assert message(call) == said


def test_a_symbol_equals_only_itself() -> None:
    n = te.var("n")
    assert isinstance(n == n, E.Eq)
    assert bool(n == n) and not bool(n == te.var("n"))
