"""Reduce axes whose ends depend on other axes or on data."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tecomp import te
from tecomp.errors import ScheduleError, UnsupportedError
from tecomp.te import Tensor
from tests.bounds.describe import described


def rows(kind: str) -> tuple[list[Tensor], Tensor]:
    """C[i] = sum of A[i, k, l] over k and l, whose ends depend on i, on each other, on L; and its arguments."""
    A, L = te.placeholder((8, 9, 9), name="A"), te.placeholder((8,), "int32", name="L")
    B = te.compute((8,), lambda i: L[i] + 1, name="B")

    def row(i):
        last = {"axis": i + 1, "data": L[i], "stage": B[i]}[kind]
        k = te.reduce_axis((0, last), "k")
        l = te.reduce_axis((0, k + 1), "l")
        return te.sum(A[i, k, l], axis=[k, l])

    C = te.compute((8,), row, name="C")
    return ([A, C] if kind == "axis" else [A, L, C]), C


@pytest.mark.parametrize(
    ("kind", "last", "held"),
    [("axis", "i + 1", ""), ("data", "index(L[i])", ""), ("stage", "index(B[i])", "B: [0, +8]")],
)
def test_each_is_settled_after_those_it_depends_on(kind: str, last: str, held: str) -> None:
    args, C = rows(kind)
    s = te.create_schedule(C.op)
    want = f"""
        C: [0, +8]
          i = i, 8 values
          k = k, {last} values
          l = l, k + 1 values
        """
    found = described(s, args)
    assert found.startswith(dedent(want).strip())
    assert held in found


def test_what_ends_a_loop_is_inlined_there() -> None:
    args, C = rows("stage")
    s = te.create_schedule(C.op)
    s[C.op.input_tensors[0]].compute_inline()
    assert "k = k, index(L[i] + 1) values" in described(s, args)


@pytest.mark.parametrize("inner", [0, 1])
def test_what_ends_a_loop_is_computed_outside_of_it(inner: int, refused) -> None:
    args, C = rows("stage")
    B, (k, l) = C.op.input_tensors[0], C.op.reduce_axis
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    assert "B: [i, +1]" in described(s, args)
    axis = (k, l)[inner]
    with refused(
        ScheduleError,
        f"""
        compute_at: 'B' cannot be placed at loop '{axis.name}' of 'C'
          --> test_ragged.py:LINE
           |     s[B].compute_at(s[C], axis)
           |     ^
          because: how long 'k' is depends on it
          legal: a loop outside those that reduce, or root
    """,
    ):
        s[B].compute_at(s[C], axis)
        described(s, args)


def test_an_axis_fused_with_one_that_depends_on_it(refused) -> None:
    args, C = rows("axis")
    s = te.create_schedule(C.op)
    s[C].fuse(*C.op.reduce_axis)
    with refused(
        UnsupportedError,
        """
        fuse of 'k' and a reduce axis of 'C'
          --> test_ragged.py:LINE
           |     s[C].fuse(*C.op.reduce_axis)
           |     ^
          because: the extent of a reduce axis depends on other axes, which must be loops outside of it
          legal: fuse axes whose extents depend on the same axes
    """,
    ):
        described(s, args)


def test_a_part_of_an_axis_fused_with_one_that_depends_on_it(refused) -> None:
    args, C = rows("axis")
    s = te.create_schedule(C.op)
    _, inner = s[C].split(C.op.axis[0], factor=2)
    s[C].fuse(inner, C.op.reduce_axis[0])
    with refused(
        UnsupportedError,
        """
        fuse of 'i' and a reduce axis of 'C'
          --> test_ragged.py:LINE
           |     s[C].fuse(inner, C.op.reduce_axis[0])
           |     ^
          because: the extent of a reduce axis depends on other axes, which must be loops outside of it
          legal: fuse axes whose extents depend on the same axes
    """,
    ):
        described(s, args)
