"""Loops of kind UNROLLED: expanded up to a limit, in linear time, as the pragmas around them say."""

from __future__ import annotations

import time

import pytest

import tecomp
from tecomp import te
from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.stmt import For, LoopKind, Store
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
    start = time.process_time()
    before, after = unrolled("""
def f(A: f32[15000000], B: out[f32[15000000]]):
    for i in unrolled(15000000):
        B[i] = A[i] + 1.0
""")
    assert after is before
    assert time.process_time() - start < 1.0


NEST = """
def f(A: f32[n, 4, 3], B: out[f32[n, 4, 3]]):
    for i in range(n{outer}):
        for j in range(4{inner}):
            for k in range(3):
                B[i, j, k] = A[i, j, k] + 1.0
"""


def loops(func: Func) -> list[str]:
    return [f"{node.kind.value} {node.var.name}" for node in walk(func.body) if isinstance(node, For)]


@pytest.mark.parametrize(
    ("most", "left", "count"),
    [(0, "ijk", 1), (2, "ijk", 1), (3, "ij", 3), (11, "ij", 3), (12, "i", 12), (1000, "i", 12)],
)
def test_serial_loops_of_few_stores_are_unrolled(most: int, left: str, count: int) -> None:
    before, after = unrolled(NEST.format(outer=f", pragmas=[('auto_unroll_max_step', {most})]", inner=""))
    assert (loops(after), stores(after)) == ([f"range {name}" for name in left], count)
    assert "pragmas" not in text(after)
    same_results(before, after, n=2)


def test_the_nearest_pragma_decides() -> None:
    outer, inner = ", pragmas=[('auto_unroll_max_step', 100)]", ", pragmas=[('auto_unroll_max_step', 0), ('x', 1)]"
    _, after = unrolled(NEST.format(outer=outer, inner=inner))
    assert loops(after) == ["range i", "range j", "range k"]
    assert "pragmas=[('x', 1)]" in text(after)


def test_a_loop_around_one_that_stays_is_not_unrolled() -> None:
    _, after = unrolled("""
def f(B: out[f32[4, n, 2]]):
    for i in range(4, pragmas=[('auto_unroll_max_step', 64)]):
        for j in range(n):
            for k in range(2):
                B[i, j, k] = 1.0
""")
    assert loops(after) == ["range i", "range j"]


def test_unrolling_left_to_the_back_end() -> None:
    """The marked loop and the one within the limit; both are counted as copied for the loops around them."""
    _, after = unrolled("""
def f(B: out[f32[5, 4, 3]]):
    for i in range(5, pragmas=[('unroll_explicit', False), ('auto_unroll_max_step', 12)]):
        for j in range(4):
            for k in unrolled(3):
                B[i, j, k] = 1.0
""")
    assert loops(after) == ["range i", "unrolled j", "unrolled k"]


@pytest.mark.parametrize("parts", [1, 2])
def test_a_pragma_on_a_loop_of_one_iteration_is_for_those_inside(parts: int) -> None:
    """So programs for several targets write it: on an axis made for the purpose by split(nparts=1)."""
    A = te.placeholder((8, 4), name="A")
    B = te.compute((8, 4), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    scope, _ = s[B].split(B.op.axis[0], nparts=parts)
    s[B].pragma(scope, "auto_unroll_max_step", 4)
    func = tecomp.lower(s, [A, B])
    assert stores(func) == 4
    assert loops(func) == ["range i.outer", "range i.inner"][2 - parts :]


def test_the_pragma_of_a_schedule_reaches_both_back_ends() -> None:
    n = te.var("n")
    A = te.placeholder((n, 8), name="A")
    B = te.compute((n, 8), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    i, j = B.op.axis
    s[B].unroll(j)
    s[B].pragma(j, "unroll_explicit", False)
    assert "llvm.loop.unroll.full" in tecomp.build(s, [A, B], target="llvm").source
    s[B].bind(i, te.thread_axis("blockIdx.x"))
    assert "#pragma unroll\n" in tecomp.build(s, [A, B], target="cuda -arch=sm_80").source
    assert LoopKind.UNROLLED in {node.kind for node in walk(tecomp.lower(s, [A, B]).body) if isinstance(node, For)}
