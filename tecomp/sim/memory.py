"""Memory of a simulated GPU: global, of a block, of a warp, and the registers of each thread.

A Memory that threads have in common is one flat array, an instance after the other for each block or warp; `marks` tell
which elements hold something (None: all), a Shadow who touched them. Registers keep a row for each element, with the
value of each thread, or one number where all have the same.
"""

from __future__ import annotations

import numpy as np

from ..ir.stmt import Buffer
from .clock import WARP
from .shadow import GroupReads, Shadow, WarpReads
from .values import Array

GLOBAL, BLOCK, WARPS = "global", "block", "warp"
"""Who has an instance of a memory."""


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
        self.address = 0
        """Bytes from the start of its space to element 0, a multiple of 256 in global memory."""

    def watch(self, lanes: int, also_read: bool) -> None:
        """Look for races; `also_read` says whether what is written may be read."""
        size = self.count * self.instances
        reads = None
        if also_read:
            reads = GroupReads(size) if self.owner == GLOBAL else WarpReads(size, lanes // WARP)
        self.shadow = Shadow(size, lanes, reads)

    def place(self, x: int) -> str:
        """Return how a program names an element: A[3, 5]."""
        return element_name(self.buffer, x % max(self.count, 1))


def element_name(buffer: Buffer, offset: int) -> str:
    """Return the name of the element that lies so far from the first one."""
    if not buffer.shape:
        return buffer.name
    extents = [getattr(extent, "value", None) for extent in buffer.shape]
    if buffer.strides is not None or None in extents[1:]:
        return f"{buffer.name}[{offset}]"
    found: list[str] = []
    for extent in reversed(extents[1:]):
        found.insert(0, str(offset % max(int(extent or 1), 1)))
        offset //= max(int(extent or 1), 1)
    return f"{buffer.name}[{', '.join([str(offset), *found])}]"
