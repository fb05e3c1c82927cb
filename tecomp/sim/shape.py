"""The extents of a launch, and the names of its threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..ir.stmt import CLUSTER
from ..target.limits import WARP


class Shape:
    """The extents of a launch: threads of a block, blocks of the grid, along x, y and z."""

    def __init__(self, grid: Sequence[int], block: Sequence[int]) -> None:
        self.grid, self.block = tuple(grid), tuple(block)
        self.threads = int(np.prod(self.block))
        self.blocks = int(np.prod(self.grid))
        self.warps = -(-self.threads // WARP)
        self.lanes = self.warps * WARP
        self.number = np.int32 if self.blocks * self.lanes < 1 << 31 else np.int64
        """The type of the numbers of its threads."""

    def thread(self, number: int) -> tuple[dict[str, int], dict[str, int]]:
        """Return the indices of a thread in its block, and of its block, by axis."""
        block, inside = divmod(number, self.lanes)
        return _indices(inside, self.block), _indices(block, self.grid)

    def name(self, number: int, tags: Sequence[str]) -> str:
        """Return the indices of a thread along the axes `tags`: threadIdx.x=3, blockIdx.x=0."""
        thread, block = self.thread(number)
        own = [tag for tag in tags if tag != CLUSTER]
        return ", ".join(f"{tag}={(thread if tag.startswith('threadIdx') else block)[tag[-1]]}" for tag in own)


def _indices(number: int, extents: tuple[int, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for axis, extent in zip("xyz", extents, strict=True):
        found[axis] = number % extent
        number //= extent
    return found
