"""Thread loops become kernels; what cannot is refused with the stage, the axis and the numbers."""

from __future__ import annotations

import pytest

from tecomp.errors import ScheduleError
from tecomp.ir.func import Func, Level
from tecomp.ir.parse import parse
from tecomp.ir.text import text
from tecomp.passes import barrier, launch, simplify
from tecomp.passes.kernel_checks import check_kernel, writer_tags
from tests.calls import calls
from tests.goldens import Golden
from tests.passes.programs import CPU, GPU, refusal, same_results


def launched(source: str) -> tuple[Func, Func]:
    before = parse(source)
    return before, simplify.run(launch.run(before, GPU), GPU)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257])
def test_one_kernel(golden: Golden, n: int) -> None:
    before, after = launched("""
def f(A: f32[n], B: out[f32[n]]):
    for bx in thread('blockIdx.x', (n + 255) // 256):
        for tx in thread('threadIdx.x', 256):
            if bx * 256 + tx < n:
                B[bx * 256 + tx] = A[bx * 256 + tx] + 1.0
""")
    if n == 0:
        golden(text(after))
    assert after.level is Level.DEVICE
    same_results(before, after, n=n)


def test_host_loop_launches_each_time(golden: Golden) -> None:
    before, after = launched("""
def f(X: f32[m, n], S: out[f32[m, n]]):
    for i in thread('blockIdx.x', n):
        S[0, i] = X[0, i]
    for t in range(1, m):
        for i in thread('blockIdx.x', n):
            S[t, i] = S[t - 1, i] + X[t, i]
""")
    golden(text(after))
    same_results(before, after, m=3, n=4)


def test_smaller_of_two_extents_gets_a_guard(golden: Golden) -> None:
    before, after = launched("""
def f(A: f32[n, 64], B: out[f32[n, 64]]):
    for i in thread('blockIdx.x', n):
        for tx in thread('threadIdx.x', 16, 32):
            B[i, tx] = A[i, tx]
        for tx in thread('threadIdx.x', 32):
            B[i, tx + 32] = A[i, tx]
""")
    golden(text(after))
    same_results(before, after, n=3)


def test_unknown_extents_launch_the_greater(golden: Golden) -> None:
    before, after = launched("""
def f(A: f32[n], B: f32[m], C: out[f32[n + m]]):
    for i in thread('blockIdx.x', 1):
        for tx in thread('threadIdx.x', n):
            C[tx] = A[tx]
        for tx in thread('threadIdx.x', m):
            C[n + tx] = B[tx]
""")
    golden(text(after))
    same_results(before, after, n=3, m=5)


def test_extent_that_changes_inside_is_bounded(golden: Golden) -> None:
    before, after = launched("""
def f(A: f32[n], B: out[f32[n]]):
    for bx in thread('blockIdx.x', (n + 15) // 16):
        for tx in thread('threadIdx.x', min(16, n - bx * 16)):
            B[bx * 16 + tx] = A[bx * 16 + tx]
""")
    golden(text(after))
    same_results(before, after, n=37)


def test_store_that_no_thread_owns_is_done_by_one(golden: Golden) -> None:
    before, after = launched("""
def f(A: f32[n], B: out[f32[n]], C: out[f32[1]]):
    for bx in thread('blockIdx.x', n):
        for ty in thread('threadIdx.y', 2):
            for tx in thread('threadIdx.x', 4):
                B[bx] = A[bx] + 1.0
        C[0] = 7.0
""")
    golden(text(after))
    same_results(before, after, n=3)


def test_guard_sinks_below_the_shared_copy(golden: Golden) -> None:
    before, after = launched("""
def f(A: f32[n], B: out[f32[n]]):
    for bx in thread('blockIdx.x', (n + 63) // 64):
        for tx in thread('threadIdx.x', 64):
            if bx * 64 + tx < n:
                for k in range(2):
                    S = alloc(f32[64], 'shared')
                    for t in thread('threadIdx.x', 64):
                        if bx * 64 + t < n:
                            S[t] = A[bx * 64 + t]
                    B[bx * 64 + tx] = S[tx]
""")
    golden(text(after))
    same_results(before, after, n=100)


