"""Parts of a reduction with start values: stages in its reduce loops, computed when and where they are needed."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.schedule import create_schedule
from tests.schedule.test_cache import computed


def started(n, m):
    """C(i) = E(i) + the sum of B(i, k), B = A * 2, E = D + 1."""
    A, D = te.placeholder((n, m), name="A"), te.placeholder((n,), name="D")
    B = te.compute((n, m), lambda i, j: A[i, j] * 2, name="B")
    E = te.compute((n,), lambda i: D[i] + 1, name="E")
    k = te.reduce_axis((0, m), name="k")
    return A, D, B, E, k, te.compute((n,), lambda i: te.sum(B[i, k], axis=k, init=E[i]), name="C")


def producers_in_both(s, B, E, k, C):
    ko, _ = s[C].split(k, factor=4)
    s[B].compute_at(s[C], ko)
    s[E].compute_at(s[C], C.op.axis[0])


def reduce_loop_outside(s, B, E, k, C):
    ko, ki = s[C].split(k, factor=4)
    s[C].reorder(ko, C.op.axis[0], ki)
    s[B].compute_at(s[C], ko)


def partial_sums(s, B, E, k, C):
    """A reduction of a chunk in each iteration of the reduction over chunks."""
    ko, _ = s[C].split(k, factor=4)
    P = s.rfactor(C, ko)
    (over_chunks,) = s[C].op.reduce_axis
    s[P].compute_at(s[C], over_chunks)
    s[B].compute_at(s[P], s[P].op.reduce_axis[0])


def in_a_copy(s, B, E, k, C):
    local = s.cache_write(C, "global")
    io, _ = s[C].split(C.op.axis[0], factor=4)
    s[local].compute_at(s[C], io)
    (reduced,) = s[local].op.reduce_axis
    ko, _ = s[local].split(reduced, factor=4)
    s[B].compute_at(s[local], ko)
    s[E].compute_at(s[local], s[local].op.axis[0])


@pytest.mark.parametrize("schedule", [producers_in_both, reduce_loop_outside, partial_sums, in_a_copy])
def test_a_split_reduction_with_start_values(schedule):
    A, D, B, E, k, C = started(te.var("n"), te.var("m"))
    s = create_schedule(C.op)
    schedule(s, B, E, k, C)
    for n, m in [(0, 3), (1, 0), (3, 4), (5, 13)]:
        a, d = np.random.default_rng(n).standard_normal((n, m)), np.random.default_rng(m).standard_normal(n)
        (c,) = computed(s, [A, D, C], [a.astype("f"), d.astype("f")], [(n,)])
        np.testing.assert_allclose(c, a.sum(1) * 2 + d + 1, rtol=1e-4, atol=1e-5)


def test_a_sum_of_sums_that_are_declared_so():
    A, D = te.placeholder((6, 20), name="A"), te.placeholder((6,), name="D")
    o, i = te.reduce_axis((0, 5), name="o"), te.reduce_axis((0, 4), name="i")
    P = te.compute((6, 5), lambda x, c: te.sum(A[x, c * 4 + i], axis=i), name="P")
    C = te.compute((6,), lambda x: te.sum(P[x, o], axis=o, init=D[x]), name="C")
    s = create_schedule(C.op)
    s[P].compute_at(s[C], o)
    assert "P = alloc(f32[1, 1], align=64)" in repr(tecomp.lower(s, [A, D, C]))
    a, d = np.random.default_rng(0).standard_normal((6, 20)), np.random.default_rng(1).standard_normal(6)
    (c,) = computed(s, [A, D, C], [a.astype("f"), d.astype("f")], [(6,)])
    np.testing.assert_allclose(c, a.sum(1) + d, rtol=1e-4, atol=1e-5)


def test_what_start_values_read_is_needed_before_the_loops():
    A, _, B, _, k, _ = started(8, 12)
    C = te.compute((8,), lambda i: te.sum(B[i, k], axis=k, init=B[i, 0]), name="C")
    s = create_schedule(C.op)
    s[B].compute_at(s[C], k)
    with pytest.raises(ScheduleError, match="the start values of the reduction 'C' read it before that loop"):
        tecomp.lower(s, [A, C])
    s[B].compute_at(s[C], C.op.axis[0])
    a = np.random.default_rng(2).standard_normal((8, 12)).astype("f")
    (c,) = computed(s, [A, C], [a], [(8,)])
    np.testing.assert_allclose(c, a.sum(1) * 2 + a[:, 0] * 2, rtol=1e-4, atol=1e-5)
