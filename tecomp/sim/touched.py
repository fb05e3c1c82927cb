"""Which sectors of global memory a launch touches: in all, which DRAM must move, and each block by itself, which L2
must give it when its L1 keeps what it has read."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .requests import SECTOR, Array, distinct

_MANY: Final = 1 << 22
"""Keys that wait to be made one set."""


class Touched:
    """The sectors that one launch has read, and those that it has written."""

    def __init__(self) -> None:
        self._maps: dict[tuple[int, bool], Array] = {}
        self._waiting: list[Array] = []
        self._count = 0
        self.through = 0
        """Sectors that went to L2 for a store or an atomic update: no L1 keeps these."""

    def add(self, memory: Any, address: Array, blocks: Array, is_load: bool, sectors: int) -> None:
        """Note what blocks touch: addresses, of which each has its block; `sectors` is how many they ask for."""
        sector = address // SECTOR
        key = (memory.address, is_load)
        if key not in self._maps:
            self._maps[key] = np.zeros(-(-memory.data.nbytes // SECTOR) + 1, np.bool_)
        self._maps[key][sector - memory.address // SECTOR] = True
        if not is_load:
            self.through += sectors
            return
        self._waiting.append(distinct(blocks.astype(np.int64) << 40 | sector))
        self._count += len(self._waiting[-1])
        if self._count > _MANY and len(self._waiting) > 1:
            self._join()

    def _join(self) -> None:
        self._waiting = [distinct(np.concatenate(self._waiting))] if self._waiting else []
        self._count = sum(map(len, self._waiting)) // 2  # so that a set that stays large is not made again each time

    def dram_bytes(self, scale: float, is_load: bool) -> int:
        """Return the bytes of the sectors read or written; `scale` times as many where an array has so many."""
        maps = [found for (_, loads), found in self._maps.items() if loads is is_load]
        return sum(SECTOR * int(min(found.sum() * scale, len(found) - 1)) for found in maps)

    def l2_sectors(self) -> int:
        """Return how many sectors go between L2 and the blocks."""
        self._join()
        return sum(map(len, self._waiting)) + self.through
