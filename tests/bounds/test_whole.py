"""Splits without a guard: what they require, and where they are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError, UserTypeError
from tecomp.ir import interpret
from tecomp.ir.text import text
from tecomp_runtime import ArgumentError
from tests.goldens import Golden

n, m = te.var("n"), te.var("m")


def summed(rows: Any, columns: Any):
    A = te.placeholder((rows, columns), name="A")
    k = te.reduce_axis((0, columns), name="k")
    C = te.compute((rows,), lambda i: te.sum(A[i, k], axis=k), name="C")
    return te.create_schedule(C.op), A, C, k


def test_what_sizes_decide_is_required(golden: Golden) -> None:
    s, A, C, k = summed(n, m)
    outer, _ = s[C].split(C.op.axis[0], 16, disable_predication=True)
    s[C].split(outer, nparts=2, disable_predication=True)
    s[C].split(k, factor=n, disable_predication=True)
    golden(text(tecomp.lower(s, [A, C])))


def test_calls_that_do_not_fulfil_it_are_refused() -> None:
    s, A, C, k = summed(n, m)
    s[C].vectorize(s[C].split(C.op.axis[0], 16, disable_predication=True)[1])
    s[C].split(k, nparts=4, disable_predication=True)
    module, func = tecomp.build(s, [A, C]), tecomp.lower(s, [A, C])
    for rows, columns in [(0, 0), (16, 4), (32, 12)]:
        a = np.random.default_rng(0).integers(0, 9, (rows, columns)).astype("float32")
        for run in (module, lambda *arrays: interpret(func, *arrays)):
            c = np.full(rows, -1, "float32")
            run(a, c)
            np.testing.assert_array_equal(c, a.sum(1))
    for rows, columns, said in [
        (17, 4, "main: (n % 16) == 0 does not hold: n is 17\n  because: the split of 'i' of 'C' has no guard"),
        (16, 5, "main: (m % 4) == 0 does not hold: m is 5\n  because: the split of 'k' of 'C' has no guard"),
    ]:
        with pytest.raises(ArgumentError) as caught:
            module(np.zeros((rows, columns), "float32"), np.zeros(rows, "float32"))
        assert str(caught.value) == f"{said}\n  legal: main(A: float32[n, m], C: float32[n])"


@pytest.mark.parametrize(("extent", "factor"), [(64, 16), (64, 64), (40, 64), (0, 16)])
def test_what_divides_requires_nothing(extent: int, factor: int) -> None:
    s, A, C, _ = summed(extent, 4)
    s[C].split(C.op.axis[0], factor, disable_predication=True)
    func = tecomp.lower(s, [A, C])
    assert func.requires == ()
    assert "if" not in text(func)


def test_what_does_not_divide_is_refused(refused) -> None:
    s, _, C, _ = summed(40, 4)
    with refused(
        ScheduleError,
        """
        split: 'i' of 'C' without predication
          --> test_whole.py:LINE
           |     s[C].split(C.op.axis[0], 16, disable_predication=True)
           |     ^
          because: 16 does not divide its extent 40
          legal: a length that divides the extent, or the split with its guard
        """,
    ):
        s[C].split(C.op.axis[0], 16, disable_predication=True)


def test_threads_that_would_run_past_the_end_are_refused(refused) -> None:
    """A loop of 40 split by 64 is one piece of 40, until 64 threads are to run it."""
    s, A, C, _ = summed(40, 4)
    _, inner = s[C].split(C.op.axis[0], 64, disable_predication=True)
    s[C].bind(inner, te.thread_axis("threadIdx.x"))
    with refused(
        ScheduleError,
        """
        split: 'i' of 'C' without predication
          --> test_whole.py:LINE
           |     _, inner = s[C].split(C.op.axis[0], 64, disable_predication=True)
           |     ^
          because: 64 does not divide its extent 40
          legal: a length that divides the extent, or the split with its guard
        """,
    ):
        tecomp.lower(s, [A, C])


def test_extents_that_differ_from_iteration_to_iteration_are_refused(refused) -> None:
    A = te.placeholder((n, n), name="A")
    i_of = te.reduce_axis
    L = te.compute((n,), lambda i: te.sum(A[i, k := i_of((0, i + 1), name="k")], axis=k), name="L")
    s = te.create_schedule(L.op)
    s[L].split(L.op.reduce_axis[0], 4, disable_predication=True)
    with refused(
        ScheduleError,
        """
        split: 'k' of 'L' without predication
          --> test_whole.py:LINE
           |     s[L].split(L.op.reduce_axis[0], 4, disable_predication=True)
           |     ^
          because: how long the loop is differs from iteration to iteration, so no call can check it
          legal: a length that divides the extent, or the split with its guard
        """,
    ):
        tecomp.lower(s, [A, L])


def test_no_bool(refused) -> None:
    s, _, C, _ = summed(40, 4)
    with refused(
        UserTypeError,
        """
        split: disable_predication=1
          --> test_whole.py:LINE
           |     s[C].split(C.op.axis[0], 8, disable_predication=1)
           |     ^
          because: it is of type int
          legal: True or False
        """,
    ):
        s[C].split(C.op.axis[0], 8, disable_predication=1)


def test_a_cache_after_a_whole_split_keeps_its_guards() -> None:
    """The new tensor has the loops as dimensions, and nothing would require the sizes any more."""
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i] + 1, name="C")
    s = te.create_schedule(C.op)
    s[C].split(C.op.axis[0], 4, disable_predication=True)
    s.cache_write(C, "global")
    module = tecomp.build(s, [A, C])
    for size in (0, 3, 4, 5):
        a, c = np.arange(size, dtype="float32"), np.zeros(size, "float32")
        module(a, c)
        np.testing.assert_array_equal(c, a + 1)
