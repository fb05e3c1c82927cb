"""Loops split where their guards change."""

from __future__ import annotations

import pytest

from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.stmt import For, LoopKind, Store
from tecomp.ir.text import text
from tecomp.ir.visit import walk
from tecomp.passes import partition, simplify
from tests.goldens import Golden
from tests.passes.programs import CPU, same_results


def partitioned(source: str) -> tuple[Func, Func]:
    before = simplify.run(parse(source), CPU)
    return before, simplify.run(partition.run(before, CPU), CPU)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 48])
def test_symbolic_tail(golden: Golden, n: int) -> None:
    before, after = partitioned("""
def f(A: f32[n], B: out[f32[n]]):
    for io in range((n + 15) // 16):
        for ii in vectorized(16):
            if io * 16 + ii < n:
                B[io * 16 + ii] = A[io * 16 + ii] + 1.0
""")
    if n == 0:
        golden(text(after))
    same_results(before, after, n=n)


def test_constant_tail(golden: Golden) -> None:
    before, after = partitioned("""
def f(A: f32[101], B: out[f32[101]]):
    for io in range(11):
        for ii in range(10):
            if io * 10 + ii < 101:
                B[io * 10 + ii] = A[io * 10 + ii] + 1.0
""")
    golden(text(after))
    same_results(before, after)


def test_parallel_loop_with_a_serial_tail(golden: Golden) -> None:
    before, after = partitioned("""
def f(A: f32[n], B: out[f32[n]]):
    for io in parallel((n + 15) // 16):
        for ii in vectorized(16):
            if io * 16 + ii < n:
                B[io * 16 + ii] = A[io * 16 + ii] + 1.0
""")
    golden(text(after))
    same_results(before, after, n=50)


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 1), (8, 16), (9, 15), (7, 33)])
def test_two_dimensional_tiles(golden: Golden, n: int, m: int) -> None:
    before, after = partitioned("""
def f(A: f32[n, m], B: out[f32[n, m]]):
    for yo in range((n + 7) // 8):
        for xo in range((m + 15) // 16):
            for yi in range(8):
                if yo * 8 + yi < n:
                    for xi in vectorized(16):
                        if xo * 16 + xi < m:
                            B[yo * 8 + yi, xo * 16 + xi] = A[yo * 8 + yi, xo * 16 + xi] + 1.0
""")
    if n == 0:
        golden(text(after))
    same_results(before, after, n=n, m=m)


@pytest.mark.parametrize(("h", "w"), [(0, 0), (0, 3), (1, 1), (2, 1), (5, 8)])
def test_padding_has_a_loop_before_and_one_after(golden: Golden, h: int, w: int) -> None:
    before, after = partitioned("""
def f(A: f32[h, w], B: out[f32[h, w]]):
    for y in range(h):
        for x in range(w):
            B[y, x] = A[y - 1, x] + A[y, x + 1] if 1 <= y and x + 1 < w else 0.0
""")
    if h == 0 and w == 0:
        golden(text(after))
    same_results(before, after, h=h, w=w)


def test_split_of_a_split() -> None:
    before, after = partitioned("""
def f(A: f32[n], B: out[f32[n]]):
    for o in range((n + 59) // 60):
        for m in range(6):
            if o * 60 + m * 10 < n:
                for i in range(10):
                    if o * 60 + m * 10 + i < n:
                        B[o * 60 + m * 10 + i] = A[o * 60 + m * 10 + i] + 1.0
""")
    for n in (0, 1, 59, 60, 61, 131):
        same_results(before, after, n=n)


def test_guard_that_rarely_holds_does_not_split() -> None:
    before, after = partitioned("""
def f(A: f32[100], B: out[f32[100]]):
    for i in range(100):
        B[i] = A[i]
        if i < 5:
            B[i] = 0.0
""")
    assert after is before


def test_descending_guard(golden: Golden) -> None:
    before, after = partitioned("""
def f(A: f32[100], B: out[f32[100]]):
    for i in range(100):
        for k in range(4):
            if 3 <= 2 * i - k:
                B[i] = B[i] + A[i]
""")
    golden(text(after))
    same_results(before, after)


def test_thread_loops_stay_whole() -> None:
    before, after = partitioned("""
def f(A: f32[n], B: out[f32[n]]):
    for bx in thread('blockIdx.x', (n + 63) // 64):
        for tx in thread('threadIdx.x', 16):
            for v in range(4):
                if bx * 64 + tx * 4 + v < n:
                    B[bx * 64 + tx * 4 + v] = A[bx * 64 + tx * 4 + v]
""")
    assert after is before


def test_growth_is_bounded() -> None:
    depth = 8
    lines = ["def f(" + ", ".join(f"A{d}: f32[n{d}]" for d in range(depth)) + ", B: out[f32[1]]):"]
    for d in range(depth):
        lines.append("    " * (d + 1) + f"for i{d} in range(n{d} + 3):")
    guard = " and ".join(f"1 <= i{d} and i{d} < n{d}" for d in range(depth))
    lines.append("    " * (depth + 1) + f"B[0] = B[0] + (A0[i0] if {guard} else 0.0)")
    _, after = partitioned("\n".join(lines))
    assert sum(isinstance(node, Store) for node in walk(after.body)) <= 2 * partition.MOST_NESTED + 1


def test_an_unrolled_loop_is_not_cut_where_its_parts_would_have_no_constant_length() -> None:
    """Its copies ask for themselves, and the loop around it is split."""
    before, after = partitioned("""
def f(A: f32[7], B: out[f32[7]]):
    for io in range(2):
        for ii in unrolled(5):
            if io * 5 + ii < 7:
                B[io * 5 + ii] = A[io * 5 + ii] + 1.0
""")
    loops = [node for node in walk(after.body) if isinstance(node, For) and node.kind is LoopKind.UNROLLED]
    assert [str(loop.extent) for loop in loops] == ["5"]
    same_results(before, after)
