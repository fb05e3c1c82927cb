"""What loops turn out to run over, once it is known where each stage is computed."""

from __future__ import annotations

from typing import Any

import pytest

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError


def in_a_block(declared: Any) -> tuple[Any, list[Any]]:
    """B is computed for 32 elements of C at a time, by threads of an axis that was declared to be so long."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1, name="B")
    C = te.compute((n,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    block, thread = s[C].split(C.op.axis[0], factor=32)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    s[B].compute_at(s[C], block)
    s[B].bind(B.op.axis[0], te.thread_axis((0, declared), "threadIdx.x"))
    return s, [A, C]


def test_a_thread_axis_of_the_extent_that_its_loop_gets() -> None:
    schedule, args = in_a_block(32)
    assert "threadIdx_x=32" in repr(tecomp.lower(schedule, args, target="cuda -arch=sm_80"))


@pytest.mark.parametrize(("declared", "shown"), [(16, "16"), (te.var("k"), "k")])
def test_a_thread_axis_of_another_extent_than_its_loop_gets(declared: Any, shown: str) -> None:
    schedule, args = in_a_block(declared)
    with pytest.raises(ScheduleError) as caught:
        tecomp.lower(schedule, args, target="cuda -arch=sm_80")
    said = [line for line in str(caught.value).splitlines() if not line.startswith(("  -->", "   |"))]
    assert said == [
        f"threadIdx.x of 'B' was declared with the extent {shown}",
        "  because: where 'B' is computed, its loop 'i' has the extent 32",
        '  legal: te.thread_axis("threadIdx.x"), which has the extent of its loop',
    ]
