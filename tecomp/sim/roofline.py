"""How long a kernel takes at least on a GPU, by each thing that bounds it.

The counts are exact; the times are what the machine could do at best, each bound by itself: a run takes longer.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..target.limits import WARP
from .counts import Counts
from .gpus import Gpu, rate
from .requests import SECTOR
from .work import SPECIAL

_PORT: Final = 64
"""Bytes that an SM gets of L2 in a clock."""
_LINE: Final = 128
"""Bytes that an SM gets of L1 or of shared memory in a clock."""


class Bound(NamedTuple):
    """One thing that takes time."""

    name: str
    seconds: float
    amount: str
    """What is done, in words."""


def bounds(counts: Counts, gpu: Gpu) -> list[Bound]:
    """Return what bounds a kernel, the longest first."""
    used = min(gpu.sms, max(counts.blocks // max(counts.launches, 1), 1))
    clocks = used * gpu.clock
    share = used / gpu.sms
    dram = counts.dram_read + counts.dram_written
    l2 = counts.l2_sectors * SECTOR
    l1 = (counts.global_load.sectors + counts.global_store.sectors + counts.global_atomic.sectors) * SECTOR
    shared = sum(
        one.wavefronts
        for one in (counts.shared_load, counts.shared_store, counts.shared_atomic, counts.shared_copy)
    )  # fmt: skip
    special = counts.instructions[SPECIAL] * WARP
    all_ports = min(gpu.sm.l2_bytes or gpu.sms * _PORT, used * _PORT) * gpu.clock
    flops = sum(count / rate(gpu.flops, name) for name, count in counts.flops.items())
    matrix = sum(count / rate(gpu.tensor, name) for name, count in counts.matrix_flops.items())
    found = [
        Bound("DRAM", dram / gpu.dram, f"{quantity(dram)}B"),
        Bound("L2", l2 / all_ports, f"{quantity(l2)}B"),
        Bound("L1", l1 / (_LINE * clocks), f"{quantity(l1)}B"),
        Bound("shared memory", shared / clocks, f"{quantity(shared)} wavefronts"),
        Bound("special functions", special / (gpu.sm.special * clocks), f"{quantity(special)}"),
        Bound("flops", flops / share, f"{quantity(sum(counts.flops.values()))}flop"),
        Bound("matrix flops", matrix / share, f"{quantity(sum(counts.matrix_flops.values()))}flop"),
    ]
    return sorted(found, key=lambda bound: -bound.seconds)


_PREFIXES: Final = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SMALL: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def quantity(value: float) -> str:
    """Return a number in three digits: 1.05 M."""
    size, prefix = next(((size, prefix) for size, prefix in _PREFIXES if value >= size), (1.0, ""))
    return f"{value / size:.3g} {prefix}"


def duration(seconds: float) -> str:
    """Return a time in three digits: 12.3 us."""
    size, unit = next(((size, unit) for size, unit in _SMALL if seconds >= size), _SMALL[-1])
    return f"{seconds / size:.3g} {unit}"
