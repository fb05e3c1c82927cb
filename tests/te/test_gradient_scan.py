"""Gradients of scans: a scan over reversed steps for the states, sums over all steps for what the steps read."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.te.graph import post_order
from tests.te.finite_differences import body, check, drawn, run
from tests.te.message import message, text

F64 = "float64"
m, n = te.var("m"), te.var("n")
X = te.placeholder((m, n), F64, name="X")


def tensor(name, *shape):
    return te.placeholder(shape, F64, name=name)


def scan(step, first=lambda t, i: X[t, i], depth=1, name="S"):
    """Return a scan of one state of shape (m, n); `step` gets the state and gives its row t."""
    state = tensor("s", m, n)
    update = te.compute((m, n), step(state), name="update")
    return te.scan(te.compute((depth, n), first, name="first"), update, state, name=name)


def stage(gradient, name):
    """Return a stage of a gradient by its name."""
    return next(op.output(0) for op in post_order([gradient]) if op.name == name)


def test_a_running_sum() -> None:
    """The gradient of a running sum is a running sum from the end."""
    (grad,) = check(scan(lambda s: lambda t, i: s[t - 1, i] + X[t, i]), {X: drawn(5, 3)})
    assert repr(stage(grad, "S.grad.rows")) == "S.grad.rows: f64[m, n]"
    assert body(stage(grad, "s.grad.init")) == "head[m - 1, i]"
    assert body(stage(grad, "s.grad.update")) == "head[m - t - 1, i] + (s.grad[t - 1, i] if 0 < t else 0.0)"
    shown = "(S.grad.rows[m - t - 1, i] if 0 < t else 0.0) + (S.grad.rows[m - 1, i] if t == 0 else 0.0)"
    assert body(grad) == shown


STEPS = {
    "a nonlinear step": (lambda s: lambda t, i: te.tanh(s[t - 1, i] * X[t, i]) + X[t - 1, i], 1),
    "other columns": (lambda s: lambda t, i: s[t - 1, n - 1 - i] * s[t - 1, i], 1),
    "two steps back": (lambda s: lambda t, i: te.sin(s[t - 1, i]) * s[t - 2, n - 1 - i] + X[t, i], 2),
    "only three steps back": (lambda s: lambda t, i: s[t - 3, i] * X[t - 2, i], 3),
    "one step back of two": (lambda s: lambda t, i: s[t - 1, i] * X[t, i], 2),
    "no step back": (lambda s: lambda t, i: X[t, i] * X[t - 1, i], 1),
    "some steps": (lambda s: lambda t, i: te.if_then_else(t % 2 == 0, s[t - 1, i] * X[t, i], s[t - 1, i]), 1),
}


@pytest.mark.parametrize("case", STEPS)
@pytest.mark.parametrize("target", ["llvm", "interpreter"])
def test_steps(case: str, target: str) -> None:
    step, depth = STEPS[case]
    S = scan(step, depth=depth)
    Y = te.compute((m, n), lambda t, i: S[t, i] * S[m - 1 - t, i], name="Y")
    check(Y, {X: drawn(6, 3)}, target=target)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_few_steps(steps: int) -> None:
    check(scan(lambda s: lambda t, i: s[t - 1, i] * X[t, i]), {X: drawn(steps, 2)})


def test_as_many_steps_as_the_first_rows() -> None:
    check(scan(lambda s: lambda t, i: s[t - 2, i] * X[t, i], depth=2), {X: drawn(2, 2)})


def test_nothing_wide() -> None:
    check(scan(lambda s: lambda t, i: s[t - 1, i] * X[t, i]), {X: drawn(4, 0)})


def test_constant_steps() -> None:
    A, state = tensor("A", 6), tensor("s", 6)
    S = te.scan(te.compute((1,), lambda t: A[0]), te.compute((6,), lambda t: state[t - 1] * A[t]), state, name="S")
    check(S, {A: drawn(6)})


def recurrent(W):
    """Return the rows of h[t] = tanh(W h[t - 1] + X[t]), whose product is a stage of its own."""
    h, k = tensor("h", m, n), te.reduce_axis((0, n), name="k")
    product = te.compute((m, n), lambda t, i: te.sum(W[i, k] * h[t - 1, k], axis=k), name="product")
    update = te.compute((m, n), lambda t, i: te.tanh(product[t, i] + X[t, i]), name="update")
    first = te.compute((1, n), lambda t, i: te.const(0.1, F64), name="first")
    return te.scan(first, update, h, name="H")


def test_a_matrix_gets_its_gradient_from_all_steps_at_once() -> None:
    W = tensor("W", n, n)
    dX, dW = check(recurrent(W), {X: drawn(4, 3), W: drawn(3, 3)})
    assert body(dW) == "sum(product.grad[t, i] * H[t - 1, k], axis=[t])"
    assert dW.op.reduce_axis[0].dom.min.value == 1
    rows = "H.grad.rows[m - t - 1, i] * (1.0 - H[t, i] * H[t, i]) if 0 < t else 0.0"
    assert body(dX) == body(stage(dW, "product.grad")) == rows
    assert body(stage(dW, "h.grad.terms")) == "sum(product.grad.step[t - 1, i_1] * W[i_1, i], axis=[i_1], where=0 < t)"


def test_only_what_is_asked_for_is_differentiated() -> None:
    W = tensor("W", n, n)
    (dX,) = te.gradient(recurrent(W), [X], head=tensor("head", m, n))
    names = [op.name for op in post_order([dX])]
    assert "product.grad.step" in names and "product.grad" not in names


def test_values_of_the_steps_are_computed_again() -> None:
    """A stage whose value the derivative needs exists for all steps outside of the scan, and nowhere else."""
    s = tensor("s", m, n)
    inner = te.compute((m, n), lambda t, i: s[t - 1, i] * X[t, i], name="inner")
    k = te.reduce_axis((0, n), name="k")
    greatest = te.compute((m,), lambda t: te.max(inner[t, k], axis=k), name="greatest")
    update = te.compute((m, n), lambda t, i: te.sin(inner[t, i]) * inner[t, i] - greatest[t], name="update")
    S = te.scan(te.compute((1, n), lambda t, i: X[0, i]), update, s, name="S")
    (grad,) = check(S, {X: drawn(5, 3)})
    assert body(stage(grad, "inner.rows")) == "S[t - 1, i] * X[t, i] if 1 <= t else 0.0"
    assert body(stage(grad, "greatest.position")) == "argmax(k, inner.rows[t, k], axis=[k], where=1 <= t)[0]"


def test_a_reducer_of_ones_own_in_a_step() -> None:
    join = te.comm_reducer(lambda x, y: x + y + x * y, lambda t: te.const(0, t), name="join")
    s, k = tensor("s", m, n), te.reduce_axis((0, n), name="k")
    joined = te.compute((m,), lambda t: join(s[t - 1, k] * X[t, k], axis=k), name="joined")
    update = te.compute((m, n), lambda t, i: joined[t] * X[t, i], name="update")
    check(te.scan(te.compute((1, n), lambda t, i: X[0, i]), update, s, name="S"), {X: drawn(4, 3)})


def test_a_stage_of_an_earlier_step() -> None:
    s = tensor("s", m, n)
    turned = te.compute((n, m), lambda i, t: te.exp(-s[t - 1, i]), name="turned")
    update = te.compute((m, n), lambda t, i: turned[i, t - 1] * X[t, i] + s[t - 1, i], name="update")
    S = te.scan(te.compute((2, n), lambda t, i: X[t, i] + 0.5), update, s, name="S")
    check(S, {X: drawn(6, 2)})


def test_stages_that_depend_on_inputs_only() -> None:
    """What `inputs` puts into the steps is differentiated outside of them."""
    s = tensor("s", m, n)
    scaled = te.compute((m, n), lambda t, i: X[t, i] * X[t, i], name="scaled")
    column = te.compute((n,), lambda i: X[0, i] * 2.0, name="column")
    update = te.compute((m, n), lambda t, i: s[t - 1, i] * scaled[t, i] + column[i], name="update")
    S = te.scan(te.compute((1, n), lambda t, i: te.const(1, F64)), update, s, inputs=[X], name="S")
    check(S, {X: drawn(4, 3)})


def two_states():
    """Return two states, of which the second reads what is new of the first."""
    a, b = tensor("a", m, n), tensor("b", m, n)
    new_a = te.compute((m, n), lambda t, i: a[t - 1, i] * b[t - 1, i] + X[t, i], name="new_a")
    new_b = te.compute((m, n), lambda t, i: b[t - 1, i] + te.sin(new_a[t, i]), name="new_b")
    first_a = te.compute((1, n), lambda t, i: X[0, i] * 2.0, name="first_a")
    first_b = te.compute((1, n), lambda t, i: X[0, i] * X[0, i], name="first_b")
    return te.scan([first_a, first_b], [new_a, new_b], [a, b], name="S")


@pytest.mark.parametrize("state", [0, 1])
def test_one_of_two_states(state: int) -> None:
    check(two_states()[state], {X: drawn(4, 2)})


def test_two_states() -> None:
    a, b = two_states()
    check(te.compute((m, n), lambda t, i: a[t, i] * b[m - 1 - t, i], name="Y"), {X: drawn(4, 2)})


def test_states_that_do_not_matter_are_left_out() -> None:
    a, c = tensor("a", m, n), tensor("c", m, n)
    new_a = te.compute((m, n), lambda t, i: a[t - 1, i] * X[t, i], name="new_a")
    new_c = te.compute((m, n), lambda t, i: c[t - 1, i] + a[t - 1, i], name="new_c")
    ones = [te.compute((1, n), lambda t, i: te.const(1, F64), name=f"one{at}") for at in range(2)]
    A, _ = te.scan(ones, [new_a, new_c], [a, c], name="S")
    (grad,) = check(A, {X: drawn(4, 2)})
    assert [op.name for op in post_order([grad]) if op.name.endswith(".update")] == ["a.grad.update"]


def test_integer_states_have_no_gradient() -> None:
    count, s = te.placeholder((m, n), "int32", name="count"), tensor("s", m, n)
    counted = te.compute((m, n), lambda t, i: count[t - 1, i] + 1, name="counted")
    update = te.compute((m, n), lambda t, i: s[t - 1, i] * X[t, i] + count[t - 1, i].astype(F64), name="update")
    zero = te.compute((1, n), lambda t, i: te.const(0, "int32"), name="zero")
    first = te.compute((1, n), lambda t, i: X[0, i], name="first")
    _, S = te.scan([zero, first], [counted, update], [count, s], name="S")
    check(S, {X: drawn(4, 2)})


def test_a_scan_of_a_scan() -> None:
    inner = scan(lambda s: lambda t, i: s[t - 1, i] + X[t, i], name="inner")
    s = tensor("q", m, n)
    update = te.compute((m, n), lambda t, i: s[t - 1, i] * inner[t, i], name="outer_update")
    check(te.scan(te.compute((1, n), lambda t, i: inner[m - 1, i]), update, s, name="outer"), {X: drawn(4, 2)})


def test_the_jacobian() -> None:
    """Of a running sum: ones where the step is not later."""
    S = scan(lambda s: lambda t, i: s[t - 1, i] + X[t, i])
    (grad,) = te.gradient(S, [X])
    (found,) = run([grad], {X: drawn(3, 2)}, [(3, 2, 3, 2)])
    np.testing.assert_array_equal(found, np.einsum("ts,ij->tisj", np.tri(3), np.eye(2)))


def test_the_last_row_only() -> None:
    S = scan(lambda s: lambda t, i: s[t - 1, i] * X[t, i])
    k = te.reduce_axis((0, n), name="k")
    loss = te.compute((), lambda: te.sum(S[m - 1, k] * S[m - 1, k], axis=k), name="loss")
    check(loss, {X: drawn(4, 2)})


def test_by_the_scan_itself() -> None:
    """The rows of a scan are what it gives: how later rows depend on earlier ones is its own."""
    S = scan(lambda s: lambda t, i: s[t - 1, i] * X[t, i])
    Y = te.compute((m, n), lambda t, i: S[t, i] * S[t, i], name="Y")
    (grad,) = te.gradient(Y, [S], head=tensor("head", m, n))
    assert body(grad) == "head[t, i] * S[t, i] * 2.0"


def test_scheduled_for_a_gpu_all_reversed_steps_are_one_launch() -> None:
    S = scan(lambda s: lambda t, i: te.tanh(s[t - 1, i]) + X[t, i])
    (grad,) = te.gradient(S, [X], head=(head := tensor("head", m, n)))
    schedule = te.create_schedule(grad.op)
    for one in schedule.stages:
        op = one.op
        if not isinstance(op, te.ComputeOp):
            continue
        outer, inner = schedule[op.output(0)].split(op.axis[-1], factor=64)
        schedule[op.output(0)].bind(outer, te.thread_axis("blockIdx.x"))
        schedule[op.output(0)].bind(inner, te.thread_axis("threadIdx.x"))
    built = tecomp.build(schedule, [X, head, grad], target="cuda -arch=sm_90a")
    assert built.source.count("__global__") == 2


def test_what_exists_within_a_step_only() -> None:
    s = tensor("s", m, n)
    update = te.compute((m, n), lambda t, i: s[t - 1, i] * X[t, i], name="update")
    S = te.scan(te.compute((1, n), lambda t, i: X[0, i]), update, s, name="S")
    for inside in (s, update):
        assert message(lambda inside=inside: te.gradient(S, [inside])) == text(
            f"te.gradient of 'S' by '{inside.name}'",
            f"'{inside.name}' exists only within a step of scan 'S'",
            "'S', what the scan reads",
        )


def test_a_scan_within_a_step() -> None:
    outer, inner = tensor("outer", m, n), tensor("inner", 5, m, n)
    new_inner = te.compute((5, m, n), lambda u, t, i: inner[u - 1, t, i] * outer[t - 1, i], name="new_inner")
    deep = te.scan(te.compute((1, m, n), lambda u, t, i: outer[t - 1, i]), new_inner, inner, name="deep")
    new = te.compute((m, n), lambda t, i: deep[4, t, i] + X[t, i], name="new")
    S = te.scan(te.compute((1, n), lambda t, i: X[0, i]), new, outer, name="wide")
    assert message(lambda: te.gradient(S, [X])) == text(
        f"te.gradient of 'wide': through 'deep' ({deep.op.loc})",
        "ScanOp is met within the steps of scan 'wide'",
        "stages of te.compute there",
    )
