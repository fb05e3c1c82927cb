"""Global memory that several threads share. Racecheck looks at shared memory only: these are the simulator's alone."""

from __future__ import annotations

import numpy as np

from .case import BARRIER, Case, clean, faulty, fixed, floats, given, ints, twins, zeros

_PAIR = given(floats(512), zeros(512))


def _reversed_sum(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return 2 * a + 2 * a[::-1]


CASES: list[Case] = [
    clean(
        "two_launches",
        """
        def two_launches(A: f32[512], B: out[f32[512]]) -> device:
            T = alloc(f32[512])
            with launch(blockIdx_x=4, threadIdx_x=128) as (b, t):
                T[b * 128 + t] = A[b * 128 + t] * 2.0
            with launch(blockIdx_x=4, threadIdx_x=128) as (b, t):
                B[b * 128 + t] = T[b * 128 + t] + T[511 - b * 128 - t]
        """,
        _PAIR, _reversed_sum,
    ),
    *twins(
        "one_launch",
        """
        def one_launch(A: f32[512], T: out[f32[512]], B: out[f32[512]]) -> device:
            with launch(blockIdx_x=4, threadIdx_x=128) as (b, t):
                T[b * 128 + t] = A[b * 128 + t] * 2.0
                HERE
                B[b * 128 + t] = T[b * 128 + t] + T[511 - b * 128 - t]
        """,
        given(floats(512), zeros(512), zeros(512)), "race", "", lambda a, *_: _reversed_sum(a, a),
        HERE=("barrier_grid()", "barrier_block()"),
    ),
    *twins(
        "block_in_global_memory",
        """
        def block_in_global_memory(A: f32[512], T: out[f32[512]], B: out[f32[512]]) -> device:
            with launch(blockIdx_x=4, threadIdx_x=128) as (b, t):
                T[b * 128 + t] = A[b * 128 + t]
                HERE
                B[b * 128 + t] = T[b * 128 + 127 - t]
        """,
        given(floats(512), zeros(512), zeros(512)), "race", "",
        lambda a, *_: a.reshape(4, 128)[:, ::-1].ravel(),
        HERE=BARRIER,
    ),
    *twins(
        "sum_over_blocks",
        """
        def sum_over_blocks(A: f32[512], B: out[f32[1]]) -> device:
            with launch(threadIdx_x=1):
                B[0] = 0.0
            with launch(blockIdx_x=4, threadIdx_x=128) as (b, t):
                UPDATE
        """,
        given(floats(512), zeros(1)), "race", "", lambda a, _: a.sum()[None],
        UPDATE=("atomic_add(address(B[0], 'rwu'), A[b * 128 + t])", "B[0] = B[0] + A[b * 128 + t]"),
    ),
    *twins(
        "neighbours_element",
        """
        def neighbours_element(A: f32[512], B: out[f32[513]]) -> device:
            with launch(blockIdx_x=4, threadIdx_x=128) as (b, t):
                B[b * 128 + t] = A[b * 128 + t]
                if t == 127:
                    if LIMIT <= b:
                        B[b * 128 + 128] = -1.0
        """,
        given(floats(512), zeros(513)), "race", "", lambda a, _: np.r_[a, np.float32(-1)],
        LIMIT=("3", "2"),
    ),
    *twins(
        "scatter",
        """
        def scatter(A: f32[8], I: i32[8], B: out[f32[8]]) -> device:
            with launch(blockIdx_x=8) as b:
                B[index(I[b])] = A[b]
        """,
        given(floats(8), fixed(3, 1, 0, 2, 7, 5, 6, 4), zeros(8)), "race", "",
        lambda a, i, _: a[np.argsort(i)],
        broken=given(floats(8), fixed(3, 1, 0, 2, 7, 5, 3, 4), zeros(8)),
    ),
    clean(
        "histogram_over_blocks",
        """
        def histogram_over_blocks(A: i32[512], H: out[i32[16]]) -> device:
            with launch(threadIdx_x=16) as t:
                H[t] = 0
            with launch(blockIdx_x=4, threadIdx_x=128) as (b, t):
                S = alloc(i32[16], 'shared')
                if t < 16:
                    S[t] = 0
                barrier_block()
                atomic_add(address(S[index(A[b * 128 + t])], 'rwu'), i32(1))
                barrier_block()
                if t < 16:
                    atomic_add(address(H[t], 'rwu'), S[t])
        """,
        given(ints(512, below=16), zeros(16, dtype="int32")),
        lambda a, _: np.bincount(a, minlength=16),
    ),
    clean(
        "a_launch_a_step",
        """
        def a_launch_a_step(A: f32[256], B: out[f32[7, 256]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=128) as (b, t):
                B[0, b * 128 + t] = A[b * 128 + t]
            for k in range(1, 7):
                with launch(blockIdx_x=2, threadIdx_x=128) as (b, t):
                    B[k, b * 128 + t] = B[k - 1, 255 - b * 128 - t] + B[k - 1, b * 128 + t]
        """,
        given(floats(256), zeros(7, 256)),
        lambda a, _: np.stack([a, *((a + a[::-1]) * np.float32(2**k) for k in range(6))]),
    ),
    faulty(
        "steps_in_one_launch",
        """
        def steps(A: f32[256], B: out[f32[7, 256]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=128) as (b, t):
                B[0, b * 128 + t] = A[b * 128 + t]
                for k in range(1, 7):
                    barrier_block()
                    B[k, b * 128 + t] = B[k - 1, 255 - b * 128 - t] + B[k - 1, b * 128 + t]
        """,
        given(floats(256), zeros(7, 256)), "race", "",
    ),
]  # fmt: skip
