"""Accesses past the end by vectors, of other types, of temporaries, and in shared memory and registers.

Memcheck knows where the shared memory of a block ends, and nothing of the arrays in it: those that it is to see are far
outside.
"""

from __future__ import annotations

import numpy as np

from .case import Case, fixed, floats, given, twins, zeros

_VECTOR = """
    def vector(A: buffer(f32[n], align=16), B: out[buffer(f32[n], align=16)]) -> device:
        with launch(blockIdx_x=(n + 127) // 128, threadIdx_x=32) as (b, t):
            if b * 128 + t * 4 < n:
                v = A.where(LOAD < broadcast(n, 4))[ramp(b * 128 + t * 4, 1, 4)] + 1.0
                B.where(STORE < broadcast(n, 4))[ramp(b * 128 + t * 4, 1, 4)] = v
"""
_LANES, _FIRST = "ramp(b * 128 + t * 4, 1, 4)", "broadcast(b * 128 + t * 4, 4)"
_SHARED = """
    def shared(A: f32[128], B: out[f32[128]], shift: i32) -> device:
        with launch(threadIdx_x=128) as t:
            S = alloc(f32[200], SCOPE)
            S[t] = A[t]
            if t < 72:
                S[t + 128] = A[t]
            barrier_block()
            B[t] = S[t + index(shift)]
"""
_ROWS = given(floats(128), zeros(128), 72)


def _plus_one(a: np.ndarray, _: np.ndarray) -> np.ndarray:
    return a + 1


def _turned(a: np.ndarray, *_: object) -> np.ndarray:
    return np.roll(a, -72)


CASES: list[Case] = [
    *twins(
        "vector_load", _VECTOR, given(floats(1001), zeros(1001)), "bounds", "memcheck", _plus_one,
        LOAD=(_LANES, _FIRST), STORE=(_LANES, _LANES),
    )[1:],
    *twins(
        "vector_store", _VECTOR, given(floats(1001), zeros(1001)), "bounds", "memcheck", _plus_one,
        LOAD=(_LANES, _LANES), STORE=(_LANES, _FIRST),
    ),
    *twins(
        "whole_vectors",
        """
        def whole_vectors(A: f32[1004], B: out[f32[1004]]) -> device:
            with launch(threadIdx_x=COUNT) as t:
                B[ramp(t * 4, 1, 4)] = A[ramp(t * 4, 1, 4)] + 1.0
        """,
        given(floats(1004), zeros(1004)), "bounds", "memcheck", _plus_one,
        COUNT=("251", "252"),
    ),
    *twins(
        "bytes",
        """
        def bytes_(A: u8[n], B: out[u8[n]]) -> device:
            with launch(blockIdx_x=(n + 63) // 64, threadIdx_x=64) as (b, t):
                if b * 64 + t < n:
                    B[b * 64 + t] = A[b * 64 + t + SHIFT]
        """,
        given(lambda rng: rng.integers(0, 256, 201, "uint8"), zeros(201, dtype="uint8")), "bounds", "memcheck",
        lambda a, _: a,
        SHIFT=("0", "1"),
    ),
    *twins(
        "halves",
        """
        def halves(A: f16[301], B: out[f16[301]]) -> device:
            with launch(blockIdx_x=7, threadIdx_x=43) as (b, t):
                B[b * SIZE + t] = A[b * 43 + t]
        """,
        given(floats(301, dtype="float16"), zeros(301, dtype="float16")), "bounds", "memcheck", lambda a, _: a,
        SIZE=("43", "45"),
    ),
    *twins(
        "temporary",
        """
        def temporary(A: f32[n], B: out[f32[n]]) -> device:
            T = alloc(f32[n])
            with launch(blockIdx_x=(n + 127) // 128, threadIdx_x=128) as (b, t):
                if b * 128 + t < n LAST:
                    T[b * 128 + t] = 1.0
            with launch(blockIdx_x=(n + 127) // 128, threadIdx_x=128) as (b, t):
                if b * 128 + t < n:
                    B[b * 128 + t] = A[b * 128 + t] + T[b * 128 + t]
        """,
        given(floats(1000), zeros(1000)), "bounds", "memcheck", _plus_one,
        LAST=("", "+ 2"),
    ),
    *twins(
        "shared_end", _SHARED, _ROWS, "bounds", "memcheck", _turned,
        broken=given(floats(128), zeros(128), 60000), SCOPE=("'shared'", "'shared'"),
    ),
    *twins(
        "shared_dynamic_end", _SHARED, _ROWS, "bounds", "memcheck", _turned,
        broken=given(floats(128), zeros(128), 60000), SCOPE=("'shared.dyn'", "'shared.dyn'"),
    ),
    *twins(
        "shared_start", _SHARED.replace("t + index(shift)", "t - index(shift)"),
        given(floats(128), zeros(128), 0), "bounds", "memcheck", lambda a, *_: a,
        broken=given(floats(128), zeros(128), 4096), SCOPE=("'shared'", "'shared'"),
    ),
    *twins(
        "shared_store",
        """
        def shared_store(A: f32[128], B: out[f32[128]], size: i32) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                S[t * index(size)] = A[t]
                barrier_block()
                B[t] = S[t]
        """,
        given(floats(128), zeros(128), 1), "bounds", "memcheck", lambda a, *_: a,
        broken=given(floats(128), zeros(128), 500),
    ),
    *twins(
        "shared_neighbour",
        """
        def shared_neighbour(A: f32[128], B: out[f32[128]], shift: i32) -> device:
            with launch(threadIdx_x=128) as t:
                S = alloc(f32[128], 'shared')
                T = alloc(f32[256], 'shared')
                S[t] = A[t]
                T[t] = 0.0
                T[t + 128] = 0.0
                barrier_block()
                B[t] = S[t + index(shift)] + T[t]
        """,
        given(floats(128), zeros(128), 0), "bounds", "", lambda a, *_: a,
        broken=given(floats(128), zeros(128), 16),
    ),
    *twins(
        "registers",
        """
        def registers(A: f32[64], I: i32[64], B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                R = alloc(f32[4], 'local')
                for k in range(4):
                    R[k] = A[t] * f32(k)
                B[t] = R[index(I[t])]
        """,
        given(floats(64), lambda _: np.arange(64, dtype="int32") % 4, zeros(64)), "bounds", "",
        lambda a, i, _: a * i,
        broken=given(floats(64), fixed(*range(5), *[0] * 59), zeros(64)),
    ),
]  # fmt: skip