def test_guard_of_an_extent_sinks_too(golden: Golden) -> None:
    """23 threads compute, 24 copy: the copy is not behind the guard of the 23."""
    before, after = launched("""
def f(A: f32[24], C: out[f32[23]]):
    for i in thread('threadIdx.y', 23):
        T = alloc(f32[24], 'shared')
        for j in thread('threadIdx.y', 24):
            T[j] = A[j] + 1.0
        C[i] = T[i]
""")
    golden(text(after))
    same_results(before, after)


def test_guard_stays_with_what_each_thread_keeps(golden: Golden) -> None:
    """The copy, and what it needs, is for all threads; a register of those that have an element is for them."""
    before, after = launched("""
def f(A: f32[n], B: out[f32[n]]):
    for bx in thread('blockIdx.x', (n + 63) // 64):
        for tx in thread('threadIdx.x', 64):
            if bx * 64 + tx < n:
                own = alloc(f32[1], 'local')
                scale = alloc(f32[1], 'local')
                S = alloc(f32[64], 'shared')
                scale[0] = 3.0
                for t in thread('threadIdx.x', 64):
                    if bx * 64 + t < n:
                        S[t] = A[bx * 64 + t] * scale[0]
                own[0] = A[bx * 64 + tx]
                B[bx * 64 + tx] = S[tx] + own[0]
""")
    golden(text(after))
    same_results(before, barrier.run(after, GPU), n=100)


def test_what_no_thread_of_an_axis_shares_out_is_for_one(golden: Golden) -> None:
    """Whole statements, registers inside them included, so that no thread reads what another wrote."""
    before, after = launched("""
def f(A: f32[32], B: out[f32[16]]):
    for bx in thread('blockIdx.x', 2):
        S = alloc(f32[16], 'shared')
        for x in thread('threadIdx.x', 16):
            S[x] = A[bx * 16 + x]
        for y in thread('threadIdx.y', 8):
            total = alloc(f32[()], 'local')
            total[()] = 0.0
            for k in range(2):
                total[()] = total[()] + S[y * 2 + k]
                B[bx * 8 + y] = total[()]
""")
    golden(text(after))
    same_results(before, barrier.run(after, GPU))


@pytest.mark.parametrize("first", [0, 2, 5])
def test_the_writer_is_the_first_thread_that_comes_there(first: int) -> None:
    before, after = launched(f"""
def f(A: f32[6], B: out[f32[7]]):
    for i in thread('blockIdx.x', 6):
        if i < {first}:
            B[i] = A[i]
        else:
            B[6] = A[5]
            if 4 < i:
                B[5] = A[4]
""")
    same_results(before, after)


def test_each_block_fills_its_own_memory() -> None:
    before, after = launched("""
def f(A: f32[8, 16], b: out[f32[8, 16]]):
    for i in thread('blockIdx.x', 8):
        a = alloc(f32[16], 'shared')
        for j in thread('threadIdx.x', 16):
            a[j] = A[i, j]
        for j in thread('blockIdx.y', 16):
            b[i, j] = a[j]
""")
    same_results(before, barrier.run(after, GPU))


def test_value_for_one_writer_is_computed_by_it(golden: Golden) -> None:
    _, after = launched("""
def f(A: f32[2], P: out[f32[1]], Q: out[f32[1]]):
    for tx in thread('threadIdx.x', 8):
        p = P[0] + A[0]
        P[0] = p
        Q[0] = p + A[1]
""")
    golden(text(after))


def test_local_buffer_of_its_own_threads() -> None:
    before, after = launched("""
def f(A: f32[64], B: out[f32[64]]):
    for bx in thread('blockIdx.x', 4):
        P = alloc(f32[16], 'local')
        for tx in thread('threadIdx.x', 16):
            P[tx] = A[bx * 16 + tx]
        for tx in thread('threadIdx.x', 16):
            B[bx * 16 + tx] = P[tx]
""")
    same_results(before, after)


