"""Which arguments a program may have, and what is said of the others, word for word."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import UserError, UserTypeError
from tecomp.lowering.func import lower_schedule


@pytest.fixture
def scaled() -> SimpleNamespace:
    """B = A * a, C = B + 1, of n elements; the schedule s of C."""
    n, a = te.var("n"), te.var("a", "float32")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * a, name="B")
    C = te.compute((n,), lambda i: B[i] + 1, name="C")
    return SimpleNamespace(A=A, B=B, C=C, a=a, n=n, s=te.create_schedule(C.op))


def test_sizes_need_not_be_arguments_but_may_be(scaled):
    given = [scaled.n, scaled.C, scaled.a, scaled.B, scaled.A]
    func = lower_schedule(scaled.s, given, "f")
    assert [param.name for param in func.params] == ["n", "C", "a", "B", "A"]
    assert [output.name for output in func.outputs] == ["C", "B"]
    assert func.sizes() == ()
    assert [size.name for size in lower_schedule(scaled.s, [scaled.A, scaled.a, scaled.C], "f").sizes()] == ["n"]


def test_an_input_that_nothing_reads_may_be_an_argument(scaled):
    unused = te.placeholder((4,), name="unused")
    func = lower_schedule(scaled.s, [scaled.A, unused, scaled.a, scaled.C], "f")
    assert [param.name for param in func.params] == ["A", "unused", "a", "C"]


def test_a_number(scaled, refused):
    with refused(
        UserTypeError,
        """
        argument 2 is of type int
          --> test_arguments.py:LINE
           |     lower_schedule(scaled.s, [scaled.A, scaled.C, 3], "f")
           |     ^
          because: a program's arguments are arrays and scalars
          legal: a tensor (of placeholder, compute, scan) or a te.var
    """,
    ):
        lower_schedule(scaled.s, [scaled.A, scaled.C, 3], "f")


def test_one_tensor_twice(scaled, refused):
    with refused(
        UserError,
        """
        argument 3, 'C', is given twice
          --> test_arguments.py:LINE
           |     lower_schedule(scaled.s, [scaled.A, scaled.C, scaled.a, scaled.C], "f")
           |     ^
          because: it is argument 1 already
          legal: each tensor once: a call takes one array for it
    """,
    ):
        lower_schedule(scaled.s, [scaled.A, scaled.C, scaled.a, scaled.C], "f")


def test_a_tensor_of_another_program(scaled, refused):
    D = te.compute((4,), lambda i: i, name="D")
    with refused(
        UserError,
        """
        argument 2, 'D', is no tensor of this schedule
          --> test_arguments.py:LINE
           |     lower_schedule(scaled.s, [scaled.A, scaled.C, D], "f")
           |     ^
          because: no output reads it
          legal: what the outputs read, and the outputs: C
    """,
    ):
        lower_schedule(scaled.s, [scaled.A, scaled.C, D], "f")


def test_an_inlined_stage(scaled, refused):
    scaled.s[scaled.B].compute_inline()
    with refused(
        UserError,
        """
        'B' is an argument
          --> test_arguments.py:LINE
           |     lower_schedule(scaled.s, [scaled.A, scaled.a, scaled.B, scaled.C], "f")
           |     ^
          because: it is inlined, so it is never stored
          legal: compute_root() in place of compute_inline(), or leave it out of the arguments
    """,
    ):
        lower_schedule(scaled.s, [scaled.A, scaled.a, scaled.B, scaled.C], "f")


def test_an_input_left_out(scaled, refused):
    with refused(
        UserError,
        """
        the placeholder 'A' is no argument
          --> test_arguments.py:LINE
           |     lower_schedule(scaled.s, [scaled.a, scaled.C], "f")
           |     ^
          because: 'B' reads it
          legal: add 'A' to the arguments
    """,
    ):
        lower_schedule(scaled.s, [scaled.a, scaled.C], "f")


def test_an_output_left_out(scaled, refused):
    with refused(
        UserError,
        """
        the output 'C' is no argument
          --> test_arguments.py:LINE
           |     lower_schedule(scaled.s, [scaled.A, scaled.a, scaled.B], "f")
           |     ^
          because: its result would be lost
          legal: add 'C' to the arguments
    """,
    ):
        lower_schedule(scaled.s, [scaled.A, scaled.a, scaled.B], "f")


def test_a_scalar_left_out(scaled, refused):
    with refused(
        UserError,
        """
        'B' uses the variable 'a'
          --> test_arguments.py:LINE
           |     B = te.compute((n,), lambda i: A[i] * a, name="B")
           |     ^
          because: it is neither an argument nor in the shape of one
          legal: add 'a' to the arguments
    """,
    ):
        lower_schedule(scaled.s, [scaled.A, scaled.C], "f")


def test_an_output_that_another_reads_may_be_a_temporary() -> None:
    A = te.placeholder((20,), name="A")
    B = te.compute((20,), lambda i: A[i] + 1, name="B")
    C = te.compute((20,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule([B.op, C.op])
    assert "B = alloc(f32[20]" in str(tecomp.lower(s, [A, C]))
    got = np.zeros(20, "float32")
    tecomp.build(s, [A, C])(np.arange(20, dtype="float32"), got)
    np.testing.assert_array_equal(got, (np.arange(20) + 1) * 2)
