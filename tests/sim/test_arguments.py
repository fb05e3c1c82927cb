"""Arrays that a call of the simulator is given: those that share memory, as inputs may."""

from __future__ import annotations

import numpy as np
import pytest

from .kernels import built, f32, zeros

TEXT = """
    def f(A: f32[8], C: f32[n], B: out[f32[8]]) -> device:
        with launch(threadIdx_x=8) as t:
            B[t] = A[t]
            if t < n:
                B[t] = A[t] + C[t]
"""
X = f32(8)


@pytest.mark.parametrize("c", [X[:4], X[::2], X[:0], X, X[3::-1]], ids=["prefix", "steps", "empty", "whole", "back"])
def test_inputs_that_begin_at_one_address(c: np.ndarray) -> None:
    module, out = built(TEXT), zeros(8)
    module(X, c, out)
    np.testing.assert_array_equal(out, X + np.r_[c, zeros(8 - len(c))])
