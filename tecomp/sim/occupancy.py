"""How many warps of a kernel an SM holds at once, and what keeps it from holding more."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..target.limits import WARP
from .gpus import Gpu

_REGISTERS_AT_ONCE: Final = 256
"""A warp gets registers in such portions."""
_SHARED_AT_ONCE: Final = 128
"""A block gets bytes of shared memory in such portions."""
_PARTS: Final = 4
"""An SM has four parts, each with warps and registers of its own."""


class Occupancy(NamedTuple):
    """Blocks and warps of an SM at once."""

    blocks: int
    warps: int
    most_warps: int
    limit: str
    """Threads, blocks, shared memory or registers."""
    registers: int | None
    """Of a thread; None where no machine code says so."""

    @property
    def fraction(self) -> float:
        """Warps, of those that an SM may have."""
        return self.warps / self.most_warps


def occupancy(gpu: Gpu, threads: int, shared: int, registers: int | None) -> Occupancy:
    """Return what an SM holds of blocks of so many threads and bytes of shared memory.

    Source: NVIDIA's occupancy calculator, with the limits of `gpus`.
    """
    warps = max(-(-threads // WARP), 1)
    portion = -(-shared // _SHARED_AT_ONCE) * _SHARED_AT_ONCE + gpu.sm.reserved
    limits = {
        "threads": gpu.sm.warps // warps,
        "blocks": gpu.sm.blocks,
        "shared memory": gpu.sm.shared // max(portion, 1),
    }
    if registers:
        of_warp = -(-registers * WARP // _REGISTERS_AT_ONCE) * _REGISTERS_AT_ONCE
        limits["registers"] = gpu.sm.registers // _PARTS // of_warp * _PARTS // warps
    limit = min(limits, key=lambda name: limits[name])
    blocks = limits[limit]
    return Occupancy(blocks, blocks * warps, gpu.sm.warps, limit, registers)
