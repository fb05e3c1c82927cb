"""Store predicates over thread axes that other stages' loops are bound to."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError
from tests.cases.places import Program

DATA = np.random.default_rng(0)


def joined_then_stored(n, m, threads, dom=None):
    """B[i] = sum of A[i] + 1, where the sum is joined by threads that no loop of B is bound to."""
    A = te.placeholder((n, m), name="A")
    k = te.reduce_axis((0, m), name="k")
    S = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="S")
    B = te.compute((n,), lambda i: S[i] + 1, name="B")
    s = te.create_schedule(B.op)
    thread = te.thread_axis(dom, "threadIdx.x")
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[S].compute_at(s[B], B.op.axis[0])
    s[S].bind(s[S].split(k, nparts=threads)[0] if threads else k, thread)
    return s, A, B, thread.var


@pytest.mark.parametrize("where", ["interpreter", "device", "nvrtc", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("dom", [None, (0, 8)])
@pytest.mark.parametrize("last", [False, True])
def test_one_of_the_threads_of_a_producer_stores(where, dom, last):
    n, m = te.var("n"), te.var("m")
    s, A, B, thread = joined_then_stored(n, m, 8, dom)
    s[B].set_store_predicate(thread == (7 if last else 0))
    program = Program(where, s, [A, B])
    for rows, columns in ((0, 3), (1, 1), (3, 7), (2, 8), (2, 19)):
        a = DATA.integers(-9, 9, (rows, columns)).astype("float32")
        program({A: a}, {B: a.sum(1) + np.float32(1)})


def test_none_of_them_stores():
    s, A, B, thread = joined_then_stored(3, 16, 8)
    s[B].set_store_predicate(thread > 7)
    program = tecomp.lower(s, [A, B], target="cuda")
    b = np.full(3, 5, "float32")
    tecomp.ir.interpret(program, np.ones((3, 16), "float32"), b)
    np.testing.assert_array_equal(b, 5)


def test_the_program(golden):
    s, A, B, thread = joined_then_stored(4, 32, 8)
    s[B].set_store_predicate(thread == 0)
    golden(repr(tecomp.lower(s, [A, B])))


def test_as_many_threads_as_a_call_says(refused):
    m = te.var("m")
    s, A, B, thread = joined_then_stored(4, m, 0)
    s[B].set_store_predicate(thread == 0)
    with refused(
        ScheduleError,
        """
        set_store_predicate: threadIdx.x on 'B'
          --> test_predicate.py:LINE
           |     s[B].set_store_predicate(thread == 0)
           |     ^
          because: no loop of 'B' is bound to it, and how many 'k' of 'S' is differs
          legal: te.thread_axis((0, 32), "threadIdx.x"), which says how many there are
    """,
    ):
        tecomp.lower(s, [A, B])


@pytest.mark.parametrize(("make", "name"), [(te.var, "q"), (te.thread_axis, "threadIdx.y")])
def test_what_nothing_gives(refused, make, name):
    s, A, B, _ = joined_then_stored(4, 32, 8)
    s[B].set_store_predicate(make(name) == 0)
    with refused(
        ScheduleError,
        f"""
        set_store_predicate: '{name}' on 'B'
          --> test_predicate.py:LINE
           |     s[B].set_store_predicate(make(name) == 0)
           |     ^
          because: no loop is bound to it, and no argument gives it
          legal: an axis of 'B', a thread axis that a loop is bound to, a size of an argument
    """,
    ):
        tecomp.lower(s, [A, B])


def test_a_size_may_be_asked_for():
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    s[B].set_store_predicate(B.op.axis[0] * 2 < n)
    b = np.zeros(7, "float32")
    tecomp.build(s, [A, B])(np.ones(7, "float32"), b)
    np.testing.assert_array_equal(b, [2, 2, 2, 2, 0, 0, 0])
