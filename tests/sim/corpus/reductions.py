"""Sums and prefix sums in shared memory, a barrier between one level of the tree and the next."""

from __future__ import annotations

import numpy as np

from .case import BARRIER, Case, faulty, floats, given, twins, zeros

_TREE = """
    def tree(A: f32[3, 256], B: out[f32[3]]) -> device:
        with launch(blockIdx_x=3, threadIdx_x=256) as (b, t):
            S = alloc(f32[256], 'shared')
            S[t] = A[b, t]
            FIRST
            for level in range(8):
                if t < shift_right(128, level):
                    S[t] = S[t] + S[t + shift_right(128, level)]
                LEVEL
            if t == 0:
                B[b] = S[0]
"""
_PARTS = """
    def parts(A: f32[2, 256], B: out[f32[2]]) -> device:
        with launch(threadIdx_x=256) as t:
            S = alloc(f32[8], 'shared')
            part: f32
            for row in range(2):
                part = A[row, t]
                for level in unrolled(5):
                    part = part + shuffle_xor(part, shift_left(1, level), -1)
                if t % 32 == 0:
                    S[t // 32] = part
                FILLED
                if t == 0:
                    part = 0.0
                    for k in range(8):
                        part = part + S[k]
                    B[row] = part
                AGAIN
"""
_RESULT = """
    def result(A: f32[128], B: out[f32[128]]) -> device:
        with launch(threadIdx_x=128) as t:
            S = alloc(f32[128], 'shared')
            S[t] = A[t]
            barrier_block()
            for level in unrolled(6):
                if t < 64 // shift_left(1, level):
                    S[t] = S[t] + S[t + 64 // shift_left(1, level)]
                barrier_block()
            if t == 0:
                TO = S[0] + S[1]
            HERE
            B[t] = A[t] - TO
"""
_ALWAYS = ("barrier_block()", "barrier_block()")
_THREE = given(floats(3, 256), zeros(3))


def _sums(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return a.sum(1)


def _prefix(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return np.cumsum(a, dtype=a.dtype)


CASES: list[Case] = [
    *twins("tree", _TREE, _THREE, "race", "racecheck", _sums, FIRST=_ALWAYS, LEVEL=BARRIER),
    faulty(
        "tree_first", _TREE.replace("FIRST", "pass").replace("LEVEL", "barrier_block()"), _THREE, "race", "racecheck"
    ),
    *twins(
        "tree_result", _RESULT.replace("TO", "S[64]"), given(floats(128), zeros(128)), "race", "racecheck",
        lambda a, _: a - a.sum(),
        HERE=BARRIER,
    ),
    faulty(  # racecheck says nothing where the writer reads the element too
        "tree_result_in_place", _RESULT.replace("TO", "S[0]").replace("HERE", "pass"),
        given(floats(128), zeros(128)), "race", "",
    ),
    *twins(
        "one_thread_sums",
        """
        def one_thread_sums(A: f32[96], B: f32[96], C: out[f32[1]]) -> device:
            with launch(threadIdx_x=96) as t:
                S = alloc(f32[96], 'shared')
                total: f32
                S[t] = A[t] * B[t]
                HERE
                if t == 0:
                    total = 0.0
                    for k in range(96):
                        total = total + S[k]
                    C[0] = total
        """,
        given(floats(96), floats(96), zeros(1)), "race", "racecheck", lambda a, b, _: np.dot(a, b)[None],
        HERE=BARRIER,
    ),
    *twins(
        "columns",
        """
        def columns(A: f32[16, 16], B: out[f32[16]]) -> device:
            with launch(threadIdx_x=16, threadIdx_y=16) as (tx, ty):
                S = alloc(f32[16, 16], 'shared')
                S[ty, tx] = A[ty, tx]
                barrier_block()
                for level in range(4):
                    if ty < shift_right(8, level):
                        S[ty, tx] = S[ty, tx] + S[ty + shift_right(8, level), tx]
                    HERE
                if ty == 0:
                    B[tx] = S[0, tx]
        """,
        given(floats(16, 16), zeros(16)), "race", "racecheck", lambda a, _: a.sum(0),
        HERE=BARRIER,
    ),
    *twins(
        "greatest_and_its_place",
        """
        def greatest(A: i32[128], B: out[i32[2]]) -> device:
            with launch(threadIdx_x=128) as t:
                V = alloc(i32[128], 'shared')
                P = alloc(i32[128], 'shared')
                V[t] = A[t]
                P[t] = i32(t)
                for level in range(7):
                    HERE
                    if t < shift_right(64, level):
                        if V[t] < V[t + shift_right(64, level)]:
                            V[t] = V[t + shift_right(64, level)]
                            P[t] = P[t + shift_right(64, level)]
                if t == 0:
                    B[0] = V[0]
                    B[1] = P[0]
        """,
        given(lambda rng: rng.permutation(128).astype("int32"), zeros(2, dtype="int32")), "race", "racecheck",
        lambda a, _: np.array([a.max(), a.argmax()]),
        HERE=BARRIER,
    ),
    *twins(
        "parts_of_warps",
        _PARTS,
        given(floats(2, 256), zeros(2)), "race", "racecheck", _sums,
        FILLED=BARRIER, AGAIN=_ALWAYS,
    ),
    faulty(
        "parts_of_warps_again", _PARTS.replace("FILLED", "barrier_block()").replace("AGAIN", "pass"),
        given(floats(2, 256), zeros(2)), "race", "racecheck",
    ),
    *twins(
        "prefix_in_place",
        """
        def prefix_in_place(A: f32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                before: f32
                S[t] = A[t]
                barrier_block()
                for level in range(7):
                    before = 0.0
                    if shift_left(1, level) <= t:
                        before = S[t - shift_left(1, level)]
                    READ
                    S[t] = S[t] + before
                    barrier_block()
                B[t] = S[t]
        """,
        given(floats(128), zeros(128)), "race", "racecheck", _prefix,
        READ=BARRIER,
    ),
    *twins(
        "prefix_of_two_buffers",
        """
        def prefix(A: f32[128], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[2, 128], 'shared')
                S[0, t] = A[t]
                for level in range(7):
                    HERE
                    if shift_left(1, level) <= t:
                        S[(level + 1) % 2, t] = S[level % 2, t] + S[level % 2, t - shift_left(1, level)]
                    else:
                        S[(level + 1) % 2, t] = S[level % 2, t]
                B[t] = S[1, t]
        """,
        given(floats(128), zeros(128)), "race", "racecheck", _prefix,
        HERE=BARRIER,
    ),
]  # fmt: skip
