"""The graph of operations."""

from __future__ import annotations

from tecomp import te
from tecomp.te.graph import consumers, post_order, scan_body

m, n = te.var("m"), te.var("n")
A = te.placeholder((n,), name="A")


def _next(before):
    return te.compute((n,), lambda i: before[i] + 1)


def test_post_order() -> None:
    B, C = _next(A), _next(A)
    D = te.compute((n,), lambda i: B[i] * C[i] + A[i], name="D")
    assert post_order([D]) == (A.op, B.op, C.op, D.op)
    assert post_order([C.op, D.op]) == (A.op, C.op, B.op, D.op)
    assert post_order([D, D, B]) == (A.op, B.op, C.op, D.op)
    assert post_order([D], stop=[B.op]) == (A.op, C.op, D.op)
    assert post_order([]) == ()


def test_consumers() -> None:
    B = _next(A)
    x, y = te.compute((n,), lambda i: (B[i], B[i] + A[i]), name="both")
    D = te.compute((n,), lambda i: x[i] + y[i], name="D")
    order = post_order([D])
    assert consumers(order) == {A.op: (B.op, x.op), B.op: (x.op,), x.op: (D.op,), D.op: ()}
    assert consumers([B.op]) == {B.op: ()}


def scanned(inputs=()):
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    scaled = te.compute((m, n), lambda t, i: X[t, i] * 2, name="scaled")
    s1 = te.compute((m, n), lambda t, i: state[t - 1, i] * 2, name="s1")
    s2 = te.compute((m, n), lambda t, i: s1[t, i] + scaled[t, i], name="s2")
    out = te.scan(init, s2, state, inputs=[X] if inputs else None)
    return out.op


def test_the_body_of_a_scan() -> None:
    assert [op.name for op in scan_body(scanned())] == ["s1", "s2"]


def test_what_depends_on_listed_inputs_belongs_to_the_body() -> None:
    assert {op.name for op in scan_body(scanned(inputs=True))} == {"s1", "scaled", "s2"}


def test_the_update_always_belongs_to_the_body() -> None:
    state = te.placeholder((m, n), name="state")
    update = te.compute((m, n), lambda t, i: 1.0, name="update")
    out = te.scan(te.compute((1, n), lambda *i: 0.0), update, state, inputs=[update])
    assert scan_body(out.op) == (update.op,)


def test_long_chains_do_not_recur() -> None:
    last = A
    for _ in range(5000):
        last = _next(last)
    order = post_order([last])
    assert len(order) == 5001 and order[0] is A.op and order[-1] is last.op
    assert len(consumers(order)[order[0]]) == 1
