"""Atomic updates beside plain accesses of one element: what comes before them, and what the last one may do."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from .kernels import Row, Wrong, built, checks, f32, fault, left, zeros

ROWS: dict[str, Row] = {
    "the last block sets the counter back": Row(
        """
        def f(A: f32[8, 64], P: out[f32[8]], n: out[i32[1]], B: out[f32[1]]) -> device:
            with launch(blockIdx_x=8, threadIdx_x=64) as (b, t):
                S = alloc(f32[64], 'shared')
                last = alloc(i32[1], 'shared')
                S[t] = A[b, t]
                barrier_block()
                if t == 0:
                    total: f32
                    total = 0.0
                    for k in range(64):
                        total = total + S[k]
                    P[b] = total
                    fence_device()
                    last[0] = fetch_add(address(n[0], 'rwu'), i32(1))
                    fence_device()
                barrier_block()
                if last[0] == 7:
                    if t == 33:
                        total: f32
                        total = 0.0
                        for k in range(8):
                            total = total + P[k]
                        B[0] = total
                        n[0] = 0
        """,
        lambda: [f32(8, 64), zeros(8), zeros(1, dtype="i4"), zeros(1)],
        lambda a, *_: a.sum().reshape(1),
    ),
    "the last block overwrites what all have read": Row(
        """
        def f(n: out[i32[1]], B: out[f32[8, 64]], G: out[f32[1]]) -> device:
            with launch(blockIdx_x=8, threadIdx_x=64) as (b, t):
                last = alloc(i32[1], 'shared')
                B[b, t] = G[0]
                barrier_block()
                if t == 0:
                    fence_device()
                    last[0] = fetch_add(address(n[0], 'rwu'), i32(1))
                    fence_device()
                barrier_block()
                if last[0] == 7:
                    if t == 0:
                        G[0] = 5.0
        """,
        lambda: [zeros(1, dtype="i4"), zeros(8, 64), zeros(1)],
        lambda *_: zeros(1) + 5,
    ),
    "a store before updates": Row(
        """
        def f(B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[1], 'shared')
                if t == 0:
                    S[0] = 0.0
                    atomic_add(address(S[0], 'rwu'), f32(1.0))
                barrier_block()
                if t == 33:
                    atomic_add(address(S[0], 'rwu'), f32(1.0))
                barrier_block()
                B[t] = S[0]
        """,
        lambda: [zeros(64)],
        lambda _: zeros(64) + 2,
    ),
    "a histogram of each warp": Row(
        """
        def f(A: i32[64], B: out[i32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(i32[2, 4], 'shared')
                if t % 32 < 4:
                    S[t // 32, t % 32] = 0
                barrier_warp(0xffffffff)
                atomic_add(address(S[t // 32, index(A[t])], 'rwu'), i32(1))
                barrier_warp(0xffffffff)
                B[t] = S[t // 32, t % 4]
        """,
        lambda: [np.arange(64, dtype="i4") // 16, zeros(64, dtype="i4")],
        lambda *_: np.r_[np.tile([16, 16, 0, 0], 8), np.tile([0, 0, 16, 16], 8)].astype("i4"),
    ),
    "updates of two blocks": Row(
        """
        def f(A: f32[2], B: out[f32[2]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=32) as (b, t):
                if t == 0:
                    atomic_add(address(B[0], 'rwu'), A[b])
                barrier_grid()
                if b == 0 and t == 5:
                    B[1] = B[0]
        """,
        lambda: [f32(2) + 1, zeros(2)],
        lambda a, _: zeros(2) + a.sum(),
    ),
    "updates of some warps": Row(
        """
        def f(A: f32[96], B: out[f32[96]]) -> device:
            with launch(threadIdx_x=96) as t:
                S = alloc(f32[1], 'shared')
                bar = alloc(u64[1], 'shared')
                if t == 0:
                    S[0] = 0.0
                    mbarrier_init(address(bar[0], 'w'), 64)
                barrier_block()
                if t < 64:
                    atomic_add(address(S[0], 'rwu'), A[t])
                    mbarrier_arrive(address(bar[0], 'rw'))
                    barrier_named(1, 64)
                    B[t] = S[0]
                else:
                    mbarrier_wait(address(bar[0], 'rw'), 0)
                    B[t] = S[0]
        """,
        lambda: [f32(96), zeros(96)],
        lambda a, _: zeros(96) + a[:64].sum(),
    ),
}
_LAST = "the last block sets the counter back"
_READ = "the last block overwrites what all have read"
_FENCED = "last[0] = fetch_add(address(n[0], 'rwu'), i32(1))\n                    fence_device()"
WRONG: list[Wrong] = [
    Wrong(_LAST, _FENCED, "last[0] = fetch_add(address(n[0], 'rwu'), i32(1))", "race"),
    Wrong(_LAST, "last[0] == 7", "last[0] == 6", "race"),
    Wrong(_READ, "last[0] == 7", "last[0] == 6", "race"),
    Wrong(_READ, "fence_device()\n                    last", "last", "race"),
    Wrong(_READ, _FENCED, "last[0] = fetch_add(address(n[0], 'rwu'), i32(1))", "race"),
    Wrong("a histogram of each warp", "barrier_warp(0xffffffff)\n                B", "B", "race"),
    Wrong("a histogram of each warp", "B[t] = S[t // 32, t % 4]", "B[t] = S[1 - t // 32, t % 4]", "race"),
    Wrong("updates of some warps", "barrier_named(1, 64)", "pass", "race"),
    Wrong("updates of some warps", "mbarrier_wait(address(bar[0], 'rw'), 0)", "pass", "race"),
    Wrong("updates of two blocks", "barrier_grid()", "barrier_block()", "race"),
    Wrong("a store before updates", "barrier_block()\n                if t == 33", "if t == 33", "race"),
]


test_it_is_right, test_it_is_reported = checks(ROWS, WRONG)


@pytest.mark.parametrize("warps", ["together", "apart"])
def test_a_store_and_an_update_behind_it_race_with_the_updates_of_other_blocks(warps: str) -> None:
    text = """
        def f(B: out[f32[1]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=32) as (b, t):
                if b == 0 and t == 0:
                    B[0] = 0.0
                    atomic_add(address(B[0], 'rwu'), f32(1.0))
                if b == 1 and t == 0:
                    atomic_add(address(B[0], 'rwu'), f32(1.0))
    """
    found = fault(text, np.zeros(1, "f4"), warps=warps)
    assert found.kind == "race"
    assert "(blockIdx.x=1, threadIdx.x=0) updates it, thread (blockIdx.x=0, threadIdx.x=0) writes it" in str(found)


@pytest.mark.parametrize("warps", ["together", "apart"])
@pytest.mark.parametrize("barrier", ["barrier_block()", "barrier_grid()"])
def test_updates_that_a_barrier_orders_are_over(barrier: str, warps: str) -> None:
    """Behind it a thread's own update is its own; two threads' race."""
    text = f"""
        def f(B: out[f32[1]]) -> device:
            with launch(threadIdx_x=64) as t:
                atomic_add(address(B[0], 'rwu'), f32(1.0))
                {barrier}
                if t == 40:
                    atomic_add(address(B[0], 'rwu'), f32(1.0))
                    B[0] = B[0] * 2.0
    """
    assert left(text, zeros(1), warps=warps)[0][0] == 130
    found = fault(text.replace("t == 40", "t % 40 == 0"), zeros(1), warps=warps)
    assert found.kind == "race"


def test_what_blocks_are_told_takes_memory_as_they_are_many() -> None:
    """Each is told what all before it were, and nearly none asks."""
    text = """
        def f(n: i32, P: out[f32[2000]], c: out[i32[1]]) -> device:
            with launch(blockIdx_x=index(n), threadIdx_x=32) as (b, t):
                if t == 0:
                    P[b] = 1.0
                    fence_device()
                    old = fetch_add(address(c[0], 'rwu'), i32(1))
                    fence_device()
                    if old == n - 1:
                        for k in range(index(n)):
                            P[k] = 2.0
    """
    module = built(text)

    def peak(blocks: int) -> int:
        given = zeros(2000)
        tracemalloc.start()
        try:
            module(blocks, given, zeros(1, dtype="i4"))
            assert given.tolist() == [2.0] * blocks + [0.0] * (2000 - blocks)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(2000) < 3 * peak(1000)
