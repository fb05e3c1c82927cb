"""What create_schedule and s[...] refuse, word for word."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import ScheduleError, UserError, UserTypeError
from tecomp.schedule import create_schedule


def test_schedule_of_a_tensor(chain, refused):
    with refused(
        UserTypeError,
        """
        te.create_schedule of tensor 'D'
          --> test_refuse_schedule.py:LINE
           |     create_schedule(chain.D)
           |     ^
          because: a schedule is made for operations: one may compute several tensors
          legal: te.create_schedule(D.op)
    """,
    ):
        create_schedule(chain.D)


def test_schedule_of_nothing(refused):
    with refused(
        UserError,
        """
        te.create_schedule of no operation
          --> test_refuse_schedule.py:LINE
           |     create_schedule([])
           |     ^
          because: nothing would be computed
          legal: te.create_schedule(T.op)
    """,
    ):
        create_schedule([])


def test_schedule_of_a_number(refused):
    with refused(
        UserTypeError,
        """
        te.create_schedule of 3
          --> test_refuse_schedule.py:LINE
           |     create_schedule([3])
           |     ^
          because: it is of type int
          legal: T.op, or a list of operations
    """,
    ):
        create_schedule([3])


def test_schedule_of_a_placeholder(chain, refused):
    with refused(
        UserError,
        """
        te.create_schedule of placeholder 'A'
          --> test_refuse_schedule.py:LINE
           |     create_schedule(chain.A.op)
           |     ^
          because: nothing computes it
          legal: an operation that reads it
    """,
    ):
        create_schedule(chain.A.op)


def test_stage_of_a_foreign_tensor(chain, refused):
    E = te.compute((64,), lambda i: chain.D[i] + 1, name="E")
    with refused(
        ScheduleError,
        """
        'E' has no stage in this schedule
          --> test_refuse_schedule.py:LINE
           |     chain.s[E]
           |     ^
          because: no output reads it; the outputs are D
          legal: one of A, B, C, D
    """,
    ):
        chain.s[E]


def test_stage_of_a_name(chain, refused):
    with refused(
        UserTypeError,
        """
        s['D']
          --> test_refuse_schedule.py:LINE
           |     chain.s["D"]
           |     ^
          because: it is of type str
          legal: a tensor or an operation of this schedule
    """,
    ):
        chain.s["D"]


def test_stage_of_a_foreign_tensor_among_many(refused):
    T = te.placeholder((4,), name="T0")
    for number in range(1, 20):
        T = te.compute((4,), lambda i, T=T: T[i] + 1, name=f"T{number}")
    s = create_schedule(T.op)
    E = te.placeholder((4,), name="E")
    with refused(
        ScheduleError,
        """
        'E' has no stage in this schedule
          --> test_refuse_schedule.py:LINE
           |     s[E]
           |     ^
          because: no output reads it; the outputs are T19
          legal: one of ..., T8, T9, T10, T11, T12, T13, T14, T15, T16, T17, T18, T19
    """,
    ):
        s[E]
