"""Barriers: where another thread must be waited for, once for as many accesses as possible, and nowhere else."""

from __future__ import annotations

from tecomp.errors import UserError
from tecomp.ir.func import Func
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import barrier, launch, simplify
from tests.goldens import Golden
from tests.passes.programs import refusal, same_results, through


def synchronised(source: str) -> tuple[Func, Func]:
    before = parse(source)
    return before, through(before, simplify, launch, simplify, barrier)


def refused(source: str) -> str:
    return refusal(synchronised, source, UserError)


def barriers(func: Func) -> int:
    return text(func).count("barrier_block()")


def test_copy_then_read(golden: Golden) -> None:
    before, after = synchronised("""
def f(A: f32[n, 64], B: out[f32[n, 64]]):
    for bx in thread('blockIdx.x', n):
        S = alloc(f32[64], 'shared')
        for t in thread('threadIdx.x', 64):
            S[t] = A[bx, t]
        for t in thread('threadIdx.x', 64):
            B[bx, t] = S[63 - t]
""")
    golden(text(after))
    same_results(before, after, n=2)


def test_each_thread_reads_what_it_wrote() -> None:
    before, after = synchronised("""
def f(A: f32[n, 64], B: out[f32[n, 64]]):
    for bx in thread('blockIdx.x', n):
        S = alloc(f32[64], 'shared')
        for t in thread('threadIdx.x', 64):
            S[t] = A[bx, t]
        for t in thread('threadIdx.x', 64):
            B[bx, t] = S[t]
""")
    assert barriers(after) == 0
    same_results(before, after, n=2)


MATMUL = """
def f(A: f32[64, 64], B: f32[64, 64], C: out[f32[64, 64]]):
    for by in thread('blockIdx.y', 4):
        for bx in thread('blockIdx.x', 4):
            for ty in thread('threadIdx.y', 4):
                for tx in thread('threadIdx.x', 4):
                    CL = alloc(f32[4, 4], 'local')
                    for i in range(4):
                        for j in range(4):
                            CL[i, j] = 0.0
                    for ko in range(8):
                        AA = alloc(f32[16, 8], 'shared')
                        for ty1 in thread('threadIdx.y', 4):
                            for tx1 in thread('threadIdx.x', 4):
                                for q in range(8):
                                    AA[ty1 * 4 + tx1, q] = A[by * 16 + ty1 * 4 + tx1, ko * 8 + q]
                        BB = alloc(f32[8, 16], 'shared')
                        for ty1 in thread('threadIdx.y', 4):
                            for tx1 in thread('threadIdx.x', 4):
                                for q in range(8):
                                    BB[ROW, COLUMN] = B[ko * 8 + ROW, bx * 16 + COLUMN]
                        for ki in range(8):
                            for i in range(4):
                                for j in range(4):
                                    CL[i, j] = CL[i, j] + AA[ty * 4 + i, ki] * BB[ki, tx * 4 + j]
                    for i in range(4):
                        for j in range(4):
                            C[by * 16 + ty * 4 + i, bx * 16 + tx * 4 + j] = CL[i, j]
""".replace("ROW", "((ty1 * 4 + tx1) * 8 + q) // 16").replace("COLUMN", "((ty1 * 4 + tx1) * 8 + q) % 16")


def test_matmul_has_two_a_step(golden: Golden) -> None:
    before, after = synchronised(MATMUL)
    assert barriers(after) == 2
    golden(text(after))
    same_results(before, after)


def test_what_comes_before_a_loop_is_settled_before_it(golden: Golden) -> None:
    before, after = synchronised("""
def f(A: f32[64], B: out[f32[64]]):
    for bx in thread('blockIdx.x', 1):
        S = alloc(f32[64], 'shared')
        for t in thread('threadIdx.x', 64):
            S[t] = A[t]
        for k in range(3):
            for t in thread('threadIdx.x', 64):
                B[t] = B[t] + S[(t + k) % 64]
""")
    golden(text(after))
    assert barriers(after) == 1
    same_results(before, after)


def test_write_after_read_of_the_next_iteration(golden: Golden) -> None:
    before, after = synchronised("""
def f(A: f32[4, 64], B: out[f32[4, 64]]):
    for bx in thread('blockIdx.x', 1):
        S = alloc(f32[64], 'shared')
        for k in range(4):
            for t in thread('threadIdx.x', 64):
                S[t] = A[k, t]
            for t in thread('threadIdx.x', 64):
                B[k, t] = S[63 - t]
""")
    golden(text(after))
    assert barriers(after) == 2
    same_results(before, after)


def test_double_buffer_needs_one_barrier_a_step() -> None:
    before, after = synchronised("""
def f(A: f32[4, 64], B: out[f32[4, 64]]):
    for bx in thread('blockIdx.x', 1):
        S = alloc(f32[2, 64], 'shared')
        for t in thread('threadIdx.x', 64):
            S[0, t] = A[0, t]
        for t in thread('threadIdx.x', 64):
            S[1, t] = A[1, t]
        for t in thread('threadIdx.x', 64):
            B[0, t] = S[0, 63 - t]
        for t in thread('threadIdx.x', 64):
            B[1, t] = S[1, 63 - t]
""")
    assert barriers(after) == 1
    same_results(before, after)


def test_one_writer_is_waited_for(golden: Golden) -> None:
    before, after = synchronised("""
def f(A: f32[64], B: out[f32[64]]):
    for bx in thread('blockIdx.x', 1):
        S = alloc(f32[2], 'shared')
        S[0] = A[0]
        S[1] = S[0] + 1.0
        for t in thread('threadIdx.x', 64):
            B[t] = A[t] + S[1]
""")
    golden(text(after))
    assert barriers(after) == 1
    same_results(before, after)


