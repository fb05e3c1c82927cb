"""Transposes, stencils and matrix products in blocks of two dimensions."""

from __future__ import annotations

import numpy as np

from .case import BARRIER, Case, faulty, floats, given, twins, zeros

_HALO = """
    def halo(A: f32[386], B: out[f32[384]]) -> device:
        with launch(blockIdx_x=3, threadIdx_x=128) as (b, t):
            S = alloc(f32[130], 'shared')
            S[t] = A[b * 128 + t]
            EARLY
            if t < 2:
                S[128 + t] = A[b * 128 + 128 + t]
            LATE
            B[b * 128 + t] = S[t] + S[t + 1] + S[t + 2]
"""

_MATMUL = """
    def matmul(A: f32[16, 48], B: f32[48, 16], C: out[f32[16, 16]]) -> device:
        with launch(threadIdx_x=16, threadIdx_y=16) as (tx, ty):
            P = alloc(f32[16, 16], 'shared')
            Q = alloc(f32[16, 16], 'shared')
            total: f32
            total = 0.0
            for k in range(3):
                AGAIN
                P[ty, tx] = A[ty, k * 16 + tx]
                Q[ty, tx] = B[k * 16 + ty, tx]
                FILLED
                for r in range(16):
                    total = total + P[ty, r] * Q[r, tx]
            C[ty, tx] = total
"""


def _three(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return a[:-2] + a[1:-1] + a[2:]


def _cross(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]


CASES: list[Case] = [
    *twins(
        "transpose",
        """
        def transpose(A: f32[32, 48], B: out[f32[48, 32]]) -> device:
            with launch(blockIdx_x=3, blockIdx_y=2, threadIdx_x=16, threadIdx_y=16) as (bx, by, tx, ty):
                S = alloc(f32[16, 16], 'shared')
                S[ty, tx] = A[by * 16 + ty, bx * 16 + tx]
                HERE
                B[bx * 16 + ty, by * 16 + tx] = S[tx, ty]
        """,
        given(floats(32, 48), zeros(48, 32)), "race", "racecheck", lambda a, _: a.T,
        HERE=BARRIER,
    ),
    *twins(
        "transpose_padded",
        """
        def transpose_padded(A: f32[32, 32], B: out[f32[32, 32]]) -> device:
            with launch(threadIdx_x=32, threadIdx_y=4) as (tx, ty):
                S = alloc(f32[32, 32], 'shared', strides=[33, 1])
                for r in unrolled(8):
                    S[r * 4 + ty, tx] = A[r * 4 + ty, tx]
                HERE
                for r in unrolled(8):
                    B[r * 4 + ty, tx] = S[tx, r * 4 + ty]
        """,
        given(floats(32, 32), zeros(32, 32)), "race", "racecheck", lambda a, _: a.T,
        HERE=BARRIER,
    ),
    *twins(
        "transpose_twice",
        """
        def transpose_twice(A: f32[4, 16, 16], B: out[f32[4, 16, 16]]) -> device:
            with launch(threadIdx_x=16, threadIdx_y=16) as (tx, ty):
                S = alloc(f32[16, 16], 'shared')
                for k in range(4):
                    HERE
                    S[ty, tx] = A[k, ty, tx]
                    barrier_block()
                    B[k, ty, tx] = S[tx, ty]
        """,
        given(floats(4, 16, 16), zeros(4, 16, 16)), "race", "racecheck", lambda a, _: a.transpose(0, 2, 1),
        HERE=BARRIER,
    ),
    *twins(
        "halo", _HALO, given(floats(386), zeros(384)), "race", "racecheck", _three, EARLY=("pass", "pass"), LATE=BARRIER
    ),
    faulty(
        "halo_after_its_barrier",
        _HALO.replace("EARLY", "barrier_block()").replace("LATE", "pass"),
        given(floats(386), zeros(384)), "race", "racecheck",
    ),
    *twins(
        "stencil_in_two_dimensions",
        """
        def cross(A: f32[34, 34], B: out[f32[32, 32]]) -> device:
            with launch(blockIdx_x=2, blockIdx_y=2, threadIdx_x=16, threadIdx_y=16) as (bx, by, tx, ty):
                S = alloc(f32[18, 18], 'shared')
                for k in range(2):
                    if k * 256 + ty * 16 + tx < 324:
                        S[(k * 256 + ty * 16 + tx) // 18, (k * 256 + ty * 16 + tx) % 18] = \\
                            A[by * 16 + (k * 256 + ty * 16 + tx) // 18, bx * 16 + (k * 256 + ty * 16 + tx) % 18]
                HERE
                B[by * 16 + ty, bx * 16 + tx] = S[ty, tx + 1] + S[ty + 2, tx + 1] + S[ty + 1, tx] + S[ty + 1, tx + 2]
        """,
        given(floats(34, 34), zeros(32, 32)), "race", "racecheck", _cross,
        HERE=BARRIER,
    ),
    *twins(
        "smoothing_in_place",
        """
        def smoothing(A: f32[130], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[130], 'shared')
                mean: f32
                S[t] = A[t]
                if t < 2:
                    S[t + 128] = A[t + 128]
                barrier_block()
                mean = (S[t] + S[t + 2]) * 0.5
                HERE
                S[t + 1] = mean
                barrier_block()
                B[t] = S[t] + S[t + 1] + S[t + 2]
        """,
        given(floats(130), zeros(128)), "race", "racecheck",
        lambda a, _: _three(np.r_[a[:1], (a[:-2] + a[2:]) * np.float32(0.5), a[-1:]], a),
        HERE=BARRIER,
    ),
    *twins(
        "matmul",
        _MATMUL,
        given(floats(16, 48), floats(48, 16), zeros(16, 16)), "race", "racecheck", lambda a, b, _: a @ b,
        AGAIN=BARRIER, FILLED=("barrier_block()", "barrier_block()"),
    ),
    faulty(
        "matmul_filled", _MATMUL.replace("FILLED", "pass").replace("AGAIN", "barrier_block()"),
        given(floats(16, 48), floats(48, 16), zeros(16, 16)), "race", "racecheck",
    ),
]  # fmt: skip
