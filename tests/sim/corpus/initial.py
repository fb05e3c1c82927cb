"""Reads of what nobody has written: of temporaries in global memory, which initcheck sees, and of a kernel's own."""

from __future__ import annotations

import numpy as np

from .case import Case, floats, given, twins, zeros

_TWO = """
    def two(A: f32[n], B: out[f32[n]]) -> device:
        T = alloc(f32[n])
        with launch(blockIdx_x=(n + 127) // 128, threadIdx_x=128) as (b, t):
            if WRITTEN:
                T[b * 128 + t] = A[b * 128 + t] * 2.0
        with launch(blockIdx_x=(n + 127) // 128, threadIdx_x=128) as (b, t):
            if b * 128 + t < n:
                B[b * 128 + t] = T[n - 1 - b * 128 - t] + 1.0
"""
_ALL = "b * 128 + t < n"
_PAIR = given(floats(1000), zeros(1000))
_EVEN = "b * 128 + t < n and (b * 128 + t) % 2 == 0"


def _reversed(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return 2 * a[::-1] + 1


CASES: list[Case] = [
    *twins("all_but_one", _TWO, _PAIR, "uninitialised", "initcheck", _reversed, WRITTEN=(_ALL, f"{_ALL} - 1")),
    *twins("every_other", _TWO, _PAIR, "uninitialised", "initcheck", _reversed, WRITTEN=(_ALL, _EVEN))[1:],
    *twins(
        "order_of_launches",
        """
        def order(A: f32[300], B: out[f32[300]], C: out[f32[300]]) -> device:
            T = alloc(f32[300])
            with launch(blockIdx_x=3, threadIdx_x=100) as (b, t):
                FIRST[b * 100 + t] = FROM[b * 100 + t] + 1.0
            with launch(blockIdx_x=3, threadIdx_x=100) as (b, t):
                SECOND[b * 100 + t] = OTHER[b * 100 + t] + 1.0
            with launch(blockIdx_x=3, threadIdx_x=100) as (b, t):
                C[b * 100 + t] = T[b * 100 + t] + B[b * 100 + t]
        """,
        given(floats(300), zeros(300), zeros(300)), "uninitialised", "initcheck", lambda a, *_: 2 * a + 3,
        FIRST=("T", "B"), FROM=("A", "T"), SECOND=("B", "T"), OTHER=("T", "A"),
    ),
    *twins(
        "first_row_of_a_scan",
        """
        def scan(A: f32[6, 100], B: out[f32[100]]) -> device:
            T = alloc(f32[6, 100])
            with launch(threadIdx_x=100) as j:
                FIRST
                for k in range(1, 6):
                    T[k, j] = T[k - 1, j] + A[k, j]
            with launch(threadIdx_x=100) as j:
                B[j] = T[5, j]
        """,
        given(floats(6, 100), zeros(100)), "uninitialised", "initcheck", lambda a, _: a.sum(0),
        FIRST=("T[0, j] = A[0, j]", "pass"),
    ),
    *twins(
        "sum_from_nothing",
        """
        def sum_from_nothing(A: f32[10, 100], B: out[f32[100]]) -> device:
            T = alloc(f32[100])
            FIRST
            for k in range(10):
                with launch(threadIdx_x=100) as j:
                    T[j] = T[j] + A[k, j]
            with launch(threadIdx_x=100) as j:
                B[j] = T[j]
        """,
        given(floats(10, 100), zeros(100)), "uninitialised", "initcheck", lambda a, _: a.sum(0),
        FIRST=("with launch(threadIdx_x=100) as j: T[j] = 0.0", "pass"),
    ),
    *twins(
        "vectors_of_a_temporary",
        """
        def vectors(A: f32[404], B: out[f32[404]]) -> device:
            T = alloc(f32[404], align=16)
            with launch(threadIdx_x=404) as t:
                if t < LAST:
                    T[t] = A[t]
            with launch(threadIdx_x=101) as t:
                B[ramp(t * 4, 1, 4)] = T[ramp(t * 4, 1, 4)] + 1.0
        """,
        given(floats(404), zeros(404)), "uninitialised", "initcheck", lambda a, _: a + 1,
        LAST=("404", "402"),
    ),
    *twins(
        "halo_not_filled",
        """
        def halo_not_filled(A: f32[130], B: out[f32[128]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[130], 'shared')
                S[t] = A[t]
                if t < LAST:
                    S[t + 128] = A[t + 128]
                barrier_block()
                B[t] = S[t] + S[t + 2]
        """,
        given(floats(130), zeros(128)), "uninitialised", "", lambda a, _: a[:-2] + a[2:],
        LAST=("2", "1"),
    ),
    *twins(
        "shared_sum_from_nothing",
        """
        def shared_sum(A: f32[128], B: out[f32[1]]) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[1], 'shared')
                if t == 0:
                    FIRST
                barrier_block()
                atomic_add(address(S[0], 'rwu'), A[t])
                barrier_block()
                if t == 0:
                    B[0] = S[0]
        """,
        given(floats(128), zeros(1)), "uninitialised", "", lambda a, _: a.sum()[None],
        FIRST=("S[0] = 0.0", "pass"),
    ),
    *twins(
        "register_from_nothing",
        """
        def register(A: f32[10, 64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as j:
                total: f32
                FIRST
                for k in range(10):
                    total = total + A[k, j]
                B[j] = total
        """,
        given(floats(10, 64), zeros(64)), "uninitialised", "", lambda a, _: a.sum(0),
        FIRST=("total = 0.0", "pass"),
    ),
]  # fmt: skip
