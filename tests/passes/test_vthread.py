"""Virtual threads: what tells them apart is done for each in turn, the rest once; where that is not sure, all whole."""

from __future__ import annotations

import pytest

from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import vthread
from tests.goldens import Golden
from tests.passes.programs import GPU, same_results


def dealt(source: str) -> tuple[Func, Func]:
    before = parse(source)
    return before, vthread.run(before, GPU)


def test_what_they_share_is_done_once(golden: Golden) -> None:
    before, after = dealt("""
def f(A: f32[8], B: f32[2, 8], C: out[f32[2]]):
    for v in vthread(2):
        acc: f32
        acc = 0.0
        for k in range(8):
            S = alloc(f32[1], 'shared')
            S[0] = A[k] + 1.0
            acc = acc + S[0] * B[v, k]
        C[v] = acc
""")
    golden(text(after))
    same_results(before, after)


def test_two_of_them_have_copies_of_what_each_tells_apart(golden: Golden) -> None:
    before, after = dealt("""
def f(A: f32[4, 8], B: f32[4, 8], C: out[f32[4, 4]]):
    for bx in thread('blockIdx.x', 2):
        for vy in vthread(2):
            for vx in vthread(2):
                for tx in thread('threadIdx.x', 2):
                    c: f32
                    c = 0.0
                    for k in range(8):
                        a: f32
                        b: f32
                        a = A[vy * 2 + bx, k]
                        b = B[vx * 2 + tx, k]
                        c = c + a * b
                    C[vy * 2 + bx, vx * 2 + tx] = c
""")
    golden(text(after))
    same_results(before, after)


def test_a_guard_of_one_thread_goes_below_what_all_fill(golden: Golden) -> None:
    before, after = dealt("""
def f(A: f32[k], C: out[f32[n, k]]):
    for v in vthread(2):
        for tx in thread('threadIdx.x', (n + 1) // 2):
            if v * ((n + 1) // 2) + tx < n:
                for i in range(k):
                    S = alloc(f32[1], 'shared')
                    S[0] = A[i]
                    C[v * ((n + 1) // 2) + tx, i] = S[0]
""")
    golden(text(after))
    same_results(before, after, n=5, k=3)


def test_shared_memory_that_differs_has_copies(golden: Golden) -> None:
    before, after = dealt("""
def f(A: f32[4], C: out[f32[2, 4]]):
    for v in vthread(2):
        S = alloc(f32[4], 'shared', strides=[3])
        for i in range(4):
            if A[v] < 50.0:
                S[i] = A[i] + 1.0
            else:
                S[i] = A[i]
        for i in range(4):
            C[v, i] = S[3 - i]
""")
    golden(text(after))
    same_results(before, after)


def test_loops_whose_range_differs_stay_whole(golden: Golden) -> None:
    before, after = dealt("""
def f(A: f32[8], C: out[f32[2]]):
    for v in vthread(2):
        acc: f32
        acc = 0.0
        for k in range(v * 3 + 1):
            acc = acc + A[k]
        first: index = v * 2
        C[v] = acc + A[first]
""")
    golden(text(after))
    same_results(before, after)


def test_vectors_stay_whole(golden: Golden) -> None:
    before, after = dealt("""
def f(A: f32[8], C: out[f32[2, 8]]):
    for v in vthread(2):
        for i in range(2):
            for j in vectorized(4):
                C[v, i * 4 + j] = A[i * 4 + j] + f32(v)
""")
    golden(text(after))
    same_results(before, after)


WHOLE = {
    "an element of both is counted up": """
def f(A: f32[4], C: out[f32[3]]):
    for i in range(3):
        C[i] = 0.0
    for v in vthread(2):
        for i in range(2):
            C[v + i] = C[v + i] * 2.0 + A[v * 2 + i]
""",
    "one reads what the other wrote": """
def f(A: f32[4], C: out[f32[4]]):
    C[0] = A[0]
    for v in vthread(3):
        C[v + 1] = C[v] + A[v + 1]
""",
    "a value that all have in common counts them": """
def f(A: f32[4], C: out[f32[2]]):
    count: f32
    count = 0.0
    for v in vthread(2):
        count = count + 1.0
        C[v] = A[v] + count
""",
}


@pytest.mark.parametrize("case", WHOLE)
def test_what_depends_on_their_order_keeps_it(case: str) -> None:
    before, after = dealt(WHOLE[case])
    assert text(after) == text(before).replace("vthread(", "unrolled(")
    same_results(before, after)


def test_calls_that_may_do_anything_keep_their_number() -> None:
    before, after = dealt("""
def f(A: f32[4], C: out[f32[2]]):
    for v in vthread(2):
        call_extern[i32]('log_it', address(A, 'r'))
        C[v] = A[v]
""")
    assert text(after) == text(before).replace("vthread(", "unrolled(")
