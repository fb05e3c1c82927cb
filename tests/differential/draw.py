"""A program to be tested, and the random choices that make one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tecomp import te

FACTORS = (2, 3, 4, 5, 8, 16)
PRIMES = (7, 13, 17, 23)


@dataclass
class Case:
    """A program: its arguments, the arrays of the inputs, the expected array of each output, and what to schedule."""

    kind: str
    args: list[Any]
    inputs: dict[Any, np.ndarray]
    expected: dict[Any, np.ndarray]
    stages: list[Any]


class Draw:
    """Random choices of one seed; `factor` is the number around which sizes lie."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.data = np.random.default_rng(seed)
        self.factor = self.rng.choice(FACTORS)

    def size(self, least: int = 0) -> int:
        f = self.factor
        return self.rng.choice([n for n in (0, 1, f - 1, f, f + 1, self.rng.choice(PRIMES)) if n >= least])

    def extent(self, name: str, least: int = 0) -> tuple[Any, int]:
        """Return an extent as the program sees it (a number or a variable) and its value."""
        value = self.size(least)
        return (te.var(name), value) if self.rng.random() < 0.5 else (value, value)

    def array(self, shape: Sequence[int], dtype: str) -> np.ndarray:
        if dtype.startswith(("int", "uint")):
            info = np.iinfo(dtype)
            return self.data.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)
        return self.data.standard_normal(shape).astype(dtype)

    def dtype(self) -> str:
        return self.rng.choice(["float32", "float32", "float64", "int32", "int8", "uint8", "int64"])
