"""Gradients of random graphs: shifted, strided, divided, clamped reads, reductions of every kind, choices."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tecomp import te
from tecomp.ir.node import Expr
from tecomp.te.tensor import Tensor
from tests.te.finite_differences import check, placeholders

F64 = "float64"
Axes = Sequence[Any]

JOINS: list[Callable[[Expr, Expr, Axes], Any]] = [
    lambda v, w, _: v * w,
    lambda v, w, _: v + w,
    lambda v, w, _: te.sin(v) * w,
    lambda v, w, _: v - w * 0.5,
    lambda v, w, _: v / (w * w + 1.0),
    lambda v, w, _: te.max(v, w),
    lambda v, w, _: te.Select(v > w, v * w, w),
    lambda v, w, axes: te.if_then_else(axes[0] > 0, v, w) if axes else v,
]
REDUCERS = [te.sum, te.sum, te.sum, te.max, te.min, te.prod]


class Graph:
    """One or two inputs and up to three stages, each of which reads what is before it."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.inputs = [te.placeholder(self.shape(1), F64, name=name) for name in "AB"[: self.draw.randint(1, 2)]]
        self.tensors = list(self.inputs)
        for at in range(self.draw.randint(1, 3)):
            self.tensors.append(self.stage(f"s{at}"))

    def shape(self, least: int) -> tuple[int, ...]:
        return tuple(self.draw.randint(1, 4) for _ in range(self.draw.randint(least, 2)))

    def stage(self, name: str) -> Tensor:
        folded = [
            te.reduce_axis((first, first + self.draw.randint(1, 3)), name=f"k{at}")
            for at, first in enumerate(self.draw.choice([[], [0], [1], [0, 1]]))
        ]

        def formula(*axes: Any) -> Any:
            value = self.value([*axes, *folded])
            if not folded:
                return value
            where = (folded[0] + (axes[0] if axes else 0)) % 3 != 0 if self.draw.random() < 0.3 else None
            init = self.read(axes) if where is not None or self.draw.random() < 0.2 else None
            return self.draw.choice(REDUCERS)(value, axis=folded, where=where, init=init)

        return te.compute(self.shape(0), formula, name=name)

    def value(self, axes: Axes) -> Any:
        value = self.read(axes)
        for _ in range(self.draw.randint(0, 2)):
            value = self.draw.choice(JOINS)(value, self.read(axes), axes)
        return value

    def read(self, axes: Axes) -> Any:
        """Return an element of a tensor, and another value where there is none."""
        tensor = self.draw.choice([*self.tensors[-2:], *self.inputs])
        extents = [int(extent) for extent in tensor.shape]
        index = [self.index(axes, extent) for extent in extents]
        if not index:
            return tensor()
        inside = [test for at, extent in zip(index, extents, strict=True) for test in (at >= 0, at < extent)]
        return te.if_then_else(te.all(*inside), tensor[tuple(index)], te.const(0.25, F64))

    def index(self, axes: Axes, extent: int) -> Any:
        pick = self.draw.choice
        if not axes or self.draw.random() < 0.1:
            return te.const(self.draw.randrange(extent), "int32")
        x, y = pick(axes), pick(axes)
        forms = [
            lambda: x + pick([-1, 0, 0, 1]),
            lambda: x * pick([1, 2, 3, -1]) + y * pick([1, 2]) + pick([-1, 0, 1]),
            lambda: (x * pick([1, 2]) + y) // pick([2, 3]),
            lambda: (x + y * pick([1, 2])) % pick([2, 3, 4]),
            lambda: extent - 1 - x,
            lambda: te.min(x + 1, extent - 1),
        ]
        return pick([forms[0], *forms])()


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(seed: int) -> None:
    output = Graph(seed).tensors[-1]
    numbers = np.random.default_rng(seed)
    values = {given: numbers.uniform(-1, 1, [int(extent) for extent in given.shape]) for given in placeholders(output)}
    check(output, values, *values, target="interpreter" if seed % 5 == 0 else "llvm", tolerance=1e-5)
