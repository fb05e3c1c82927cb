"""Buffers of several copies that are filled ahead: one barrier an iteration is enough, and none is too few."""

from __future__ import annotations

import numpy as np

from .case import BARRIER, Case, faulty, floats, given, twins, zeros

_DOUBLE = """
    def double(A: f32[6, 128], B: out[f32[128]]) -> device:
        with launch(threadIdx_x=128) as t:
            S = alloc(f32[2, 128], 'shared')
            total: f32
            total = 0.0
            S[0, t] = A[0, t]
            for k in range(6):
                HERE
                if k + 1 < 6:
                    S[(k + 1) % COPIES, t] = A[k + 1, t]
                total = total + S[k % COPIES, 127 - t]
            B[t] = total
"""

_RING = """
    def ring(A: f32[9, 128], B: out[f32[128]]) -> device:
        with launch(threadIdx_x=128) as t:
            S = alloc(f32[3, 128], 'shared')
            total: f32
            total = 0.0
            S[0, t] = A[0, t]
            S[1, t] = A[1, t]
            for k in range(9):
                barrier_block()
                if k + AHEAD < 9:
                    S[(k + AHEAD) % 3, t] = A[k + AHEAD, t]
                total = total + S[k % 3, 127 - t]
            B[t] = total
"""


def _total(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return a.sum(0)[::-1]


_SIX, _NINE = given(floats(6, 128), zeros(128)), given(floats(9, 128), zeros(128))

CASES: list[Case] = [
    *twins("double_buffer", _DOUBLE, _SIX, "race", "racecheck", _total, HERE=BARRIER, COPIES=("2", "2")),
    faulty(
        "double_buffer_of_one_copy",
        _DOUBLE.replace("HERE", "barrier_block()").replace("COPIES", "1"), _SIX, "race", "racecheck",
    ),
    *twins("ring_of_three", _RING, _NINE, "race", "racecheck", _total, AHEAD=("2", "3")),
    *twins(
        "ping_pong",
        """
        def ping_pong(A: f32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[2, 128], 'shared')
                S[0, t] = A[t]
                for k in range(4):
                    HERE
                    S[(k + 1) % 2, t] = S[k % 2, t] + S[k % 2, (t + 32) % 128]
                B[t] = S[0, t]
        """,
        given(floats(128), zeros(128)), "race", "racecheck",
        lambda a, _: sum(c * np.roll(a, -32 * k) for k, c in enumerate((1, 4, 6, 4, 1))),
        HERE=BARRIER,
    ),
    *twins(
        "producers_and_consumers",
        """
        def producers(A: f32[8, 64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64, threadIdx_y=2) as (t, role):
                S = alloc(f32[2, 64], 'shared')
                total: f32
                total = 0.0
                for k in range(9):
                    if role == 0:
                        if k < 8:
                            S[k % 2, t] = A[k, t]
                    else:
                        if 0 < k:
                            total = total + S[(k + 1) % 2, 63 - t]
                    HERE
                if role == 1:
                    B[t] = total
        """,
        given(floats(8, 64), zeros(64)), "race", "racecheck", _total,
        HERE=BARRIER,
    ),
]  # fmt: skip
