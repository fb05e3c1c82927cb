"""What schedules refuse of scans, word for word."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import ScheduleError


def test_split_of_the_update_time(cumsum, refused):
    t, _i = cumsum.s2.op.axis
    with refused(
        ScheduleError,
        """
        cannot split 't' of 's2'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.s2].split(t, factor=4)
           |     ^
          because: it is the time of scan 'S', one point in each step; the steps run in order
          legal: s[S].split on S.op.scan_axis
    """,
    ):
        cumsum.s[cumsum.s2].split(t, factor=4)


def test_fuse_with_the_update_time(cumsum, refused):
    t, i = cumsum.s2.op.axis
    with refused(
        ScheduleError,
        """
        cannot fuse 't' of 's2'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.s2].fuse(t, i)
           |     ^
          because: it is the time of scan 'S', one point in each step; the steps run in order
          legal: s[S].fuse on S.op.scan_axis
    """,
    ):
        cumsum.s[cumsum.s2].fuse(t, i)


def test_reorder_of_the_update_time(cumsum, refused):
    t, i = cumsum.s2.op.axis
    with refused(
        ScheduleError,
        """
        cannot reorder 't' of 's2'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.s2].reorder(i, t)
           |     ^
          because: it is the time of scan 'S', one point in each step; the steps run in order
          legal: a data axis of 's2': i
    """,
    ):
        cumsum.s[cumsum.s2].reorder(i, t)


def test_parallel_of_the_update_time(cumsum, refused):
    t, _i = cumsum.s2.op.axis
    with refused(
        ScheduleError,
        """
        cannot parallelize 't' of 's2'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.s2].parallel(t)
           |     ^
          because: it is the time of scan 'S', one point in each step; the steps run in order
          legal: a data axis of 's2': i
    """,
    ):
        cumsum.s[cumsum.s2].parallel(t)


def test_bind_of_the_update_time(cumsum, refused):
    t, _i = cumsum.s2.op.axis
    with refused(
        ScheduleError,
        """
        cannot bind 't' of 's2'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.s2].bind(t, te.thread_axis("threadIdx.x"))
           |     ^
          because: it is the time of scan 'S', one point in each step; the steps run in order
          legal: a data axis of 's2': i
    """,
    ):
        cumsum.s[cumsum.s2].bind(t, te.thread_axis("threadIdx.x"))


def test_parallel_of_the_time(cumsum, refused):
    with refused(
        ScheduleError,
        """
        cannot parallelize 'S.idx' of 'S'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.S].parallel(cumsum.S.op.scan_axis)
           |     ^
          because: each step of a scan reads the steps before it, so they run one after the other
          legal: a data axis of s[s2]
    """,
    ):
        cumsum.s[cumsum.S].parallel(cumsum.S.op.scan_axis)


def test_vectorize_of_the_time(cumsum, refused):
    with refused(
        ScheduleError,
        """
        cannot vectorize 'S.idx' of 'S'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.S].vectorize(cumsum.S.op.scan_axis)
           |     ^
          because: each step of a scan reads the steps before it, so they run one after the other
          legal: a data axis of s[s2]
    """,
    ):
        cumsum.s[cumsum.S].vectorize(cumsum.S.op.scan_axis)


def test_bind_of_the_time(cumsum, refused):
    with refused(
        ScheduleError,
        """
        cannot bind 'S.idx' of 'S'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.S].bind(cumsum.S.op.scan_axis, te.thread_axis("threadIdx.x"))
           |     ^
          because: each step of a scan reads the steps before it, so they run one after the other
          legal: a data axis of s[s2]
    """,
    ):
        cumsum.s[cumsum.S].bind(cumsum.S.op.scan_axis, te.thread_axis("threadIdx.x"))


def test_reorder_of_the_time(cumsum, refused):
    o, i = cumsum.s[cumsum.S].split(cumsum.S.op.scan_axis, factor=4)
    with refused(
        ScheduleError,
        """
        cannot reorder 'S.idx.inner' of 'S'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.S].reorder(i, o)
           |     ^
          because: each step of a scan reads the steps before it, so they run one after the other
          legal: a data axis of s[s2]
    """,
    ):
        cumsum.s[cumsum.S].reorder(i, o)


def test_split_of_a_dimension(cumsum, refused):
    with refused(
        ScheduleError,
        """
        split: 'S.out0.i1' is no loop of 'S'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.S].split(cumsum.S.op.spatial_axis_[0], factor=4)
           |     ^
          because: it names a dimension of the result, whose loops are in s[init], s[s2]
          legal: the loops of 'S': S.idx
    """,
    ):
        cumsum.s[cumsum.S].split(cumsum.S.op.spatial_axis_[0], factor=4)


def test_compute_at_of_the_update(cumsum, refused):
    with refused(
        ScheduleError,
        """
        compute_at: 's2' cannot be placed at loop 'i' of 'R'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.s2].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])
           |     ^
          because: 's2' is the update of scan 'S', and is computed in its time loop
          legal: compute_at for what it reads
    """,
    ):
        cumsum.s[cumsum.s2].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])


def test_compute_at_of_the_init(cumsum, refused):
    with refused(
        ScheduleError,
        """
        compute_at: 'init' cannot be placed at loop 'i' of 'R'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.init].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])
           |     ^
          because: 'init' is the init of scan 'S', and is computed before its time loop
          legal: compute_at for what it reads
    """,
    ):
        cumsum.s[cumsum.init].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])


def test_compute_at_of_the_scan(cumsum, refused):
    with refused(
        ScheduleError,
        """
        compute_at: 'S' cannot be placed at loop 'i' of 'R'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.S].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])
           |     ^
          because: 'S' is a scan, and scans inside other stages' loops are not available yet
          legal: compute_root
    """,
    ):
        cumsum.s[cumsum.S].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])


def test_compute_at_out_of_the_body(cumsum, refused):
    with refused(
        ScheduleError,
        """
        compute_at: 's1' cannot be placed at loop 'i' of 'R'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.s1].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])
           |     ^
          because: 's1' depends on the state of scan 'S', and is computed at each of its steps
          legal: a stage of the same step: s[s2]
    """,
    ):
        cumsum.s[cumsum.s1].compute_at(cumsum.s[cumsum.R], cumsum.R.op.axis[0])


def test_compute_at_the_time_of_its_own_scan(cumsum, refused):
    with refused(
        ScheduleError,
        """
        compute_at: 's1' cannot be placed at loop 'S.idx' of 'S'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.s1].compute_at(cumsum.s[cumsum.S], cumsum.S.op.scan_axis)
           |     ^
          because: 's1' depends on the state of scan 'S', and is computed at each of its steps
          legal: a stage of the same step: s[s2]
    """,
    ):
        cumsum.s[cumsum.s1].compute_at(cumsum.s[cumsum.S], cumsum.S.op.scan_axis)


def test_compute_inline_of_the_update(cumsum, refused):
    with refused(
        ScheduleError,
        """
        compute_inline: 's2' is the update of scan 'S' and cannot be inlined
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.s2].compute_inline()
           |     ^
          legal: compute_inline of what it reads
    """,
    ):
        cumsum.s[cumsum.s2].compute_inline()


def test_compute_inline_of_the_init(cumsum, refused):
    with refused(
        ScheduleError,
        """
        compute_inline: 'init' is the init of scan 'S' and cannot be inlined
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.init].compute_inline()
           |     ^
          legal: compute_inline of what it reads
    """,
    ):
        cumsum.s[cumsum.init].compute_inline()


def test_compute_inline_of_the_scan(cumsum, refused):
    with refused(
        ScheduleError,
        """
        compute_inline: 'S' is a scan and cannot be inlined
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.S].compute_inline()
           |     ^
          legal: compute_inline of a compute
    """,
    ):
        cumsum.s[cumsum.S].compute_inline()


def test_set_scope_of_the_update(cumsum, refused):
    with refused(
        ScheduleError,
        """
        set_scope: 's2' in 'local'
          --> test_refuse_scans.py:LINE
           |     cumsum.s[cumsum.s2].set_scope("local")
           |     ^
          because: it is written into the result of scan 'S'
          legal: s[S].set_scope
    """,
    ):
        cumsum.s[cumsum.s2].set_scope("local")
