"""Double buffering: filled an iteration ahead with all that only that needs; refused where that has not its values."""

from __future__ import annotations

import pytest

from tecomp.errors import ScheduleError
from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import barrier, double_buffer, launch, simplify
from tests.goldens import Golden
from tests.passes.programs import GPU, same_results, through


def buffered(source: str) -> tuple[Func, Func]:
    before = parse(source)
    return before, double_buffer.run(before, GPU)


def test_the_next_iteration_is_filled_first(golden: Golden) -> None:
    before, after = buffered("""
def f(A: f32[n, 4], C: out[f32[n]]):
    for k in range(n):
        S = alloc(f32[4], copies=2)
        for i in range(4):
            S[i] = A[k, i] * 2.0
        C[k] = S[0]
        for i in range(4):
            C[k] = C[k] + S[i]
""")
    golden(text(after))
    for n in (0, 1, 2, 3, 5):
        same_results(before, after, n=n)


def test_an_unrolled_loop_that_begins_elsewhere(golden: Golden) -> None:
    before, after = buffered("""
def f(A: f32[8], C: out[f32[8]]):
    C[0] = 0.0
    C[1] = 0.0
    for k in unrolled(2, 8):
        S = alloc(f32[2], 'local', strides=[3], copies=2)
        S[0] = A[k]
        S[1] = A[k] + 1.0
        C[k] = S[0] * S[1]
""")
    golden(text(after))
    same_results(before, after)


def test_what_only_that_needs_goes_ahead_too(golden: Golden) -> None:
    """T is made of S, which has copies too; both of X, which has not; what is between reads the present T."""
    before, after = buffered("""
def f(A: f32[n], C: out[f32[n]]):
    for k in range(n):
        X = alloc(f32[1])
        Y = alloc(f32[1])
        S = alloc(f32[1], copies=2)
        T = alloc(f32[1], copies=2)
        X[0] = A[k] + 1.0
        S[0] = X[0] * 2.0
        Y[0] = S[0] + 3.0
        T[0] = S[0] + X[0]
        C[k] = T[0] * Y[0]
""")
    golden(text(after))
    for n in (0, 1, 4):
        same_results(before, after, n=n)


def test_addresses_are_those_of_a_copy(golden: Golden) -> None:
    _, after = buffered("""
def f(A: f32[n], C: out[f32[n]]):
    for k in range(n):
        S = alloc(f32[2, 4], copies=2)
        call_extern[i32]('fill', address(S, 'w'))
        call_llvm_intrin[i32]('llvm.some', address(S[1, 2], 'rw', 1))
        C[k] = S[1, 3] + A[k]
""")
    golden(text(after))


def test_outside_of_loops_one_copy_is_enough() -> None:
    before, after = buffered("""
def f(A: f32[1], C: out[f32[1]]):
    S = alloc(f32[1], copies=2)
    S[0] = A[0]
    C[0] = S[0]
""")
    assert text(after) == text(before).replace(", copies=2", "")


def test_one_barrier_an_iteration(golden: Golden) -> None:
    source = """
def f(A: f32[n, 64], B: f32[n, 64], C: out[f32[64]]):
    for tx in thread('threadIdx.x', 64):
        acc: f32
        acc = 0.0
        for k in range(n):
            S = alloc(f32[64], 'shared'{copies})
            T = alloc(f32[64], 'shared'{copies})
            for t in thread('threadIdx.x', 64):
                S[t] = A[k, t]
            for t in thread('threadIdx.x', 64):
                T[t] = B[k, t]
            acc = acc + S[63 - tx] * T[tx // 2]
        C[tx] = acc
"""
    before, after = buffered(source.format(copies=", copies=2"))
    single = parse(source.format(copies=""))
    after, single = (through(one, simplify, launch, simplify, barrier) for one in (after, single))
    golden(text(after))
    assert (text(single).count("barrier_block()"), text(after).count("barrier_block()")) == (2, 1)
    for n in (0, 1, 2, 3):
        same_results(before, after, n=n)


def test_a_loop_of_two_iterations_waits_once_in_each() -> None:
    """Only what the guard says of k tells that the copy that is filled is not the one that is read."""
    _, after = buffered("""
def f(A: f32[2, 64], C: out[f32[64]]):
    for tx in thread('threadIdx.x', 64):
        acc: f32
        acc = 0.0
        for k in range(2):
            S = alloc(f32[64], 'shared', copies=2)
            for t in thread('threadIdx.x', 64):
                S[t] = A[k, t]
            acc = acc + S[63 - tx]
        C[tx] = acc
""")
    after = through(after, simplify, launch, simplify, barrier)
    assert "if k < 1:" in text(after)
    assert text(after).count("barrier_block()") == 1


REFUSED = {
    "made of what the loop writes": (
        """
def f(A: f32[n], C: out[f32[n + 1]]):
    C[0] = A[0]
    for k in range(n):
        S = alloc(f32[1], copies=2)
        S[0] = C[k] + A[k]
        C[k + 1] = S[0]
""",
        "it is made of 'C', which that loop writes, too late for the next iteration",
        "no double_buffer, or 'C' computed outside of the loop",
    ),
    "made of what others need now": (
        """
def f(A: f32[n], C: out[f32[n]]):
    for k in range(n):
        T = alloc(f32[1])
        S = alloc(f32[1], copies=2)
        T[0] = A[k]
        S[0] = T[0] + 1.0
        C[k] = S[0] + T[0]
""",
        "it is made of 'T', of which that loop needs the present iteration's values too",
        "s[T].double_buffer() too",
    ),
    "filled with what others need now": (
        """
def f(A: f32[n], C: out[f32[n]]):
    for k in range(n):
        T = alloc(f32[1])
        S = alloc(f32[1], copies=2)
        for i in range(1):
            T[i] = A[k]
            S[i] = A[k] + 1.0
        C[k] = S[0] + T[0]
""",
        "it is filled with 'T', of which that loop needs the present iteration's values too",
        "s[T].double_buffer() too",
    ),
    "filled with memory around the loop": (
        """
def f(A: f32[n], C: out[f32[n]]):
    T = alloc(f32[1])
    for k in range(n):
        S = alloc(f32[1], copies=2)
        for i in range(1):
            T[i] = A[k]
            S[i] = A[k] + 1.0
        C[k] = S[0] + T[0]
""",
        "it is filled with 'T', of which that loop needs the present iteration's values too",
        "s[T].double_buffer() too",
    ),
    "calls in another order": (
        """
def f(A: f32[n], C: out[f32[n]]):
    for k in range(n):
        S = alloc(f32[4], copies=2)
        S[0] = A[k]
        call_extern[i32]('log_it', address(S, 'rw'))
        call_extern[i32]('log_it', address(S, 'r'))
        C[k] = S[0]
""",
        "functions that may do anything are called to fill and to use it, and their order would change",
        "no double_buffer, or call_pure_extern",
    ),
    "as much as the iteration is far": (
        """
def f(A: f32[n], C: out[f32[n]]):
    for k in range(n):
        S = alloc(f32[k + 1], copies=2)
        for i in range(k + 1):
            S[i] = A[i]
        C[k] = S[k]
""",
        "how much of it is computed differs from iteration to iteration",
        "a constant extent",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    source, because, legal = REFUSED[case]
    with pytest.raises(ScheduleError) as caught:
        buffered(source)
    said = [line for line in str(caught.value).splitlines() if not line.startswith(("  -->", "   |"))]
    assert said == ["double_buffer of 'S' in the loop 'k'", f"  because: {because}", f"  legal: {legal}"]
