"""What compute_at, compute_inline, compute_root, set_scope and set_store_predicate refuse, word for word."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import ScheduleError, UserTypeError
from tecomp.schedule import create_schedule


def test_compute_at_a_tensor(chain, refused):
    with refused(
        UserTypeError,
        """@@""",
    ):
        chain.s[chain.C].compute_at(chain.D, chain.D.op.axis[0])


def test_compute_at_no_axis(chain, refused):
    with refused(
        UserTypeError,
        """@@""",
    ):
        chain.s[chain.C].compute_at(chain.s[chain.D], 0)


def test_compute_at_itself(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].compute_at(chain.s[chain.C], chain.C.op.axis[0])


def test_compute_at_cycle(chain, refused):
    chain.s[chain.B].compute_at(chain.s[chain.C], chain.C.op.axis[0])
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].compute_at(chain.s[chain.B], chain.B.op.axis[0])


def test_compute_at_cycle_of_three(chain, refused):
    chain.s[chain.B].compute_at(chain.s[chain.C], chain.C.op.axis[0])
    chain.s[chain.C].compute_at(chain.s[chain.D], chain.D.op.axis[0])
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].compute_at(chain.s[chain.B], chain.B.op.axis[0])


def test_compute_at_another_schedule(chain, refused):
    other = create_schedule(chain.D.op)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].compute_at(other[chain.D], chain.D.op.axis[0])


def test_compute_at_a_split_axis(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].split(i, factor=4)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].compute_at(chain.s[chain.D], i)


def test_compute_at_a_foreign_axis(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].compute_at(chain.s[chain.D], chain.k)


def test_compute_at_of_an_output(chain, refused):
    E = te.compute((64,), lambda i: chain.D[i] + 1, name="E")
    s = create_schedule([chain.D.op, E.op])
    with refused(
        ScheduleError,
        """@@""",
    ):
        s[chain.D].compute_at(s[E], E.op.axis[0])


def test_compute_at_of_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.A].compute_at(chain.s[chain.B], chain.B.op.axis[0])


def test_compute_at_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.B].compute_at(chain.s[chain.A], chain.B.op.axis[0])


def test_compute_at_an_inlined_stage(chain, refused):
    E = te.compute((64,), lambda i: chain.D[i] + 1, name="E")
    s = create_schedule(E.op)
    s[chain.D].compute_inline()
    with refused(
        ScheduleError,
        """@@""",
    ):
        s[chain.C].compute_at(s[chain.D], chain.D.op.axis[0])


def test_compute_at_a_stage_that_reads_something_else(chain, refused):
    E = te.compute((64,), lambda i: chain.A[i, 0], name="E")
    s = create_schedule([chain.D.op, E.op])
    with refused(
        ScheduleError,
        """@@""",
    ):
        s[chain.C].compute_at(s[E], E.op.axis[0])


def test_compute_inline_of_a_reduction(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.C].compute_inline()


def test_compute_inline_of_an_output(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].compute_inline()


def test_compute_inline_of_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.A].compute_inline()


def test_compute_inline_of_two_outputs(chain, refused):
    P, Q = te.compute((64,), lambda i: (chain.C[i], chain.C[i] + 1), name="PQ")
    E = te.compute((64,), lambda i: P[i] + Q[i], name="E")
    s = create_schedule(E.op)
    with refused(
        ScheduleError,
        """@@""",
    ):
        s[P].compute_inline()


def test_compute_inline_of_a_split_stage(chain, refused):
    chain.s[chain.B].split(chain.B.op.axis[0], factor=4)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.B].compute_inline()


def test_compute_inline_of_a_reordered_stage(chain, refused):
    i, j = chain.B.op.axis
    chain.s[chain.B].reorder(j, i)
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.B].compute_inline()


def test_compute_inline_of_a_stage_with_scope(chain, refused):
    chain.s[chain.B].set_scope("local")
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.B].compute_inline()


def test_compute_inline_around_another_stage(chain, refused):
    E = te.compute((64,), lambda i: chain.D[i] + 1, name="E")
    s = create_schedule(E.op)
    s[chain.C].compute_at(s[chain.D], chain.D.op.axis[0])
    with refused(
        ScheduleError,
        """@@""",
    ):
        s[chain.D].compute_inline()


def test_compute_root_of_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.A].compute_root()


def test_set_scope_unknown(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.B].set_scope("texture")


def test_set_scope_warp(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.B].set_scope("warp")


def test_set_scope_of_an_output(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].set_scope("shared")


def test_set_scope_of_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.A].set_scope("shared")


def test_set_scope_of_an_inlined_stage(chain, refused):
    chain.s[chain.B].compute_inline()
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.B].set_scope("local")


def test_store_predicate_that_is_a_number(chain, refused):
    with refused(
        UserTypeError,
        """@@""",
    ):
        chain.s[chain.D].set_store_predicate(chain.D.op.axis[0] + 1)


def test_store_predicate_that_reads_a_tensor(chain, refused):
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.D].set_store_predicate(chain.A[0, 0] < 1)


def test_store_predicate_on_an_inlined_stage(chain, refused):
    chain.s[chain.B].compute_inline()
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[chain.B].set_store_predicate(chain.B.op.axis[0] < 1)
