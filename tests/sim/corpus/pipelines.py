"""Copies that go on while threads do something else, and barriers in memory: what is waited for, and by whom."""

from __future__ import annotations

import numpy as np

from .case import BARRIER, Case, clean, faulty, floats, given, ints, twins, zeros

_TILE = """
    def tile(A: f32[512], B: out[f32[512]]) -> device:
        with launch(threadIdx_x=128) as t:
            S = alloc(f32[512], 'shared', align=16)
            cp_async(address(S[t * 4], 'w'), address(A[t * 4], 'r'), 16)
            cp_async_commit()
            WAIT
            BARRIER
            for k in range(4):
                B[t * 4 + k] = S[WHERE]
"""
_OTHERS, _OWN = "511 - t * 4 - k", "t * 4 + 3 - k"
_STAGES = """
    def stages(A: f32[6, 256], B: out[f32[256]]) -> device:
        with launch(threadIdx_x=64) as t:
            S = alloc(f32[3, 256], 'shared', align=16)
            total = alloc(f32[4], 'local')
            for k in unrolled(4):
                total[k] = 0.0
            for ahead in range(2):
                cp_async(address(S[ahead, t * 4], 'w'), address(A[ahead, t * 4], 'r'), 16)
                cp_async_commit()
            for step in range(6):
                WAIT
                BARRIER
                if step + 2 < 6:
                    cp_async(address(S[(step + 2) % 3, t * 4], 'w'), address(A[step + 2, t * 4], 'r'), 16)
                cp_async_commit()
                for k in unrolled(4):
                    total[k] = total[k] + S[step % 3, 255 - t * 4 - k]
            for k in unrolled(4):
                B[t * 4 + k] = total[k]
"""
_MEET = """
    def meet(A: f32[128], B: out[f32[128]]) -> device:
        with launch(threadIdx_x=128) as t:
            S = alloc(f32[128], 'shared')
            bar = alloc(u64[1], 'shared')
            if t == 0:
                mbarrier_init(address(bar[0], 'w'), 128)
            barrier_block()
            S[t] = A[t]
            mbarrier_arrive(address(bar[0], 'rw'))
            WAIT
            B[t] = S[127 - t]
"""
_RING = """
    def ring(A: f32[6, 64], B: out[f32[64]]) -> device:
        with launch(threadIdx_x=128) as t:
            S = alloc(f32[2, 64], 'shared')
            full = alloc(u64[2], 'shared')
            empty = alloc(u64[2], 'shared')
            total: f32
            if t == 0:
                for k in range(2):
                    mbarrier_init(address(full[k], 'w'), 64)
                    mbarrier_init(address(empty[k], 'w'), 64)
            barrier_block()
            total = 0.0
            for k in range(6):
                if t < 64:
                    if 2 <= k:
                        mbarrier_wait(address(empty[k % 2], 'rw'), (k // 2 + 1) % 2)
                    S[k % 2, t] = A[k, t]
                    mbarrier_arrive(address(full[k % 2], 'rw'))
                else:
                    mbarrier_wait(address(full[k % 2], 'rw'), k // 2 % 2)
                    EARLY
                    total = total + S[k % 2, 127 - t]
                    LATE
            if 64 <= t:
                B[t - 64] = total
"""
_EMPTY = "mbarrier_arrive(address(empty[k % 2], 'rw'))"
_BULK = """
    def bulk(A: f32[256], B: out[f32[256]]) -> device:
        with launch(threadIdx_x=256) as t:
            S = alloc(f32[256], 'shared', align=128)
            bar = alloc(u64[1], 'shared')
            if t == 0:
                mbarrier_init(address(bar[0], 'w'), 1)
                fence_mbarrier_init()
            barrier_block()
            if t == 0:
                mbarrier_arrive_expect_tx(address(bar[0], 'rw'), 1024)
                bulk_load(address(S[0], 'w'), address(A[0], 'r'), 1024, address(bar[0], 'rw'))
            WAIT
            B[t] = S[255 - t]
"""
_PAIR = given(floats(512), zeros(512))
_WAIT = ("cp_async_wait(0)", "pass")
_ALWAYS = ("barrier_block()", "barrier_block()")


def _reversed(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return a[::-1]


def _total(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return a.sum(0)[::-1]


CASES: list[Case] = [
    *twins(
        "async_tile", _TILE, _PAIR, "race", "racecheck", _reversed,
        WAIT=("cp_async_wait(0)", "cp_async_wait(0)"), BARRIER=BARRIER, WHERE=(_OTHERS, _OTHERS),
    ),
    faulty(
        "async_tile_not_waited_for",
        _TILE.replace("WAIT", "pass").replace("BARRIER", "barrier_block()").replace("WHERE", _OTHERS),
        _PAIR, "race", "racecheck",
    ),
    *twins(
        "async_own_elements", _TILE, _PAIR, "race", "racecheck", lambda a, _: a.reshape(-1, 4)[:, ::-1].ravel(),
        WAIT=_WAIT, BARRIER=("pass", "pass"), WHERE=(_OWN, _OWN),
    ),
    *twins(
        "async_stages", _STAGES, given(floats(6, 256), zeros(256)), "race", "racecheck", _total,
        WAIT=("cp_async_wait(1)", "cp_async_wait(2)"), BARRIER=_ALWAYS,
    ),
    faulty(
        "async_stages_overwritten", _STAGES.replace("WAIT", "cp_async_wait(1)").replace("BARRIER", "pass"),
        given(floats(6, 256), zeros(256)), "race", "racecheck",
    ),
    *twins(
        "async_tail",
        """
        def async_tail(A: f32[1003], B: out[f32[1003]]) -> device:
            with launch(blockIdx_x=8, threadIdx_x=128) as (b, t):
                S = alloc(f32[128], 'shared')
                if LAST < 1003:
                    cp_async(address(S[t], 'w'), address(A[b * 128 + t], 'r'), 4)
                cp_async_commit()
                cp_async_wait(0)
                barrier_block()
                if b * 128 + t < 1003:
                    B[b * 128 + t] = S[t]
        """,
        given(floats(1003), zeros(1003)), "bounds", "memcheck", lambda a, _: a,
        LAST=("b * 128 + t", "b * 128"),
    ),
    clean(
        "async_zeros",
        """
        def async_zeros(A: f32[512], L: i32[128], B: out[f32[512]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[512], 'shared', align=16)
                cp_async_zfill(address(S[t * 4], 'w'), address(A[t * 4], 'r'), 16, index(L[t]) * 4)
                cp_async_commit()
                cp_async_wait(0)
                barrier_block()
                for k in range(4):
                    B[k * 128 + t] = S[k * 128 + t]
        """,
        given(floats(512), ints(128, below=5), zeros(512)),
        lambda a, n, _: np.where(np.arange(512) % 4 < np.repeat(n, 4), a, 0),
    ),
    *twins(
        "memory_barrier", _MEET, given(floats(128), zeros(128)), "race", "racecheck", _reversed,
        WAIT=("mbarrier_wait(address(bar[0], 'rw'), 0)", "pass"),
    ),
    *twins(
        "full_and_empty", _RING, given(floats(6, 64), zeros(64)), "race", "racecheck", _total,
        EARLY=("pass", _EMPTY), LATE=(_EMPTY, "pass"),
    ),
    *twins(
        "bulk_copy", _BULK, given(floats(256), zeros(256)), "race", "racecheck", _reversed,
        WAIT=("mbarrier_wait(address(bar[0], 'rw'), 0)", "pass"),
    ),
]  # fmt: skip
