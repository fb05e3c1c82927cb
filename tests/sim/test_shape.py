"""Launches of shapes that are rare: more threads than 32 bits number."""

from __future__ import annotations

import numpy as np
import pytest

from .kernels import fault, left, zeros

TEXT = """
    def f(n: i32, B: out[f32[64]]) -> device:
        with launch(blockIdx_x=index(n), threadIdx_x=64) as (b, t):
            if b == index(n) - 1:
                B[t] = 1.0
            barrier_block()
            if b == index(n) - 1:
                B[63 - t] = B[63 - t] + 1.0
"""


@pytest.mark.parametrize("warps", ["together", "apart"])
@pytest.mark.parametrize("blocks", [33_554_431, 33_554_432, 2_147_483_647])
def test_the_last_blocks_of_a_grid(blocks: int, warps: str) -> None:
    found = left(TEXT, blocks, zeros(64), blocks=[blocks - 1], warps=warps)[-1]
    np.testing.assert_array_equal(found, zeros(64) + 2)
    wrong = fault(TEXT.replace("barrier_block()", "pass"), blocks, zeros(64), blocks=[blocks - 1], warps=warps)
    assert wrong.kind == "race"
    assert f"thread (blockIdx.x={blocks - 1}, threadIdx.x=" in str(wrong)
