"""Barriers in the simulator: each has a kernel that needs it, and one without it, or with it wrong, is reported."""

from __future__ import annotations

import numpy as np
import pytest

from .kernels import Row, Wrong, checks, f32, fault, left, said, zeros

ROWS: dict[str, Row] = {
    "block in loops and branches": Row(
        """
        def f(A: f32[96], n: i32, B: out[f32[96]]) -> device:
            with launch(threadIdx_x=96) as t:
                S = alloc(f32[96], 'shared')
                S[t] = A[t]
                for k in range(index(n)):
                    if k % 2 == 0:
                        barrier_block()
                        x = S[95 - t]
                        barrier_block()
                        S[t] = x + 1.0
                B[t] = S[t]
        """,
        lambda: [f32(96), 5, zeros(96)],
        lambda a, n, _: a[::-1] + 3,
    ),
    "block of three dimensions": Row(
        """
        def f(A: f32[2, 3, 4, 5], B: out[f32[2, 3, 4, 5]]) -> device:
            with launch(blockIdx_y=2, threadIdx_x=5, threadIdx_y=4, threadIdx_z=3) as (b, x, y, z):
                S = alloc(f32[3, 4, 5], 'shared')
                S[z, y, x] = A[b, z, y, x]
                barrier_block()
                B[b, z, y, x] = S[2 - z, 3 - y, 4 - x]
        """,
        lambda: [f32(2, 3, 4, 5), zeros(2, 3, 4, 5)],
        lambda a, _: a[:, ::-1, ::-1, ::-1],
    ),
    "two groups": Row(
        """
        def f(A: f32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                for k in range(3):
                    S[t] = A[t] + f32(k)
                    if t < 64:
                        barrier_named(1, 64)
                        B[t] = S[63 - t]
                        barrier_named(1, 64)
                    else:
                        barrier_named(2, 64)
                        B[t] = S[191 - t]
                        barrier_named(3, 64)
        """,
        lambda: [f32(128), zeros(128)],
        lambda a, _: a.reshape(2, 64)[:, ::-1].ravel() + 2,
    ),
    "producer and consumer": Row(
        """
        def f(A: f32[6, 64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[64], 'shared')
                total: f32
                total = 0.0
                for k in range(6):
                    if t < 64:
                        if 0 < k:
                            barrier_named(2, 128)
                        S[t] = A[k, t]
                        barrier_named_arrive(1, 128)
                    else:
                        barrier_named(1, 128)
                        total = total + S[127 - t]
                        if k < 5:
                            barrier_named_arrive(2, 128)
                if 64 <= t:
                    B[t - 64] = total
        """,
        lambda: [f32(6, 64), zeros(64)],
        lambda a, _: a.sum(0)[::-1],
    ),
    "named in a block of one and a half warps": Row(
        """
        def f(A: f32[48], B: out[f32[48]]) -> device:
            with launch(threadIdx_x=48) as t:
                S = alloc(f32[48], 'shared')
                S[t] = A[t]
                barrier_named(1, 64)
                B[t] = S[47 - t]
        """,
        lambda: [f32(48), zeros(48)],
        lambda a, _: a[::-1],
    ),
    "parts of a warp": Row(
        """
        def f(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared')
                S[t] = A[t]
                if t % 32 < 8:
                    barrier_warp(255)
                    B[t] = S[t // 8 * 8 + 7 - t % 8]
                else:
                    barrier_warp(-256)
                    B[t] = S[t // 32 * 32 + 39 - t % 32]
        """,
        lambda: [f32(64), zeros(64)],
        lambda a, _: np.c_[a.reshape(2, 32)[:, 7::-1], a.reshape(2, 32)[:, :7:-1]].ravel(),
    ),
    "a warp and a half": Row(
        """
        def f(A: f32[48], B: out[f32[48]]) -> device:
            with launch(threadIdx_x=48) as t:
                S = alloc(f32[48], 'shared')
                S[t] = A[t]
                barrier_warp(-1)
                B[t] = S[t // 16 * 16 + 15 - t % 16]
        """,
        lambda: [f32(48), zeros(48)],
        lambda a, _: a.reshape(3, 16)[:, ::-1].ravel(),
    ),
    "grid": Row(
        """
        def f(A: f32[4, 64], T: out[f32[4, 64]], B: out[f32[4, 64]]) -> device:
            with launch(blockIdx_x=4, threadIdx_x=64) as (b, t):
                for k in range(2):
                    T[b, t] = A[b, t] + f32(k)
                    barrier_grid()
                    B[b, t] = T[3 - b, 63 - t]
                    barrier_grid()
        """,
        lambda: [f32(4, 64), zeros(4, 64), zeros(4, 64)],
        lambda a, *_: a[::-1, ::-1] + 1,
    ),
    "cluster": Row(
        """
        def f(A: f32[6, 64], T: out[f32[6, 64]], B: out[f32[6, 64]]) -> device:
            with launch(blockIdx_x=6, cluster_x=2, threadIdx_x=64) as (b, c, t):
                T[b, t] = A[b, t]
                barrier_cluster()
                B[b, t] = T[b + 1 - 2 * c, 63 - t]
        """,
        lambda: [f32(6, 64), zeros(6, 64), zeros(6, 64)],
        lambda a, *_: a.reshape(3, 2, 64)[:, ::-1, ::-1].reshape(6, 64),
    ),
    "cluster of one block": Row(
        """
        def f(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared')
                S[t] = A[t]
                barrier_cluster()
                B[t] = S[63 - t]
        """,
        lambda: [f32(64), zeros(64)],
        lambda a, _: a[::-1],
    ),
}
WRONG: list[Wrong] = [
    Wrong("block in loops and branches", "barrier_block()\n                        x", "x", "race"),
    Wrong("block in loops and branches", "barrier_block()\n                        S", "S", "race"),
    Wrong("block in loops and branches", "if k % 2 == 0:", "if k % 2 == 0 and t < 64:", "divergence"),
    Wrong("block in loops and branches", "range(index(n))", "range(index(n) + t // 32)", "divergence"),
    Wrong("block of three dimensions", "barrier_block()", "pass", "race"),
    Wrong("block of three dimensions", "barrier_block()", "barrier_warp(-1)", "race"),
    Wrong("two groups", "barrier_named(1, 64)\n                        B", "B", "race"),
    Wrong("two groups", "barrier_named(3, 64)", "pass", "race"),
    Wrong("two groups", "barrier_named(2, 64)", "barrier_named(2, 96)", "deadlock"),
    Wrong("two groups", "barrier_named(2, 64)", "barrier_named(2, 32)", "race"),
    Wrong("two groups", "barrier_named(2, 64)", "barrier_named(2, 64 if t < 96 else 96)", "undefined"),
    Wrong("two groups", "barrier_named(3, 64)", "barrier_named_arrive(3, 64)", "race"),
    Wrong("producer and consumer", "barrier_named(1, 128)", "pass", "race"),
    Wrong("producer and consumer", "barrier_named_arrive(1, 128)", "pass", "deadlock"),
    Wrong("producer and consumer", "barrier_named(2, 128)", "pass", "race"),
    Wrong("producer and consumer", "barrier_named_arrive(2, 128)", "pass", "deadlock"),
    Wrong("named in a block of one and a half warps", "barrier_named(1, 64)", "pass", "race"),
    Wrong("named in a block of one and a half warps", "barrier_named(1, 64)", "barrier_named(1, 96)", "deadlock"),
    Wrong("parts of a warp", "barrier_warp(255)", "pass", "race"),
    Wrong("parts of a warp", "barrier_warp(-256)", "pass", "race"),
    Wrong("parts of a warp", "barrier_warp(255)", "barrier_warp(127)", "divergence"),
    Wrong("parts of a warp", "barrier_warp(255)", "barrier_warp(-1)", "divergence"),
    Wrong("a warp and a half", "barrier_warp(-1)", "pass", "race"),
    Wrong("a warp and a half", "barrier_warp(-1)", "if t < 47:\n                    barrier_warp(-1)", "divergence"),
    Wrong("grid", "barrier_grid()\n                    B", "B", "race"),
    Wrong("grid", "barrier_grid()\n                    B", "barrier_block()\n                    B", "race"),
    Wrong("grid", "barrier_grid()\n                    B", "if b < 3:\n                        barrier_grid()\n"
          "                    B", "divergence"),
    Wrong("cluster", "barrier_cluster()", "pass", "race"),
    Wrong("cluster", "barrier_cluster()", "barrier_block()", "race"),
    Wrong("cluster", "T[b + 1 - 2 * c,", "T[(b + 2) % 6,", "race"),
    Wrong("cluster", "barrier_cluster()", "if b < 4:\n                    barrier_cluster()", "race"),
    Wrong("cluster", "barrier_cluster()", "if b < 5:\n                    barrier_cluster()", "race"),
    Wrong("cluster of one block", "barrier_cluster()", "pass", "race"),
]  # fmt: skip


