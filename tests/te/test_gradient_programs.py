"""Gradients of whole programs: scheduled, built for both targets, made in no time."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir import make
from tecomp.te.graph import post_order
from tests.codegen.cuda_programs import compiles
from tests.te.finite_differences import check, drawn, placeholders, run
from tests.te.message import message, text

F64 = "float64"
m, n, h = te.var("m"), te.var("n"), te.var("h")


def tensor(name, *shape, dtype: str = F64):
    return te.placeholder(shape, dtype, name=name)


def over(extent, name: str = "k"):
    return te.reduce_axis((0, extent), name=name)


def dense(x, weight, name: str):
    """Return x times the transpose of a weight."""
    k = over(x.shape[1])
    shape = (x.shape[0], weight.shape[0])
    return te.compute(shape, lambda i, j: te.sum(x[i, k] * weight[j, k], axis=k), name=name)


def softmax(x):
    k, q = over(x.shape[1]), over(x.shape[1], "q")
    top = te.compute(x.shape[:1], lambda i: te.max(x[i, k], axis=k), name="top")
    e = te.compute(x.shape, lambda i, j: te.exp(x[i, j] - top[i]), name="e")
    total = te.compute(x.shape[:1], lambda i: te.sum(e[i, q], axis=q), name="total")
    return te.compute(x.shape, lambda i, j: e[i, j] / total[i], name="softmax")


def test_softmax() -> None:
    X = tensor("X", m, n)
    check(softmax(X), {X: drawn(3, 5, low=-2, high=2)})
    check(softmax(X), {X: drawn(2, 3)}, target="interpreter")


def test_layers_with_relu_and_a_loss() -> None:
    X, Z = tensor("X", 5, 4), tensor("Z", 5, 3)
    weights = [tensor("W0", 6, 4), tensor("W1", 3, 6)]
    hidden = dense(X, weights[0], "hidden")
    active = te.compute((5, 6), lambda i, j: te.max(hidden[i, j] - 1.0, 0.0), name="active")
    Y = dense(active, weights[1], "Y")
    a, b = over(5, "a"), over(3, "b")
    loss = te.compute((), lambda: te.sum(te.pow(Y[a, b] - Z[a, b], 2), axis=[a, b]), name="loss")
    check(loss, {given: drawn(*(int(extent) for extent in given.shape)) for given in placeholders(loss)})


def lstm(W, U, X):
    """Return the outputs of an LSTM over m steps of width h: four gates, two states."""
    c, y = tensor("c", m, h), tensor("y", m, h)
    k, q = over(n), over(h, "q")
    fed = te.compute((m, 4, h), lambda t, g, i: te.sum(W[g, i, k] * X[t, k], axis=k), name="fed")
    back = te.compute((m, 4, h), lambda t, g, i: te.sum(U[g, i, q] * y[t - 1, q], axis=q), name="back")
    gates = te.compute((m, 4, h), lambda t, g, i: fed[t, g, i] + back[t, g, i], name="gates")

    def cell(t, i):
        kept = te.sigmoid(gates[t, 1, i]) * c[t - 1, i]
        return kept + te.sigmoid(gates[t, 0, i]) * te.tanh(gates[t, 2, i])

    new_c = te.compute((m, h), cell, name="new_c")
    new_y = te.compute((m, h), lambda t, i: te.sigmoid(gates[t, 3, i]) * te.tanh(new_c[t, i]), name="new_y")
    zeros = [te.compute((1, h), lambda t, i: te.const(0, F64), name=f"zero{at}") for at in range(2)]
    return te.scan(zeros, [new_c, new_y], [c, y], inputs=[X], name="lstm")[1]


def test_an_lstm() -> None:
    W, U, X = tensor("W", 4, h, n), tensor("U", 4, h, h), tensor("X", m, n)
    made = check(lstm(W, U, X), {W: drawn(4, 2, 3), U: drawn(4, 2, 2), X: drawn(4, 3)})
    scans = [op for op in post_order(made) if isinstance(op, te.ScanOp)]
    assert [scan.name for scan in scans] == ["lstm", "lstm.grad.rows"]


def test_depthwise_convolution_with_padding_stride_and_dilation() -> None:
    image, weight = tensor("X", 2, 9, 8), tensor("W", 2, 3, 3)
    zero = te.const(0, F64)
    padded = te.compute(
        (2, 11, 10),
        lambda c, y, x: te.if_then_else(te.all(y >= 1, y < 10, x >= 1, x < 9), image[c, y - 1, x - 1], zero),
        name="padded",
    )
    ry, rx = over(3, "ry"), over(3, "rx")
    Y = te.compute(
        (2, 4, 6),
        lambda c, y, x: te.sum(padded[c, y * 2 + ry * 2, x + rx * 2] * weight[c, ry, rx], axis=[ry, rx]),
        name="Y",
    )
    check(Y, {image: drawn(2, 9, 8), weight: drawn(2, 3, 3)})


def test_a_transposed_convolution() -> None:
    """A guarded quotient as index, as transposed convolutions have it."""
    line, weight = tensor("X", 5), tensor("W", 3)
    k = over(3)
    reaches = lambda i, k: te.all(i >= k, (i - k) % 2 == 0, i - k < 10)
    zero = te.const(0, F64)
    Y = te.compute(
        (11,),
        lambda i: te.sum(te.if_then_else(reaches(i, k), line[(i - k) // 2] * weight[k], zero), axis=k),
        name="Y",
    )
    check(Y, {line: drawn(5), weight: drawn(3)})


def test_layer_norm() -> None:
    X, gain = tensor("X", m, n), tensor("gain", n)
    k, q = over(n), over(n, "q")
    mean = te.compute((m,), lambda i: te.sum(X[i, k], axis=k), name="mean")
    centred = te.compute((m, n), lambda i, j: X[i, j] - mean[i] / te.cast(n, F64), name="centred")
    square = te.compute((m,), lambda i: te.sum(centred[i, q] * centred[i, q], axis=q), name="square")
    scaled = lambda i, j: centred[i, j] * te.rsqrt(square[i] / te.cast(n, F64) + 1e-5) * gain[j]
    check(te.compute((m, n), scaled, name="Y"), {X: drawn(3, 5), gain: drawn(5)})


def test_attention() -> None:
    Q, K, V = (tensor(name, 4, 3) for name in "QKV")
    weights = softmax(dense(Q, K, "scores"))
    k = over(4)
    Y = te.compute((4, 3), lambda i, j: te.sum(weights[i, k] * V[k, j], axis=k), name="Y")
    check(Y, {one: drawn(4, 3) * at for at, one in enumerate((Q, K, V), 1)})


def test_a_gradient_is_scheduled_like_any_tensor() -> None:
    A, W, head = tensor("A", 37, 29), tensor("W", 23, 29), tensor("head", 37, 23)
    Y = dense(A, W, "Y")
    active = te.compute(Y.shape, lambda i, j: te.max(Y[i, j], 0.0), name="active")
    dA, _ = te.gradient(active, [A, W], head=head)
    passed = next(op.output(0) for op in post_order([dA]) if op.name == "Y.grad")
    s = te.create_schedule(dA.op)
    outer, inner = s[dA].split(dA.op.axis[0], factor=8)
    columns, lanes = s[dA].split(dA.op.axis[1], factor=4)
    s[dA].reorder(outer, columns, inner, *dA.op.reduce_axis, lanes)
    s[dA].vectorize(lanes)
    s[dA].parallel(outer)
    s[passed].compute_at(s[dA], outer)
    a, w, g = drawn(37, 29) - 0.5, drawn(23, 29), drawn(37, 23)
    found = np.empty((37, 29))
    tecomp.build(s, [A, W, head, dA])(a, w, g, found)
    np.testing.assert_allclose(found, np.where(a @ w.T > 0, g, 0) @ w)


def bound(tensors):
    """Return a schedule of the tensors in which each stage is a launch: its last axis in threads."""
    s = te.create_schedule([one.op for one in tensors])
    for op in (stage.op for stage in s.stages if isinstance(stage.op, te.ComputeOp)):
        outer, inner = s[op.output(0)].split(op.axis[-1], factor=64)
        s[op.output(0)].bind(outer, te.thread_axis("blockIdx.x"))
        s[op.output(0)].bind(inner, te.thread_axis("threadIdx.x"))
    return s


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_built_for_cuda(dtype: str) -> None:
    image, weight = tensor("X", m, 3, 34, dtype=dtype), tensor("W", 8, 3, 5, dtype=dtype)
    c, k = over(3, "c"), over(5)
    Y = te.compute((m, 8, 15), lambda b, f, x: te.sum(image[b, c, x * 2 + k] * weight[f, c, k], axis=[c, k]), name="Y")
    act = te.compute(Y.shape, lambda b, f, x: te.max(Y[b, f, x], 0.0) * te.exp(Y[b, f, x]), name="act")
    head = tensor("head", *act.shape, dtype=dtype)
    gradients = te.gradient(act, [image, weight], head=head)
    built = tecomp.build(bound(gradients), [image, weight, head, *gradients], target="cuda -arch=sm_90a")
    compiles(built.source)


@pytest.mark.gpu
def test_run_on_a_gpu() -> None:
    cupy = pytest.importorskip("cupy")

    X, head = tensor("X", m, 64, dtype="float32"), tensor("head", m, 64, dtype="float32")
    (grad,) = te.gradient(softmax(X), [X], head=head)
    kernel = tecomp.build(bound([grad]), [X, head, grad], target="cuda")
    x, g = drawn(33, 64).astype("float32"), drawn(33, 64).astype("float32") - 0.5
    found = cupy.empty((33, 64), "float32")
    kernel(cupy.asarray(x), cupy.asarray(g), found)
    y = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    np.testing.assert_allclose(found.get(), y * (g - (g * y).sum(1, keepdims=True)), rtol=1e-4, atol=1e-7)


def chain(count: int):
    """Return two hundred stages in a row and their inputs: products, and a relu that is added to what it is of."""
    first, weights = tensor("x", m, 8), [tensor(f"W{at}", 8, 8) for at in range(count)]
    x = first
    for at, weight in enumerate(weights):
        y = dense(x, weight, f"y{at}")
        x = te.compute((m, 8), lambda i, j, x=x, y=y: te.max(y[i, j], 0.0) + x[i, j], name=f"x{at}")
    return x, [first, *weights]


def test_two_hundred_stages_in_a_second() -> None:
    """Each tensor has one adjoint: both ways from a stage meet again, and are not followed twice."""
    last, inputs = chain(100)
    start = time.process_time()
    gradients = te.gradient(last, inputs, head=tensor("head", m, 8))
    assert time.process_time() - start < 1
    assert len(post_order(gradients)) - len(post_order([last])) == 100 * 4


def test_formulas_that_are_shared() -> None:
    """An expression whose parts are used twice, forty times over, is differentiated once a part."""
    X = tensor("X", 4)

    def formula(i):
        value = X[i]
        for _ in range(40):
            value = te.sin(value) + value * 0.5
        return value

    start = time.process_time()
    check(te.compute((4,), formula, name="Y"), {X: drawn(4)})
    assert time.process_time() - start < 5


def test_inputs_of_other_kinds() -> None:
    X = tensor("X", 3)
    Y = te.compute((3,), lambda i: X[i], name="Y")
    for call, said in (
        (lambda: te.gradient("Y", [X]), ("te.gradient: output 'Y'", "it is a str", "a tensor")),
        (lambda: te.gradient(Y, 3), ("te.gradient: input 3", "it is a int", "a tensor")),
        (lambda: te.gradient(Y, [X, None]), ("te.gradient: input None", "it is a NoneType", "a tensor")),
        (lambda: te.gradient(Y, [X], head=1.0), ("te.gradient of 'Y': head 1.0", "it is a float", "a tensor")),
    ):
        assert message(call) == text(*said)


def test_an_output_without_slopes() -> None:
    X = tensor("X", 3)
    Y = te.compute((3,), lambda i: X[i].astype("int32"), name="Y")
    assert message(lambda: te.gradient(Y, [X])) == text(
        "te.gradient of 'Y'", "it is int32, which has no slope", "a tensor of a float type"
    )


def test_heads_that_do_not_fit() -> None:
    X = tensor("X", m, 3)
    Y = te.compute((m, 3), lambda i, j: X[i, j], name="Y")
    legal = "a tensor of shape (..., m, 3) and type float64"
    for head, why in (
        (tensor("g", m, 3, dtype="float32"), "it is float32, the output float64"),
        (tensor("g", m, 4), "its shape (m, 4) does not end in the output's"),
        (tensor("g", 3), "its shape (3) does not end in the output's"),
    ):
        assert message(lambda head=head: te.gradient(Y, [X], head=head)) == text(
            "te.gradient of 'Y': head 'g'", why, legal
        )


def test_a_function_that_is_not_known() -> None:
    X = tensor("X", 3)
    known, legal = te.compute((3,), lambda i: X[i], name="known"), "the functions of te, whose derivatives are known"
    formulas = {
        "mystery": lambda i: make.call("mystery", F64, known[i]) * X[i],
        "reinterpret": lambda i: te.reinterpret(F64, te.reinterpret("int64", known[i]) >> 1),
    }
    for name, formula in formulas.items():
        Y = te.compute((3,), formula, name="Y")
        assert message(lambda Y=Y: te.gradient(Y, [X])) == text(
            f"te.gradient of 'Y': through 'Y' ({Y.op.loc})", f"no derivative of '{name}' is known", legal
        )


def opaque(X):
    return te.extern(X.shape, [X], lambda ins, outs: outs[0].vstore(0, ins[0].vload(0)), name="E")


def test_an_operation_whose_inside_is_not_known() -> None:
    X = tensor("X", 3)
    E = opaque(X)
    Y = te.compute((3,), lambda i: E[i] * X[i], name="Y")
    assert message(lambda: te.gradient(Y, [X])) == text(
        f"te.gradient of 'Y': through 'E' ({E.op.loc})",
        "it comes from ExternOp, whose inside is not known",
        "a gradient by its results, a te.compute in its place",
    )
    (grad,) = te.gradient(Y, [E], head=tensor("head", 3))
    assert repr(grad.op.body[0]) == "head[i] * X[i]"


def test_an_unknown_operation_beside_the_way() -> None:
    """What does not depend on the inputs may be anything."""
    X, Z = tensor("X", 3), tensor("Z", 3)
    E = opaque(Z)
    Y = te.compute((3,), lambda i: E[i] * X[i], name="Y")
    (grad,) = te.gradient(Y, [X], head=(head := tensor("head", 3)))
    (found,) = run([grad], {Z: drawn(3), head: np.ones(3)}, [(3,)])
    assert found[0] == drawn(3)[0]
