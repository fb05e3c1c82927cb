"""What comes before what: told by updates, by named barriers, by what asynchronous copies have in their hands."""

from __future__ import annotations

import numpy as np
import pytest

from .kernels import f32, fault, left, said, zeros

TICKETS = """
def f(A: f32[4], N: out[i32[1]], P: out[f32[4]], B: out[f32[1]]) -> device:
    with launch(blockIdx_x=2, threadIdx_x=2) as (b, t):
        P[b * 2 + t] = A[b * 2 + t]
        fence_device()
        old = fetch_add(address(N[0], 'rwu'), i32(1))
        fence_device()
        if old == i32(3):
            B[0] = P[0] + P[1] + P[2] + P[3]
"""


@pytest.mark.parametrize("seed", range(4))
def test_several_threads_of_a_block_tell_others(seed: int) -> None:
    given = [f32(4), np.zeros(1, np.int32), zeros(4), zeros(1)]
    assert left(TICKETS, *given, seed=seed)[3][0] == 6


def test_without_its_fence_a_thread_tells_nothing() -> None:
    for fence in (0, 1):
        parts = TICKETS.split("        fence_device()\n")
        text = parts[0] + ("        fence_device()\n" if fence else "") + parts[1]
        text += ("" if fence else "        fence_device()\n") + parts[2]
        assert fault(text, f32(4), np.zeros(1, np.int32), zeros(4), zeros(1)).kind == "race"


NAMED = """
def f(G: out[f32[1]], B: out[f32[64]]) -> device:
    with launch(threadIdx_x=128) as t:
        if t < 64:
            B[t] = G[0]
        if t < COUNT:
            barrier_named(1, COUNT)
        if t == 64:
            G[0] = 5.0
"""


def test_a_named_barrier_orders_reads_of_global_memory() -> None:
    g, b = left(NAMED.replace("COUNT", "96"), np.ones(1, np.float32), zeros(64))
    assert g[0] == 5 and (b == 1).all()
    found = fault(NAMED.replace("COUNT", "64"), np.ones(1, np.float32), zeros(64))
    assert found.kind == "race" and "thread (threadIdx.x=64) writes it" in said(found)


def test_a_reader_is_named_who_has_read() -> None:
    text = """
    def f(B: out[f32[64]]) -> device:
        with launch(threadIdx_x=64) as t:
            S = alloc(f32[1], 'shared')
            if t == 0:
                S[0] = 1.0
            barrier_block()
            if 5 <= t and t < 7:
                B[t] = S[0]
            if t == WRITER:
                S[0] = 2.0
    """
    for writer, readers in ((40, (5, 6)), (5, (6,)), (6, (5,))):
        message = said(fault(text.replace("WRITER", str(writer)), zeros(64)))
        assert f"thread (threadIdx.x={writer}) writes it" in message
        assert any(f"thread (threadIdx.x={reader}) reads it" in message for reader in readers)


WORDS = """
def f(A: out[f32[32]], B: out[f32[32]]) -> device:
    with launch(threadIdx_x=32) as t:
        S = alloc(f32[32], 'shared')
        cp_async(address(S[t], 'w'), address(A[t], 'r'), 4)
        cp_async_commit()
        EARLY
        cp_async_wait(0)
        LATE
        B[t] = S[t]
"""


def test_what_a_copy_reads_stays_until_it_has_landed() -> None:
    store = "A[t] = -1.0"
    a, b = left(WORDS.replace("EARLY", "pass").replace("LATE", store), f32(32), zeros(32))
    assert (a == -1).all() and (b == f32(32)).all()
    found = fault(WORDS.replace("EARLY", store).replace("LATE", "pass"), f32(32), zeros(32))
    assert found.kind == "async" and "'A[0]' in global memory is in flight" in said(found)


RUN = """
def f(A: f32[64], B: out[f32[64]]) -> device:
    with launch(threadIdx_x=64) as t:
        S = alloc(f32[64], 'shared', align=128)
        bar = alloc(u64[1], 'shared')
        if t == 0:
            mbarrier_init(address(bar[0], 'w'), 1)
            fence_mbarrier_init()
            mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)
            bulk_load(address(S[0], 'w'), address(A[0], 'r'), 256, address(bar[0], 'rw'))
        barrier_block()
        WAIT
        B[t] = VALUE
"""


def test_a_load_that_nobody_waits_for_outlives_its_block() -> None:
    waited = RUN.replace("WAIT", "mbarrier_wait(address(bar[0], 'rw'), 0)").replace("VALUE", "S[t]")
    np.testing.assert_array_equal(left(waited, f32(64), zeros(64))[1], f32(64))
    found = fault(RUN.replace("WAIT", "pass").replace("VALUE", "1.0"), f32(64), zeros(64))
    assert found.kind == "async" and "bulk_load" in said(found)
    assert "a copy writes shared memory of a block that has ended" in said(found)


