"""Programs that are deeper than Python's own limits, in the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np

import tecomp
from tecomp import sim, te

from .kernels import TARGET, f32, zeros

LEVELS = 130


def chain(levels: int) -> Any:
    """Return a program of so many conditions, each in the branch of the one before: rows of `levels` arrays."""
    X = te.placeholder((4,), name="X")

    def element(i: Any) -> Any:
        value: Any = X[i % 4]
        for level in range(levels):
            value = te.if_then_else(i < 4 * (levels - level), X[(i + level) % 4] * 2, value)
        return value

    Y = te.compute((4 * levels + 4,), element, name="Y")
    s = te.create_schedule(Y.op)
    block, thread = s[Y].split(Y.op.axis[0], factor=32)
    s[Y].bind(block, te.thread_axis("blockIdx.x"))
    s[Y].bind(thread, te.thread_axis("threadIdx.x"))
    return tecomp.build(s, [X, Y], target=TARGET)


def test_conditions_in_conditions() -> None:
    x, out = f32(4), zeros(4 * LEVELS + 4)
    chain(LEVELS)(x, out)
    i = np.arange(4 * LEVELS)
    np.testing.assert_array_equal(out, np.r_[x[(i + LEVELS - 1 - i // 4) % 4] * 2, x])


def test_what_deep_conditions_do_is_counted_once() -> None:
    """In each thread one side is evaluated, a product but for the last four."""
    (found,) = sim.profile(chain(LEVELS), f32(4), zeros(4 * LEVELS + 4), show=False).kernels.values()
    assert found.flops == {"float32": 4 * LEVELS}
    assert found.global_load.bytes == (4 * LEVELS + 4) * 4
