"""What bind, vectorize, unroll, parallel and pragma refuse, word for word."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import ScheduleError, UserTypeError
from tecomp.ir.axis import AxisKind, IterVar
from tecomp.ir.expr import Var
from tecomp.ir.stmt import LoopKind
from tecomp.schedule import check_extent, create_schedule, declared_domains


def test_vectorize_of_a_reduce_axis(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].vectorize(chain.k)


def test_parallel_of_a_reduce_axis(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].parallel(chain.k)


def test_parallel_of_a_full_reduction(chain, refused):
    r = te.reduce_axis((0, 48), name="r")
    S = te.compute((), lambda: te.sum(chain.A[0, r], axis=r), name="S")
    s = create_schedule(S.op)
    with refused(
        ScheduleError,
        """@@""",
    ):
        s[S].parallel(r)


def test_vectorize_of_a_piece_of_a_reduce_axis(chain, refused):
    _ko, ki = chain.s[chain.C].split(chain.k, factor=8)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].vectorize(ki)


def test_bind_of_a_reduce_axis_to_a_block(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].bind(chain.k, te.thread_axis("blockIdx.x"))


def test_bind_of_a_reduce_axis_to_a_thread(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].bind(chain.k, te.thread_axis("threadIdx.x"))


def test_bind_to_a_loop(chain, refused):
    i = chain.D.op.axis[0]
    with refused(
        UserTypeError,
        """@@""",
    ):
        chain.s[chain.D].bind(i, i)


def test_bind_to_a_name(chain, refused):
    i = chain.D.op.axis[0]
    with refused(
        UserTypeError,
        """@@""",
    ):
        chain.s[chain.D].bind(i, "threadIdx.x")


def test_bind_to_a_virtual_thread(chain, refused):
    i = chain.D.op.axis[0]
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].bind(i, te.thread_axis("vthread"))


def test_bind_to_an_unknown_tag(chain, refused):
    i = chain.D.op.axis[0]
    foo = IterVar(None, Var("foo", i.dtype), AxisKind.THREAD, "foo.x")
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].bind(i, foo)


def test_bind_twice(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].bind(i, te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].bind(i, te.thread_axis("threadIdx.y"))


def test_two_loops_on_one_thread_axis(grid, refused):
    i, j, _l = grid.axes
    grid.s[grid.C].bind(i, te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].bind(j, te.thread_axis("threadIdx.x"))


def test_bind_to_another_extent(chain, refused):
    _o, i = chain.s[chain.D].split(chain.D.op.axis[0], factor=32)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].bind(i, te.thread_axis((0, 64), "threadIdx.x"))


def test_bind_of_a_whole_axis_to_another_extent(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].bind(chain.D.op.axis[0], te.thread_axis((0, 32), "threadIdx.x"))


def test_bind_to_threads_from_one(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].bind(chain.D.op.axis[0], te.thread_axis((1, 65), "threadIdx.x"))


def test_bind_of_a_vectorized_axis(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].vectorize(i)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].bind(i, te.thread_axis("threadIdx.x"))


def test_vectorize_twice(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].vectorize(i)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].vectorize(i)


def test_vectorize_of_a_symbolic_extent(grid, refused):
    _i, j, _l = grid.axes
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].vectorize(j)


def test_vectorize_of_a_symbolic_factor(grid, refused):
    _o, i = grid.s[grid.C].split(grid.axes[1], factor=grid.n // 2)
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].vectorize(i)


def test_vectorize_of_too_many_lanes(refused):
    C = te.compute((4096,), lambda i: i, name="C")
    s = create_schedule(C.op)
    with refused(
        ScheduleError,
        """@@""",
    ):
        s[C].vectorize(C.op.axis[0])


def test_unroll_of_a_symbolic_extent(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].unroll(i)


def test_unroll_of_an_inferred_symbolic_extent(grid, refused):
    _i, j, _l = grid.axes
    extent = declared_domains(grid.s[grid.C].state)[j].extent
    with refused(
        ScheduleError,
        """@@""",
    ):
        check_extent(grid.s[grid.C], j, LoopKind.UNROLLED, extent)


def test_parallel_inside_parallel(grid, refused):
    i, j, _l = grid.axes
    grid.s[grid.C].parallel(i)
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].parallel(j)


def test_parallel_of_an_unrolled_axis(grid, refused):
    _i, _j, l = grid.axes
    grid.s[grid.C].unroll(l)
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].parallel(l)


def test_unknown_pragma(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].pragma(i, "tensor_core")


def test_pragma_with_a_wrong_value(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        UserTypeError,
        """@@""",
    ):
        grid.s[grid.C].pragma(i, "auto_unroll_max_step", "16")


def test_pragma_twice(grid, refused):
    i, _j, _l = grid.axes
    grid.s[grid.C].pragma(i, "auto_unroll_max_step", 16)
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].pragma(i, "auto_unroll_max_step", 8)


def test_pragma_on_a_bound_axis(grid, refused):
    i, _j, _l = grid.axes
    grid.s[grid.C].bind(i, te.thread_axis("blockIdx.x"))
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].pragma(i, "auto_unroll_max_step", 8)


def test_bind_of_an_axis_with_pragma(grid, refused):
    i, _j, _l = grid.axes
    grid.s[grid.C].pragma(i, "unroll_explicit", False)
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].bind(i, te.thread_axis("blockIdx.x"))
