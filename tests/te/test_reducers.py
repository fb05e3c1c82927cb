"""Reducers: how partial results join, their identities, what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tecomp import te
from tecomp.ir import evaluate
from tecomp.ir import expr as E
from tests.te.message import message, text

A = te.placeholder((8, 8), name="A")
I8 = te.placeholder((8,), "int8", name="I8")
i = te.var("i")


def axis(name="k"):
    return te.reduce_axis((0, 8), name=name)


def fold(reduction: E.Reduce, rows) -> tuple:
    """Fold rows of values as the reduction says, from its identity on."""
    combiner = reduction.combiner
    state = tuple(e.value for e in combiner.identity)
    for row in rows:
        values = dict(zip((*combiner.lhs, *combiner.rhs), (*state, *row), strict=True))
        state = tuple(np.asarray(evaluate(part, values)).item() for part in combiner.result)
    return state


def test_a_reduction() -> None:
    k = axis()
    total = te.sum(A[i, k], axis=k, where=k > 2, init=1.0)
    assert isinstance(total, E.Reduce)
    assert (total.axes, total.condition, total.source) == ((k,), k > 2, (A[i, k],))
    assert total.init == (te.const(1.0),)
    assert (total.dtype, total.value_index) == ("float32", 0)
    assert te.sum(A[i, k], k, k > 2, 1.0) is total


def test_equal_reductions_are_one_node() -> None:
    k = axis()
    assert te.sum(A[i, k], axis=k) is te.sum(A[i, k], axis=[k])
    assert te.sum(A[i, k], axis=k) is not te.prod(A[i, k], axis=k)


def test_the_accumulator_has_the_type_of_what_is_folded() -> None:
    k = axis()
    assert te.sum(I8[k], axis=k).dtype == "int8"
    assert te.sum(I8[k].astype("int32"), axis=k).dtype == "int32"
    assert te.max(I8[k], axis=k, init=3).init[0].dtype == "int8"


@pytest.mark.parametrize(
    ("reducer", "dtype", "identity"),
    [
        (te.sum, "float32", 0.0),
        (te.prod, "int32", 1),
        (te.max, "float16", -math.inf),
        (te.min, "float64", math.inf),
        (te.max, "int8", -128),
        (te.min, "uint8", 255),
    ],
)
def test_identities(reducer, dtype, identity) -> None:
    k = axis()
    (found,) = reducer(te.placeholder((8,), dtype)[k], axis=k).combiner.identity
    assert (found.value, found.dtype) == (identity, dtype)


@pytest.mark.parametrize("values", [[1.0, 5.0, 3.0], [math.nan, 1.0, 2.0], [1.0, math.nan], [-math.inf, 2.0], [-0.0]])
def test_extremes_are_numpys(values) -> None:
    k = axis()
    for reducer, numpy in ((te.max, np.max), (te.min, np.min)):
        (got,) = fold(reducer(A[i, k], axis=k), [(value,) for value in values])
        np.testing.assert_equal(got, float(numpy(np.array(values, "float32"))))


ROWS = [
    [3.0, 7.0, 7.0, 1.0],
    [math.nan, 6.0, 8.0],
    [1.0, math.nan, 9.0, math.nan],
    [-math.inf, -math.inf],
    [math.inf, math.inf],
    [0.0, -0.0, 0.0],
]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("backward", [False, True])
def test_argmax_and_argmin_are_numpys_in_any_order(row, backward) -> None:
    k = axis()
    pairs = list(enumerate(row))[:: -1 if backward else 1]
    for reducer, numpy in ((te.argmax, np.argmax), (te.argmin, np.argmin)):
        index, value = fold(reducer((k, A[i, k]), axis=k)[0], pairs)
        assert index == numpy(np.array(row))
        np.testing.assert_equal(value, row[index])


def test_argmax_of_integers() -> None:
    k = axis()
    best = te.argmax((k, I8[k]), axis=k)
    assert [part.dtype for part in best] == ["int32", "int8"]
    assert fold(best[0], [(0, -128), (1, -128)]) == (0, -128)
    assert fold(te.argmin((k, I8[k]), axis=k)[0], [(3, 4), (1, 5), (2, 4)]) == (2, 4)


def test_argmax_takes_the_axis_for_the_index() -> None:
    k = axis()
    assert te.argmax(I8[k], axis=k) == te.argmax((k, I8[k]), axis=k)


def test_plain_values_are_joined() -> None:
    a, b, c = (te.var(name, "float32") for name in "abc")
    assert isinstance(te.max(a, b), E.Max) and isinstance(te.min(a, b), E.Min)
    assert te.min(a, b, c) is te.min(te.min(a, b), c)
    assert te.sum(a, b, c) is a + b + c
    assert te.max(a, 0) is te.max(a, te.const(0.0))
    assert te.max(3, 4) is te.const(4)


def test_a_reduction_in_the_order_of_its_arguments() -> None:
    k = axis()
    assert te.sum(I8[k], k, k > 1, I8[0]) is te.sum(I8[k], axis=k, where=k > 1, init=I8[0])
    assert te.argmax((k, I8[k]), k, k > 1)[0] is te.argmax((k, I8[k]), axis=k, where=k > 1)[0]


def test_ones_own_reducer() -> None:
    k = axis()
    hypot = te.comm_reducer(lambda x, y: te.sqrt(x * x + y * y), lambda t: te.const(0, t), name="hypot")
    made = te.compute((8,), lambda j: hypot(A[j, k], axis=k))
    (got,) = fold(made.op.body[0], [(3.0,), (4.0,), (12.0,)])
    assert got == 13.0
    assert hypot(3.0, 4.0).name == "sqrt"
    assert repr(hypot) == "te.hypot" and repr(made.op.body[0].combiner) == "hypot"


def test_ones_own_reducer_of_tuples() -> None:
    k = axis()

    def join(x, y):
        return te.Select(x[1] >= y[1], x[0], y[0]), te.Select(x[1] >= y[1], x[1], y[1])

    best = te.comm_reducer(join, lambda t0, t1: (te.const(-1, t0), te.min_value(t1)), name="best")
    index, value = te.compute((8,), lambda j: best((k.var, A[j, k]), axis=k))
    assert (index.dtype, value.dtype) == ("int32", "float32")
    assert fold(index.op.body[0], [(0, 1.0), (1, 3.0), (2, 2.0)]) == (1, 3.0)
    assert [e.value for e in index.op.body[0].combiner.identity] == [-1, te.min_value("float32").value]
    assert len(best((i, A[i, 0]), (i, A[i, 1]))) == 2


def test_plain_numbers_of_a_reducer_take_the_type() -> None:
    k = axis()
    count = te.comm_reducer(lambda x, y: x + y, lambda t: 0, name="count")
    assert count(I8[k], axis=k).combiner.identity[0].dtype == "int8"


def reducer(combine=lambda x, y: x + y, identity=lambda t: 0):
    k = axis()
    return lambda: te.comm_reducer(combine, identity, name="mine")(I8[k], axis=k)


K = axis()
DATA = te.compute((8,), lambda i: I8[i]).op.axis[0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: te.sum(I8[K], axis=[]),
            text("te.sum over no axis", "it has nothing to fold", "one te.reduce_axis or more"),
        ),
        (
            lambda: te.sum(I8[K], axis=3),
            text("te.sum over 3", "that is no axis to fold over", "axis=te.reduce_axis((0, n))"),
        ),
        (
            lambda: te.sum(I8[K], axis=te.var("v")),
            text("te.sum over 'v'", "that is no axis to fold over", "axis=te.reduce_axis((0, n))"),
        ),
        (
            lambda: te.max(I8[K], init=I8[K]),
            text("te.max over None", "where= and init= are of a reduction", "axis=te.reduce_axis((0, n))"),
        ),
        (lambda: te.sum(I8[K], axis=[K, K]), text("te.sum over k, k", "'k' is named twice", "each axis once")),
        (
            lambda: te.max(I8[K], axis=DATA),
            text("te.max over i", "'i' is no reduce axis: its kind is data", "te.reduce_axis"),
        ),
        (
            lambda: te.sum(I8[K]),
            text("te.sum of one value", "there is no axis to fold over", "te.sum(expr, axis=k), te.sum(a, b)"),
        ),
        (
            lambda: te.sum(I8[K], axis=K, where=I8[K]),
            text("te.sum: where=I8[k]", "it is int8", "a comparison, te.all, te.any"),
        ),
        (
            lambda: te.sum(I8[K], axis=K, init=A[i, i]),
            text("te.sum: init=A[i, i]", "it is float32, what it folds is int8", ".astype('int8')"),
        ),
        (
            lambda: te.argmax((K, I8[K]), axis=K, init=3),
            text("te.argmax: init", "it gives 1 value for 2 values to fold", "one for each"),
        ),
        (
            lambda: te.argmax(I8[K], axis=[K]),
            text("te.argmax of I8[k]", "it folds an index with a value", "te.argmax((k, A[k]), axis=k)"),
        ),
        (
            lambda: te.argmin((I8[K], K, K), axis=K),
            text(
                "te.argmin of (I8[k], IterVar(k, reduce), IterVar(k, reduce))",
                "it folds an index with a value",
                "te.argmin((k, A[k]), axis=k)",
            ),
        ),
        (
            lambda: te.argmax((A[i, K], K), axis=K),
            text("te.argmax: index A[i, k]", "it is float32", "an integer, then the value"),
        ),
        (
            reducer(combine=lambda x, y: (x, y)),
            text("reducer 'mine': fcombine", "it gives 2 values for 1 value to fold"),
        ),
        (
            reducer(combine=lambda x, y: x.astype("int32") + y),
            text("reducer 'mine': fcombine", "its value 0 is int32, what it folds is int8", ".astype('int8')"),
        ),
        (
            reducer(identity=lambda t: te.const(0)),
            text("reducer 'mine': fidentity", "its value 0 is int32, what it folds is int8", ".astype('int8')"),
        ),
        (
            lambda: te.comm_reducer(3, 4),
            text(
                "te.comm_reducer",
                "fcombine and fidentity are functions",
                "comm_reducer(lambda x, y: x + y, lambda t: te.const(0, t))",
            ),
        ),
        (
            lambda: te.sum(I8[K] > 0, axis=K),
            text("+ of bools", "bool is no number", "te.any, te.all, te.if_then_else, or .astype('int32')"),
        ),
    ],
)
def test_refused(call, said) -> None:
    assert message(call) == said
