"""Threads of one warp, which run apart until they meet: barriers of warps, of parts of a warp, of some warps."""

from __future__ import annotations

import numpy as np

from .case import Case, clean, floats, given, ints, twins, zeros

_WARP = ("barrier_warp(-1)", "pass")
_PAIR = given(floats(64), zeros(64))


def _turned(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return a.reshape(-1, 32)[:, ::-1].ravel()


CASES: list[Case] = [
    *twins(
        "reverse_in_a_warp",
        """
        def reverse_in_a_warp(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared')
                S[t] = A[t]
                HERE
                B[t] = S[t // 32 * 32 + 31 - t % 32]
        """,
        _PAIR, "race", "racecheck", _turned, HERE=_WARP,
    ),
    *twins(
        "barrier_of_too_few",
        """
        def barrier_of_too_few(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared')
                S[t] = A[t]
                HERE
                B[t] = S[63 - t]
        """,
        _PAIR, "race", "racecheck", lambda a, _: a[::-1], HERE=("barrier_block()", "barrier_warp(-1)"),
    ),
    *twins(
        "rotate_in_a_warp",
        """
        def rotate_in_a_warp(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared')
                mine: f32
                S[t] = A[t]
                barrier_warp(-1)
                for k in range(3):
                    mine = S[t // 32 * 32 + (t + 1) % 32]
                    HERE
                    S[t] = mine
                    barrier_warp(-1)
                B[t] = S[t]
        """,
        _PAIR, "race", "racecheck", lambda a, _: np.roll(a.reshape(-1, 32), -3, 1).ravel(), HERE=_WARP,
    ),
    *twins(
        "last_warp_of_a_tree",
        """
        def last_warp(A: f32[2, 128], B: out[f32[2]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=128) as (b, t):
                S = alloc(f32[128], 'shared')
                S[t] = A[b, t]
                barrier_block()
                if t < 64:
                    S[t] = S[t] + S[t + 64]
                barrier_block()
                if t < 32:
                    S[t] = S[t] + S[t + 32]
                    for level in range(5):
                        HERE
                        if t < shift_right(16, level):
                            S[t] = S[t] + S[t + shift_right(16, level)]
                if t == 0:
                    B[b] = S[0]
        """,
        given(floats(2, 128), zeros(2)), "race", "racecheck", lambda a, _: a.sum(1), HERE=_WARP,
    ),
    *twins(
        "half_a_warp",
        """
        def half_a_warp(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                S = alloc(f32[64], 'shared')
                B[t] = A[t]
                if t % 32 < 16:
                    S[t] = A[t]
                    HERE
                    B[t] = S[t // 32 * 32 + 15 - t % 32]
        """,
        _PAIR, "race", "racecheck",
        lambda a, _: np.c_[a.reshape(2, 32)[:, 15::-1], a.reshape(2, 32)[:, 16:]].ravel(),
        HERE=("barrier_warp(65535)", "pass"),
    ),
    *twins(
        "transpose_in_a_warp",
        """
        def transpose_in_a_warp(A: f32[2, 32, 32], B: out[f32[2, 32, 32]]) -> device:
            with launch(threadIdx_x=32, threadIdx_y=2) as (lane, warp):
                S = alloc(f32[2, 32, 32], 'shared', strides=[1056, 33, 1])
                for k in range(32):
                    S[warp, k, lane] = A[warp, k, lane]
                HERE
                for k in range(32):
                    B[warp, k, lane] = S[warp, lane, k]
        """,
        given(floats(2, 32, 32), zeros(2, 32, 32)), "race", "racecheck", lambda a, _: a.transpose(0, 2, 1),
        HERE=_WARP,
    ),
    *twins(
        "two_groups_of_warps",
        """
        def two_groups(A: f32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                S[t] = A[t]
                if t < 64:
                    barrier_named(1, 64)
                    B[t] = S[63 - t]
                else:
                    HERE
                    B[t] = S[191 - t]
        """,
        given(floats(128), zeros(128)), "race", "racecheck", lambda a, _: a.reshape(2, 64)[:, ::-1].ravel(),
        HERE=("barrier_named(2, 64)", "pass"),
    ),
    *twins(
        "one_group_waits_for_the_other",
        """
        def one_group_waits(A: f32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[64], 'shared')
                if t < 64:
                    EARLY
                    S[t] = A[t]
                    LATE
                else:
                    barrier_named(3, 128)
                    B[t - 64] = S[127 - t]
        """,
        _PAIR, "race", "", lambda a, _: a[::-1],  # racecheck takes an arrival for a barrier
        EARLY=("pass", "barrier_named_arrive(3, 128)"), LATE=("barrier_named_arrive(3, 128)", "pass"),
    ),
    clean(
        "sums_by_shuffles",
        """
        def sums_by_shuffles(A: f32[128], B: out[f32[4]]) -> device:
            with launch(threadIdx_x=128) as t:
                part: f32
                part = A[t]
                for level in unrolled(5):
                    part = part + shuffle_down(part, shift_left(1, level), -1)
                if t % 32 == 0:
                    B[t // 32] = part
        """,
        given(floats(128), zeros(4)), lambda a, _: a.reshape(4, 32).sum(1),
    ),
    clean(
        "counts_by_votes",
        """
        def counts_by_votes(A: i32[128], B: out[i32[4]]) -> device:
            with launch(threadIdx_x=128) as t:
                votes = vote_ballot(A[t] < 3, -1)
                if t % 32 == 0:
                    B[t // 32] = i32(popcount(votes))
        """,
        given(ints(128, below=8), zeros(4, dtype="int32")), lambda a, _: (a < 3).reshape(4, 32).sum(1),
    ),
]  # fmt: skip
