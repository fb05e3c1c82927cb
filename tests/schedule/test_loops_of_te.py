"""How TE cut and ran loops: what it got wrong, or could not compile, computes the right result here.

What is refused is in test_refuse_loops.py and test_refuse_marks.py.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.ir.interpret import interpret
from tecomp.schedule import create_schedule

from .test_cache import computed

CUDA = "cuda -arch=sm_90a"


def program() -> SimpleNamespace:
    """A -> B -> C = sum of B -> D = 2 C, and a scan S of A."""
    A = te.placeholder((16, 12), name="A")
    B = te.compute((16, 12), lambda i, j: A[i, j] + 1, name="B")
    k = te.reduce_axis((0, 12), name="k")
    C = te.compute((16,), lambda i: te.sum(B[i, k], axis=k), name="C")
    D = te.compute((16,), lambda i: C[i] * 2, name="D")
    state = te.placeholder((16, 12), name="state")
    init = te.compute((1, 12), lambda _, i: A[0, i], name="init")
    update = te.compute((16, 12), lambda t, i: state[t - 1, i] + A[t, i], name="update")
    S = te.scan(init, update, state, inputs=[A], name="S")
    s = create_schedule([D.op, S.op])
    tx, bx = te.thread_axis("threadIdx.x"), te.thread_axis("blockIdx.x")
    return SimpleNamespace(**{name: value for name, value in locals().items() if name != "s"}, s=s, i=D.op.axis[0])


def lanes_inside_lanes(s, p):
    s[p.B].vectorize(p.B.op.axis[0])
    s[p.B].vectorize(p.B.op.axis[1])


def lanes_around_lanes_of_another_stage(s, p):
    s[p.C].compute_at(s[p.D], p.i)
    s[p.B].compute_at(s[p.C], p.C.op.axis[0])
    s[p.B].vectorize(p.B.op.axis[1])
    s[p.D].vectorize(p.i)


def lanes_outside_a_loop(s, p):
    s[p.B].vectorize(p.B.op.axis[1])
    s[p.B].reorder(p.B.op.axis[1], p.B.op.axis[0])


def seven_lanes_with_a_tail(s, p):
    s[p.B].vectorize(s[p.B].split(p.B.op.axis[1], factor=7)[1])


def lanes_under_a_guard_of_the_whole_loop(s, p):
    s[p.B].vectorize(s[p.B].split(s[p.B].fuse(*p.B.op.axis), factor=1024)[1])


def parallel_inside_parallel_of_another_stage(s, p):
    s[p.C].compute_at(s[p.D], p.i)
    s[p.B].compute_at(s[p.C], p.C.op.axis[0])
    s[p.B].parallel(p.B.op.axis[1])
    s[p.D].parallel(p.i)


def parallel_moved_inside(s, p):
    s[p.B].parallel(p.B.op.axis[0])
    s[p.B].reorder(p.B.op.axis[1], p.B.op.axis[0])


def data_and_reduction_fused_around_a_producer(s, p):
    s[p.B].compute_at(s[p.C], s[p.C].fuse(p.C.op.axis[0], p.k))


def reduction_and_data_fused_and_split_around_a_producer(s, p):
    s[p.C].reorder(p.k, p.C.op.axis[0])
    s[p.B].compute_at(s[p.C], s[p.C].split(s[p.C].fuse(p.k, p.C.op.axis[0]), factor=5)[0])


def fuse_in_the_other_order(s, p):
    i, j = p.B.op.axis
    s[p.B].split(s[p.B].fuse(j, i), factor=7)


def fuse_of_nothing(s, p):
    s[p.C].compute_at(s[p.D], s[p.D].fuse())


def steps_unrolled(s, p):
    s[p.S].unroll(p.S.op.scan_axis)


def steps_split_and_fused_again(s, p):
    s[p.S].split(s[p.S].fuse(*s[p.S].split(p.S.op.scan_axis, factor=4)), factor=7)


def steps_with_a_pragma(s, p):
    s[p.S].pragma(p.S.op.scan_axis, "auto_unroll_max_step", 64)


@pytest.mark.parametrize(
    "schedule",
    [
        lanes_inside_lanes, lanes_around_lanes_of_another_stage, lanes_outside_a_loop, seven_lanes_with_a_tail,
        lanes_under_a_guard_of_the_whole_loop, parallel_inside_parallel_of_another_stage, parallel_moved_inside,
        data_and_reduction_fused_around_a_producer, reduction_and_data_fused_and_split_around_a_producer,
        fuse_in_the_other_order, fuse_of_nothing, steps_unrolled, steps_split_and_fused_again, steps_with_a_pragma,
    ],
)  # fmt: skip
def test_right(schedule):
    p = program()
    schedule(p.s, p)
    a = np.random.default_rng(0).integers(-9, 9, (16, 12)).astype("f")
    d, sums = computed(p.s, [p.A, p.D, p.S], [a], [(16,), (16, 12)])
    np.testing.assert_array_equal(d, (a + 1).sum(1) * 2)
    np.testing.assert_array_equal(sums, a.cumsum(0))


@pytest.mark.parametrize("factor", [5, 8, 16])
def test_thread_axes_of_one_tag_and_other_extents(factor):
    """In TE the kernel had inconsistent extents, and wrote beyond its shared memory."""
    p = program()
    s = create_schedule(p.D.op)
    outer, inner = s[p.D].split(p.i, factor)
    s[p.D].bind(outer, p.bx)
    s[p.D].bind(inner, te.thread_axis("threadIdx.x"))
    s[p.B].compute_at(s[p.D], outer)
    s[p.B].set_scope("shared")
    s[p.B].bind(p.B.op.axis[1], te.thread_axis("threadIdx.x"))
    s[p.C].compute_at(s[p.D], inner)
    a = np.random.default_rng(0).integers(-9, 9, (16, 12)).astype("f")
    found = np.zeros(16, "f")
    interpret(tecomp.lower(s, [p.A, p.D], target=CUDA), a, found)
    np.testing.assert_array_equal(found, (a + 1).sum(1) * 2)
    assert tecomp.build(s, [p.A, p.D], target=CUDA).artifact.binary