def test_barrier_stands_outside_a_branch_where_threads_part(golden: Golden) -> None:
    before, after = synchronised("""
def f(A: f32[64], B: out[f32[64]]):
    for bx in thread('blockIdx.x', 1):
        S = alloc(f32[64], 'shared')
        for t in thread('threadIdx.x', 64):
            S[t] = A[t]
        for t in thread('threadIdx.x', 64):
            if t < 10:
                B[t] = S[t + 1]
            else:
                B[t] = 0.0
""")
    golden(text(after))
    same_results(before, after)


def test_guard_goes_below_a_barrier(golden: Golden) -> None:
    """Threads of one branch pass values to each other: the branch is cut in two."""
    _, after = synchronised("""
def f(A: f32[128], B: out[f32[128]]):
    for tx in thread('threadIdx.x', 128):
        S = alloc(f32[128], 'shared')
        if tx % 4 == 0:
            for k in range(2):
                S[tx] = A[tx]
                B[tx] = S[tx % 64]
""")
    golden(text(after))
    same_results(after, after)


def test_refuses_a_barrier_in_divergent_code() -> None:
    assert refused(
        """
def f(N: i32[64], A: f32[64], B: out[f32[64]]):
    for tx in thread('threadIdx.x', 64):
        S = alloc(f32[64], 'shared')
        for k in range(index(N[tx])):
            S[tx] = A[tx]
            B[tx] = S[tx % 32]
""",
    ) == (
        "barrier needed in divergent code, for B, S\n"
        "  because: threads of a block pass values to each other under the range of k, which differs between them\n"
        "  legal: compute the shared stage outside it, or make it the same for all threads of a block"
    )


def test_refuses_a_condition_that_changes_under_itself() -> None:
    assert refused(
        """
def f(A: f32[64], B: out[f32[64]]):
    for tx in thread('threadIdx.x', 64):
        S = alloc(f32[64], 'shared')
        S[tx] = A[tx]
        if S[tx] < 50.0:
            S[tx] = S[tx] + 1.0
            B[tx] = S[tx % 32]
""",
    ).startswith(
        "barrier needed in divergent code, for B, S\n"
        "  because: threads of a block pass values to each other under the condition S[threadIdx_x] < 50.0, "
        "which reads what is written under it, which differs between them\n"
    )


def test_block_uniform_branch_may_hold_a_barrier() -> None:
    before, after = synchronised("""
def f(A: f32[4, 64], B: out[f32[4, 64]]):
    for bx in thread('blockIdx.x', 4):
        if bx < 2:
            S = alloc(f32[64], 'shared')
            for tx in thread('threadIdx.x', 64):
                S[tx] = A[bx, tx]
            for tx in thread('threadIdx.x', 64):
                B[bx, tx] = S[63 - tx]
""")
    assert "        if blockIdx_x < 2:\n            S = " in text(after)
    assert barriers(after) == 1
    same_results(before, after)


def test_global_memory_within_a_block() -> None:
    before, after = synchronised("""
def f(A: f32[4, 64], T: out[f32[4, 64]], B: out[f32[4, 64]]):
    for bx in thread('blockIdx.x', 4):
        for tx in thread('threadIdx.x', 64):
            T[bx, tx] = A[bx, tx]
        for tx in thread('threadIdx.x', 64):
            B[bx, tx] = T[bx, 63 - tx]
""")
    assert barriers(after) == 1
    same_results(before, after)


def test_refuses_global_memory_across_blocks() -> None:
    assert refused(
        """
def f(A: f32[4, 64], T: out[f32[4, 64]], B: out[f32[4, 64]]):
    for bx in thread('blockIdx.x', 4):
        for tx in thread('threadIdx.x', 64):
            T[bx, tx] = A[bx, tx]
            B[bx, tx] = T[3 - bx, tx]
""",
    ) == (
        "global buffer T is written by one block and read by another of the same kernel\n"
        "  because: the blocks of a kernel run in any order, and none waits for another\n"
        "  legal: compute_root of T, for a kernel of its own; or bind the same axes in both stages"
    )


def test_reduction_in_global_memory_needs_none() -> None:
    before, after = synchronised("""
def f(A: f32[n, k], C: out[f32[n]]):
    for bx in thread('blockIdx.x', (n + 63) // 64):
        for tx in thread('threadIdx.x', 64):
            if bx * 64 + tx < n:
                C[bx * 64 + tx] = 0.0
                for q in range(k):
                    C[bx * 64 + tx] = C[bx * 64 + tx] + A[bx * 64 + tx, q]
""")
    assert barriers(after) == 0
    same_results(before, after, n=70, k=3)


def test_an_update_waits_for_the_store_before_it(golden: Golden) -> None:
    """In global memory too; updates alone wait for nothing."""
    _, after = synchronised("""
def f(A: i32[64], C: out[i32[8]]):
    for t in thread('threadIdx.x', 64):
        if t < 8:
            C[t] = i32(0)
        atomic_add(address(C[index(A[t])], 'rwu'), i32(1))
        atomic_add(address(C[index(A[63 - t])], 'rwu'), i32(1))
""")
    golden(text(after))
    assert barriers(after) == 1


def test_an_update_of_what_another_block_stores_is_refused() -> None:
    assert refused("""
def f(A: i32[4, 64], C: out[i32[64]]):
    for b in thread('blockIdx.x', 4):
        for t in thread('threadIdx.x', 64):
            if b == 0:
                C[t] = i32(0)
            atomic_add(address(C[63 - t], 'rwu'), A[b, t])
""").startswith("global buffer C is written by one block and read by another of the same kernel\n")
