"""What split, fuse, reorder and tile refuse, word for word."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import ScheduleError, UserTypeError


def test_split_by_zero(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=0)


def test_split_by_negative(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], nparts=-4)


def test_split_by_float(chain, refused):
    with refused(
        UserTypeError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=2.0)


def test_split_by_bool(chain, refused):
    with refused(
        UserTypeError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=True)


def test_split_by_float_expression(chain, refused):
    with refused(
        UserTypeError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=te.var("x", "float32"))


def test_split_by_tensor_element(chain, refused):
    N = te.placeholder((), dtype="int32", name="N")
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=N())


def test_split_by_axis(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=chain.B.op.axis[1] + 1)


def test_split_by_call(grid, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].split(grid.axes[0], factor=te.popcount(grid.n))


def test_split_by_both(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=4, nparts=4)


def test_split_by_neither(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.D.op.axis[0])


def test_split_of_a_split_axis(chain, refused):
    chain.s[chain.D].split(chain.D.op.axis[0], factor=4)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.D.op.axis[0], factor=4)


def test_split_of_a_fused_axis(grid, refused):
    i, j, _l = grid.axes
    grid.s[grid.C].fuse(i, j)
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].split(j, factor=4)


def test_split_of_a_foreign_axis(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(chain.k, factor=4)


def test_split_of_an_unused_axis(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(te.reduce_axis((0, 4), name="r"), factor=4)


def test_split_of_a_thread_axis(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(te.thread_axis("threadIdx.x"), factor=4)


def test_split_of_no_axis(chain, refused):
    with refused(
        UserTypeError,
        """@@""",
    ):
        chain.s[chain.D].split("i", factor=4)


def test_split_of_a_marked_axis(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].unroll(i)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(i, factor=4)


def test_split_of_a_bound_axis(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].bind(i, te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(i, factor=4)


def test_split_of_an_axis_with_pragma(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].pragma(i, "auto_unroll_max_step", 16)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].split(i, factor=4)


def test_split_of_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.A].split(chain.D.op.axis[0], factor=4)


def test_split_of_an_inlined_stage(chain, refused):
    chain.s[chain.B].compute_inline()
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.B].split(chain.B.op.axis[0], factor=4)


def test_fuse_of_distant_axes(grid, refused):
    i, _j, l = grid.axes
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].fuse(i, l)


def test_fuse_of_one_axis_twice(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].fuse(i, i)


def test_fuse_of_a_list(grid, refused):
    i, j, _l = grid.axes
    with refused(
        UserTypeError,
        """@@""",
    ):
        grid.s[grid.C].fuse([i, j])


def test_fuse_of_nothing_on_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.A].fuse()


def test_reorder_with_one_axis_twice(grid, refused):
    i, j, _l = grid.axes
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].reorder(j, i, j)


def test_reorder_of_a_split_axis(grid, refused):
    i, j, _l = grid.axes
    grid.s[grid.C].split(i, nparts=4)
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].reorder(j, i)


def test_reorder_of_nothing_on_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.A].reorder()


def test_tile_of_one_axis_twice(grid, refused):
    i, _j, _l = grid.axes
    with refused(
        ScheduleError,
        """@@""",
    ):
        grid.s[grid.C].tile(i, i, 4, 4)
