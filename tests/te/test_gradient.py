"""The form of gradients: index equations are solved, so that no gradient is a sum over comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from tecomp import te
from tests.te.finite_differences import body, check, drawn, run

F64 = "float64"
m, n, l = te.var("m"), te.var("n"), te.var("l")


def tensor(name: str, *shape, dtype: str = F64):
    return te.placeholder(shape, dtype, name=name)


X, V, Q = tensor("X", m, n), tensor("V", 12), tensor("Q", 4, 3)


def over(extent, name: str = "k"):
    return te.reduce_axis((0, extent), name=name)


def product(a, b):
    """Return the matrix product of two tensors."""
    k = over(a.shape[1])
    return te.compute(
        (a.shape[0], b.shape[1]), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name=f"{a.name}{b.name}"
    )


def test_of_a_matrix_product_are_matrix_products() -> None:
    A, B = tensor("A", n, l), tensor("B", l, m)
    dA, dB = check(product(A, B), {A: drawn(3, 4), B: drawn(4, 5)})
    assert body(dA) == "sum(head[i, j] * B[k, j], axis=[j])"
    assert body(dB) == "sum(head[i, j] * A[i, k], axis=[i])"


def test_of_a_convolution_are_convolutions() -> None:
    image, weight = tensor("X", 2, 7, 6), tensor("W", 3, 2, 3, 3)
    rc, ry, rx = over(2, "rc"), over(3, "ry"), over(3, "rx")
    Y = te.compute(
        (3, 5, 4),
        lambda f, y, x: te.sum(image[rc, y + ry, x + rx] * weight[f, rc, ry, rx], axis=[rc, ry, rx]),
        name="Y",
    )
    dX, dW = check(Y, {image: drawn(2, 7, 6), weight: drawn(3, 2, 3, 3)})
    inside = "ry <= i1 and i1 <= ry + 4 and rx <= i2 and i2 <= rx + 3"
    assert body(dX) == f"sum(head[f, i1 - ry, i2 - rx] * W[f, rc, ry, rx], axis=[f, ry, rx], where={inside})"
    assert body(dW) == "sum(head[f, y, x] * X[rc, y + ry, x + rx], axis=[y, x])"


def test_a_convolution_with_a_stride_tries_only_the_taps_that_reach() -> None:
    line, weight = tensor("X", 11), tensor("W", 3)
    k = over(3)
    Y = te.compute((5,), lambda i: te.sum(line[i * 2 + k] * weight[k], axis=k), name="Y")
    dX, dW = check(Y, {line: drawn(11), weight: drawn(3)})
    inside = "k <= i0 // 2 and i0 // 2 <= k + 4 and k * 2 + i0 % 2 < 3"
    assert body(dX) == f"sum(head[i0 // 2 - k] * W[k * 2 + i0 % 2], axis=[k], where={inside})"
    assert dX.op.reduce_axis[0].dom.extent.value == 2
    assert body(dW) == "sum(head[i] * X[i * 2 + k], axis=[i])"


I = te.placeholder((5,), "int32", name="I")
PLACES = np.array([3, 3, 0, 11, 7], np.int32)

FORMS = {
    "a transpose": (X, (n, m), lambda i, j: X[j, i], "head[i, j]"),
    "a broadcast": (X, (m, n, 3), lambda i, j, q: X[i, j] * 2.0, "sum(head[i, j, q] * 2.0, axis=[q])"),
    "one row": (X, (n,), lambda j: X[0, j], "head[j] if i0 == 0 else 0.0"),
    "a diagonal": (Q, (3,), lambda i: Q[i, i], "head[i] if i == i_1 else 0.0"),
    "one element": (V, (), lambda: V[3], "head[] if i0 == 3 else 0.0"),
    "backwards": (V, (12,), lambda i: V[11 - i], "head[11 - i0]"),
    "a shift": (V, (11,), lambda i: V[i + 1], "head[i0 - 1] if 0 < i0 else 0.0"),
    "a shift with padding": (
        V, (12,), lambda i: te.if_then_else(i >= 1, V[i - 1], 0.0), "head[i0 + 1] if i0 < 11 else 0.0"
    ),
    "two columns": (V, (6,), lambda i: V[i * 2], "head[i0 // 2] if i0 % 2 == 0 else 0.0"),
    "into rows": (V, (3, 4), lambda i, j: V[i * 4 + j], "head[i0 // 4, i0 % 4]"),
    "into one row": (Q, (12,), lambda i: Q[i // 3, i % 3], "head[i0 * 3 + i1]"),
    "a sum of neighbours": (
        V, (11,), lambda i: V[i] - V[i + 1], "(head[i] if i < 11 else 0.0) + (head[i - 1] * -1.0 if 0 < i else 0.0)"
    ),
    "a square": (V, (12,), lambda i: V[i] * V[i], "head[i] * V[i] * 2.0"),
    "a gather": (V, (5,), lambda i: V[I[i]], "sum(head[i], axis=[i], where=I[i] == i0)"),
    "a clamp": (V, (12,), lambda i: V[te.max(i - 1, 0)], "sum(head[i], axis=[i], where=max(i - 1, 0) == i0)"),
    "a quotient": (V, (12,), lambda i: 1.0 / V[i], "head[i] * Y[i] / V[i] * -1.0"),
    "a choice": (
        V, (12,), lambda i: te.Select(V[i] > 0.5, V[i] * V[i], -V[i]),
        "select(0.5 < V[i], head[i] * V[i] * 2.0, head[i] * -1.0)",
    ),
}  # fmt: skip
"""By what, the shape and the formula of a function, and the formula of its gradient."""


@pytest.mark.parametrize("case", FORMS)
@pytest.mark.parametrize("target", ["llvm", "interpreter"])
def test_forms(case: str, target: str) -> None:
    by, shape, formula, wanted = FORMS[case]
    Y = te.compute(shape, formula, name="Y")
    values = {by: drawn(*{X: (3, 4), V: (12,), Q: (4, 3)}[by]), I: PLACES}
    (grad,) = check(Y, values, by, target=target)
    assert body(grad) == wanted
    assert grad.name == f"{by.name}.grad"


def test_padding_and_a_stride_together() -> None:
    k = over(3)
    padded = te.compute((14,), lambda i: te.if_then_else(te.all(i >= 1, i < 13), V[i - 1], te.const(0, F64)), name="P")
    Y = te.compute((6,), lambda i: te.sum(padded[i * 2 + k] * padded[i * 2 + k], axis=k), name="Y")
    (grad,) = check(Y, {V: drawn(12)})
    assert body(grad) == "P.grad[i0 + 1]"


def test_joined_tensors() -> None:
    Y = te.compute((16,), lambda i: te.if_then_else(i < 12, V[i], Q[i - 12, 0]), name="Y")
    dV, dQ = check(Y, {V: drawn(12), Q: drawn(4, 3)})
    assert (body(dV), body(dQ)) == ("head[i]", "head[i0 + 12] if i1 == 0 else 0.0")


def test_a_condition_protects_the_derivative_too() -> None:
    """V[i - 1] is read by the derivative of its square, and only where i is not 0."""
    Y = te.compute((12,), lambda i: te.if_then_else(i >= 1, V[i - 1] * V[i - 1] * V[i], V[i]), name="Y")
    check(Y, {V: drawn(12)})
    check(Y, {V: drawn(12)}, target="interpreter")


def test_a_function_of_several_results() -> None:
    pair = te.compute((12,), lambda i: (V[i] * 2.0, te.sin(V[i])), name="pair")
    Y = te.compute((12,), lambda i: pair[0][i] * pair[1][11 - i], name="Y")
    (grad,) = check(Y, {V: drawn(12)})
    assert body(grad) == "pair.v1.grad[i] * cos(V[i]) + pair.v0.grad[i] * 2.0"


def test_one_of_several_results() -> None:
    pair = te.compute((12,), lambda i: (V[i] * 2.0, te.sin(V[i])), name="pair")
    (grad,) = check(pair[1], {V: drawn(12)})
    assert body(grad) == "head[i] * cos(V[i])"


def test_several_readers_are_added() -> None:
    left, right = (te.compute((12,), lambda i, q=q: V[i] * q, name=f"by{q}") for q in (2.0, 3.0))
    Y = te.compute((12,), lambda i: left[i] * right[11 - i], name="Y")
    (grad,) = check(Y, {V: drawn(12)})
    assert body(grad) == "by3.0.grad[i] * 3.0 + by2.0.grad[i] * 2.0"


def test_by_what_is_computed() -> None:
    H = te.compute((12,), lambda i: V[i] * V[i], name="H")
    Y = te.compute((12,), lambda i: te.exp(H[i]) * V[i], name="Y")
    dH, dV = te.gradient(Y, [H, V], head=tensor("head", 12))
    assert body(dH) == "head[i] * V[i] * exp(H[i])"
    assert body(dV) == "head[i] * exp(H[i]) + H.grad[i] * V[i] * 2.0"
    assert dH in dV.op.input_tensors


def test_by_itself() -> None:
    Y = te.compute((3,), lambda i: V[i], name="Y")
    head = tensor("head", 2, 3)
    (grad,) = te.gradient(Y, Y, head=head)
    assert (repr(grad), body(grad)) == ("Y.grad: f64[2, 3]", "head[d0, i]")
    (grad,) = te.gradient(Y, [Y])
    assert (repr(grad), body(grad)) == ("Y.grad: f64[3, 3]", "f64(1.0) if d0 == i else f64(0.0)")


def test_what_it_does_not_depend_on() -> None:
    Y = te.compute((12,), lambda i: V[i], name="Y")
    other = tensor("other", 2, n, dtype="float32")
    dother, dI = te.gradient(Y, [other, I], head=tensor("head", 12))
    assert (repr(dother), body(dother)) == ("other.grad: f32[2, n]", "f32(0.0)")
    assert (repr(dI), body(dI)) == ("I.grad: i32[5]", "i32(0)")


def test_integers_have_a_gradient_of_zeros() -> None:
    Y = te.compute((5,), lambda i: V[I[i]] * I[i].astype(F64), name="Y")
    dI, dV = te.gradient(Y, [I, V], head=(head := tensor("head", 5)))
    assert body(dI) == "i32(0)"
    found = run([dI, dV], {I: PLACES, head: np.ones(5)}, [(5,), (12,)])
    np.testing.assert_array_equal(found[0], np.zeros(5, np.int32))
    np.testing.assert_array_equal(found[1], np.bincount(PLACES, weights=PLACES, minlength=12))


def test_more_dimensions_in_the_head() -> None:
    """Each leading index of the head is a gradient of its own."""
    A, B = tensor("A", 3, 4), tensor("B", 4, 2)
    head = tensor("head", 5, 3, 2)
    dA, dB = te.gradient(product(A, B), [A, B], head=head)
    assert (repr(dA), body(dA)) == ("A.grad: f64[5, 3, 4]", "sum(head[d0, i, j] * B[k, j], axis=[j])")
    a, b, h = drawn(3, 4), drawn(4, 2), drawn(5, 3, 2)
    found = run([dA, dB], {A: a, B: b, head: h}, [(5, 3, 4), (5, 4, 2)])
    np.testing.assert_allclose(found[0], h @ b.T)
    np.testing.assert_allclose(found[1], a.T @ h)


def test_names_and_lines() -> None:
    A, B = tensor("A", 3, 4), tensor("B", 4, 2)
    first, second = te.gradient(product(A, B), [A, B], head=tensor("head", 3, 2))
    assert {grad.op.loc.source() for grad in (first, second)} == {
        'first, second = te.gradient(product(A, B), [A, B], head=tensor("head", 3, 2))'
    }
    assert [axis.name for axis in first.op.axis] == ["i", "k"]


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_sizes(size: int) -> None:
    A, B = tensor("A", n, l), tensor("B", l, m)
    dA, dB = te.gradient(product(A, B), [A, B], head=(head := tensor("head", n, m)))
    a, b, h = drawn(3, size), drawn(size, 2), drawn(3, 2)
    found = run([dA, dB], {A: a, B: b, head: h}, [(3, size), (size, 2)])
    np.testing.assert_allclose(found[0], h @ b.T)
    np.testing.assert_allclose(found[1], a.T @ h)


def test_sizes_of_int64() -> None:
    size = te.var("size", "int64")
    A = tensor("A", size)
    Y = te.compute((size - 1,), lambda i: A[i] * A[i + 1], name="Y")
    (grad,) = te.gradient(Y, [A], head=(head := tensor("head", size - 1)))
    assert {axis.dtype for axis in grad.op.axis} == {"int64"}
    a, h = drawn(5), drawn(4)
    (found,) = run([grad], {A: a, head: h}, [(5,)])
    np.testing.assert_allclose(found, np.append(h * a[1:], 0) + np.append(0, h * a[:-1]))


def test_flattened_by_a_size() -> None:
    flat, shape = tensor("flat", m * n), tensor("shape", m, n)
    Y = te.compute((m, n), lambda i, j: flat[i * n + j] * shape[i, j], name="Y")
    dflat, dshape = te.gradient(Y, [flat, shape], head=(head := tensor("head", m, n)))
    assert body(dflat) == "head[i0 // n, i0 % n] * shape[i0 // n, i0 % n] if i0 // n < m else 0.0"
    assert body(dshape) == "head[i, j] * flat[i * n + j]"
    a, s, h = drawn(12), drawn(3, 4), drawn(3, 4) + 1
    found = run([dflat, dshape], {flat: a, shape: s, head: h}, [(12,), (3, 4)])
    np.testing.assert_allclose(found[0], (h * s).ravel())
    np.testing.assert_allclose(found[1], h * a.reshape(3, 4))