def test_parallel_loops_inside_and_outside_are_serial() -> None:
    before, after = launched("""
def f(A: f32[4, 8, 2], B: out[f32[4, 8, 2]]):
    for i in parallel(4):
        for j in thread('threadIdx.x', 8):
            for k in parallel(2):
                B[i, j, k] = A[i, j, k]
""")
    assert "parallel" not in text(after)
    same_results(before, after)


def test_refuses_a_stage_without_threads() -> None:
    assert refusal(
        launched,
        """
def f(A: f32[n], C: out[f32[n]]):
    for i in range(n):
        C[i] = A[i]
""",
    ) == (
        "stage C has no axis bound to a block or thread\n"
        "  because: all work of a CUDA program is done by kernels\n"
        "  legal: s[stage].bind(axis, te.thread_axis('blockIdx.x')), compute_at inside a bound stage, threads in a body"
    )


def test_refuses_blocks_inside_a_kernel() -> None:
    assert refusal(
        launched,
        """
def f(A: f32[8, 16], b: out[f32[8, 16]]):
    for i in thread('blockIdx.x', 8):
        a = alloc(f32[16], 'shared')
        for j in thread('blockIdx.x', 16):
            a[j] = A[i, j]
        for j in thread('threadIdx.x', 16):
            b[i, j] = a[j]
""",
    ) == (
        "stage a is attached inside b's kernel; it may bind threads, not blocks\n"
        "  because: b's blocks would each run all of a's blocks\n"
        "  legal: bind a to threads only, or compute_root"
    )


def test_refuses_other_blocks_around_block_memory() -> None:
    assert refusal(
        launched,
        """
def f(A: f32[8, 16], b: out[f32[8, 16]]):
    for i in thread('blockIdx.x', 8):
        a = alloc(f32[16], 'shared')
        for j in thread('blockIdx.y', 16):
            a[j] = A[i, j]
        for j in thread('threadIdx.x', 16):
            b[i, j] = a[j]
""",
    ).startswith("stage a is attached inside b's kernel; it may bind threads, not blocks")


def test_refuses_registers_read_by_another_thread() -> None:
    assert refusal(
        launched,
        """
def f(A: f32[129], C: out[f32[128]]):
    for bx in thread('blockIdx.x', 2):
        P = alloc(f32[65], 'local')
        for t in thread('threadIdx.x', 65):
            P[t] = A[bx * 64 + t] + 1.0
        for tx in thread('threadIdx.x', 64):
            C[bx * 64 + tx] = P[tx] + P[tx + 1]
""",
    ) == (
        "local buffer P read by another thread\n"
        "  because: the threads of threadIdx.x divide its elements, each in registers of its own\n"
        "  legal: set_scope('shared') of P, or compute_at inside the loop bound to the thread"
    )


def test_refuses_an_extent_without_bound() -> None:
    assert refusal(
        launched,
        """
def f(N: i32[4], B: out[f32[4, 100]]):
    for i in thread('blockIdx.x', 4):
        for j in thread('threadIdx.x', index(N[i])):
            B[i, j] = 1.0
""",
    ) == (
        "a loop of threadIdx.x has the extent index(N[i])\n"
        "  because: it changes inside the kernel without a known upper bound\n"
        "  legal: bind a loop of constant extent, such as the inner one of a split by a factor"
    )


def test_refuses_shared_memory_on_the_host() -> None:
    assert refusal(
        launched,
        """
def f(A: f32[8], B: out[f32[8]]):
    S = alloc(f32[8], 'shared')
    for i in thread('threadIdx.x', 8):
        S[i] = A[i]
    for i in thread('threadIdx.x', 8):
        B[i] = S[7 - i]
""",
    ) == (
        "buffer S is in shared memory but outside every kernel\n"
        "  because: shared memory lives as long as one kernel\n"
        "  legal: compute_at under a loop bound to a block, or set_scope('global')"
    )


