"""Barriers in memory in the simulator: phases, counts, bytes, a second life; what hangs or comes too often."""

from __future__ import annotations

import numpy as np

from .kernels import Row, Wrong, checks, f32, fault, said, zeros

ROWS: dict[str, Row] = {
    "many phases": Row(
        """
        def f(A: f32[20, 96], B: out[f32[96]]) -> device:
            with launch(threadIdx_x=96) as t:
                S = alloc(f32[2, 96], 'shared')
                bar = alloc(u64[1], 'shared')
                total: f32
                total = 0.0
                if t == 0:
                    mbarrier_init(address(bar[0], 'w'), 96)
                barrier_block()
                for k in range(20):
                    S[k % 2, t] = A[k, t]
                    mbarrier_arrive(address(bar[0], 'rw'))
                    mbarrier_wait(address(bar[0], 'rw'), k % 2)
                    total = total + S[k % 2, 95 - t]
                B[t] = total
        """,
        lambda: [f32(20, 96), zeros(96)],
        lambda a, _: a.sum(0)[::-1],
    ),
    "a ring": Row(
        """
        def f(A: f32[9, 32], B: out[f32[32]]) -> device:
            with launch(threadIdx_x=96) as t:
                S = alloc(f32[3, 32], 'shared')
                full = alloc(u64[3], 'shared')
                free = alloc(u64[3], 'shared')
                total: f32
                total = 0.0
                if t == 0:
                    for k in range(3):
                        mbarrier_init(address(full[k], 'w'), 32)
                        mbarrier_init(address(free[k], 'w'), 64)
                barrier_block()
                for k in range(9):
                    if t < 32:
                        mbarrier_wait(address(free[k % 3], 'rw'), (k // 3 + 1) % 2)
                        S[k % 3, t] = A[k, t]
                        mbarrier_arrive(address(full[k % 3], 'rw'))
                    else:
                        mbarrier_wait(address(full[k % 3], 'rw'), k // 3 % 2)
                        total = total + S[k % 3, (95 - t) % 32]
                        mbarrier_arrive(address(free[k % 3], 'rw'))
                if 64 <= t:
                    B[t - 64] = total
        """,
        lambda: [f32(9, 32), zeros(32)],
        lambda a, _: a.sum(0)[::-1],
    ),
    "bytes and arrivals": Row(
        """
        def f(A: f32[4, 64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[2, 128], 'shared', align=128)
                bar = alloc(u64[1], 'shared')
                total: f32
                total = 0.0
                if t == 0:
                    mbarrier_init(address(bar[0], 'w'), 33)
                    fence_mbarrier_init()
                barrier_block()
                for k in range(4):
                    if t == 0:
                        mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)
                        bulk_load(address(S[k % 2, 0], 'w'), address(A[k, 0], 'r'), 256, address(bar[0], 'rw'))
                    if 32 <= t:
                        S[k % 2, t + 64] = A[k, 95 - t]
                        S[k % 2, t + 32] = f32(k)
                        mbarrier_arrive(address(bar[0], 'rw'))
                    mbarrier_wait(address(bar[0], 'rw'), k % 2)
                    total = total + S[k % 2, t] + S[k % 2, 127 - t]
                    barrier_block()
                B[t] = total
        """,
        lambda: [f32(4, 64), zeros(64)],
        lambda a, _: a.sum(0) + np.r_[a[:, 32:].sum(0), np.full(32, 6)],
    ),
    "begun again": Row(
        """
        def f(A: f32[3, 64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared')
                bar = alloc(u64[1], 'shared')
                total: f32
                total = 0.0
                for k in range(3):
                    if t == 0:
                        mbarrier_init(address(bar[0], 'w'), 64)
                    barrier_block()
                    S[t] = A[k, t]
                    mbarrier_arrive(address(bar[0], 'rw'))
                    mbarrier_wait(address(bar[0], 'rw'), 0)
                    total = total + S[63 - t]
                    barrier_block()
                B[t] = total
        """,
        lambda: [f32(3, 64), zeros(64)],
        lambda a, _: a.sum(0)[::-1],
    ),
    "bytes come before they are expected": Row(
        """
        def f(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared', align=128)
                bar = alloc(u64[1], 'shared')
                if t == 0:
                    mbarrier_init(address(bar[0], 'w'), 1)
                    fence_mbarrier_init()
                    bulk_load(address(S[0], 'w'), address(A[0], 'r'), 256, address(bar[0], 'rw'))
                    mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)
                barrier_block()
                mbarrier_wait(address(bar[0], 'rw'), 0)
                B[t] = S[t]
        """,
        lambda: [f32(64), zeros(64)],
        lambda a, _: a,
    ),
    "of each block its own": Row(
        """
        def f(A: f32[5, 64], B: out[f32[5, 64]]) -> device:
            with launch(blockIdx_x=5, threadIdx_x=64) as (b, t):
                S = alloc(f32[64], 'shared')
                bar = alloc(u64[2], 'shared')
                if t == 0:
                    mbarrier_init(address(bar[1], 'w'), 64)
                barrier_block()
                S[t] = A[b, t]
                fence_block()
                mbarrier_arrive(address(bar[1], 'rw'))
                mbarrier_wait(address(bar[1], 'rw'), 0)
                B[b, t] = S[63 - t]
        """,
        lambda: [f32(5, 64), zeros(5, 64)],
        lambda a, _: a[:, ::-1],
    ),
}
_MIXED = "bytes and arrivals"
WRONG: list[Wrong] = [
    Wrong("many phases", "mbarrier_wait(address(bar[0], 'rw'), k % 2)", "pass", "race"),
    Wrong("many phases", "'rw'), k % 2)", "'rw'), (k + 1) % 2)", "race"),
    Wrong("many phases", "'rw'), k % 2)", "'rw'), 0)", "race, deadlock"),
    Wrong("many phases", "S[k % 2", "S[0", "race"),
    Wrong("many phases", "'w'), 96)", "'w'), 97)", "deadlock"),
    Wrong("many phases", "'w'), 96)", "'w'), 64)", "race, deadlock"),
    Wrong("many phases", "mbarrier_arrive(address(bar[0], 'rw'))\n", "pass\n", "deadlock"),
    Wrong("many phases", "mbarrier_init(address(bar[0], 'w'), 96)", "pass", "uninitialised"),
    Wrong("many phases", "barrier_block()", "pass", "race"),
    Wrong("a ring", "(k // 3 + 1) % 2", "k // 3 % 2", "deadlock"),
    Wrong("a ring", "mbarrier_wait(address(free[k % 3], 'rw'), (k // 3 + 1) % 2)", "pass", "race"),
    Wrong("a ring", "mbarrier_wait(address(full[k % 3], 'rw'), k // 3 % 2)", "pass", "race"),
    Wrong("a ring", "free[k], 'w'), 64)", "free[k], 'w'), 32)", "race, deadlock"),
    Wrong("a ring", "full[k], 'w'), 32)", "full[k], 'w'), 33)", "deadlock"),
    Wrong("a ring", "mbarrier_arrive(address(free[k % 3], 'rw'))", "pass", "deadlock"),
    Wrong("a ring", "mbarrier_arrive(address(full[k % 3], 'rw'))", "pass", "deadlock"),
    Wrong("a ring", "total = total + S[k % 3", "pass\n                        total = total + S[(k + 1) % 3", "race"),
    Wrong(_MIXED, "'w'), 33)", "'w'), 34)", "deadlock"),
    Wrong(_MIXED, "'w'), 33)", "'w'), 1)", "undefined"),
    Wrong(_MIXED, "mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)", "mbarrier_arrive(address(bar[0], 'rw'))",
          "async"),
    Wrong(_MIXED, "'rw'), 256)\n                        bulk", "'rw'), 512)\n                        bulk", "deadlock"),
    Wrong(_MIXED, "fence_mbarrier_init()", "pass", "async"),
    Wrong(_MIXED, "mbarrier_wait(address(bar[0], 'rw'), k % 2)", "pass", "async"),
    Wrong("begun again", "bar[0], 'rw'), 0)", "bar[0], 'rw'), k % 2)", "deadlock"),
    Wrong("begun again", "if t == 0:", "if t == 0 and k == 0:", "deadlock"),
    Wrong("begun again", "barrier_block()\n                B", "B", "race"),
    Wrong("bytes come before they are expected", "mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)",
          "mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 240)", "deadlock"),
    Wrong("of each block its own", "bar[1], 'rw'), 0)", "bar[0], 'rw'), 0)", "uninitialised"),
    Wrong("of each block its own", "bar[1]", "bar[2]", "bounds"),
]  # fmt: skip


