"""What bind, vectorize, unroll, parallel and pragma write into the record."""

from __future__ import annotations

import pytest

from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.ir.stmt import LoopKind
from tecomp.schedule import PRAGMAS, create_schedule


def kinds(stage):
    return {axis.name: mark.kind for axis, mark in stage.iter_var_attrs.items()}


def test_loop_kinds(grid):
    i, j, l = grid.axes
    stage = grid.s[grid.C]
    stage.parallel(i)
    stage.vectorize(l)
    _, inner = stage.split(j, factor=4)
    stage.unroll(inner)
    assert kinds(stage) == {"i": LoopKind.PARALLEL, "l": LoopKind.VECTORIZED, "j.inner": LoopKind.UNROLLED}


def test_bind_keeps_the_thread_axis(grid):
    thread = te.thread_axis("blockIdx.x")
    grid.s[grid.C].bind(grid.axes[0], thread)
    mark = grid.s[grid.C].state.mark(grid.axes[0])
    assert mark.kind is LoopKind.THREAD
    assert mark.thread is thread


def test_two_stages_share_a_thread_axis(chain):
    thread = te.thread_axis("threadIdx.x")
    chain.s[chain.D].bind(chain.D.op.axis[0], thread)
    chain.s[chain.C].bind(chain.C.op.axis[0], thread)
    assert chain.s[chain.C].state.mark(chain.C.op.axis[0]).thread is thread


def test_bind_to_a_thread_axis_of_the_same_extent(chain):
    _, inner = chain.s[chain.D].split(chain.D.op.axis[0], factor=32)
    chain.s[chain.D].bind(inner, te.thread_axis((0, 32), "threadIdx.x"))
    assert kinds(chain.s[chain.D])["i.inner"] is LoopKind.THREAD


def test_reductions_may_be_unrolled(chain):
    chain.s[chain.C].unroll(chain.k)
    assert kinds(chain.s[chain.C]) == {"k": LoopKind.UNROLLED}


@pytest.mark.parametrize("verb", ["vectorize", "unroll"])
def test_a_symbolic_extent_waits_for_inference_where_the_stage_may_move(verb):
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    C = te.compute((n,), lambda i: B[i] * 2, name="C")
    s = create_schedule(C.op)
    getattr(s[B], verb)(B.op.axis[0])
    outer, _ = s[C].split(C.op.axis[0], factor=8)
    s[B].compute_at(s[C], outer)
    assert s[B].attach_stage is C.op


def test_pragma_synonyms_are_the_primitives(grid):
    i, _, l = grid.axes
    grid.s[grid.C].pragma(l, "vectorize")
    grid.s[grid.C].pragma(i, "parallel")
    assert kinds(grid.s[grid.C]) == {"l": LoopKind.VECTORIZED, "i": LoopKind.PARALLEL}
    with pytest.raises(ScheduleError, match="cannot unroll 'l'"):
        grid.s[grid.C].pragma(l, "unroll")


def test_pragmas_stay_beside_the_kind(grid):
    l = grid.axes[2]
    grid.s[grid.C].pragma(l, "unroll_explicit", False)
    grid.s[grid.C].unroll(l)
    grid.s[grid.C].pragma(l, "auto_unroll_max_step", 16)
    mark = grid.s[grid.C].state.mark(l)
    assert mark.kind is LoopKind.UNROLLED
    assert mark.pragmas == (("unroll_explicit", False), ("auto_unroll_max_step", 16))


def test_every_pragma_says_what_it_means():
    assert all(rule.types and rule.meaning for rule in PRAGMAS.values())
