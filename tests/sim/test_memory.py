"""What the simulator keeps of a launch that is over: nothing."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from tecomp import sim

from .kernels import built, zeros

LAUNCHES = """
    def f(n: i32, A: out[f32[100000]]) -> device:
        for k in range(index(n)):
            with launch(blockIdx_x=2, threadIdx_x=64) as (b, t):
                S = alloc(f32[8192], 'shared')
                cp_async(address(S[t], 'w'), address(A[b * 64 + t], 'r'), 4)
                cp_async_commit()
                cp_async_wait(0)
                barrier_block()
                A[b * 64 + t] = S[t] + 1.0
"""


@pytest.mark.parametrize("warps", ["together", "apart"])
def test_many_launches_take_the_memory_of_one(warps: str) -> None:
    """Arrays that only a collection of cycles would free are many, before there is one."""
    module = built(LAUNCHES)

    def peak(launches: int) -> int:
        gc.collect()
        gc.disable()
        tracemalloc.start()
        try:
            sim.simulate(module, launches, zeros(100000), warps=warps)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            gc.enable()

    one = peak(1)
    assert peak(30) < 1.5 * one
