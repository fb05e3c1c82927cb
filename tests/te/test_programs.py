"""Whole programs, as users write them."""

from __future__ import annotations

from tecomp import te
from tecomp.te.graph import post_order, scan_body
from tests.calls import calls


def test_cumulative_sum() -> None:
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    s_state = te.placeholder((m, n))
    s_init = te.compute((1, n), lambda _, i: X[0, i])
    s_update = te.compute((m, n), lambda t, i: s_state[t - 1, i] + X[t, i])
    s_scan = te.scan(s_init, s_update, s_state, inputs=[X])
    assert repr(s_scan) == "scan: f32[m, n]"
    assert [axis.name for axis in s_init.op.axis] == ["ax0", "i"]
    assert repr(s_update.op.body[0]) == "placeholder[t - 1, i] + X[t, i]"
    te.create_schedule(s_scan.op)


def test_scan_of_two_stages() -> None:
    m, n = te.var("m"), te.var("n")
    X = te.placeholder((m, n), name="X")
    s_state = te.placeholder((m, n))
    s_init = te.compute((1, n), lambda _, i: X[0, i])
    s_update_s1 = te.compute((m, n), lambda t, i: s_state[t - 1, i] * 2, name="s1")
    s_update_s2 = te.compute((m, n), lambda t, i: s_update_s1[t, i] + X[t, i], name="s2")
    s_scan = te.scan(s_init, s_update_s2, s_state, inputs=[X])
    assert [op.name for op in scan_body(s_scan.op)] == ["s1", "s2"]
    te.create_schedule(s_scan.op)


def test_scan_of_two_states() -> None:
    m, n, l = te.var("m"), te.var("n"), te.var("l")
    X = te.placeholder((m, n), name="X")
    s_state1, s_state2 = te.placeholder((m, n)), te.placeholder((m, l))
    s_init1 = te.compute((1, n), lambda _, i: X[0, i])
    s_init2 = te.compute((1, l), lambda _, i: 0.0)
    s_update1 = te.compute((m, n), lambda t, i: s_state1[t - 1, i] + X[t, i])
    s_update2 = te.compute((m, l), lambda t, i: s_state2[t - 1, i] + s_state1[t - 1, 0])
    s_scan1, s_scan2 = te.scan([s_init1, s_init2], [s_update1, s_update2], [s_state1, s_state2], inputs=[X])
    assert (repr(s_scan1), repr(s_scan2)) == ("scan.v0: f32[m, n]", "scan.v1: f32[m, l]")
    te.create_schedule(s_scan1.op)


def test_convolution_with_padding() -> None:
    c, h = 4, 6
    X = te.placeholder((1, c, h, h), name="X")
    W = te.placeholder((c, c, 3, 3), name="W")
    P = te.compute(
        (1, c, h + 2, h + 2),
        lambda n, f, y, x: te.if_then_else(te.all(y >= 1, y < h + 1, x >= 1, x < h + 1), X[n, f, y - 1, x - 1], 0.0),
        name="P",
    )
    rc, ry, rx = (te.reduce_axis((0, extent), name=name) for name, extent in (("rc", c), ("ry", 3), ("rx", 3)))
    R = te.compute(
        (1, c, h, h),
        lambda n, f, y, x: te.sum(P[n, rc, y + ry, x + rx] * W[f, rc, ry, rx], axis=[rc, ry, rx]),
        name="R",
    )
    assert R.op.reduce_axis == (rc, ry, rx)
    assert post_order([R]) == (X.op, P.op, W.op, R.op)


def test_adaptive_pooling() -> None:
    A = te.placeholder((3, 4), name="A")

    def mean(i, j):
        y0, x0 = i * 3 // 2, j * 4 // 2
        dy = te.reduce_axis((0, (i * 3 + 4) // 2 - y0), name="dy")
        dx = te.reduce_axis((0, (j * 4 + 5) // 2 - x0), name="dx")
        return te.sum(A[y0 + dy, x0 + dx], axis=[dy, dx])

    assert te.compute((2, 2), mean).op.input_tensors == (A,)


def test_a_vector_by_a_sparse_matrix() -> None:
    rows, entries, columns = te.var("rows"), te.var("entries"), te.var("columns")
    data, index = te.placeholder((entries,), name="data"), te.placeholder((entries,), "int32", name="index")
    begin, x = te.placeholder((rows + 1,), "int32", name="begin"), te.placeholder((columns,), name="x")

    def row(i):
        k = te.reduce_axis((0, begin[i + 1] - begin[i]), name="k")
        return te.sum(data[begin[i] + k] * x[index[begin[i] + k]], axis=k)

    assert te.compute((rows,), row, name="y").op.input_tensors == (begin, data, x, index)


def build(length) -> None:
    """Declare a chain of `length` stages, and a sum of five times as many terms."""
    A = te.placeholder((64,), name="A")
    stage = A
    for _ in range(length):
        stage = te.compute((64,), lambda i, *, before=stage: before[i] + 1)
    te.create_schedule(stage.op)

    def terms(i):
        total = A[i]
        for at in range(5 * length):
            total = total + A[(i + at) % 64] * float(at)
        return total

    te.compute((64,), terms)


def test_long_chains_and_long_sums() -> None:
    build(1000)


def test_declaring_takes_linear_time() -> None:
    build(10)
    assert calls(lambda: build(200)) < 6 * calls(lambda: build(50))  # 4 when linear, 16 when quadratic
