"""What is refused of reductions that threads share out, word for word."""

from __future__ import annotations

import pytest

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError


@pytest.fixture
def sums():
    """A(n, m, 4) -> B(n), sums over both other axes, and a schedule of B."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m, 4), name="A")
    k, l = te.reduce_axis((0, m), name="k"), te.reduce_axis((0, 4), name="l")
    B = te.compute((n,), lambda i: te.sum(A[i, k, l], axis=[k, l]), name="B")
    return A, B, te.create_schedule(B.op)


def test_bind_of_a_loop_over_data_and_what_is_reduced(sums, refused):
    _, B, s = sums
    fused = s[B].fuse(B.op.axis[0], B.op.reduce_axis[0])
    with refused(
        ScheduleError,
        """
        cannot bind reduce axis 'i.k.fused' of 'B' to threadIdx.x
          --> test_refuse_shared_out.py:LINE
           |     s[B].bind(fused, te.thread_axis("threadIdx.x"))
           |     ^
          because: 'i' of the data is fused into it, so its iterations are of several elements
          legal: fuse reduce axes with each other only
    """,
    ):
        s[B].bind(fused, te.thread_axis("threadIdx.x"))


def test_a_loop_over_data_and_what_is_reduced_inside(sums, refused):
    A, B, s = sums
    s[B].bind(B.op.reduce_axis[1], te.thread_axis("threadIdx.x"))
    s[B].fuse(B.op.axis[0], B.op.reduce_axis[0])
    with refused(
        ScheduleError,
        """
        threads cannot share the reduction of 'B' out
          --> test_refuse_shared_out.py:LINE
           |     s[B].fuse(B.op.axis[0], B.op.reduce_axis[0])
           |     ^
          because: 'i' of the data is fused into its loop 'i.k.fused', and each thread folds a part of one element
          legal: fuse reduce axes with each other only
    """,
    ):
        tecomp.lower(s, [A, B])


def test_a_reduction_in_a_loop_over_the_same_threads(sums, refused):
    A, B, _ = sums
    C = te.compute(B.shape, lambda i: B[i] + 1, name="C")
    s = te.create_schedule(C.op)
    s[C].bind(s[C].split(C.op.axis[0], 32)[1], te.thread_axis("threadIdx.x"))
    s[B].compute_at(s[C], s[C].leaf_iter_vars[1])
    s[B].bind(B.op.reduce_axis[1], te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """
        the threads of threadIdx.x share out the reduction of B_part
          --> test_refuse_shared_out.py:LINE
           |     B = te.compute((n,), lambda i: te.sum(A[i, k, l], axis=[k, l]), name="B")
           |     ^
          because: each of them runs an iteration of 'i.inner', with a reduction of its own in it
          legal: compute_at outside the loop bound to threadIdx.x, or bind one of both loops to another thread axis
    """,
    ):
        tecomp.lower(s, [A, C], target="cuda")


def test_on_a_processor(sums, refused):
    A, B, s = sums
    s[B].bind(B.op.reduce_axis[1], te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """
        stage B_part is bound to threadIdx.x
          --> test_refuse_shared_out.py:LINE
           |     B = te.compute((n,), lambda i: te.sum(A[i, k, l], axis=[k, l]), name="B")
           |     ^
          because: the target llvm has no such threads
          legal: parallel, vectorize; or target="cuda"
    """,
    ):
        tecomp.build(s, [A, B], target="llvm")


def test_a_reduction_that_an_intrinsic_goes_on_with(sums, refused):
    A, B, s = sums
    a = te.placeholder((4,), name="a")
    l = te.reduce_axis((0, 4), name="l")
    c = te.compute((), lambda: te.sum(a[l], axis=l), name="c")
    row = te.decl_tensor_intrin(c.op, lambda ins, outs: (outs[0].vstore((), 1.0),) * 3, name="row")
    s[B].bind(s[B].split(B.op.reduce_axis[0], 8)[1], te.thread_axis("threadIdx.x"))
    s[B].tensorize(B.op.reduce_axis[1], row)
    with refused(
        ScheduleError,
        """
        tensorize: 'B' by 'row'
          --> test_refuse_shared_out.py:LINE
           |     s[B].tensorize(B.op.reduce_axis[1], row)
           |     ^
          because: threads share its reduction out ('k.inner'), and the intrinsic knows no part that is one thread's
          legal: 'k.inner' as a serial loop
    """,
    ):
        tecomp.lower(s, [A, B])