def test_refuses_global_memory_inside_a_kernel() -> None:
    assert refusal(
        launched,
        """
def f(A: f32[8], B: out[f32[8]]):
    for i in thread('blockIdx.x', 8):
        T = alloc(f32[1])
        T[0] = A[i]
        B[i] = T[0]
""",
    ) == (
        "buffer T is in global memory but computed inside B's kernel\n"
        "  because: a kernel cannot allocate global memory\n"
        "  legal: compute_root, or set_scope('shared') or set_scope('local') of T"
    )


def test_refuses_a_race() -> None:
    assert refusal(
        launched,
        """
def f(A: f32[8], B: out[f32[1]]):
    for k in thread('threadIdx.x', 8):
        B[0] = B[0] + A[k]
""",
    ) == (
        "several threads write one element of B\n"
        "  because: the value depends on threadIdx.x, the element does not\n"
        "  legal: bind an axis of the stage's data, not one it reduces"
    )


def test_refuses_an_unknown_writer() -> None:
    assert refusal(
        launched,
        """
def f(A: f32[8], B: out[f32[8]]):
    for i in thread('threadIdx.x', 8):
        for k in range(8):
            if 4 < i + k:
                B[k] = A[k]
""",
    ) == (
        "several threads write one element of B\n"
        "  because: which values of threadIdx_x come to it depends on other loops\n"
        "  legal: bind an axis of the stage's data"
    )


def test_refuses_a_host_condition_on_device_memory() -> None:
    assert refusal(
        launched,
        """
def f(A: f32[8], B: out[f32[8]]):
    if A[0] < 1.0:
        for i in thread('threadIdx.x', 8):
            B[i] = 1.0
""",
    ) == (
        "a condition outside every kernel reads A\n"
        "  because: the host cannot read device memory between launches\n"
        "  legal: bind a loop outside the condition"
    )


def test_cpu_refuses_threads() -> None:
    with pytest.raises(ScheduleError) as caught:
        launch.run(
            parse("""
def f(B: out[f32[64]]):
    for i in thread('threadIdx.x', 64):
        B[i] = 1.0
"""),
            CPU,
        )
    assert [caught.value.asked, caught.value.because, caught.value.legal] == [
        "stage B is bound to threadIdx.x",
        "the target llvm has no such threads",
        'parallel, vectorize; or target="cuda"',
    ]


def staged(count: int) -> Func:
    """A kernel of that many stages in shared memory, each filled by the threads of a block from the one before."""
    lines = ["def f(A: f32[64], B: out[f32[64]]):", "    for bx in thread('blockIdx.x', 1):"]
    for stage, before in enumerate(["A", *(f"S{stage}" for stage in range(count - 1))]):
        lines += [f"        S{stage} = alloc(f32[64], 'shared')", "        for t in thread('threadIdx.x', 64):"]
        lines += [f"            S{stage}[t] = {before}[t]"]
    lines += ["        for t in thread('threadIdx.x', 64):", f"            B[t] = S{count - 1}[t]", ""]
    return parse("\n".join(lines))


def test_the_checks_of_a_kernel_take_linear_time() -> None:
    short, long = staged(25).body, staged(100).body
    count = calls(lambda: check_kernel(short))
    assert calls(lambda: check_kernel(long)) < 6 * count  # 4 when linear, 16 when quadratic


def test_thread_loops_that_write_a_buffer_stand_inside_its_allocation() -> None:
    func = parse("""
def f(A: f32[4, 8], B: out[f32[4, 8]]):
    for ty in thread('threadIdx.y', 4):
        S = alloc(f32[8], 'shared')
        L = alloc(f32[1], 'local')
        for tx in thread('threadIdx.x', 8):
            S[tx] = A[ty, tx]
        L[0] = S[0]
        for tz in thread('threadIdx.z', 2):
            for tx in thread('threadIdx.x', 8):
                L[0] = S[tx]
                B[ty, tx] = L[0]
""")
    found = {alloc.buffer.name: sorted(tags) for alloc, tags in writer_tags(func.body).items()}
    assert found == {"S": ["threadIdx.x"], "L": ["threadIdx.x", "threadIdx.z"]}
