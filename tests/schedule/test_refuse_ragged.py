"""Loops whose length another loop decides, word for word."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tecomp import te
from tecomp.errors import ScheduleError
from tecomp.schedule import create_schedule


@pytest.fixture
def triangle() -> SimpleNamespace:
    """C[i] = sum of A[i, k, l] over k up to i and l up to k, and a schedule s of C."""
    A = te.placeholder((9, 9, 9), name="A")

    def row(i):
        k = te.reduce_axis((0, i + 1), "k")
        l = te.reduce_axis((0, k + 1), "l")
        return te.sum(A[i, k, l], axis=[k, l])

    C = te.compute((9,), row, name="C")
    return SimpleNamespace(C=C, s=create_schedule(C.op), i=C.op.axis[0], k=C.op.reduce_axis[0], l=C.op.reduce_axis[1])


def test_reorder_of_a_loop_and_what_decides_its_length(triangle, refused):
    with refused(
        ScheduleError,
        """
        reorder: 'k' of 'C' outside 'i'
          --> test_refuse_ragged.py:LINE
           |     triangle.s[triangle.C].reorder(triangle.k, triangle.i)
           |     ^
          because: 'k' has the extent i + 1, which depends on 'i'
          legal: the loops of 'i' outside those of 'k'
    """,
    ):
        triangle.s[triangle.C].reorder(triangle.k, triangle.i)


def test_reorder_of_their_parts(triangle, refused):
    stage = triangle.s[triangle.C]
    _, ki = stage.split(triangle.k, 2)
    lo, li = stage.split(triangle.l, 2)
    stage.reorder(li, lo)
    with refused(
        ScheduleError,
        """
        reorder: 'l.inner' of 'C' outside 'k.inner'
          --> test_refuse_ragged.py:LINE
           |     stage.reorder(li, ki)
           |     ^
          because: 'l' has the extent k + 1, which depends on 'k'
          legal: the loops of 'k' outside those of 'l'
    """,
    ):
        stage.reorder(li, ki)
    assert stage.leaf_iter_vars[-2:] == (li, lo)
