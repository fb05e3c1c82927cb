"""Jacobians: without a head, every element of the output by every element of an input."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.te.graph import post_order
from tests.te.finite_differences import STEP, body, both_sides, drawn, placeholders, run

F64 = "float64"
X, V = te.placeholder((3, 4), F64, name="X"), te.placeholder((4,), F64, name="V")
VALUES = {X: drawn(3, 4), V: drawn(4)}


def over(extent):
    return te.reduce_axis((0, extent), name="k")


def times_vector():
    k = over(4)
    return te.compute((3,), lambda i: te.sum(X[i, k] * V[k], axis=k), name="P")


def relu():
    P = times_vector()
    return te.compute((3,), lambda i: te.max(P[i] - 0.8, 0.0), name="Y")


def gathered():
    P = times_vector()
    return te.compute((2,), lambda i: te.exp(P[i * 2]), name="Y")


def guarded():
    H = te.compute((4,), lambda i: V[i] * V[i], name="H")
    shifted = te.compute((5,), lambda i: te.if_then_else(te.all(i >= 1, i < 4), H[i - 1] * 2.0, 1.0), name="shifted")
    return te.compute((5,), lambda i: te.sin(shifted[i]), name="Y")


def normalised():
    """Return a softmax of the rows."""
    k, q = over(4), over(4)
    top = te.compute((3,), lambda i: te.max(X[i, k], axis=k), name="top")
    e = te.compute((3, 4), lambda i, j: te.exp(X[i, j] - top[i]), name="e")
    total = te.compute((3,), lambda i: te.sum(e[i, q], axis=q), name="total")
    return te.compute((3, 4), lambda i, j: e[i, j] / total[i], name="Y")


def several():
    pair = te.compute((4,), lambda i: (V[i] * 2.0, te.sin(V[i])), name="pair")
    return te.compute((4,), lambda i: pair[0][i] * pair[1][3 - i], name="Y")


CASES = [times_vector, relu, gathered, guarded, normalised, several]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("target", ["llvm", "interpreter"])
def test_against_differences(case, target: str) -> None:
    Y = case()
    given = placeholders(Y)
    kernel = tecomp.build(te.create_schedule(Y.op), [*given, Y])
    shape = tuple(int(extent) for extent in Y.shape)
    gradients = te.gradient(Y, given)
    shapes = [(*shape, *VALUES[tensor].shape) for tensor in given]
    for tensor, found in zip(given, run(gradients, VALUES, shapes, target), strict=True):
        expected = np.empty(found.shape)
        for at, *sides in both_sides(VALUES[tensor]):
            up, down = np.empty(shape), np.empty(shape)
            for array, result in zip(sides, (up, down), strict=True):
                kernel(*({**VALUES, tensor: array}[arg] for arg in given), result)
            expected[..., *at] = (up - down) / (2 * STEP)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_no_sum_over_the_identity() -> None:
    """Each row of the identity is one element, which is followed through: nothing is summed, nothing compared twice."""
    dX, dV = te.gradient(relu(), [X, V])
    assert body(dX) == "P.grad.element[d0] * V[k] if d0 == i0 else 0.0"
    assert body(dV) == "P.grad.element[d0] * X[d0, k]"
    (element,) = (op for op in post_order([dX]) if op.name == "P.grad.element")
    assert repr(element.output(0)) == "P.grad.element: f64[3]"
    assert element.body[0] is not None and body(element.output(0)) == "select(P[d0] - 0.8 <= 0.0, f64(0.0), f64(1.0))"


def test_of_a_number_it_is_the_gradient() -> None:
    a, b = te.reduce_axis((0, 3), name="a"), te.reduce_axis((0, 4), name="b")
    loss = te.compute((), lambda: te.sum(X[a, b] * X[a, b], axis=[a, b]), name="loss")
    (grad,) = te.gradient(te.compute((), lambda: te.log(loss()), name="Y"), [X])
    assert (repr(grad), body(grad)) == ("X.grad: f64[3, 4]", "loss.grad.element[] * X[a, b] * 2.0")
    (found,) = run([grad], VALUES, [(3, 4)])
    np.testing.assert_allclose(found, 2 * VALUES[X] / (VALUES[X] ** 2).sum())
