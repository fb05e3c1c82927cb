"""Tiles in shared memory: who writes an element and who reads it are not the same thread."""

from __future__ import annotations

import numpy as np

from .case import BARRIER, Case, fixed, floats, given, ints, twins, zeros


def _rows(a: np.ndarray) -> np.ndarray:
    return a.reshape(-1, 128)


CASES: list[Case] = [
    *twins(
        "reverse",
        """
        def reverse(A: f32[384], B: out[f32[384]]) -> device:
            with launch(blockIdx_x=3, threadIdx_x=128) as (b, t):
                S = alloc(f32[128], 'shared')
                S[t] = A[b * 128 + t]
                HERE
                B[b * 128 + t] = S[127 - t]
        """,
        given(floats(384), zeros(384)), "race", "racecheck",
        lambda a, _: _rows(a)[:, ::-1].ravel(),
        HERE=BARRIER,
    ),
    *twins(
        "next_tile",
        """
        def next_tile(A: f32[5, 128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                total: f32
                total = 0.0
                for k in range(5):
                    S[t] = A[k, t]
                    barrier_block()
                    total = total + S[127 - t]
                    HERE
                B[t] = total
        """,
        given(floats(5, 128), zeros(128)), "race", "racecheck",
        lambda a, _: a.sum(0)[::-1],
        HERE=BARRIER,
    ),
    *twins(
        "one_writer",
        """
        def one_writer(A: f32[3], B: out[f32[384]]) -> device:
            with launch(blockIdx_x=3, threadIdx_x=128) as (b, t):
                P = alloc(f32, 'shared')
                if t == 0:
                    P = A[b] * 2.0
                HERE
                B[b * 128 + t] = P + f32(t)
        """,
        given(floats(3), zeros(384)), "race", "racecheck",
        lambda a, _: (a[:, None] * 2 + np.arange(128)).ravel(),
        HERE=BARRIER,
    ),
    *twins(
        "one_warp_fills",
        """
        def one_warp_fills(A: f32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                if t < 32:
                    for k in range(4):
                        S[k * 32 + t] = A[k * 32 + t]
                HERE
                B[t] = S[t] + S[(t + 1) % 128]
        """,
        given(floats(128), zeros(128)), "race", "racecheck",
        lambda a, _: a + np.roll(a, -1),
        HERE=BARRIER,
    ),
    *twins(
        "second_tile",
        """
        def second_tile(A: f32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                T = alloc(f32[128], 'shared')
                S[t] = A[t]
                barrier_block()
                T[t] = S[127 - t] * 2.0
                HERE
                B[t] = T[(t + 64) % 128] + S[t]
        """,
        given(floats(128), zeros(128)), "race", "racecheck",
        lambda a, _: np.roll(a[::-1] * 2, -64) + a,
        HERE=BARRIER,
    ),
    *twins(
        "rotate_in_place",
        """
        def rotate_in_place(A: f32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                mine: f32
                S[t] = A[t]
                barrier_block()
                mine = S[(t + 32) % 128]
                HERE
                S[t] = mine
                B[t] = S[t]
        """,
        given(floats(128), zeros(128)), "race", "racecheck",
        lambda a, _: np.roll(a, -32),
        HERE=BARRIER,
    ),
    *twins(
        "vectors",
        """
        def vectors(A: f32[512], B: out[f32[512]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[512], 'shared', align=16)
                S[ramp(t * 4, 1, 4)] = A[ramp(t * 4, 1, 4)]
                HERE
                for k in range(4):
                    B[k * 128 + t] = S[k * 128 + t] + 1.0
        """,
        given(floats(512), zeros(512)), "race", "racecheck",
        lambda a, _: a + 1,
        HERE=BARRIER,
    ),
    *twins(
        "barrier_in_a_uniform_branch",
        """
        def uniform(A: f32[128], B: out[f32[128]], wait: i32) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                S[t] = A[t]
                if 0 < wait:
                    barrier_block()
                B[t] = S[127 - t]
        """,
        given(floats(128), zeros(128), 1), "race", "racecheck",
        lambda a, *_: a[::-1],
        broken=given(floats(128), zeros(128), 0),
    ),
    *twins(
        "barrier_every_other_time",
        """
        def every_other(A: f32[6, 128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                total: f32
                total = 0.0
                for k in range(6):
                    if k % 2 == 0:
                        HERE
                        S[t] = A[k, t]
                        barrier_block()
                    total = total + S[127 - t]
                B[t] = total
        """,
        given(floats(6, 128), zeros(128)), "race", "racecheck",
        lambda a, _: 2 * a[::2].sum(0)[::-1],
        HERE=BARRIER,
    ),
    *twins(
        "index_from_memory",
        """
        def index_from_memory(A: f32[128], I: i32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                S[t] = A[t]
                HERE
                B[t] = S[index(I[t])]
        """,
        given(floats(128), ints(128, below=128), zeros(128)), "race", "racecheck",
        lambda a, i, _: a[i],
        HERE=BARRIER,
    ),
    *twins(
        "loop_of_unequal_lengths",
        """
        def lengths(A: f32[128], L: i32[2], B: out[f32[2, 128]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=128) as (b, t):
                S = alloc(f32[128], 'shared')
                mine: f32
                S[t] = A[t]
                barrier_block()
                length = index(L[b])
                for k in range(length):
                    mine = S[(t + 32) % 128]
                    barrier_block()
                    S[t] = mine
                    HERE
                B[b, t] = S[t]
        """,
        given(floats(128), fixed(3, 5), zeros(2, 128)), "race", "racecheck",
        lambda a, *_: np.stack([np.roll(a, -96), np.roll(a, -160)]),
        HERE=BARRIER,
    ),
]  # fmt: skip
