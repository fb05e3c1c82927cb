"""What bind to a virtual thread refuses, word for word."""

from __future__ import annotations

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError


def test_bind_of_a_symbolic_loop_to_a_virtual_thread(grid, refused):
    i, _, _ = grid.axes
    with refused(
        ScheduleError,
        """
        cannot bind 'i' of 'C' to vthread
          --> test_refuse_vthread.py:LINE
           |     grid.s[grid.C].bind(i, te.thread_axis("vthread"))
           |     ^
          because: extent n is not constant
          legal: split it by a constant, and bind the loop of that length
    """,
    ):
        grid.s[grid.C].bind(i, te.thread_axis("vthread"))


def test_bind_of_two_loops_to_one_virtual_thread(chain, refused):
    outer, inner = chain.s[chain.D].split(chain.D.op.axis[0], 8)
    thread = te.thread_axis("vthread")
    chain.s[chain.D].bind(outer, thread)
    with refused(
        ScheduleError,
        """
        cannot bind 'i.inner' of 'D' to vthread
          --> test_refuse_vthread.py:LINE
           |     chain.s[chain.D].bind(inner, thread)
           |     ^
          because: 'i.outer' is bound to it already, and one index cannot be two loops
          legal: fuse both loops, or bind to another thread axis
    """,
    ):
        chain.s[chain.D].bind(inner, thread)


def test_bind_of_a_reduce_axis_to_a_virtual_thread(chain, refused):
    with refused(
        ScheduleError,
        """
        cannot bind reduce axis 'k' of 'C' to vthread
          --> test_refuse_vthread.py:LINE
           |     chain.s[chain.C].bind(chain.k, te.thread_axis("vthread"))
           |     ^
          because: its iterations combine into one element, and virtual threads cannot combine what they computed
          legal: a data axis of 'C': i; threadIdx; reduce_update="atomic"; or s.rfactor, for a data axis to bind
    """,
    ):
        chain.s[chain.C].bind(chain.k, te.thread_axis("vthread"))


def test_bind_to_a_virtual_thread_of_another_extent(chain, refused):
    outer, _ = chain.s[chain.D].split(chain.D.op.axis[0], nparts=4)
    with refused(
        ScheduleError,
        """
        cannot bind 'i.outer' of 'D' to vthread
          --> test_refuse_vthread.py:LINE
           |     chain.s[chain.D].bind(outer, te.thread_axis((0, 2), "vthread", name="vx"))
           |     ^
          because: the loop has 4 iterations, and the thread axis was declared with 2
          legal: te.thread_axis("vthread"), which has the extent of its loop
    """,
    ):
        chain.s[chain.D].bind(outer, te.thread_axis((0, 2), "vthread", name="vx"))


def test_bind_of_a_loop_that_turns_out_symbolic(refused):
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    C = te.compute((n,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].bind(B.op.axis[0], te.thread_axis("vthread"))
    with refused(
        ScheduleError,
        """
        cannot bind 'i' of 'B' to vthread
          --> test_refuse_vthread.py:LINE
           |     s[B].bind(B.op.axis[0], te.thread_axis("vthread"))
           |     ^
          because: extent n is not constant
          legal: split it by a constant, and bind the loop of that length
    """,
    ):
        tecomp.lower(s, [A, C])
