"""Registers in the simulator: vectors of them under masks, and elements that there are not."""

from __future__ import annotations

import numpy as np

from .kernels import Row, Wrong, checks, f32, fault, said, zeros

ROWS: dict[str, Row] = {
    "vectors whose last lanes are held back": Row(
        """
        def f(A: f32[40, 8], B: out[f32[40, 8]]) -> device:
            with launch(threadIdx_x=40) as t:
                R = alloc(f32[8], 'local')
                for k in range(3):
                    live = ramp(k * 3, 1, 3) < 8
                    R.where(live)[ramp(k * 3, 1, 3)] = A.where(live)[t, ramp(k * 3, 1, 3)]
                for k in range(3):
                    live = ramp(k * 3, 1, 3) < 8
                    B.where(live)[t, ramp(k * 3, 1, 3)] = R.where(live)[ramp(k * 3, 1, 3)]
        """,
        lambda: [f32(40, 8), zeros(40, 8)],
        lambda a, _: a,
    ),
    "vectors at places that threads choose": Row(
        """
        def f(A: f32[40, 8], B: out[f32[40, 8]]) -> device:
            with launch(threadIdx_x=40) as t:
                R = alloc(f32[8], 'local')
                for k in range(8):
                    R[k] = A[t, k]
                for k in range(5):
                    live = ramp(k * 2 - t % 2, 1, 2) < 8 and 0 <= ramp(k * 2 - t % 2, 1, 2)
                    B.where(live)[t, ramp(k * 2 - t % 2, 1, 2)] = R.where(live)[ramp(k * 2 - t % 2, 1, 2)]
        """,
        lambda: [f32(40, 8), zeros(40, 8)],
        lambda a, _: a,
    ),
}
WRONG: list[Wrong] = [
    Wrong("vectors whose last lanes are held back", "R.where(live)", "R", "bounds"),
    Wrong("vectors whose last lanes are held back", "R.where(live)", "R.where(t == 7)", "bounds"),
    Wrong("vectors at places that threads choose", " and 0 <= ramp(k * 2 - t % 2, 1, 2)", "", "bounds"),
]


test_it_is_right, test_it_is_reported = checks(ROWS, WRONG)


def test_the_thread_is_named_that_leaves_its_registers() -> None:
    text = """
        def f(B: out[f32[64]]) -> device:
            with launch(threadIdx_x=64) as t:
                R = alloc(f32[4], 'local')
                for k in range(4):
                    R[k] = 0.0
                if 40 <= t:
                    R[t - 37] = 1.0
                B[t] = R[0]
    """
    found = said(fault(text, np.zeros(64, "f4")))
    assert "'R' is accessed at element 4, outside its 4" in found
    assert "thread (threadIdx.x=41) writes it" in found
