"""What split, fuse, reorder and tile refuse, word for word."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import ScheduleError, UserTypeError


def test_split_by_zero(chain, refused):
    with refused(
        ScheduleError,
        """
        split: 'i' of 'D' by 0
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.D.op.axis[0], factor=0)
           |     ^
          because: a loop of that many iterations computes nothing
          legal: a positive integer
    """,
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=0)


def test_split_by_negative(chain, refused):
    with refused(
        ScheduleError,
        """
        split: 'i' of 'D' by -4
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.D.op.axis[0], nparts=-4)
           |     ^
          because: a loop of that many iterations computes nothing
          legal: a positive integer
    """,
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], nparts=-4)


def test_split_by_float(chain, refused):
    with refused(
        UserTypeError,
        """
        split: 'i' of 'D' by 2.0
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.D.op.axis[0], factor=2.0)
           |     ^
          because: it is of type float
          legal: a positive integer, or an integer expression over sizes
    """,
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=2.0)


def test_split_by_bool(chain, refused):
    with refused(
        UserTypeError,
        """
        split: 'i' of 'D' by True
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.D.op.axis[0], factor=True)
           |     ^
          because: it is of type bool
          legal: a positive integer, or an integer expression over sizes
    """,
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=True)


def test_split_by_float_expression(chain, refused):
    with refused(
        UserTypeError,
        """
        split: 'i' of 'D' by x
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.D.op.axis[0], factor=te.var("x", "float32"))
           |     ^
          because: it is of type float32
          legal: a positive integer, or an integer expression over sizes
    """,
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=te.var("x", "float32"))


def test_split_by_tensor_element(chain, refused):
    N = te.placeholder((), dtype="int32", name="N")
    with refused(
        ScheduleError,
        """
        split: 'i' of 'D' by N[]
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.D.op.axis[0], factor=N())
           |     ^
          because: it reads 'N', and what a schedule says holds for all data
          legal: arithmetic over sizes
    """,
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=N())


def test_split_by_axis(chain, refused):
    with refused(
        ScheduleError,
        """
        split: 'i' of 'D' by j + 1
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.D.op.axis[0], factor=chain.B.op.axis[1] + 1)
           |     ^
          because: 'j' is an axis of 'B'
          legal: arithmetic over sizes
    """,
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=chain.B.op.axis[1] + 1)


def test_split_by_call(grid, refused):
    with refused(
        ScheduleError,
        """
        split: 'i' of 'C' by popcount(n)
          --> test_refuse_loops.py:LINE
           |     grid.s[grid.C].split(grid.axes[0], factor=te.popcount(grid.n))
           |     ^
          because: popcount(n) is no arithmetic that a schedule can hold
          legal: arithmetic over sizes
    """,
    ):
        grid.s[grid.C].split(grid.axes[0], factor=te.popcount(grid.n))


def test_split_by_both(chain, refused):
    with refused(
        ScheduleError,
        """
        split: 'i' of 'D' with both of factor and nparts
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.D.op.axis[0], factor=4, nparts=4)
           |     ^
          because: one of them says how long the inner or the outer loop is, and the other length follows
          legal: factor=4 (four iterations inside), or nparts=4 (four outside)
    """,
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=4, nparts=4)


def test_split_by_neither(chain, refused):
    with refused(
        ScheduleError,
        """
        split: 'i' of 'D' with neither of factor and nparts
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.D.op.axis[0])
           |     ^
          because: one of them says how long the inner or the outer loop is, and the other length follows
          legal: factor=4 (four iterations inside), or nparts=4 (four outside)
    """,
    ):
        chain.s[chain.D].split(chain.D.op.axis[0])


def test_split_of_a_split_axis(chain, refused):
    chain.s[chain.D].split(chain.D.op.axis[0], factor=4)
    with refused(
        ScheduleError,
        """
        split: 'i' is no loop of 'D'
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.D.op.axis[0], factor=4)
           |     ^
          because: it was split into 'i.outer' and 'i.inner'
          legal: the loops of 'D': i.outer, i.inner
    """,
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=4)


def test_split_of_a_fused_axis(grid, refused):
    i, j, _l = grid.axes
    grid.s[grid.C].fuse(i, j)
    with refused(
        ScheduleError,
        """
        split: 'j' is no loop of 'C'
          --> test_refuse_loops.py:LINE
           |     grid.s[grid.C].split(j, factor=4)
           |     ^
          because: it was fused into 'i.j.fused'
          legal: the loops of 'C': i.j.fused, l
    """,
    ):
        grid.s[grid.C].split(j, factor=4)


def test_split_of_a_foreign_axis(chain, refused):
    with refused(
        ScheduleError,
        """
        split: 'k' is no loop of 'D'
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(chain.k, factor=4)
           |     ^
          because: it is an axis of 'C'
          legal: the loops of 'D': i
    """,
    ):
        chain.s[chain.D].split(chain.k, factor=4)


def test_split_of_an_unused_axis(chain, refused):
    with refused(
        ScheduleError,
        """
        split: 'r' is no loop of 'D'
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(te.reduce_axis((0, 4), name="r"), factor=4)
           |     ^
          because: it is an axis of no stage of this schedule
          legal: the loops of 'D': i
    """,
    ):
        chain.s[chain.D].split(te.reduce_axis((0, 4), name="r"), factor=4)


def test_split_of_a_thread_axis(chain, refused):
    with refused(
        ScheduleError,
        """
        split: 'threadIdx.x' is no loop of 'D'
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(te.thread_axis("threadIdx.x"), factor=4)
           |     ^
          because: it is a thread axis: loops are bound to it
          legal: the loops of 'D': i
    """,
    ):
        chain.s[chain.D].split(te.thread_axis("threadIdx.x"), factor=4)


def test_split_of_no_axis(chain, refused):
    with refused(
        UserTypeError,
        """
        split: 'i' is no axis
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split("i", factor=4)
           |     ^
          because: it is of type str
          legal: the loops of 'D': i
    """,
    ):
        chain.s[chain.D].split("i", factor=4)


def test_split_of_a_marked_axis(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].unroll(i)
    with refused(
        ScheduleError,
        """
        cannot split 'i' of 'D'
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(i, factor=4)
           |     ^
          because: it is already unrolled
          legal: split first, then mark what comes of it
    """,
    ):
        chain.s[chain.D].split(i, factor=4)


def test_split_of_a_bound_axis(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].bind(i, te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """
        cannot split 'i' of 'D'
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(i, factor=4)
           |     ^
          because: it is already bound to threadIdx.x
          legal: split first, then mark what comes of it
    """,
    ):
        chain.s[chain.D].split(i, factor=4)


def test_split_of_an_axis_with_pragma(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].pragma(i, "auto_unroll_max_step", 16)
    with refused(
        ScheduleError,
        """
        cannot split 'i' of 'D'
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.D].split(i, factor=4)
           |     ^
          because: it is already marked with pragma auto_unroll_max_step
          legal: split first, then mark what comes of it
    """,
    ):
        chain.s[chain.D].split(i, factor=4)


def test_split_of_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """
        split: 'A' has no loops
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.A].split(chain.D.op.axis[0], factor=4)
           |     ^
          because: it is a placeholder: its values come from the caller
          legal: schedule the stages that read it
    """,
    ):
        chain.s[chain.A].split(chain.D.op.axis[0], factor=4)


def test_split_of_an_inlined_stage(chain, refused):
    chain.s[chain.B].compute_inline()
    with refused(
        ScheduleError,
        """
        split: 'B' has no loops
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.B].split(chain.B.op.axis[0], factor=4)
           |     ^
          because: it is inlined into the stages that read it
          legal: s[B].compute_root() first
    """,
    ):
        chain.s[chain.B].split(chain.B.op.axis[0], factor=4)


def test_fuse_of_distant_axes(grid, refused):
    i, _j, l = grid.axes
    with refused(
        ScheduleError,
        """
        cannot fuse 'i' and 'l' of 'C'
          --> test_refuse_loops.py:LINE
           |     grid.s[grid.C].fuse(i, l)
           |     ^
          because: between them stands j; the loops are i, j, l
          legal: reorder first, so that they follow one another
    """,
    ):
        grid.s[grid.C].fuse(i, l)


def test_fuse_of_one_axis_twice(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        ScheduleError,
        """
        cannot fuse 'i' of 'C'
          --> test_refuse_loops.py:LINE
           |     grid.s[grid.C].fuse(i, i)
           |     ^
          because: it is named twice
          legal: each loop once
    """,
    ):
        grid.s[grid.C].fuse(i, i)


def test_fuse_of_a_list(grid, refused):
    i, j, _l = grid.axes
    with refused(
        UserTypeError,
        """
        fuse: [IterVar(i, data), IterVar(j, data)] is no axis
          --> test_refuse_loops.py:LINE
           |     grid.s[grid.C].fuse([i, j])
           |     ^
          because: it is of type list, and each axis is an argument of its own
          legal: the loops of 'C': i, j, l
    """,
    ):
        grid.s[grid.C].fuse([i, j])


def test_fuse_of_nothing_on_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """
        fuse: 'A' has no loops
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.A].fuse()
           |     ^
          because: it is a placeholder: its values come from the caller
          legal: schedule the stages that read it
    """,
    ):
        chain.s[chain.A].fuse()


def test_reorder_with_one_axis_twice(grid, refused):
    i, j, _l = grid.axes
    with refused(
        ScheduleError,
        """
        cannot reorder 'j' of 'C'
          --> test_refuse_loops.py:LINE
           |     grid.s[grid.C].reorder(j, i, j)
           |     ^
          because: it is named twice
          legal: each loop once
    """,
    ):
        grid.s[grid.C].reorder(j, i, j)


def test_reorder_of_a_split_axis(grid, refused):
    i, j, _l = grid.axes
    grid.s[grid.C].split(i, nparts=4)
    with refused(
        ScheduleError,
        """
        reorder: 'i' is no loop of 'C'
          --> test_refuse_loops.py:LINE
           |     grid.s[grid.C].reorder(j, i)
           |     ^
          because: it was split into 'i.outer' and 'i.inner'
          legal: the loops of 'C': i.outer, i.inner, j, l
    """,
    ):
        grid.s[grid.C].reorder(j, i)


def test_reorder_of_nothing_on_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """
        reorder: 'A' has no loops
          --> test_refuse_loops.py:LINE
           |     chain.s[chain.A].reorder()
           |     ^
          because: it is a placeholder: its values come from the caller
          legal: schedule the stages that read it
    """,
    ):
        chain.s[chain.A].reorder()


def test_tile_of_one_axis_twice(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        ScheduleError,
        """
        split: 'i' is no loop of 'C'
          --> test_refuse_loops.py:LINE
           |     grid.s[grid.C].tile(i, i, 4, 4)
           |     ^
          because: it was split into 'i.outer' and 'i.inner'
          legal: the loops of 'C': i.outer, i.inner, j, l
    """,
    ):
        grid.s[grid.C].tile(i, i, 4, 4)
