"""What a program of the table is, and the decorators that enter one.

    @on_cpu(0, 1, 63, 64, 65, large=32771)
    def vector_add(size): ... return Subject(s, [A, B, C], [a, b], [a + b])

runs at each of these sizes compiled and interpreted, at the large one compiled only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np


class Subject(NamedTuple):
    """A scheduled program, and what it computes.

    args      what it is built with: inputs (placeholders, scalar variables), then outputs
    inputs    an array or a number for each input
    outputs   the array that each output must become
    near      the tolerance of the comparison, relative and near 0 absolute; 0: exactly equal
    """

    schedule: Any
    args: list[Any]
    inputs: list[Any]
    outputs: list[np.ndarray]
    near: float = 1e-5


class Program(NamedTuple):
    """A program of the table: how to make it, at which sizes, and whether its schedule is one for GPUs."""

    make: Callable[..., Subject]
    small: list[tuple[int, ...]]
    large: list[tuple[int, ...]]
    gpu: bool

    @property
    def family(self) -> str:
        """The module that the program stands in."""
        return self.make.__module__.rpartition(".")[2]


Size = int | tuple[int, ...]
PROGRAMS: dict[str, Program] = {}
"""All programs by name."""


def on_cpu(*sizes: Size, large: Size | None = None) -> Callable[[Callable[..., Subject]], Callable[..., Subject]]:
    """Enter a program for a CPU: `make(*size)` for each size."""
    return _entered(sizes, large, gpu=False)


def on_gpu(*sizes: Size, large: Size | None = None) -> Callable[[Callable[..., Subject]], Callable[..., Subject]]:
    """Enter a program for a GPU; the small sizes are interpreted thread by thread, the large one runs on a GPU only."""
    return _entered(sizes, large, gpu=True)


def _entered(sizes: Sequence[Size], large: Size | None, gpu: bool) -> Any:
    def enter(make: Callable[..., Subject]) -> Callable[..., Subject]:
        assert make.__doc__ and make.__name__ not in PROGRAMS, make.__name__
        few, many = ([_tuple(size) for size in some] for some in (sizes, [] if large is None else [large]))
        PROGRAMS[make.__name__] = Program(make, few, many, gpu)
        return make

    return enter


def _tuple(size: Size) -> tuple[int, ...]:
    return size if isinstance(size, tuple) else (size,)


def normal(*shape: int, dtype: str = "float32", scale: float = 1.0) -> np.ndarray:
    """Return normally distributed numbers, the same for the same shape."""
    data = np.random.default_rng([len(shape), *shape])
    return (data.standard_normal(shape) * scale).astype(dtype)


def ints(low: int, high: int, *shape: int, dtype: str = "float32") -> np.ndarray:
    """Return whole numbers in [low, high), whose sums are exact in every type."""
    return np.random.default_rng([len(shape), *shape]).integers(low, high, shape).astype(dtype)
