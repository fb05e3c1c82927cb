"""Loops of kind UNROLLED: expanded up to a limit, in linear time."""

from __future__ import annotations

import time

from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.stmt import For, Store
from tecomp.ir.text import text
from tecomp.ir.visit import walk
from tecomp.passes import simplify, unroll
from tests.goldens import Golden
from tests.passes.programs import CPU, same_results


def unrolled(source: str) -> tuple[Func, Func]:
    before = parse(source)
    return before, simplify.run(unroll.run(before, CPU), CPU)


def stores(func: Func) -> int:
    return sum(isinstance(node, Store) for node in walk(func.body))


def test_iterations_follow_each_other(golden: Golden) -> None:
    before, after = unrolled("""
def f(A: f32[n, 3], B: out[f32[n, 3]]):
    for i in range(n):
        for k in unrolled(1, 3):
            t = alloc(f32, 'local')
            t[()] = A[i, k]
            for j in range(2):
                B[i, k] = B[i, k] + t[()]
""")
    golden(text(after))
    same_results(before, after, n=4)


def test_empty_loop_disappears() -> None:
    _, after = unrolled("""
def f(B: out[f32[4]]):
    for k in unrolled(0):
        B[k] = 1.0
""")
    assert stores(after) == 0


def test_loop_of_unknown_extent_keeps_its_kind() -> None:
    before, after = unrolled("""
def f(B: out[f32[n]]):
    for k in unrolled(n):
        B[k] = 1.0
""")
    assert after is before


def test_outer_loop_above_the_limit_keeps_its_kind() -> None:
    """32*64 stores are too many; 64 are not."""
    _, after = unrolled("""
def f(B: out[f32[32, 32, 64]]):
    for i in unrolled(32):
        for j in unrolled(32):
            for k in unrolled(64):
                B[i, j, k] = 1.0
""")
    assert [node.var.name for node in walk(after.body) if isinstance(node, For)] == ["i", "j"]
    assert stores(after) == 64


def test_millions_of_iterations_take_no_time() -> None:
    start = time.perf_counter()
    before, after = unrolled("""
def f(A: f32[15000000], B: out[f32[15000000]]):
    for i in unrolled(15000000):
        B[i] = A[i] + 1.0
""")
    assert after is before
    assert time.perf_counter() - start < 1.0
