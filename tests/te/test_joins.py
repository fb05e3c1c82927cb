"""Reducers that would fold differently in another order are refused; those of the field are not."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.errors import UserError

k = te.reduce_axis((0, 8), name="k")


def one(combine, dtype="float32", start=0):
    A = te.placeholder((8,), dtype, name="A")
    mine = te.comm_reducer(combine, lambda t: te.const(start, t), name="mine")
    return mine(A[k], axis=te.reduce_axis((0, 8)))


GOOD = [
    lambda x, y: x + y,
    lambda x, y: x * y,
    te.max,
    lambda x, y: te.log(te.exp(x) + te.exp(y)),
    lambda x, y: te.sqrt(x * x + y * y),
]


@pytest.mark.parametrize("combine", GOOD)
def test_the_usual(combine):
    one(combine)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float16", "float64"])
def test_other_types(dtype):
    one(lambda x, y: x + y, dtype)


def test_the_first_of_equals_may_win():
    A = te.placeholder((8,), name="A")

    def later(x, y):
        return te.Select(x[1] >= y[1], x[0], y[0]), te.Select(x[1] >= y[1], x[1], y[1])

    best = te.comm_reducer(later, lambda t0, t1: (te.const(-1, t0), te.min_value(t1)), name="best")
    axis = te.reduce_axis((0, 8), name="k")
    te.compute((), lambda: best((axis.var, A[axis]), axis=axis))


def test_mean_and_variance():
    A = te.placeholder((8,), name="A")

    def join(x, y):
        count, delta = x[2] + y[2], y[0] - x[0]
        mean = x[0] + delta * y[2] / count
        return mean, x[1] + y[1] + delta * delta * x[2] * y[2] / count, count

    welford = te.comm_reducer(join, lambda *types: tuple(te.const(0, t) for t in types), name="welford")
    axis = te.reduce_axis((0, 8), name="k")
    te.compute((), lambda: welford((A[axis], te.const(0.0), te.const(1.0)), axis=axis))


@pytest.mark.parametrize(
    ("combine", "message"),
    [
        (
            lambda x, y: x - y,
            "of 3, 1 it makes 2, and swapped -2: a schedule may fold in any order",
        ),
        (
            lambda x, y: (x + y) * 2,
            "of 3, 1, 2 it makes 20, and grouped otherwise 18: a schedule may fold in any order",
        ),
        (lambda x, y: x, "of 3, 1 it makes 3, and swapped 1: a schedule may fold in any order"),
    ],
)
def test_refused(combine, message, refused):
    with refused(
        UserError,
        f"""
        reducer 'mine'
          --> test_joins.py:LINE
           |     return mine(A[k], axis=te.reduce_axis((0, 8)))
           |     ^
          because: {message}
          legal: a commutative and associative operation, such as lambda x, y: x + y
        """,
    ):
        one(combine)


@pytest.mark.parametrize(
    ("count", "asked", "legal"), [(1, "1 value", "best((x0, x1), axis=k)"), (3, "3 values", "best((x0, x1), axis=k)")]
)
def test_another_number_of_values(count, asked, legal, refused):
    best = te.comm_reducer(lambda x, y: (x[0], y[1]), lambda a, b: (te.const(0, a), te.const(0, b)), name="best")
    A, axis = te.placeholder((8,), name="A"), te.reduce_axis((0, 8))
    with refused(
        UserError,
        f"""
        reducer 'best' of {asked}
          --> test_joins.py:LINE
           |     best((A[axis],) * count if count > 1 else A[axis], axis=axis)
           |     ^
          because: its identity is made of 2 types, one for each value
          legal: {legal}
        """,
    ):
        best((A[axis],) * count if count > 1 else A[axis], axis=axis)
