"""Loops of kind VECTORIZED: the vector code, and that it leaves what the loop left."""

from __future__ import annotations

import pytest

from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.stmt import For, If, LoopKind, Store
from tecomp.ir.text import text
from tecomp.ir.visit import walk
from tecomp.passes import simplify, vectorize
from tests.goldens import Golden
from tests.passes.programs import CPU, same_results


def vectorized(source: str) -> tuple[Func, Func]:
    before = parse(source)
    return before, simplify.run(vectorize.run(before, CPU), CPU)


def loops(func: Func) -> list[str]:
    return [f"{node.var.name} {node.kind.value}" for node in walk(func.body) if isinstance(node, For)]


def test_whole_vectors(golden: Golden) -> None:
    before, after = vectorized("""
def f(A: f32[16, n], B: out[f32[16, n]]):
    for i in range(n):
        for j in vectorized(16):
            B[j, i] = A[j, i] * 2.0 + A[0, i]
""")
    golden(text(after))
    same_results(before, after, n=5)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 19])
def test_guard_becomes_a_mask(golden: Golden, n: int) -> None:
    before, after = vectorized("""
def f(A: f32[n], S: f32[m], B: out[f32[n]]):
    for io in range((n + 7) // 8):
        for ii in vectorized(8):
            if io * 8 + ii < n:
                B[io * 8 + ii] = A[io * 8 + ii] + S[m - 1]
""")
    if n == 0:
        golden(text(after))
    same_results(before, after, n=n, m=1)


@pytest.mark.parametrize("lanes", [2, 3, 4, 5, 7, 8, 16, 33, 64])
@pytest.mark.parametrize("dtype", ["i8", "f32", "f64"])
def test_any_lane_count(lanes: int, dtype: str) -> None:
    before, after = vectorized(f"""
def f(A: {dtype}[{lanes} * 2], B: out[{dtype}[{lanes} * 2]]):
    for o in range(2):
        for i in vectorized({lanes}):
            B[o * {lanes} + i] = A[o * {lanes} + i] + A[o * {lanes}]
""")
    assert loops(after) == ["o range"]
    same_results(before, after)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 100])
def test_long_loop_runs_in_steps(golden: Golden, n: int) -> None:
    before, after = vectorized("""
def f(A: f32[n], B: out[f32[n]]):
    for i in vectorized(n):
        B[i] = A[i] + 1.0
""")
    if n == 0:
        golden(text(after))
    same_results(before, after, n=n)


def test_long_constant_loop_has_a_constant_rest(golden: Golden) -> None:
    before, after = vectorized("""
def f(A: f64[100], B: out[f64[100]]):
    for i in vectorized(100):
        B[i] = A[i] + 1.0
""")
    golden(text(after))
    same_results(before, after)


def test_own_buffer_gets_a_dimension_for_the_lane(golden: Golden) -> None:
    before, after = vectorized("""
def f(A: f32[m, k], B: f32[k, 24], C: out[f32[m, 24]]):
    for i in range(m):
        for jo in range(4):
            for j in vectorized(8):
                if jo * 8 + j < 24:
                    acc = alloc(f32, 'local')
                    acc[()] = 0.0
                    for q in range(k):
                        acc[()] = acc[()] + A[i, q] * B[q, jo * 8 + j]
                    C[i, jo * 8 + j] = acc[()]
""")
    golden(text(after))
    same_results(before, after, m=2, k=3)


def test_untaken_side_is_never_read(golden: Golden) -> None:
    before, after = vectorized("""
def f(A: f32[8], D: i32[8], B: out[f32[8]], Q: out[i32[8]]):
    for i in vectorized(8):
        B[i] = A[i - 1] if 0 < i and A[i - 1] < 50.0 else 1.0
        Q[i] = 7 // D[i] if D[i] != 0 else 3
""")
    golden(text(after))
    same_results(before, after)


def test_branches_read_memory_once_written(golden: Golden) -> None:
    """A condition that the branch changes is asked once a lane, in a serial loop."""
    before, after = vectorized("""
def f(A: out[f32[8]], B: out[f32[8]]):
    for i in vectorized(8):
        if A[i] < 50.0:
            A[i] = A[i] + 50.0
            B[i] = 1.0
        else:
            B[i] = 2.0
""")
    golden(text(after))
    same_results(before, after)


def test_else_branch_is_the_other_lanes(golden: Golden) -> None:
    before, after = vectorized("""
def f(A: f32[8], B: out[f32[8]]):
    for i in vectorized(8):
        if A[i] < 50.0 and i != 3:
            B[i] = 1.0
        else:
            B[i] = A[i]
""")
    golden(text(after))
    same_results(before, after)


def test_let_of_a_lane_value(golden: Golden) -> None:
    before, after = vectorized("""
def f(A: f32[8], B: out[f32[8]]):
    for i in vectorized(8):
        x = A[7 - i]
        B[i] = x * x
""")
    golden(text(after))
    same_results(before, after)


