"""Registers that warps give away and take: all of a block's are 65536, and who asks for more than are left waits.

A kernel begins with as many for each thread as all of the block can have, in steps of 8, at most 255.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final

import numpy as np

from ..target.limits import WARP
from .meeting import Waiting

Waits = Generator[Any, None, None]
REGISTERS: Final = 65536
STEP, MOST = 8, 255


class RegisterPool:
    """What each warp of some blocks has, in registers a thread, and what is left in each block."""

    def __init__(self, threads: int) -> None:
        each = min(REGISTERS // max(threads, 1), MOST)
        self._first = each if each == MOST else each // STEP * STEP
        self._left = REGISTERS - self._first * threads
        self._warps: dict[int, int] = {}
        self._blocks: dict[int, int] = {}

    def of(self, warp: int) -> int:
        """Return how many registers each thread of a warp has."""
        return self._warps.get(warp, self._first)

    def left(self, block: int) -> int:
        """Return how many registers of a block nobody has."""
        return self._blocks.get(block, self._left)

    def change(self, block: int, warp: int, count: int) -> None:
        """Give each thread of a warp that many."""
        self._blocks[block] = self.left(block) - (count - self.of(warp)) * WARP
        self._warps[warp] = count


def registers_increase(g: Any, site: Any, mask: Any, count: Any) -> Waits:
    """Take registers, when there are enough; a warp that has more keeps them."""
    pool, wanted = g.run.registers, int(count)
    for warp, block in _warps(g, mask):
        needed = max(wanted - pool.of(warp), 0) * WARP
        if pool.left(block) < needed:
            yield Waiting(
                lambda block=block, needed=needed: pool.left(block) >= needed,
                lambda block=block, needed=needed: f"{needed} registers, of which {pool.left(block)} are left",
                site,
                g,
            )
        pool.change(block, warp, max(wanted, pool.of(warp)))


def registers_decrease(g: Any, site: Any, mask: Any, count: Any) -> None:
    """Give registers away."""
    pool, wanted = g.run.registers, int(count)
    for warp, block in _warps(g, mask):
        pool.change(block, warp, min(wanted, pool.of(warp)))


def _warps(g: Any, mask: Any) -> list[tuple[int, int]]:
    lanes = g.lanes_of(mask)
    return [(int(warp), int(warp) * WARP // g.run.lanes) for warp in np.unique(g.warp[lanes])]


REGISTERS_NUMPY: Final[dict[str, Callable[..., Any]]] = {
    "registers_increase": registers_increase,
    "registers_decrease": registers_decrease,
}
"""What each does."""
