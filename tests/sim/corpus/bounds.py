"""Accesses past either end of an array in global memory.

Sizes are no multiples of 512 bytes, to which allocations are rounded: a step past the end is in nobody's memory.
"""

from __future__ import annotations

import numpy as np

from .case import Case, faulty, fixed, floats, given, ints, twins, zeros

_COPY = """
    def copy(A: f32[n], B: out[f32[n]]) -> device:
        with launch(blockIdx_x=(n + 127) // 128, threadIdx_x=128) as (b, t):
            if LAST:
                B[b * 128 + t] = A[b * 128 + t] * 2.0
"""
_TAIL = given(floats(1000), zeros(1000))
_PAST = ("b * 128 + t < n", "b * 128 + t <= n")


def _double(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return 2 * a


CASES: list[Case] = [
    *twins("off_by_one", _COPY, _TAIL, "bounds", "memcheck", _double, LAST=_PAST),
    faulty("no_guard", _COPY.replace("LAST", "0 <= b"), _TAIL, "bounds", "memcheck"),
    *twins(
        "read_of_the_tail",
        """
        def read_of_the_tail(A: f32[1000], B: out[f32[1024]]) -> device:
            with launch(blockIdx_x=8, threadIdx_x=128) as (b, t):
                B[b * 128 + t] = A[b * 128 + t] LAZY
        """,
        given(floats(1000), zeros(1024)), "bounds", "memcheck", lambda a, _: np.r_[a, np.zeros(24)],
        LAZY=("if b * 128 + t < 1000 else 0.0", ""),
    ),
    *twins(
        "next_element",
        """
        def next_element(A: f32[n], B: out[f32[n]]) -> device:
            with launch(blockIdx_x=(n + 127) // 128, threadIdx_x=128) as (b, t):
                if b * 128 + t LAST < n:
                    B[b * 128 + t] = A[b * 128 + t + 1] - A[b * 128 + t]
        """,
        given(floats(1000), zeros(1000)), "bounds", "memcheck", lambda a, _: np.r_[np.diff(a), np.float32(0)],
        LAST=("+ 1", ""),
    ),
    *twins(
        "element_before",
        """
        def element_before(A: f32[n], B: out[f32[n]]) -> device:
            with launch(blockIdx_x=(n + 127) // 128, threadIdx_x=128) as (b, t):
                if b * 128 + t < n:
                    if FIRST <= b * 128 + t:
                        B[b * 128 + t] = A[b * 128 + t - 1]
        """,
        given(floats(1000), zeros(1000)), "bounds", "memcheck", lambda a, _: np.r_[np.float32(0), a[:-1]],
        FIRST=("1", "0"),
    ),
    *twins(
        "write_before",
        """
        def write_before(A: f32[1000], B: out[f32[1000]]) -> device:
            with launch(blockIdx_x=8, threadIdx_x=128) as (b, t):
                if b * 128 + t < 1000:
                    B[b * 128 + t - SHIFT] = A[b * 128 + t]
        """,
        given(floats(1000), zeros(1000)), "bounds", "memcheck", lambda a, _: a,
        SHIFT=("0", "4"),
    ),
    *twins(
        "gather",
        """
        def gather(A: f32[100], I: i32[200], B: out[f32[200]]) -> device:
            with launch(blockIdx_x=2, threadIdx_x=100) as (b, t):
                B[b * 100 + t] = A[index(I[b * 100 + t])]
        """,
        given(floats(100), ints(200, below=100), zeros(200)), "bounds", "memcheck", lambda a, i, _: a[i],
        broken=given(floats(100), lambda rng: np.r_[ints(199, below=100)(rng), np.int32(100)], zeros(200)),
    ),
    *twins(
        "scatter_below",
        """
        def scatter_below(A: f32[5], I: i32[5], B: out[f32[100]]) -> device:
            with launch(threadIdx_x=5) as t:
                B[index(I[t])] = A[t]
        """,
        given(floats(5), fixed(9, 0, 99, 50, 3), zeros(100)), "bounds", "memcheck",
        lambda a, i, b: np.put(b, i, a) or b,
        broken=given(floats(5), fixed(9, 0, 99, -2, 3), zeros(100)),
    ),
    *twins(
        "histogram_of_too_few",
        """
        def too_few(A: i32[1000], H: out[i32[25]]) -> device:
            with launch(blockIdx_x=8, threadIdx_x=125) as (b, t):
                atomic_add(address(H[index(A[b * 125 + t])], 'rwu'), i32(1))
        """,
        given(ints(1000, below=25), zeros(25, dtype="int32")), "bounds", "memcheck",
        lambda a, _: np.bincount(a, minlength=25),
        broken=given(ints(1000, below=26), zeros(25, dtype="int32")),
    ),
    *twins(
        "row_below",
        """
        def row_below(A: f32[m, n], B: out[f32[m, n]]) -> device:
            with launch(blockIdx_x=m, threadIdx_x=n) as (i, j):
                if i + LAST < m:
                    B[i, j] = A[i + 1, j] + A[i, j]
        """,
        given(floats(10, 33), zeros(10, 33)), "bounds", "memcheck",
        lambda a, _: np.r_[a[1:] + a[:-1], np.zeros((1, 33), "f4")],
        LAST=("1", "0"),
    ),
    *twins(
        "column_beside",
        """
        def column_beside(A: f32[m, n], B: out[f32[m, n]]) -> device:
            with launch(blockIdx_x=m, threadIdx_x=n) as (i, j):
                if i + 1 < m and j + LAST < n:
                    B[i, j] = A[i, j + 1] + A[i, j]
        """,
        given(floats(10, 33), zeros(10, 33)), "bounds", "",
        lambda a, _: np.pad(a[:-1, 1:] + a[:-1, :-1], ((0, 1), (0, 1))),
        LAST=("1", "0"),
    )[:1],  # the wrong one reads the next row's first element, which is inside for all who see offsets
    *twins(
        "a_step_too_many",
        """
        def a_step_too_many(A: f32[m, n], B: out[f32[n]]) -> device:
            with launch(threadIdx_x=n) as j:
                total: f32
                total = 0.0
                for k in range(START, m + START):
                    total = total + A[k, j]
                B[j] = total
        """,
        given(floats(10, 33), zeros(33)), "bounds", "memcheck", lambda a, _: a.sum(0),
        START=("0", "1"),
    ),
]  # fmt: skip