def test_quotients_of_a_fused_loop_stay_affine(golden: Golden) -> None:
    before, after = vectorized("""
def f(A: f32[6, 32], B: out[f32[6, 32]]):
    for o in range(24):
        for i in vectorized(8):
            B[(o * 8 + i) // 32, (o * 8 + i) % 32] = A[(o * 8 + i) // 32, (o * 8 + i) % 32] + 1.0
""")
    golden(text(after))
    same_results(before, after)


def test_gather_and_scatter(golden: Golden) -> None:
    before, after = vectorized("""
def f(A: f32[100], I: i32[8], B: out[f32[8]]):
    for i in vectorized(8):
        B[7 - i] = A[index(I[i])]
""")
    golden(text(after))
    same_results(before, after)


SERIAL = {
    "one element for all lanes": "B[0] = B[0] + A[i]",
    "a neighbour's element": "B[i] = B[i + 1] + A[i]",
    "lanes meet": "B[i // 2] = A[i]",
    "unknown elements": "B[index(I[i]) % 8] = A[i]",
}


@pytest.mark.parametrize("body", SERIAL.values(), ids=SERIAL)
def test_lanes_that_may_meet_stay_serial(body: str) -> None:
    before, after = vectorized(f"""
def f(A: f32[8], I: i32[8], B: out[f32[9]]):
    for i in vectorized(8):
        {body}
""")
    assert loops(after) == ["i range"]
    same_results(before, after)


def test_outer_of_two_vectorized_loops_is_serial() -> None:
    before, after = vectorized("""
def f(A: f32[4, 8], B: out[f32[4, 8]]):
    for i in vectorized(4):
        for j in vectorized(8):
            B[i, j] = A[i, j] + 1.0
""")
    assert loops(after) == ["i range"]
    same_results(before, after)


def test_only_the_statement_with_a_range_of_its_own_is_serial(golden: Golden) -> None:
    before, after = vectorized("""
def f(A: f32[8], B: out[f32[8]], C: out[f32[8]]):
    for i in vectorized(8):
        C[i] = A[i]
        for j in range(i):
            B[i] = B[i] + A[j]
""")
    golden(text(after))
    same_results(before, after)


def test_scalar_read_behind_a_lane_condition_stays_behind_it() -> None:
    before, after = vectorized("""
def f(A: f32[8], B: out[f32[8]]):
    for k in range(8, 10):
        for i in vectorized(8):
            B[i] = A[k] if i + k < 8 else 0.0
""")
    same_results(before, after)


def test_unchanged_without_vectorized_loops() -> None:
    before, after = vectorized("""
def f(A: f32[8], B: out[f32[8]]):
    for i in range(8):
        B[i] = A[i]
""")
    assert after is before
    assert all(node.kind is not LoopKind.VECTORIZED for node in walk(after.body) if isinstance(node, For))


@pytest.mark.parametrize("n", [0, 3, 20])
def test_negative_extent_means_none(n: int) -> None:
    before, after = vectorized("""
def f(A: f32[n], B: out[f32[n]]):
    for i in vectorized(3, n - 5):
        B[i] = A[i] + 1.0
""")
    same_results(before, after, n=n)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 31, 32, 33])
def test_a_thread_asks_its_guard_once_for_all_lanes(golden: Golden, n: int) -> None:
    before, after = vectorized("""
def f(A: f32[n, n], B: out[f32[n, n]]):
    for tx in thread('threadIdx.x', (n + 3) // 4):
        for y in range(n):
            for v in vectorized(4):
                if tx * 4 + v < n and 1 <= y + v:
                    B[y, tx * 4 + v] = A[n - 1 - y, tx * 4 + v] + A[0, (tx * 4 + v) // n]
""")
    if n == 0:
        golden(text(after))
    same_results(before, after, n=n)


def test_nested_guards_of_threads_grow_the_program_little() -> None:
    guards = "".join(f"{'    ' * (3 + d)}if tx * 4 + v + {d} < n{d}:\n" for d in range(6))
    sizes = ", ".join(f"n{d}: index" for d in range(6))
    before, after = vectorized(f"""
def f(A: f32[64], B: out[f32[64]], {sizes}):
    for tx in thread('threadIdx.x', 16):
        for v in vectorized(4):
{guards}{"    " * 9}B[tx * 4 + v] = A[tx * 4 + v] + 1.0
""")
    assert sum(isinstance(node, Store) for node in walk(after.body)) <= 7
    same_results(before, after, **{f"n{d}": 40 + 3 * d for d in range(6)})


@pytest.mark.parametrize("condition", ["bx * 4 + v < J[bx]", "J[v] < bx"])
def test_a_guard_that_reads_memory_is_asked_lane_by_lane(condition: str) -> None:
    before, after = vectorized(f"""
def f(J: index[4], B: out[f32[16]]):
    for bx in thread('blockIdx.x', 4):
        for v in vectorized(4):
            if {condition}:
                B[bx * 4 + v] = 1.0
""")
    assert not any(isinstance(node, If) and node.otherwise is not None for node in walk(after.body))
    same_results(before, after)
