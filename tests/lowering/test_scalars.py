"""Scalar arguments in their declared types."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import UserError
from tecomp.ir.interpret import interpret
from tecomp_runtime import ArgumentError


def shifted(dtype: str):
    """B[i] = A[i] + k, k of that type."""
    n, k = te.var("n"), te.var("k", dtype)
    A = te.placeholder((n,), dtype, name="A")
    B = te.compute((n,), lambda i: A[i] + k, name="B")
    return te.create_schedule(B.op), [k, A, B]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
def test_a_number_that_does_not_fit_is_refused(dtype: str) -> None:
    function = tecomp.build(*shifted(dtype))
    a, b, limits = np.zeros(3, dtype), np.zeros(3, dtype), np.iinfo(dtype)
    for k in (limits.min, limits.max):
        function(k, a, b)
        assert (b == k).all()
    for k in (limits.min - 1, limits.max + 1):
        with pytest.raises(ArgumentError, match="does not"):
            function(k, a, b)
    assert (b == limits.max).all()


def test_an_int32_that_is_data_is_asked_to_fit() -> None:
    function = tecomp.build(*shifted("int32"))
    with pytest.raises(ArgumentError) as caught:
        function(2**40, np.zeros(3, "int32"), np.zeros(3, "int32"))
    assert str(caught.value).splitlines() == [
        f"main: k <= {2**31 - 1} does not hold: k is {2**40}",
        "  because: 'k' is an int32, and used as one",
        "  legal: main(k: int64, A: int32[n], B: int32[n])",
    ]


def test_an_offset_is_exact() -> None:
    k = te.var("k")
    A = te.placeholder((8,), name="A")
    B = te.compute((2,), lambda i: A[te.max(te.min(i + k, 7), 0)], name="B")
    s = te.create_schedule(B.op)
    assert "assert" not in str(tecomp.lower(s, [k, A, B]))
    b = np.zeros(2, "float32")
    tecomp.build(s, [k, A, B])(2**40, np.arange(8, dtype="float32"), b)
    assert b.tolist() == [7, 7]


def test_a_size_is_known_to_be_one_wherever_it_stands_among_the_arguments() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    heads = [str(tecomp.lower(s, args)).splitlines()[0] for args in ([n, A, B], [A, B, n])]
    assert all(re.search(r"n: index\[0:\]", head) for head in heads)


def test_a_size_below_0_is_refused() -> None:
    n, X = te.var("n"), te.placeholder((1,), name="X")
    T = te.compute((n,), lambda i: X[0], name="T")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((1,), lambda _: te.sum(T[k], axis=k), name="C")
    s, arrays = te.create_schedule(C.op), (np.ones(1, "float32"), np.zeros(1, "float32"))
    with pytest.raises(UserError, match=r"'n' was given -1\n(.*\n)*  because: it is at least 0"):
        interpret(tecomp.lower(s, [n, X, C]), -1, *arrays)
    with pytest.raises(ArgumentError) as caught:
        tecomp.build(s, [n, X, C])(-1, *arrays)
    assert str(caught.value).splitlines() == [
        "argument n: -1 is less than 0",
        "  because: it is a size",
        "  legal: main(n: int64, X: float32[1], C: float32[1])",
    ]
