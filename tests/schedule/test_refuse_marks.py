"""What bind, vectorize, unroll, parallel and pragma refuse, word for word."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import ScheduleError, UserTypeError
from tecomp.ir.axis import AxisKind, IterVar
from tecomp.ir.expr import Var
from tecomp.ir.stmt import LoopKind
from tecomp.schedule import check_extent, create_schedule, declared_domains
from tecomp.te.axis import THREAD_TAGS


def test_vectorize_of_a_reduce_axis(chain, refused):
    with refused(
        ScheduleError,
        """
        cannot vectorize reduce axis 'k' of 'C'
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.C].vectorize(chain.k)
           |     ^
          because: its iterations combine into one element, so they cannot run at once
          legal: a data axis of 'C': i; or s.rfactor, for a data axis to vectorize
    """,
    ):
        chain.s[chain.C].vectorize(chain.k)


def test_parallel_of_a_reduce_axis(chain, refused):
    with refused(
        ScheduleError,
        """
        cannot parallelize reduce axis 'k' of 'C'
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.C].parallel(chain.k)
           |     ^
          because: its iterations combine into one element, so they cannot run at once
          legal: a data axis of 'C': i; reduce_update="atomic"; or s.rfactor, for a data axis to parallelize
    """,
    ):
        chain.s[chain.C].parallel(chain.k)


def test_parallel_of_a_full_reduction(chain, refused):
    r = te.reduce_axis((0, 48), name="r")
    S = te.compute((), lambda: te.sum(chain.A[0, r], axis=r), name="S")
    s = create_schedule(S.op)
    with refused(
        ScheduleError,
        """
        cannot parallelize reduce axis 'r' of 'S'
          --> test_refuse_marks.py:LINE
           |     s[S].parallel(r)
           |     ^
          because: its iterations combine into one element, so they cannot run at once
          legal: a serial or an unrolled loop; reduce_update="atomic"; or s.rfactor, for a data axis to parallelize
    """,
    ):
        s[S].parallel(r)


def test_vectorize_of_a_piece_of_a_reduce_axis(chain, refused):
    _ko, ki = chain.s[chain.C].split(chain.k, factor=8)
    with refused(
        ScheduleError,
        """
        cannot vectorize reduce axis 'k.inner' of 'C'
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.C].vectorize(ki)
           |     ^
          because: its iterations combine into one element, so they cannot run at once
          legal: a data axis of 'C': i; or s.rfactor, for a data axis to vectorize
    """,
    ):
        chain.s[chain.C].vectorize(ki)


def test_bind_of_a_reduce_axis_to_a_block(chain, refused):
    with refused(
        ScheduleError,
        """
        cannot bind reduce axis 'k' of 'C' to blockIdx.x
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.C].bind(chain.k, te.thread_axis("blockIdx.x"))
           |     ^
          because: its iterations combine into one element, and blocks cannot combine what they computed
          legal: a data axis of 'C': i; threadIdx; reduce_update="atomic"; or s.rfactor, for a data axis to bind
    """,
    ):
        chain.s[chain.C].bind(chain.k, te.thread_axis("blockIdx.x"))


def test_bind_to_a_loop(chain, refused):
    i = chain.D.op.axis[0]
    with refused(
        UserTypeError,
        """
        bind: axis 'i' is no thread axis
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.D].bind(i, i)
           |     ^
          because: a loop is bound to an index of the GPU
          legal: te.thread_axis("threadIdx.x")
    """,
    ):
        chain.s[chain.D].bind(i, i)


def test_bind_to_a_name(chain, refused):
    i = chain.D.op.axis[0]
    with refused(
        UserTypeError,
        """
        bind: 'threadIdx.x' is no thread axis
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.D].bind(i, "threadIdx.x")
           |     ^
          because: a loop is bound to an index of the GPU
          legal: te.thread_axis("threadIdx.x")
    """,
    ):
        chain.s[chain.D].bind(i, "threadIdx.x")


def test_bind_to_an_unknown_tag(chain, refused):
    i = chain.D.op.axis[0]
    foo = IterVar(None, Var("foo", i.dtype), AxisKind.THREAD, "foo.x")
    with refused(
        ScheduleError,
        f"""
        bind: thread axis foo.x
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.D].bind(i, foo)
           |     ^
          because: a GPU has no such axis
          legal: {", ".join(THREAD_TAGS)}
    """,
    ):
        chain.s[chain.D].bind(i, foo)


def test_bind_twice(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].bind(i, te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """
        cannot bind 'i' of 'D'
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.D].bind(i, te.thread_axis("threadIdx.y"))
           |     ^
          because: it is already bound to threadIdx.x
          legal: one of both
    """,
    ):
        chain.s[chain.D].bind(i, te.thread_axis("threadIdx.y"))


def test_two_loops_on_one_thread_axis(grid, refused):
    i, j, _l = grid.axes
    grid.s[grid.C].bind(i, te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """
        cannot bind 'j' of 'C' to threadIdx.x
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].bind(j, te.thread_axis("threadIdx.x"))
           |     ^
          because: 'i' is bound to it already, and one index cannot be two loops
          legal: fuse both loops, or bind to another thread axis
    """,
    ):
        grid.s[grid.C].bind(j, te.thread_axis("threadIdx.x"))


def test_bind_to_another_extent(chain, refused):
    _o, i = chain.s[chain.D].split(chain.D.op.axis[0], factor=32)
    with refused(
        ScheduleError,
        """
        cannot bind 'i.inner' of 'D' to threadIdx.x
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.D].bind(i, te.thread_axis((0, 64), "threadIdx.x"))
           |     ^
          because: the loop has 32 iterations, and the thread axis was declared with 64
          legal: te.thread_axis("threadIdx.x"), which has the extent of its loop
    """,
    ):
        chain.s[chain.D].bind(i, te.thread_axis((0, 64), "threadIdx.x"))


def test_bind_of_a_whole_axis_to_another_extent(chain, refused):
    with refused(
        ScheduleError,
        """
        cannot bind 'i' of 'D' to threadIdx.x
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.D].bind(chain.D.op.axis[0], te.thread_axis((0, 32), "threadIdx.x"))
           |     ^
          because: the loop has 64 iterations, and the thread axis was declared with 32
          legal: te.thread_axis("threadIdx.x"), which has the extent of its loop
    """,
    ):
        chain.s[chain.D].bind(chain.D.op.axis[0], te.thread_axis((0, 32), "threadIdx.x"))


def test_bind_to_threads_from_one(chain, refused):
    with refused(
        ScheduleError,
        """
        cannot bind 'i' of 'D' to threadIdx.x
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.D].bind(chain.D.op.axis[0], te.thread_axis((1, 65), "threadIdx.x"))
           |     ^
          because: the thread axis was declared to start at 1, and threads count from 0
          legal: te.thread_axis("threadIdx.x"), which has the extent of its loop
    """,
    ):
        chain.s[chain.D].bind(chain.D.op.axis[0], te.thread_axis((1, 65), "threadIdx.x"))


def test_bind_of_a_vectorized_axis(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].vectorize(i)
    with refused(
        ScheduleError,
        """
        cannot bind 'i' of 'D'
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.D].bind(i, te.thread_axis("threadIdx.x"))
           |     ^
          because: it is already vectorized
          legal: one of both
    """,
    ):
        chain.s[chain.D].bind(i, te.thread_axis("threadIdx.x"))


def test_vectorize_twice(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].vectorize(i)
    with refused(
        ScheduleError,
        """
        cannot vectorize 'i' of 'D'
          --> test_refuse_marks.py:LINE
           |     chain.s[chain.D].vectorize(i)
           |     ^
          because: it is vectorized already
          legal: one of both
    """,
    ):
        chain.s[chain.D].vectorize(i)


def test_vectorize_of_a_symbolic_extent(grid, refused):
    _i, j, _l = grid.axes
    with refused(
        ScheduleError,
        """
        cannot vectorize 'j' of 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].vectorize(j)
           |     ^
          because: extent m is not constant
          legal: split it by a constant, and vectorize the inner loop
    """,
    ):
        grid.s[grid.C].vectorize(j)


def test_vectorize_of_a_symbolic_factor(grid, refused):
    _o, i = grid.s[grid.C].split(grid.axes[1], factor=grid.n // 2)
    with refused(
        ScheduleError,
        """
        cannot vectorize 'j.inner' of 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].vectorize(i)
           |     ^
          because: extent max(n // 2, 1) is not constant
          legal: split it by a constant, and vectorize the inner loop
    """,
    ):
        grid.s[grid.C].vectorize(i)


def test_vectorize_of_too_many_lanes(refused):
    C = te.compute((4096,), lambda i: i, name="C")
    s = create_schedule(C.op)
    with refused(
        ScheduleError,
        """
        cannot vectorize 'i' of 'C'
          --> test_refuse_marks.py:LINE
           |     s[C].vectorize(C.op.axis[0])
           |     ^
          because: 4096 iterations are more than the 1024 lanes that a vector may have
          legal: split it, and vectorize the inner loop
    """,
    ):
        s[C].vectorize(C.op.axis[0])


def test_unroll_of_a_symbolic_extent(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        ScheduleError,
        """
        cannot unroll 'i' of 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].unroll(i)
           |     ^
          because: extent n is not constant
          legal: split it by a constant, and unroll the inner loop
    """,
    ):
        grid.s[grid.C].unroll(i)


def test_unroll_of_an_inferred_symbolic_extent(grid, refused):
    _i, j, _l = grid.axes
    extent = declared_domains(grid.s[grid.C].state)[j].extent
    with refused(
        ScheduleError,
        """
        cannot unroll 'j' of 'C'
          --> test_refuse_marks.py:LINE
           |     check_extent(grid.s[grid.C], j, LoopKind.UNROLLED, extent)
           |     ^
          because: extent m is not constant
          legal: split it by a constant, and unroll the inner loop
    """,
    ):
        check_extent(grid.s[grid.C], j, LoopKind.UNROLLED, extent)


def test_parallel_inside_parallel(grid, refused):
    i, j, _l = grid.axes
    grid.s[grid.C].parallel(i)
    with refused(
        ScheduleError,
        """
        cannot parallelize 'j' of 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].parallel(j)
           |     ^
          because: 'i' of the same stage is parallel, and its iterations take all threads already
          legal: fuse both loops, and make the fused one parallel
    """,
    ):
        grid.s[grid.C].parallel(j)


def test_parallel_of_an_unrolled_axis(grid, refused):
    _i, _j, l = grid.axes
    grid.s[grid.C].unroll(l)
    with refused(
        ScheduleError,
        """
        cannot parallelize 'l' of 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].parallel(l)
           |     ^
          because: it is unrolled already
          legal: one of both
    """,
    ):
        grid.s[grid.C].parallel(l)


def test_unknown_pragma(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        ScheduleError,
        """
        pragma: 'my_pragma' on 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].pragma(i, "my_pragma")
           |     ^
          because: it would have no effect
          legal: auto_unroll_max_step, unroll_explicit, unroll, vectorize, parallel
    """,
    ):
        grid.s[grid.C].pragma(i, "my_pragma")


def test_a_pragma_of_tvm_names_what_serves_instead(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        ScheduleError,
        """
        pragma: 'tensor_core' on 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].pragma(i, "tensor_core")
           |     ^
          because: it would have no effect
          legal: s[T].tensorize
    """,
    ):
        grid.s[grid.C].pragma(i, "tensor_core")


def test_pragma_with_a_wrong_value(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        UserTypeError,
        """
        pragma: auto_unroll_max_step='16' on 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].pragma(i, "auto_unroll_max_step", "16")
           |     ^
          because: that is no value of it
          legal: an int: serial loops that become at most so many stores are unrolled
    """,
    ):
        grid.s[grid.C].pragma(i, "auto_unroll_max_step", "16")


def test_pragma_twice(grid, refused):
    i, _j, _l = grid.axes
    grid.s[grid.C].pragma(i, "auto_unroll_max_step", 16)
    with refused(
        ScheduleError,
        """
        cannot give a pragma to 'i' of 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].pragma(i, "auto_unroll_max_step", 8)
           |     ^
          because: it has auto_unroll_max_step=16 already
          legal: each pragma once
    """,
    ):
        grid.s[grid.C].pragma(i, "auto_unroll_max_step", 8)


def test_pragma_on_a_bound_axis(grid, refused):
    i, _j, _l = grid.axes
    grid.s[grid.C].bind(i, te.thread_axis("blockIdx.x"))
    with refused(
        ScheduleError,
        """
        cannot give a pragma to 'i' of 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].pragma(i, "auto_unroll_max_step", 8)
           |     ^
          because: it is bound to blockIdx.x, so no loop is left that could follow it
          legal: a loop that is not bound
    """,
    ):
        grid.s[grid.C].pragma(i, "auto_unroll_max_step", 8)


def test_bind_of_an_axis_with_pragma(grid, refused):
    i, _j, _l = grid.axes
    grid.s[grid.C].pragma(i, "unroll_explicit", False)
    with refused(
        ScheduleError,
        """
        cannot bind 'i' of 'C'
          --> test_refuse_marks.py:LINE
           |     grid.s[grid.C].bind(i, te.thread_axis("blockIdx.x"))
           |     ^
          because: it is already marked with pragma unroll_explicit
          legal: one of both
    """,
    ):
        grid.s[grid.C].bind(i, te.thread_axis("blockIdx.x"))
