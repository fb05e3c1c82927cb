"""Store predicates over thread axes that other stages' loops are bound to."""

from __future__ import annotations

import numpy as np
import pytest

import tecomp
from tecomp import te
from tecomp.errors import ScheduleError
from tests.cases.places import ON_CUDA, Program

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


@pytest.mark.parametrize("where", ["interpreter", *ON_CUDA])
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


def halved(scope="global"):
    A = te.placeholder((16,), name="A")
    B = te.compute((16,), lambda i: A[i] + 1, name="B")
    C = te.compute((16,), lambda i: B[i] * 2, name="C")
    s = te.create_schedule(C.op)
    s[B].set_scope(scope)
    return s, A, B, C


def test_elements_that_are_read_are_stored(refused):
    s, A, B, C = halved()
    s[B].set_store_predicate(B.op.axis[0] < 8)
    with refused(
        ScheduleError,
        """
        set_store_predicate: i < 8 on 'B'
          --> test_predicate.py:LINE
           |     s[B].set_store_predicate(B.op.axis[0] < 8)
           |     ^
          because: 'C' reads elements that are stored nowhere, in memory that held nothing before
          legal: a condition on threads that compute the same elements; te.if_then_else in the formula
    """,
    ):
        tecomp.lower(s, [A, C])


def test_elements_that_are_read_are_stored_somewhere(refused):
    s, A, B, C = halved()
    s[B].set_store_predicate(False)
    with refused(
        ScheduleError,
        """
        set_store_predicate: False on 'B'
          --> test_predicate.py:LINE
           |     s[B].set_store_predicate(False)
           |     ^
          because: 'C' reads elements that are stored nowhere, in memory that held nothing before
          legal: a condition on threads that compute the same elements; te.if_then_else in the formula
    """,
    ):
        tecomp.lower(s, [A, C])


def test_a_result_that_is_read_keeps_what_it_was():
    s, A, B, C = halved()
    s[B].set_store_predicate(B.op.axis[0] < 8)
    b, c = np.full(16, 5, "float32"), np.zeros(16, "float32")
    tecomp.build(s, [A, B, C])(np.ones(16, "float32"), b, c)
    np.testing.assert_array_equal(c, [4] * 8 + [10] * 8)


@pytest.mark.parametrize("scope", ["shared", "local"])
def test_one_thread_stores_what_all_read(scope):
    """Each of 4 threads computes the same 16 elements: shared memory holds what one stores, its own does not."""
    s, A, B, C = halved(scope)
    tx = te.thread_axis("threadIdx.x")
    outer, _ = s[C].split(C.op.axis[0], nparts=4)
    s[C].bind(outer, tx)
    s[B].compute_at(s[C], outer)
    s[B].set_store_predicate(tx.var.equal(2))
    if scope == "local":
        with pytest.raises(ScheduleError, match="stored nowhere"):
            tecomp.lower(s, [A, C], target="cuda")
        return
    a, c = np.arange(16, dtype="float32"), np.zeros(16, "float32")
    tecomp.ir.interpret(tecomp.lower(s, [A, C], target="cuda"), a, c)
    np.testing.assert_array_equal(c, a * 2 + 2)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("m", [0, 1, 5])
def test_the_first_thread_that_reduces_stores_a_result_of_nothing_too(m, symbolic):
    A = te.placeholder((4, te.var("m") if symbolic else m), name="A")
    k, tx = te.reduce_axis((0, A.shape[1]), name="k"), te.thread_axis("threadIdx.x")
    B = te.compute((4,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(k, tx)
    s[B].set_store_predicate(tx == 0)
    for target in (None, "cuda"):
        b = np.full(4, 77, "float32")
        tecomp.ir.interpret(tecomp.lower(s, [A, B], target=target), np.ones((4, m), "float32"), b)
        np.testing.assert_array_equal(b, [m] * 4)
