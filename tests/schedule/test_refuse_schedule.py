"""What create_schedule and s[...] refuse, word for word."""

from __future__ import annotations

from tecomp import te
from tecomp.errors import ScheduleError, UserError, UserTypeError
from tecomp.schedule import create_schedule


def test_schedule_of_a_tensor(chain, refused):
    with refused(
        UserTypeError,
        """@@""",
    ):
        create_schedule(chain.D)


def test_schedule_of_nothing(refused):
    with refused(
        UserError,
        """@@""",
    ):
        create_schedule([])


def test_schedule_of_a_number(refused):
    with refused(
        UserTypeError,
        """@@""",
    ):
        create_schedule([3])


def test_schedule_of_a_placeholder(chain, refused):
    with refused(
        UserError,
        """@@""",
    ):
        create_schedule(chain.A.op)


def test_stage_of_a_foreign_tensor(chain, refused):
    E = te.compute((64,), lambda i: chain.D[i] + 1, name="E")
    with refused(
        ScheduleError,
        """@@""",
    ):
        chain.s[E]


def test_stage_of_a_name(chain, refused):
    with refused(
        UserTypeError,
        """@@""",
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
        """@@""",
    ):
        s[E]
