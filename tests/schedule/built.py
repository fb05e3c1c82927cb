"""A program built once and run at several sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tecomp
from tecomp.ir.interpret import interpret

from .test_text import made_again

Run = Callable[[Sequence[np.ndarray], Sequence[tuple[int, ...]]], list[np.ndarray]]


def built(s: Any, args: Sequence[Any]) -> Run:
    """Return what gives float32 results of these shapes: those of LLVM, which the interpreter has too.

    They are written into arrays that held something else. The text of the schedule makes it again.
    """
    module, func = tecomp.build(s, args), tecomp.lower(s, args)
    assert made_again(s) == s.text()

    def run(inputs: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
        found = []
        for call in (module, lambda *arrays: interpret(func, *arrays)):
            outputs = [np.full(shape, 77, "f") for shape in shapes]
            call(*inputs, *outputs)
            found.append(outputs)
        for one, other in zip(*found, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        return found[0]

    return run
