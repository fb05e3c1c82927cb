"""duplicate: a producer under two consumers, each with a stage of its own."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.schedule import create_schedule

from .built import built
from .test_cache import SIZES, computed


def two_readers(n):
    """B sums the rows of A; C and D read it, D from its end."""
    A = te.placeholder((n, n), name="A")
    k = te.reduce_axis((0, n), name="k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")
    C = te.compute((n,), lambda i: B[i] + 1, name="C")
    D = te.compute((n,), lambda i: B[n - 1 - i] * 2, name="D")
    return A, B, C, D


def test_each_under_its_own_reader():
    A, B, C, D = two_readers(te.var("n"))
    s = create_schedule([C.op, D.op])
    again = s.duplicate(B, [D])
    s[B].compute_at(s[C], C.op.axis[0])
    outer, _ = s[D].split(D.op.axis[0], factor=4)
    s[again].compute_at(s[D], outer)
    s[again].split(s[again].op.reduce_axis[0], factor=8)
    run = built(s, [A, C, D])
    for n in SIZES:
        a = np.random.default_rng(n).standard_normal((n, n)).astype("f")
        c, d = run([a], [(n,), (n,)])
        np.testing.assert_allclose(c, a.sum(1) + 1, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(d, a.sum(1)[::-1] * 2, rtol=1e-4, atol=1e-5)


def test_before_and_after(golden):
    A, B, C, D = two_readers(8)
    s = create_schedule([C.op, D.op])
    again = s.duplicate(B, D)
    s[B].compute_at(s[C], C.op.axis[0])
    s[again].compute_at(s[D], D.op.axis[0])
    golden(f"{s!r}\n\n{s.text()}\n{tecomp.lower(s, [A, C, D])!r}\n")


def test_two_readers_in_one_loop_need_one_stage():
    """A loop that is around both readers is a place for what both read."""
    A, B, C, D = two_readers(te.var("n"))
    E = te.compute(C.shape, lambda i: C[i] + D[C.shape[0] - 1 - i], name="E")
    s = create_schedule(E.op)
    for stage in (B, C, D):
        s[stage].compute_at(s[E], E.op.axis[0])
    a = np.random.default_rng(0).standard_normal((7, 7)).astype("f")
    (e,) = computed(s, [A, E], [a], [(7,)])
    np.testing.assert_allclose(e, a.sum(1) * 3 + 1, rtol=1e-4)


@pytest.mark.parametrize("kind", ["start values", "a where", "an extent that depends on an axis"])
def test_all_of_a_reduction_is_computed_again(kind):
    A = te.placeholder((6, 6), name="A")

    def row(i):
        k = te.reduce_axis((0, i + 1 if kind.startswith("an") else 6), name="k")
        more = {"init": te.const(2.5)} if kind == "start values" else {}
        return te.sum(A[i, k], axis=k, where=k < 4 if kind == "a where" else None, **more)

    B = te.compute((6,), row, name="B")
    C, D = (te.compute((6,), lambda i: B[i] + 1, name=name) for name in "CD")
    s = create_schedule([C.op, D.op])
    again = s.duplicate(B, [D])
    s[again].compute_at(s[D], D.op.axis[0])
    a = np.random.default_rng(1).standard_normal((6, 6)).astype("f")
    c, d = computed(s, [A, C, D], [a], [(6,), (6,)])
    np.testing.assert_allclose(c, d, rtol=1e-5)


def test_two_results():
    A = te.placeholder((9,), name="A")
    X, Y = te.compute((9,), lambda i: (A[i] + 1, A[i] * 2), name="XY")
    C = te.compute((9,), lambda i: X[i] * Y[i], name="C")
    D = te.compute((9,), lambda i: X[i] - Y[i], name="D")
    s = create_schedule([C.op, D.op])
    x, y = s.duplicate(X, [D])
    assert s[x].op is s[y].op
    s[X].compute_at(s[C], C.op.axis[0])
    s[y].compute_at(s[D], D.op.axis[0])
    a = np.random.default_rng(2).standard_normal(9).astype("f")
    c, d = computed(s, [A, C, D], [a], [(9,), (9,)])
    np.testing.assert_allclose(c, (a + 1) * a * 2, rtol=1e-5)
    np.testing.assert_allclose(d, a + 1 - a * 2, rtol=1e-5)


def test_of_an_output_all_readers_may_have_their_own():
    A, B, C, _ = two_readers(8)
    s = create_schedule([B.op, C.op])
    again = s.duplicate(B, [C])
    s[again].compute_at(s[C], C.op.axis[0])
    a = np.random.default_rng(3).standard_normal((8, 8)).astype("f")
    b, c = computed(s, [A, B, C], [a], [(8,), (8,)])
    np.testing.assert_allclose(b + 1, c, rtol=1e-5)


def test_in_each_step_of_a_scan():
    X = te.placeholder((5, 4), name="X")
    state = te.placeholder((5, 4), name="state")
    twice = te.compute((5, 4), lambda t, i: state[t - 1, i] * 2, name="twice")
    left, right = (te.compute((5, 4), lambda t, i: twice[t, i] + X[t, i], name=name) for name in ("left", "right"))
    update = te.compute((5, 4), lambda t, i: left[t, i] - right[t, i] * X[t, i], name="update")
    S = te.scan(te.compute((1, 4), lambda _, i: X[0, i], name="init"), update, state, name="S")
    s = create_schedule(S.op)
    again = s.duplicate(twice, [right])
    assert s[again].group is S.op
    s[again].compute_at(s[right], right.op.axis[1])
    x = np.random.default_rng(4).standard_normal((5, 4)).astype("f")
    (found,) = computed(s, [X, S], [x], [(5, 4)])
    want = [x[0]]
    for t in range(1, 5):
        want.append(want[-1] * 2 + x[t] - (want[-1] * 2 + x[t]) * x[t])
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-4)
