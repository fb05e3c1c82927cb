"""Indivisible updates: how each joins what an element holds with a value, in CUDA C++ and in NumPy, side by side."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np


class Update(NamedTuple):
    """A row: of what is there, a, and the value, b."""

    cuda: str
    numpy: Any
    """A function of arrays, whose `at` joins several values with one element. NaN stays in both."""


UPDATES: Final = {
    "atomic_add": Update("a + b", np.add),
    "atomic_mul": Update("a * b", np.multiply),
    "atomic_min": Update("a != a || a < b ? a : b", np.minimum),
    "atomic_max": Update("a != a || a > b ? a : b", np.maximum),
}
"""Every update by the name of its call; `codegen.cuda_atomic` says which the device has an instruction for."""
