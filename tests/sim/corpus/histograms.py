"""Elements that several threads update: atomics beside plain stores, and two threads that write one element.

Racecheck says nothing of an atomic beside a plain access: a missing barrier between these is the simulator's alone.
"""

from __future__ import annotations

import numpy as np

from .case import BARRIER, Case, faulty, floats, given, ints, twins, zeros

_HISTOGRAM = """
    def histogram(A: i32[512], H: out[i32[32]]) -> device:
        with launch(threadIdx_x=128) as t:
            S = alloc(i32[32], 'shared')
            if 96 <= t:
                S[t - 96] = 0
            ZERO
            for k in range(4):
                UPDATE
            SUM
            if t < 32:
                H[t] = S[t]
"""
_ALWAYS = ("barrier_block()", "barrier_block()")
_ATOMIC = "atomic_add(address(S[index(A[k * 128 + t])], 'rwu'), i32(1))"
_PLAIN = "S[index(A[k * 128 + t])] = S[index(A[k * 128 + t])] + 1"
_DATA = given(ints(512, below=32), zeros(32, dtype="int32"))


def _counts(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.bincount(a, minlength=32)


def _without(barrier: str) -> str:
    text = _HISTOGRAM.replace("UPDATE", _ATOMIC).replace(barrier, "pass")
    return text.replace("ZERO", "barrier_block()").replace("SUM", "barrier_block()")


CASES: list[Case] = [
    *twins(
        "histogram", _HISTOGRAM, _DATA, "race", "racecheck", _counts,
        ZERO=_ALWAYS, UPDATE=(_ATOMIC, _PLAIN), SUM=_ALWAYS,
    ),
    faulty("histogram_zeroed", _without("ZERO"), _DATA, "race", ""),
    faulty("histogram_read", _without("SUM"), _DATA, "race", ""),
    *twins(
        "two_write_one",
        """
        def two_write_one(A: f32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                S[t % PERIOD] = A[t] + f32(t) * 32.0
                barrier_block()
                if t < PERIOD:
                    B[t] = S[t]
        """,
        given(floats(128), zeros(128)), "race", "racecheck", lambda a, _: a + np.arange(128, dtype="f4") * 32,
        PERIOD=("128", "64"),
    ),
    *twins(
        "overlapping_pieces",
        """
        def overlapping(A: f32[256], B: out[f32[256]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[256], 'shared')
                for k in range(2):
                    S[t * STEP + k] = A[t * 2 + k] + f32(t) * 32.0
                barrier_block()
                B[t] = S[t]
                B[t + 128] = S[WHERE]
        """,
        given(floats(256), zeros(256)), "race", "racecheck",
        lambda a, _: a + np.arange(256, dtype="f4") // 2 * 32,
        STEP=("2", "1"), WHERE=("t + 128", "t"),
    ),
    *twins(
        "the_last_of_a_search",
        """
        def search(A: i32[256], B: out[i32[1]]) -> device:
            with launch(threadIdx_x=256) as t:
                F = alloc(i32, 'shared')
                if t == 0:
                    F = -1
                barrier_block()
                if A[t] == 3:
                    UPDATE
                barrier_block()
                if t == 0:
                    B[0] = F
        """,
        given(ints(256, below=5), zeros(1, dtype="int32")), "race", "racecheck",
        lambda a, _: np.flatnonzero(a == 3)[-1:],
        UPDATE=("atomic_max(address(F[()], 'rwu'), i32(t))", "F = max(F, i32(t))"),
    ),
    *twins(
        "sum_of_all",
        """
        def sum_of_all(A: f32[256], B: out[f32[256]]) -> device:
            with launch(threadIdx_x=256) as t:
                P = alloc(f32[1], 'shared')
                if t == 0:
                    P[0] = 0.0
                barrier_block()
                atomic_add(address(P[0], 'rwu'), A[t])
                HERE
                B[t] = P[0]
        """,
        given(floats(256), zeros(256)), "race", "", lambda a, _: np.full(256, a.sum()),
        HERE=BARRIER,
    ),
    *twins(
        "compaction",
        """
        def compaction(A: i32[128], B: out[i32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(i32[128], 'shared')
                P = alloc(i32[128], 'shared')
                place: i32
                S[t] = A[t]
                P[t] = 0
                barrier_block()
                place = 0
                for k in range(t):
                    if S[k] < LIMIT:
                        place = place + 1
                if S[t] < 8:
                    P[index(place)] = S[t] + i32(t) * 16
                barrier_block()
                B[t] = P[t]
        """,
        given(ints(128, below=16), zeros(128, dtype="int32")), "race", "racecheck",
        lambda a, _: np.r_[(a + np.arange(128) * 16)[a < 8], np.zeros((a >= 8).sum())],
        LIMIT=("8", "4"),
    ),
]  # fmt: skip