def test_warps_that_wait_for_one_thing_are_told_together() -> None:
    text = """
    def f(B: out[f32[4]]) -> device:
        with launch(threadIdx_x=256) as t:
            if t < 224:
                barrier_named(1, 256)
            if t < 4:
                B[t] = 0.0
    """
    message = said(fault(text, zeros(4)))
    assert message.count("barrier 1, to which 224 of 256 threads have come") == 1
    assert "7 warps wait for what does not come" in message and "and others wait for" in message


def test_each_block_of_a_cluster_has_barriers_of_its_own() -> None:
    text = """
    def f(A: f32[256], B: out[f32[256]]) -> device:
        with launch(blockIdx_x=4, cluster_x=2, threadIdx_x=64) as (b, r, t):
            S = alloc(f32[64], 'shared', align=128)
            bar = alloc(u64[1], 'shared')
            if t == 0:
                mbarrier_init(address(bar[0], 'w'), 1)
                fence_mbarrier_init()
                mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 256)
                bulk_load(address(S[0], 'w'), address(A[b * 64], 'r'), 256, address(bar[0], 'rw'))
            barrier_cluster()
            mbarrier_wait(address(bar[0], 'rw'), 0)
            B[b * 64 + t] = S[63 - t] + f32(r)
    """
    want = f32(256).reshape(4, 64)[:, ::-1] + np.array([[0], [1], [0], [1]], np.float32)
    for seed in range(3):
        np.testing.assert_array_equal(left(text, f32(256), zeros(256), seed=seed)[1], want.ravel())


SIDES = """
def f(A: f32[32], B: out[f32[32]]) -> device:
    with launch(threadIdx_x=32) as t:
        S = alloc(f32[32], 'shared')
        bar = alloc(u64[1], 'shared')
        if t == 0:
            mbarrier_init(address(bar[0], 'w'), 31)
        barrier_warp(-1)
        S[t] = A[t]
        if t == 0:
            mbarrier_wait(address(bar[0], 'rw'), 0)
            B[0] = S[31]
        else:
            B[t] = A[t]
            ARRIVE
"""
MEETING = """
def f(A: f32[32], B: out[f32[32]]) -> device:
    with launch(threadIdx_x=32) as t:
        S = alloc(f32[32], 'shared')
        if t < 16:
            S[t] = A[t]
            FIRST
            B[t] = S[31 - t]
        else:
            S[t] = A[t] + 1.0
            SECOND
            B[t] = S[31 - t]
"""
ALL = "barrier_warp(-1)"


@pytest.mark.parametrize("warps", ["", "apart"])
@pytest.mark.parametrize("seed", range(3))
def test_lanes_in_different_branches_may_wait_for_each_other(seed: int, warps: str) -> None:
    right = SIDES.replace("ARRIVE", "mbarrier_arrive(address(bar[0], 'rw'))")
    np.testing.assert_array_equal(left(right, f32(32), zeros(32), seed=seed, warps="")[1], np.r_[31, f32(32)[1:]])
    want = np.r_[f32(32)[:15:-1] + 1, f32(32)[15::-1]]
    found = left(MEETING.replace("FIRST", ALL).replace("SECOND", ALL), f32(32), zeros(32), seed=seed, warps=warps)
    np.testing.assert_array_equal(found[1], want)


def test_lanes_that_do_not_come_are_told() -> None:
    found = fault(SIDES.replace("ARRIVE", "pass"), f32(32), zeros(32))
    assert found.kind == "deadlock" and "31 of 31 arrivals" in said(found)
    for first, second in ((ALL, "pass"), ("pass", ALL), ("barrier_warp(65535)", ALL)):
        text = MEETING.replace("FIRST", first).replace("SECOND", second)
        assert fault(text, f32(32), zeros(32)).kind in ("divergence", "race")


def test_reads_of_part_of_a_warp() -> None:
    text = """
    def f(B: out[f32[32]]) -> device:
        with launch(threadIdx_x=32) as t:
            S = alloc(f32[1], 'shared')
            if t == 0:
                S[0] = 1.0
            barrier_warp(-1)
            if t < READERS:
                B[t] = S[0]
            if t < 16:
                barrier_warp(65535)
            if t == 3:
                S[0] = 2.0
    """
    assert left(text.replace("READERS", "16"), zeros(32))[0].sum() == 16
    message = said(fault(text.replace("READERS", "17"), zeros(32)))
    assert "thread (threadIdx.x=3) writes it, thread (threadIdx.x=16) reads it" in message


def test_updates_of_global_memory_by_some_warps() -> None:
    text = """
    def f(A: f32[64], B: out[f32[2]]) -> device:
        with launch(threadIdx_x=96) as t:
            if t < 64:
                atomic_add(address(B[0], 'rwu'), A[t])
            if t < COUNT:
                barrier_named(1, COUNT)
            if t == 40:
                B[1] = B[0]
    """
    assert (left(text.replace("COUNT", "64"), f32(64), zeros(2))[1] == f32(64).sum()).all()
    assert fault(text.replace("COUNT", "32"), f32(64), zeros(2)).kind == "race"
