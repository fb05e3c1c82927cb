"""Invariant conditions and allocations in front of loops."""

from __future__ import annotations

from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import hoist
from tests.goldens import Golden
from tests.passes.programs import CPU, same_results


def hoisted(source: str) -> tuple[Func, Func]:
    before = parse(source)
    return before, hoist.run(before, CPU)


def test_condition_leaves_all_loops_it_does_not_name(golden: Golden) -> None:
    before, after = hoisted("""
def f(A: f32[n, 4], B: out[f32[n, 4]], m: index):
    for i in range(n):
        for j in range(4):
            if m < n and i < m and j < 3:
                B[i, j] = A[i, j]
""")
    golden(text(after))
    same_results(before, after, n=5, m=3)


def test_condition_behind_another_stays_behind_it() -> None:
    before, after = hoisted("""
def f(A: f32[n], B: out[f32[n]], m: index):
    for i in range(n):
        if i != 0 and m < n:
            B[i] = A[i]
""")
    assert after is before


def test_condition_that_reads_memory_stays() -> None:
    before, after = hoisted("""
def f(A: f32[1], B: out[f32[n]]):
    for i in range(n):
        if A[0] < 3.0:
            B[i] = 1.0
""")
    assert after is before


def test_allocation_leaves_serial_loops_only(golden: Golden) -> None:
    before, after = hoisted("""
def f(A: f32[n], B: out[f32[n]]):
    for o in parallel(2):
        for i in range(n):
            t = alloc(f32[2])
            t[0] = A[i]
            B[i] = t[0] + 1.0
""")
    golden(text(after))
    same_results(before, after, n=3)


def test_allocation_of_a_changing_size_stays() -> None:
    before, after = hoisted("""
def f(B: out[f32[n]]):
    for i in range(n):
        t = alloc(f32[i + 1])
        t[i] = 1.0
        B[i] = t[i]
""")
    assert after is before


def test_allocation_between_equal_guards_goes_below_them(golden: Golden) -> None:
    before, after = hoisted("""
def f(A: f32[n], B: out[f32[n]], m: index):
    for i in range(n):
        if i < m:
            B[i] = A[i]
        t = alloc(f32[2])
        if i < m:
            t[0] = A[i]
            B[i] = B[i] + t[0]
""")
    golden(text(after))
    same_results(before, after, n=5, m=3)


def test_equal_values_in_a_row_have_one_name(golden: Golden) -> None:
    before, after = hoisted("""
def f(A: f32[n], B: out[f32[n]], m: index):
    for i in range(n):
        with scope():
            k = i * m % n
            B[k] = A[k]
        k = i * m % n
        B[k] = B[k] + 1.0
""")
    golden(text(after))
    same_results(before, after, n=5, m=3)


def test_values_read_from_memory_are_read_again() -> None:
    before, after = hoisted("""
def f(A: f32[n], B: out[f32[n]]):
    for i in range(n):
        with scope():
            x = B[i]
            B[i] = A[i] + x
        x = B[i]
        B[i] = A[i] * x
""")
    assert after is before
