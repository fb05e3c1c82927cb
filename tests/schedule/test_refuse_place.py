"""What compute_at, compute_inline, compute_root, set_scope and set_store_predicate refuse, word for word."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import ScheduleError, UserTypeError
from tecomp.schedule import create_schedule


def test_compute_at_a_tensor(chain, refused):
    with refused(
        UserTypeError,
        """
        compute_at: D: f32[64] is no stage
          --> test_refuse_place.py:LINE
           |     chain.s[chain.C].compute_at(chain.D, chain.D.op.axis[0])
           |     ^
          because: it is of type Tensor
          legal: s[C], the stage of C in the schedule s
    """,
    ):
        chain.s[chain.C].compute_at(chain.D, chain.D.op.axis[0])


def test_compute_at_no_axis(chain, refused):
    with refused(
        UserTypeError,
        """
        compute_at: 0 is no axis
          --> test_refuse_place.py:LINE
           |     chain.s[chain.C].compute_at(chain.s[chain.D], 0)
           |     ^
          because: it is of type int
          legal: the loops of 'D': i
    """,
    ):
        chain.s[chain.C].compute_at(chain.s[chain.D], 0)


def test_compute_at_itself(chain, refused):
    with refused(
        ScheduleError,
        """
        compute_at: 'C' cannot be placed at loop 'i' of 'C'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.C].compute_at(chain.s[chain.C], chain.C.op.axis[0])
           |     ^
          because: compute_at cycle: C→C
          legal: a stage that reads 'C'
    """,
    ):
        chain.s[chain.C].compute_at(chain.s[chain.C], chain.C.op.axis[0])


def test_compute_at_cycle(chain, refused):
    chain.s[chain.B].compute_at(chain.s[chain.C], chain.C.op.axis[0])
    with refused(
        ScheduleError,
        """
        compute_at: 'C' cannot be placed at loop 'i' of 'B'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.C].compute_at(chain.s[chain.B], chain.B.op.axis[0])
           |     ^
          because: compute_at cycle: B→C→B
          legal: a stage that reads 'C'
    """,
    ):
        chain.s[chain.C].compute_at(chain.s[chain.B], chain.B.op.axis[0])


def test_compute_at_cycle_of_three(chain, refused):
    chain.s[chain.B].compute_at(chain.s[chain.C], chain.C.op.axis[0])
    chain.s[chain.C].compute_at(chain.s[chain.D], chain.D.op.axis[0])
    with refused(
        ScheduleError,
        """
        compute_at: 'D' cannot be placed at loop 'i' of 'B'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.D].compute_at(chain.s[chain.B], chain.B.op.axis[0])
           |     ^
          because: compute_at cycle: B→C→D→B
          legal: a stage that reads 'D'
    """,
    ):
        chain.s[chain.D].compute_at(chain.s[chain.B], chain.B.op.axis[0])


def test_compute_at_another_schedule(chain, refused):
    other = create_schedule(chain.D.op)
    with refused(
        ScheduleError,
        """
        compute_at: 'C' cannot be placed at loop 'i' of 'D'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.C].compute_at(other[chain.D], chain.D.op.axis[0])
           |     ^
          because: 'D' is a stage of another schedule
          legal: a stage that reads 'C' in this one
    """,
    ):
        chain.s[chain.C].compute_at(other[chain.D], chain.D.op.axis[0])


def test_compute_at_a_split_axis(chain, refused):
    i = chain.D.op.axis[0]
    chain.s[chain.D].split(i, factor=4)
    with refused(
        ScheduleError,
        """
        compute_at: 'C' cannot be placed at loop 'i' of 'D'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.C].compute_at(chain.s[chain.D], i)
           |     ^
          because: 'i' is no loop of it: it was split into 'i.outer' and 'i.inner'
          legal: the loops of 'D': i.outer, i.inner
    """,
    ):
        chain.s[chain.C].compute_at(chain.s[chain.D], i)


def test_compute_at_a_foreign_axis(chain, refused):
    with refused(
        ScheduleError,
        """
        compute_at: 'C' cannot be placed at loop 'k' of 'D'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.C].compute_at(chain.s[chain.D], chain.k)
           |     ^
          because: 'k' is no loop of it: it is an axis of 'C'
          legal: the loops of 'D': i
    """,
    ):
        chain.s[chain.C].compute_at(chain.s[chain.D], chain.k)


def test_compute_at_of_an_output(chain, refused):
    E = te.compute((64,), lambda i: chain.D[i] + 1, name="E")
    s = create_schedule([chain.D.op, E.op])
    with refused(
        ScheduleError,
        """
        compute_at: 'D' cannot be placed at loop 'i' of 'E'
          --> test_refuse_place.py:LINE
           |     s[chain.D].compute_at(s[E], E.op.axis[0])
           |     ^
          because: 'D' is an output, and outputs are computed at the root
          legal: compute_at for what it reads
    """,
    ):
        s[chain.D].compute_at(s[E], E.op.axis[0])


def test_compute_at_of_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """
        compute_at: 'A' cannot be placed at loop 'i' of 'B'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.A].compute_at(chain.s[chain.B], chain.B.op.axis[0])
           |     ^
          because: 'A' is a placeholder: its values come from the caller
          legal: compute_at for a computed stage
    """,
    ):
        chain.s[chain.A].compute_at(chain.s[chain.B], chain.B.op.axis[0])


def test_compute_at_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """
        compute_at: 'B' cannot be placed at loop 'i' of 'A'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.B].compute_at(chain.s[chain.A], chain.B.op.axis[0])
           |     ^
          because: 'A' is a placeholder and has no loops
          legal: a stage that is computed
    """,
    ):
        chain.s[chain.B].compute_at(chain.s[chain.A], chain.B.op.axis[0])


def test_compute_at_an_inlined_stage(chain, refused):
    E = te.compute((64,), lambda i: chain.D[i] + 1, name="E")
    s = create_schedule(E.op)
    s[chain.D].compute_inline()
    with refused(
        ScheduleError,
        """
        compute_at: 'C' cannot be placed at loop 'i' of 'D'
          --> test_refuse_place.py:LINE
           |     s[chain.C].compute_at(s[chain.D], chain.D.op.axis[0])
           |     ^
          because: 'D' is inlined and has no loops
          legal: s[D].compute_root() first
    """,
    ):
        s[chain.C].compute_at(s[chain.D], chain.D.op.axis[0])


def test_compute_at_a_stage_that_reads_something_else(chain, refused):
    E = te.compute((64,), lambda i: chain.A[i, 0], name="E")
    s = create_schedule([chain.D.op, E.op])
    with refused(
        ScheduleError,
        """
        compute_at: 'C' cannot be placed at loop 'i' of 'E'
          --> test_refuse_place.py:LINE
           |     s[chain.C].compute_at(s[E], E.op.axis[0])
           |     ^
          because: 'E' does not read 'C'
          legal: a stage that does: s[D]
    """,
    ):
        s[chain.C].compute_at(s[E], E.op.axis[0])


def test_compute_inline_of_a_reduction(chain, refused):
    with refused(
        ScheduleError,
        """
        compute_inline: 'C' has a reduction and cannot be inlined
          --> test_refuse_place.py:LINE
           |     chain.s[chain.C].compute_inline()
           |     ^
          legal: use compute_at
    """,
    ):
        chain.s[chain.C].compute_inline()


def test_compute_inline_of_an_output(chain, refused):
    with refused(
        ScheduleError,
        """
        compute_inline: 'D' is an output and cannot be inlined
          --> test_refuse_place.py:LINE
           |     chain.s[chain.D].compute_inline()
           |     ^
          legal: compute_inline of what it reads
    """,
    ):
        chain.s[chain.D].compute_inline()


def test_compute_inline_of_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """
        compute_inline: 'A' is a placeholder and cannot be inlined
          --> test_refuse_place.py:LINE
           |     chain.s[chain.A].compute_inline()
           |     ^
          legal: compute_inline of a compute
    """,
    ):
        chain.s[chain.A].compute_inline()


def test_compute_inline_of_two_outputs(chain, refused):
    P, Q = te.compute((64,), lambda i: (chain.C[i], chain.C[i] + 1), name="PQ")
    E = te.compute((64,), lambda i: P[i] + Q[i], name="E")
    s = create_schedule(E.op)
    with refused(
        ScheduleError,
        """
        compute_inline: 'PQ' has 2 outputs and cannot be inlined
          --> test_refuse_place.py:LINE
           |     s[P].compute_inline()
           |     ^
          legal: use compute_at
    """,
    ):
        s[P].compute_inline()


def test_compute_inline_of_a_split_stage(chain, refused):
    chain.s[chain.B].split(chain.B.op.axis[0], factor=4)
    with refused(
        ScheduleError,
        """
        compute_inline: 'B' is already scheduled and cannot be inlined
          --> test_refuse_place.py:LINE
           |     chain.s[chain.B].compute_inline()
           |     ^
          legal: inline it first, and schedule the stages that read it
    """,
    ):
        chain.s[chain.B].compute_inline()


def test_compute_inline_of_a_reordered_stage(chain, refused):
    i, j = chain.B.op.axis
    chain.s[chain.B].reorder(j, i)
    with refused(
        ScheduleError,
        """
        compute_inline: 'B' is already scheduled and cannot be inlined
          --> test_refuse_place.py:LINE
           |     chain.s[chain.B].compute_inline()
           |     ^
          legal: inline it first, and schedule the stages that read it
    """,
    ):
        chain.s[chain.B].compute_inline()


def test_compute_inline_of_a_stage_with_scope(chain, refused):
    chain.s[chain.B].set_scope("local")
    with refused(
        ScheduleError,
        """
        compute_inline: 'B' is already scheduled and cannot be inlined
          --> test_refuse_place.py:LINE
           |     chain.s[chain.B].compute_inline()
           |     ^
          legal: inline it first, and schedule the stages that read it
    """,
    ):
        chain.s[chain.B].compute_inline()


def test_compute_inline_around_another_stage(chain, refused):
    E = te.compute((64,), lambda i: chain.D[i] + 1, name="E")
    s = create_schedule(E.op)
    s[chain.C].compute_at(s[chain.D], chain.D.op.axis[0])
    with refused(
        ScheduleError,
        """
        compute_inline: 'D' has 'C' computed in its loops and cannot be inlined
          --> test_refuse_place.py:LINE
           |     s[chain.D].compute_inline()
           |     ^
          legal: inline it first, or place them elsewhere
    """,
    ):
        s[chain.D].compute_inline()


def test_compute_root_of_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """
        compute_root: 'A' has no loops
          --> test_refuse_place.py:LINE
           |     chain.s[chain.A].compute_root()
           |     ^
          because: it is a placeholder: its values come from the caller
          legal: schedule the stages that read it
    """,
    ):
        chain.s[chain.A].compute_root()


def test_set_scope_unknown(chain, refused):
    with refused(
        ScheduleError,
        """
        set_scope: 'B' in 'texture'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.B].set_scope("texture")
           |     ^
          because: no memory is called so
          legal: global, shared, shared.dyn, warp, local, wmma.matrix_a, wmma.matrix_b, wmma.accumulator
    """,
    ):
        chain.s[chain.B].set_scope("texture")


def test_set_scope_of_an_output(chain, refused):
    with refused(
        ScheduleError,
        """
        set_scope: 'D' in 'shared'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.D].set_scope("shared")
           |     ^
          because: it is an output, which the caller keeps in global memory
          legal: global
    """,
    ):
        chain.s[chain.D].set_scope("shared")


def test_set_scope_of_a_placeholder(chain, refused):
    with refused(
        ScheduleError,
        """
        set_scope: 'A' has no loops
          --> test_refuse_place.py:LINE
           |     chain.s[chain.A].set_scope("shared")
           |     ^
          because: it is a placeholder: its values come from the caller
          legal: schedule the stages that read it
    """,
    ):
        chain.s[chain.A].set_scope("shared")


def test_set_scope_of_an_inlined_stage(chain, refused):
    chain.s[chain.B].compute_inline()
    with refused(
        ScheduleError,
        """
        set_scope: 'B' has no loops
          --> test_refuse_place.py:LINE
           |     chain.s[chain.B].set_scope("local")
           |     ^
          because: it is inlined into the stages that read it
          legal: s[B].compute_root() first
    """,
    ):
        chain.s[chain.B].set_scope("local")


def test_store_predicate_that_is_a_number(chain, refused):
    with refused(
        UserTypeError,
        """
        set_store_predicate: i + 1 on 'D'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.D].set_store_predicate(chain.D.op.axis[0] + 1)
           |     ^
          because: it is int32, not a condition
          legal: a comparison, such as axis == 0
    """,
    ):
        chain.s[chain.D].set_store_predicate(chain.D.op.axis[0] + 1)


def test_store_predicate_that_reads_a_tensor(chain, refused):
    with refused(
        ScheduleError,
        """
        set_store_predicate: A[i32(0), i32(0)] < 1.0 on 'D'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.D].set_store_predicate(chain.A[0, 0] < 1)
           |     ^
          because: it reads 'A', and what a schedule says holds for all data
          legal: arithmetic over sizes, thread axes and axes of 'D'
    """,
    ):
        chain.s[chain.D].set_store_predicate(chain.A[0, 0] < 1)


def test_store_predicate_on_an_inlined_stage(chain, refused):
    chain.s[chain.B].compute_inline()
    with refused(
        ScheduleError,
        """
        set_store_predicate: 'B' has no loops
          --> test_refuse_place.py:LINE
           |     chain.s[chain.B].set_store_predicate(chain.B.op.axis[0] < 1)
           |     ^
          because: it is inlined into the stages that read it
          legal: s[B].compute_root() first
    """,
    ):
        chain.s[chain.B].set_store_predicate(chain.B.op.axis[0] < 1)


def test_store_predicate_over_axes_of_another_stage(chain, refused):
    with refused(
        ScheduleError,
        """
        set_store_predicate: j < 3 on 'D'
          --> test_refuse_place.py:LINE
           |     chain.s[chain.D].set_store_predicate(chain.B.op.axis[1] < 3)
           |     ^
          because: 'j' is an axis of 'B'
          legal: arithmetic over sizes, thread axes and axes of 'D'
    """,
    ):
        chain.s[chain.D].set_store_predicate(chain.B.op.axis[1] < 3)
