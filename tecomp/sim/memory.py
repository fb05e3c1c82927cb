"""Memory of a simulated GPU: global, of a block, of a warp, and the registers of each thread.

A Memory that threads have in common is one flat array, an instance after the other for each block or warp; `marks` tell
which elements hold something (None: all), a Shadow who touched them. Registers keep a row for each element, with the
value of each thread, or one number where all have the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ..ir.expr import Const
from ..ir.interpret_memory import compact
from ..ir.node import Expr
from ..ir.stmt import Buffer
from .shadow import GroupReads, Shadow, WarpReads
from .shape import Shape
from .values import Array

GLOBAL, BLOCK, WARPS = "global", "block", "warp"
"""Who has an instance of a memory."""
MOST: Final = 1 << 28
"""Elements times warps for which the reads of global memory are kept apart."""


class Memory:
    """The elements of one buffer, `count` of them in each of `instances`."""

    def __init__(self, buffer: Buffer, owner: str, count: int, instances: int = 1, data: Array | None = None) -> None:
        self.buffer, self.owner, self.count, self.instances = buffer, owner, count, instances
        size = count * instances
        shape = (size,) if buffer.dtype.lanes == 1 else (size, buffer.dtype.lanes)
        self.data: Array = np.zeros(shape, buffer.dtype.numpy) if data is None else data
        self.marks: Array | None = np.zeros(size, np.bool_) if data is None else None
        self.shadow: Shadow | None = None
        self.flight: Array | None = None
        """Which asynchronous operation an element is in the hands of; 0 is none. Made when the first begins."""
        self.number: Callable[[Expr], int] = _constant
        """Returns the value of an extent or a stride."""
        self.first = 0
        """Where among the elements the one with all indices 0 is: behind those that negative strides lead to."""
        self.address = 0
        """Bytes from the start of its space to element 0, a multiple of 256 in global memory."""

    def watch(self, shape: Shape, also_read: bool, by_warp: bool = False) -> None:
        """Look for races of a launch; `also_read` says whether what is written may be read, `by_warp` whether warps
        wait for single others."""
        size = self.count * self.instances
        reads = None
        if also_read:
            warps = shape.warps
            apart = WarpReads(size, warps) if self.owner != GLOBAL or (by_warp and size * warps <= MOST) else None
            reads = GroupReads(size, shape.number, apart) if self.owner == GLOBAL else apart
        self.shadow = Shadow(size, shape.lanes, shape.number, reads)

    def place(self, x: int) -> str:
        """Return how a program names an element of an instance: A[3, 5]."""
        return self.named(x % max(self.count, 1))

    def named(self, offset: int) -> str:
        """Return how a program names what lies so many elements from the first one, also outside."""
        shape, steps = self.shape(), self.steps()
        if not shape:
            return self.buffer.name
        found = [0] * len(shape)
        for axis in sorted(range(len(shape)), key=lambda axis: -abs(steps[axis])):
            place, offset = divmod(offset, max(abs(steps[axis]), 1))
            found[axis] = place if steps[axis] >= 0 else shape[axis] - 1 - place
        return f"{self.buffer.name}[{', '.join(map(str, found))}]"

    def shape(self) -> tuple[int, ...]:
        """Return the extents of the buffer."""
        return tuple(self.number(extent) for extent in self.buffer.shape)

    def steps(self) -> tuple[int, ...]:
        """Return how many elements lie between neighbours along each dimension."""
        if self.buffer.strides is not None:
            return tuple(self.number(stride) for stride in self.buffer.strides)
        return compact(self.shape())


def _constant(extent: Expr) -> int:
    """Return a constant; 1 of what only a call knows."""
    return int(extent.value) if isinstance(extent, Const) else 1
