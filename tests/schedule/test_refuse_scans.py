"""What schedules refuse of scans, word for word."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import ScheduleError


def test_split_of_the_update_time(cumsum, refused):
    t, _i = cumsum.s2.op.axis
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.s2].split(t, factor=4)


def test_fuse_with_the_update_time(cumsum, refused):
    t, i = cumsum.s2.op.axis
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.s2].fuse(t, i)


def test_reorder_of_the_update_time(cumsum, refused):
    t, i = cumsum.s2.op.axis
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.s2].reorder(i, t)


def test_parallel_of_the_update_time(cumsum, refused):
    t, _i = cumsum.s2.op.axis
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.s2].parallel(t)


def test_bind_of_the_update_time(cumsum, refused):
    t, _i = cumsum.s2.op.axis
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.s2].bind(t, te.thread_axis("threadIdx.x"))


def test_parallel_of_the_time(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.S].parallel(cumsum.S.op.scan_axis)


def test_vectorize_of_the_time(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.S].vectorize(cumsum.S.op.scan_axis)


def test_bind_of_the_time(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.S].bind(cumsum.S.op.scan_axis, te.thread_axis("threadIdx.x"))


def test_reorder_of_the_time(cumsum, refused):
    o, i = cumsum.s[cumsum.S].split(cumsum.S.op.scan_axis, factor=4)
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.S].reorder(i, o)


def test_split_of_a_dimension(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.S].split(cumsum.S.op.spatial_axis_[0], factor=4)


def test_compute_at_of_the_update(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.s2].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])


def test_compute_at_of_the_init(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.init].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])


def test_compute_at_of_the_scan(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.S].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])


def test_compute_at_out_of_the_body(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.s1].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])


def test_compute_at_the_time_of_its_own_scan(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.s1].compute_at(cumsum.s[cumsum.S], cumsum.S.op.scan_axis)


def test_compute_inline_of_the_update(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.s2].compute_inline()


def test_compute_inline_of_the_init(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.init].compute_inline()


def test_compute_inline_of_the_scan(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.S].compute_inline()


def test_set_scope_of_the_update(cumsum, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        cumsum.s[cumsum.s2].set_scope("local")