test_it_is_right, test_it_is_reported = checks(ROWS, WRONG)


def test_blocks_that_run_each_by_itself_wait_for_all_of_the_grid() -> None:
    """Whether the blocks that do not come have ended already or not."""
    text = """
    def f(B: out[f32[4]]) -> device:
        with launch(blockIdx_x=4, threadIdx_x=32) as (b, t):
            if b < 2:
                barrier_grid()
            if t == 0:
                B[b] = 1.0
    """
    for seed in range(5):
        found = fault(text, zeros(4), warps="apart", seed=seed)
        assert found.kind == "deadlock" and "the barrier of all blocks, to which 64 of 128 threads" in str(found)


@pytest.mark.parametrize("seed", range(5))
def test_who_has_ended_is_not_waited_for(seed: int) -> None:
    """At a barrier of a cluster, which is one of threads that have not ended."""
    text = """
    def f(A: f32[2, 32], T: out[f32[2, 32]], B: out[f32[2, 32]]) -> device:
        with launch(blockIdx_x=2, cluster_x=2, threadIdx_x=96) as (b, c, t):
            if t < 32:
                T[b, t] = A[b, t]
                barrier_cluster()
                B[b, t] = T[1 - b, t]
    """
    np.testing.assert_array_equal(left(text, f32(2, 32), *[zeros(2, 32)] * 2, seed=seed)[2], f32(2, 32)[::-1])


