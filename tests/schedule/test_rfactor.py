"""rfactor: partial results of a reduction, for every way it can be made."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.schedule import create_schedule

from .test_cache import SIZES, computed


def row_sums(n, m, **more):
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    return (
        A,
        k,
        te.compute((n,), lambda i: te.sum(A[i, k], axis=k, **{key: f(k, i) for key, f in more.items()}), name="B"),
    )


def data(n, m):
    return np.random.default_rng(n * 31 + m).standard_normal((n, m)).astype("f")


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("part", [0, 1])
def test_either_loop_of_a_split(m, symbolic, part):
    A, k, B = row_sums(3, te.var("m") if symbolic else m)
    s = create_schedule(B.op)
    loops = s[B].split(k, factor=8)
    if symbolic and part == 0:
        loops = s[B].split(loops[0], factor=2)[::-1]
    BF = s.rfactor(B, loops[part])
    s[BF].compute_at(s[B], s[B].op.axis[0])
    a = data(3, m)
    (b,) = computed(s, [A, B], [a], [(3,)])
    np.testing.assert_allclose(b, a.sum(1), rtol=1e-4, atol=1e-5)


def test_the_program(golden):
    A, k, B = row_sums(8, 64)
    s = create_schedule(B.op)
    _, ki = s[B].split(k, factor=16)
    BF = s.rfactor(B, ki)
    s[BF].compute_at(s[B], s[B].op.axis[0])
    s[BF].vectorize(BF.op.axis[0])
    golden(f"{s!r}\n\n{s.text()}\n{tecomp.lower(s, [A, B])!r}\n")


def test_what_the_stages_say():
    _, k, B = row_sums(8, 60)
    s = create_schedule(B.op)
    ko, ki = s[B].split(k, factor=16)
    s[B].unroll(ko)
    BF = s.rfactor(B, ki, factor_axis=1)
    assert BF.name == "B.rf"
    assert [axis.name for axis in BF.op.axis] == ["i", "k.inner"]
    assert [axis.name for axis in BF.op.reduce_axis] == ["k.outer"]
    assert list(s[BF].iter_var_attrs) == [BF.op.reduce_axis[0]]
    assert [axis.name for axis in s[B].op.reduce_axis] == ["k.inner.v"]
    assert s[B].leaf_iter_vars == (*B.op.axis, *s[B].op.reduce_axis)


@pytest.mark.parametrize("factor_axis", [0, 1, 2, -1])
def test_where_the_factored_axis_stands(factor_axis):
    A = te.placeholder((4, 5, 9), name="A")
    k = te.reduce_axis((0, 9), name="k")
    B = te.compute((4, 5), lambda i, j: te.sum(A[i, j, k], axis=k), name="B")
    s = create_schedule(B.op)
    BF = s.rfactor(B, k, factor_axis)
    assert [int(extent.value) for extent in BF.shape].index(9) == factor_axis % 3
    a = data(20, 9).reshape(4, 5, 9)
    (b,) = computed(s, [A, B], [a], [(4, 5)])
    np.testing.assert_allclose(b, a.sum(2), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("m", SIZES)
def test_twice(m):
    A, k, B = row_sums(3, m)
    s = create_schedule(B.op)
    _, ki = s[B].split(k, factor=8)
    BF = s.rfactor(B, ki)
    s.rfactor(BF, s[BF].op.reduce_axis[0], factor_axis=2)
    a = data(3, m)
    (b,) = computed(s, [A, B], [a], [(3,)])
    np.testing.assert_allclose(b, a.sum(1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("m", SIZES)
def test_a_condition_and_start_values(m):
    A, k, B = row_sums(3, m, where=lambda k, i: te.any(k % 3 == 1, k > i), init=lambda _, i: i * 100.0)
    s = create_schedule(B.op)
    s.rfactor(B, s[B].split(k, factor=8)[1])
    a = data(3, m)
    at, i = np.arange(m)[None], np.arange(3)[:, None]
    want = np.where((at % 3 == 1) | (at > i), a, 0).sum(1) + np.arange(3) * 100
    (b,) = computed(s, [A, B], [a], [(3,)])
    np.testing.assert_allclose(b, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("kind", ["max", "min", "prod"])
def test_other_reducers(kind, m):
    A = te.placeholder((3, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    B = te.compute((3,), lambda i: getattr(te, kind)(A[i, k], axis=k), name="B")
    s = create_schedule(B.op)
    s.rfactor(B, s[B].split(k, nparts=4)[0])
    a = data(3, m)
    start = {"max": -np.inf, "min": np.inf, "prod": 1}[kind]
    (b,) = computed(s, [A, B], [a], [(3,)])
    np.testing.assert_allclose(b, getattr(np, kind)(a, axis=1, initial=start), rtol=1e-4)


@pytest.mark.parametrize("m", [1, 7, 8, 9, 13])
def test_pairs(m):
    """The lowest index of equal values wins, in whatever order the partial results are joined."""
    A = te.placeholder((5, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    I, V = te.compute((5,), lambda i: te.argmax((k.var, A[i, k]), axis=k), name="T")
    s = create_schedule(I.op)
    _, ki = s[I].split(k, factor=8)
    IF, VF = s.rfactor(I, ki)
    assert IF.op is VF.op
    s[IF].compute_at(s[I], s[I].op.axis[0])
    a = np.random.default_rng(m).integers(0, 3, (5, m)).astype("f")
    where, what = np.full(5, 9, "int32"), np.full(5, np.nan, "f")
    tecomp.build(s, [A, I, V])(a, where, what)
    np.testing.assert_array_equal(where, a.argmax(1))
    np.testing.assert_array_equal(what, a.max(1))


@pytest.mark.parametrize("m", SIZES)
def test_several_axes_that_begin_elsewhere(m):
    A = te.placeholder((3, m + 2, 4), name="A")
    k, l = te.reduce_axis((2, m + 2), name="k"), te.reduce_axis((0, 4), name="l")
    B = te.compute((3,), lambda i: te.sum(A[i, k, l], axis=[k, l]), name="B")
    s = create_schedule(B.op)
    s[B].reorder(l, k)
    kl = s[B].split(k, factor=8)[1]
    s.rfactor(B, kl, factor_axis=1)
    a = data(3, (m + 2) * 4).reshape(3, m + 2, 4)
    (b,) = computed(s, [A, B], [a], [(3,)])
    np.testing.assert_allclose(b, a[:, 2:].sum((1, 2)), rtol=1e-4, atol=1e-5)


def test_fused_reduce_axes():
    A = te.placeholder((3, 6, 4), name="A")
    k, l = te.reduce_axis((0, 6), name="k"), te.reduce_axis((0, 4), name="l")
    B = te.compute((3,), lambda i: te.sum(A[i, k, l], axis=[k, l]), name="B")
    s = create_schedule(B.op)
    s.rfactor(B, s[B].split(s[B].fuse(k, l), factor=7)[1])
    a = data(3, 24).reshape(3, 6, 4)
    (b,) = computed(s, [A, B], [a], [(3,)])
    np.testing.assert_allclose(b, a.sum((1, 2)), rtol=1e-4, atol=1e-5)


def test_rows_of_different_lengths():
    A = te.placeholder((9, 9), name="A")

    def row(i):
        k = te.reduce_axis((0, i + 1), name="k")
        return te.sum(A[i, k], axis=k)

    B = te.compute((9,), row, name="B")
    s = create_schedule(B.op)
    s.rfactor(B, s[B].split(s[B].op.reduce_axis[0], factor=4)[1])
    a = data(9, 9)
    (b,) = computed(s, [A, B], [a], [(9,)])
    np.testing.assert_allclose(b, np.tril(a).sum(1), rtol=1e-4, atol=1e-5)


def test_the_data_loops_stay():
    A, k, B = row_sums(64, 64)
    s = create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=16)
    s[B].parallel(outer)
    s[B].reorder(k, inner)
    s.rfactor(B, s[B].split(k, factor=8)[1])
    assert [axis.name for axis in s[B].leaf_iter_vars] == ["i.outer", "k.inner.v", "i.inner"]
    assert list(s[B].iter_var_attrs) == [outer]
    a = data(64, 64)
    (b,) = computed(s, [A, B], [a], [(64,)])
    np.testing.assert_allclose(b, a.sum(1), rtol=1e-4, atol=1e-5)


def test_in_the_step_of_a_scan():
    X, W = te.placeholder((7, 5), name="X"), te.placeholder((5, 5), name="W")
    state = te.placeholder((7, 5), name="state")
    k = te.reduce_axis((0, 5), name="k")
    init = te.compute((1, 5), lambda _, i: X[0, i], name="init")
    product = te.compute((7, 5), lambda t, i: te.sum(state[t - 1, k] * W[i, k], axis=k), name="product")
    update = te.compute((7, 5), lambda t, i: product[t, i] + X[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X], name="S")
    s = create_schedule(S.op)
    PF = s.rfactor(product, s[product].split(k, factor=2)[1])
    assert s[PF].group is S.op
    x, w = data(7, 5), data(5, 5)
    want = x.copy()
    for t in range(1, 7):
        want[t] += w @ want[t - 1]
    (got,) = computed(s, [X, W, S], [x, w], [(7, 5)])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