test_it_is_right, test_it_is_reported = checks(ROWS, WRONG)


def test_what_a_phase_waits_for_is_told() -> None:
    text = ROWS["bytes and arrivals"].text
    found = fault(text.replace("'w'), 33)", "'w'), 34)"), f32(4, 64), zeros(64))
    assert "bar[0], phase of parity 0: 1 of 34 arrivals and 0 bytes" in said(found)


def test_an_arrival_too_many_is_told_with_its_statement() -> None:
    text = """
        def f(B: out[f32[32]]) -> device:
            with launch(threadIdx_x=32) as t:
                S = alloc(f32[32], 'shared', align=128)
                bar = alloc(u64[1], 'shared')
                if t == 0:
                    mbarrier_init(address(bar[0], 'w'), 1)
                    fence_mbarrier_init()
                    mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 64)
                barrier_warp(-1)
                if t == 5:
                    mbarrier_arrive(address(bar[0], 'rw'))
                mbarrier_wait(address(bar[0], 'rw'), 0)
                B[t] = 0.0
    """
    found = fault(text, zeros(32))
    assert [one.kind for one in found.faults] == ["undefined", "deadlock"]
    assert "bar[0] has too many arrivals" in said(found)
    assert "thread (threadIdx.x=5) arrives, and all 1 have in this phase" in said(found)
    assert "mbarrier_arrive(" in repr(found.faults[0].stmt)