def test_a_named_barrier_is_for_whole_warps() -> None:
    text = """
    def f(B: out[f32[64]]) -> device:
        with launch(threadIdx_x=64) as t:
            if t % 32 < 16:
                barrier_named(1, 64)
            B[t] = 1.0
    """
    found = fault(text, zeros(64))
    assert found.kind == "divergence"
    assert "barrier 1 diverges" in str(found) and "comes to it, and not all of its warp do" in str(found)


def test_a_barrier_is_one_statement_for_all_threads() -> None:
    """Each warp comes to one, and not to the same."""
    text = """
    def f(A: f32[64], B: out[f32[64]]) -> device:
        with launch(threadIdx_x=64) as t:
            S = alloc(f32[64], 'shared')
            S[t] = A[t]
            if t < 32:
                barrier_block()
            else:
                barrier_block()
            B[t] = S[t]
    """
    for warps in ("", "apart"):
        found = fault(text, f32(64), zeros(64), warps=warps)
        assert found.kind == "divergence" and "a barrier of the block diverges" in said(found)


def test_registers_that_nobody_gives_away_are_waited_for_for_ever() -> None:
    """A block of 384 threads begins with 168 for each: 200 for two thirds of them are more than the others give."""
    text = """
    def f(A: f32[384], B: out[f32[384]]) -> device:
        with launch(threadIdx_x=384) as t:
            if t < 128:
                registers_decrease(GIVEN)
            else:
                registers_increase(200)
            B[t] = A[t]
    """
    np.testing.assert_array_equal(left(text.replace("GIVEN", "96"), f32(384), zeros(384))[1], f32(384))
    found = fault(text.replace("GIVEN", "120"), f32(384), zeros(384))
    assert found.kind == "deadlock" and "waits for 1024 registers, of which 0 are left" in said(found)


def test_registers_are_what_they_were() -> None:
    """A warp that gives registers away, and one that gets them, compute the same."""
    text = """
    def f(A: f32[256], B: out[f32[256]]) -> device:
        with launch(threadIdx_x=256) as t:
            x = A[t] * 2.0
            if t < 128:
                registers_decrease(40)
            else:
                registers_increase(160)
            B[t] = x
    """
    np.testing.assert_array_equal(left(text, f32(256), zeros(256))[1], f32(256) * 2)


def test_a_warp_that_has_ended_has_not_come() -> None:
    """A GPU counts it as if it had; what CUDA promises is for barriers that all threads come to."""
    text = """
    def f(B: out[f32[64]]) -> device:
        with launch(threadIdx_x=64) as t:
            B[t] = 1.0
            if t < 32:
                barrier_block()
    """
    for warps in ("", "apart"):
        found = fault(text, zeros(64), warps=warps)
        assert found.kind == "divergence" and "a barrier of the block diverges" in said(found)
