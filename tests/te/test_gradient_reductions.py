"""Gradients of reductions."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp import te
from tests.te.finite_differences import body, check, drawn, run
from tests.te.message import message, text

F64 = "float64"
V, Q = te.placeholder((12,), F64, name="V"), te.placeholder((4, 3), F64, name="Q")
VALUES = {V: drawn(12), Q: drawn(4, 3)}


def over(extent, name: str = "k", least: int = 0):
    return te.reduce_axis((least, least + extent), name=name)


def rows(formula):
    """Return a compute of four elements, each a reduction over three."""
    k = over(3)
    return te.compute((4,), lambda i: formula(i, k), name="Y")


CASES = {
    "sum": lambda i, k: te.sum(Q[i, k] * V[k], axis=k),
    "sum with a start": lambda i, k: te.sum(Q[i, k], axis=k, init=V[i] * V[i]),
    "sum of some": lambda i, k: te.sum(Q[i, k] * V[i], axis=k, where=k > i),
    "max": lambda i, k: te.max(Q[i, k] * V[k], axis=k),
    "min": lambda i, k: te.min(Q[i, k] * V[k], axis=k),
    "max with a start": lambda i, k: te.max(Q[i, k], axis=k, init=V[i] * 1.5),
    "min of some": lambda i, k: te.min(Q[i, k], axis=k, where=k != i, init=V[i] * 2.0),
    "prod": lambda i, k: te.prod(Q[i, k] * V[k], axis=k),
    "prod with a start": lambda i, k: te.prod(Q[i, k], axis=k, init=V[i] * V[i]),
    "prod of some": lambda i, k: te.prod(Q[i, k] + V[i], axis=k, where=k != i),
}


@pytest.mark.parametrize("case", CASES)
def test_reducers(case: str) -> None:
    Y = rows(CASES[case])
    values = {tensor: VALUES[tensor] for tensor in Y.op.input_tensors}
    check(Y, values)


def test_the_text_of_some() -> None:
    head = te.placeholder((4,), F64, name="head")
    gradients = {
        "sum of some": "head[i] * V[i] if i < k else 0.0",
        "max": "select(k == Y.position.v0[i], head[i] * V[k], 0.0)",
        "max with a start": "select(k == Y.position.v0[i], head[i], 0.0)",
    }
    for case, wanted in gradients.items():
        (grad,) = te.gradient(rows(CASES[case]), [Q], head=head)
        assert body(grad) == wanted
    (start,) = te.gradient(rows(CASES["max with a start"]), [V], head=head)
    assert body(start) == "head[i] * 1.5 if i < 4 and Y.position.v0[i] == -1 else 0.0"


def argmax(i, k):
    return te.argmax((k, Q[i, k] * V[k]), axis=k)


def test_the_greatest_and_where_it_is() -> None:
    """The index that argmax gives is the position: nothing more is folded."""
    greatest = rows(argmax)
    _, dQ = check(greatest[1], VALUES)
    assert body(dQ) == "select(k == Y.v0[i], head[i] * V[k], 0.0)"


def test_ties_go_to_the_first() -> None:
    Y = rows(lambda i, k: te.max(Q[i, k], axis=k))
    (grad,) = te.gradient(Y, [Q], head=(head := te.placeholder((4,), F64, name="head")))
    q = np.array([[1, 1, 0], [0, 2, 2], [3, 3, 3], [0, np.nan, np.nan]], np.float64)
    (found,) = run([grad], {Q: q, head: np.ones(4)}, [(4, 3)])
    np.testing.assert_array_equal(found, [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]])


def test_products_with_zeros() -> None:
    Y = rows(lambda i, k: te.prod(Q[i, k], axis=k))
    (grad,) = te.gradient(Y, [Q], head=(head := te.placeholder((4,), F64, name="head")))
    q = np.array([[2, 3, 5], [0, 3, 5], [2, 0, 0], [0, 0, 0]], np.float64)
    (found,) = run([grad], {Q: q, head: np.ones(4)}, [(4, 3)])
    np.testing.assert_array_equal(found, [[15, 10, 6], [15, 0, 0], [0, 0, 0], [0, 0, 0]])


def test_over_several_axes() -> None:
    for reducer in (te.sum, te.max, te.prod):
        axes = [over(4, "a"), over(3, "b")]
        Y = te.compute((), lambda reducer=reducer, axes=axes: reducer(Q[tuple(axes)], axis=axes), name="Y")
        check(Y, {Q: VALUES[Q]})


def test_a_pool_of_overlapping_windows() -> None:
    k = over(3)
    Y = te.compute((5,), lambda i: te.max(V[i * 2 + k], axis=k), name="Y")
    (grad,) = check(Y, {V: VALUES[V]})
    condition = "k * 2 + i0 % 2 == Y.position.v0[i0 // 2 - k]"
    inside = "k <= i0 // 2 and i0 // 2 <= k + 4 and k * 2 + i0 % 2 < 3"
    assert body(grad) == f"sum(head[i0 // 2 - k], axis=[k], where={inside} and {condition})"


def test_an_axis_that_begins_elsewhere() -> None:
    for reducer in (te.sum, te.max, te.prod):
        k = over(5, least=4)
        Y = te.compute((3,), lambda i, reducer=reducer, k=k: reducer(V[k + i], axis=k), name="Y")
        check(Y, {V: VALUES[V]})


def test_a_triangle() -> None:
    def row(i):
        k = te.reduce_axis((0, i + 1), name="k")
        return te.sum(V[k] * Q[i, 0], axis=k)

    Y = te.compute((4,), row, name="Y")
    dV, _ = check(Y, VALUES)
    assert body(dV) == "sum(head[i] * Q[i, i32(0)], axis=[i], where=k <= i)"


def test_rows_of_a_sparse_matrix() -> None:
    begin, column = (te.placeholder((size,), "int32", name=name) for size, name in ((5, "begin"), (12, "column")))

    def row(i):
        k = te.reduce_axis((begin[i], begin[i + 1]), name="k")
        return te.sum(V[k] * Q[column[k] % 4, 0], axis=k)

    Y = te.compute((4,), row, name="Y")
    places = {begin: np.array([0, 2, 2, 7, 11], np.int32), column: np.arange(12, dtype=np.int32) * 5}
    dV, _ = check(Y, {**VALUES, **places})
    assert body(dV) == (
        "sum(head[i] * Q[column[k] % 4, i32(0)], axis=[i], where="
        "begin[i] <= k and k < begin[i] + (begin[i + 1] - begin[i]))"
    )


def test_an_empty_reduction() -> None:
    n = te.var("n")
    X = te.placeholder((3, n), F64, name="X")
    for reducer in (te.sum, te.max, te.prod):
        k = over(n)
        Y = te.compute((3,), lambda i, reducer=reducer, k=k: reducer(X[i, k], axis=k), name="Y")
        check(Y, {X: np.empty((3, 0))})


log_add = te.comm_reducer(lambda x, y: x + te.log1p(te.exp(y - x)), lambda t: te.const(-60, t), name="log_add")
"""The logarithm of a sum, from the logarithms of its parts."""


def _join(x, y):
    top = te.max(x[0], y[0])
    return top, x[1] * te.exp(x[0] - top) + y[1] * te.exp(y[0] - top)


online = te.comm_reducer(_join, lambda a, b: (te.const(-100, a), te.const(0, b)), name="online")
"""The greatest value and the sum of exponentials below it, in one pass."""

farthest = te.comm_reducer(
    lambda x, y: tuple(te.Select(x[1] >= y[1], a, b) for a, b in zip(x, y, strict=True)),
    lambda a, b: (te.const(0, a), te.const(-100, b)),
    name="farthest",
)
"""A value of the greatest weight, and that weight: like argmax, with the sides the other way round below."""

nearest = te.comm_reducer(
    lambda x, y: tuple(te.if_then_else(x[1] > y[1], b, a) for a, b in zip(x, y, strict=True)),
    lambda a, b: (te.const(0, a), te.const(100, b)),
    name="nearest",
)

both = te.comm_reducer(
    lambda x, y: (x[0] + y[0], x[1] + y[1] * 1.0), lambda a, b: (te.const(0, a), te.const(0, b)), name="both"
)


def test_a_reducer_of_ones_own() -> None:
    Y = rows(lambda i, k: log_add(Q[i, k] * V[k], axis=k))
    check(Y, VALUES, tolerance=1e-5)


def test_a_reducer_of_ones_own_over_two_axes_with_a_start() -> None:
    a, b = over(4, "a"), over(3, "b")
    Y = te.compute((2,), lambda i: log_add(Q[a, b] * (i + 1.0), axis=[a, b], init=V[i], where=a != b), name="Y")
    _, dQ = check(Y, VALUES, tolerance=1e-5)
    assert repr(dQ.op.input_tensors[1]) == "Y.others: f64[2, 4, 3]"


TUPLES = {
    "online softmax": lambda i, k: online((Q[i, k], te.const(1, F64)), axis=k),
    "sums": lambda i, k: both((Q[i, k] * V[k], Q[i, k]), axis=k, init=(V[i], V[i])),
    "a value that goes with the greatest": lambda i, k: farthest((V[k] * 2.0, Q[i, k]), axis=k),
    "a value that goes with the least": lambda i, k: nearest((V[k] * V[k], Q[i, k]), axis=k, init=(V[i], 0.4)),
}


@pytest.mark.parametrize("case", TUPLES)
def test_reducers_of_several_values(case: str) -> None:
    pair = rows(TUPLES[case])
    Y = te.compute((4,), lambda i: pair[0][i] + te.log(pair[1][i]), name="Z")
    check(Y, {tensor: VALUES[tensor] for tensor in pair[0].op.input_tensors}, tolerance=1e-5)


def test_chosen_values_are_told_by_their_position() -> None:
    pair = rows(TUPLES["a value that goes with the greatest"])
    dV, dQ = te.gradient(pair[0], [V, Q], head=te.placeholder((4,), F64, name="head"))
    assert body(dV) == "sum(head[i] * 2.0, axis=[i], where=k < 3 and k == Y.position.v0[i])"
    assert body(dQ) == "f64(0.0)"


def test_positions_of_a_ragged_axis() -> None:
    def row(i):
        k = te.reduce_axis((0, i + 1), name="k")
        return te.max(V[k], axis=k)

    Y = te.compute((4,), row, name="Y")
    loc = Y.op.loc
    assert message(lambda: te.gradient(Y, [V])) == text(
        f"te.gradient of 'Y': through 'Y' ({loc})",
        "the extent of its axis 'k', i + 1, is not the same everywhere",
        "an axis of the greatest extent, and where= for the values that are folded",
    )


def test_a_reducer_without_a_derivative() -> None:
    bits = lambda x: te.reinterpret(F64, te.reinterpret("int64", x))
    odd = te.comm_reducer(lambda x, y: bits(x) + y, lambda t: te.const(0, t), name="odd")
    Y = rows(lambda i, k: odd(Q[i, k], axis=k))
    assert message(lambda: te.gradient(Y, [Q])) == text(
        f"te.gradient of 'Y': through 'Y' ({Y.op.loc})",
        "no derivative of 'reinterpret' is known",
        "the functions of te, whose derivatives are known",
    )
