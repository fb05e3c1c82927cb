"""Counters of what kernels ask of the machine: requests, sectors and wavefronts, instructions, operations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any, Final

import numpy as np

from ..codegen.cuda_memory import elements
from ..codegen.cuda_vector import WIDEST
from ..ir import expr as E
from .memory import GLOBAL, WARPS
from .requests import WARP, Array, Asked, requests, sectors, wavefronts
from .touched import Touched
from .work import CONTROL, FLOAT, INTEGER, MEMORY, OTHER, SPECIAL, Work

_COPIES: Final = ("copy load", "copy store")
_GRANULE: Final = 16
"""What the size of each shared array is rounded up to, in bytes."""


@dataclass
class GlobalTraffic:
    """Accesses of global memory of one kind: requests of warps, bytes that threads ask for, 32-byte sectors."""

    requests: int = 0
    bytes: int = 0
    sectors: int = 0

    @property
    def sectors_per_request(self) -> float:
        """Sectors of a request: 4 where the lanes of a warp read 4 bytes each, side by side."""
        return self.sectors / self.requests if self.requests else 0.0

    @property
    def efficiency(self) -> float:
        """Bytes asked for, of those that are moved; above 1 where lanes share them."""
        return self.bytes / (32 * self.sectors) if self.sectors else 0.0


@dataclass
class SharedTraffic:
    """Accesses of shared memory of one kind: requests of warps, bytes that threads ask for, wavefronts."""

    requests: int = 0
    bytes: int = 0
    wavefronts: int = 0
    ideal: int = 0
    """Wavefronts that there would be if no two words were of one bank."""

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond the ideal."""
        return self.wavefronts - self.ideal

    @property
    def wavefronts_per_request(self) -> float:
        """Wavefronts of a request: 1 without conflicts, of accesses of 4 bytes."""
        return self.wavefronts / self.requests if self.requests else 0.0


@dataclass
class Counts:
    """What one kernel did, in all its launches."""

    launches: int = 0
    blocks: int = 0
    threads: int = 0
    """Of a block."""
    shared: int = 0
    """Bytes of shared memory of a block."""
    global_load: GlobalTraffic = field(default_factory=GlobalTraffic)
    global_store: GlobalTraffic = field(default_factory=GlobalTraffic)
    global_atomic: GlobalTraffic = field(default_factory=GlobalTraffic)
    global_copy: GlobalTraffic = field(default_factory=GlobalTraffic)
    """Of asynchronous copies, from and to."""
    shared_load: SharedTraffic = field(default_factory=SharedTraffic)
    shared_store: SharedTraffic = field(default_factory=SharedTraffic)
    shared_atomic: SharedTraffic = field(default_factory=SharedTraffic)
    shared_copy: SharedTraffic = field(default_factory=SharedTraffic)
    l2_sectors: int = 0
    """Sectors that blocks get from L2, what a block reads again left out, or write there."""
    dram_read: int = 0
    dram_written: int = 0
    """Bytes of the different sectors that a launch reads or writes."""
    instructions: Counter[str] = field(default_factory=Counter[str])
    """Of warps, by class: float, integer, special, memory, control, other."""
    named: Counter[str] = field(default_factory=Counter[str])
    """Of warps, by name: barrier, warp barrier, fence, shuffle, vote, ..."""
    flops: Counter[str] = field(default_factory=Counter[str])
    """By type; a fused multiplication and addition is 2."""
    matrix: int = 0
    """Matrix instructions of warps."""
    matrix_flops: Counter[str] = field(default_factory=Counter[str])
    """By the type of the factors."""

    def add(self, other: Counts, scale: float) -> None:
        """Add what was counted in some of the blocks of a launch, `scale` times."""
        for one in fields(self):
            mine, more = getattr(self, one.name), getattr(other, one.name)
            if isinstance(mine, Counter):
                mine.update({name: round(count * scale) for name, count in more.items()})
            elif isinstance(mine, (GlobalTraffic, SharedTraffic)):
                for part in fields(mine):
                    total = getattr(mine, part.name) + round(getattr(more, part.name) * scale)
                    setattr(mine, part.name, total)
            elif one.name not in ("launches", "blocks", "threads", "shared"):
                setattr(self, one.name, mine + round(more * scale))


class Counters:
    """What the simulator tells while it runs; `kernels` holds the sums after `end`."""

    def __init__(self) -> None:
        self.kernels: dict[str, Counts] = {}
        self.sampled = False
        """Whether of some launch only a part of the blocks ran."""
        self._begin(None)

    def _begin(self, name: str | None) -> None:
        self._name, self._now, self._touched = name, Counts(), Touched()
        self._work: dict[Work, list[int]] = {}
        self._ran = self._blocks = 0

    def launch(self, program: Any, shape: Any, shared: int) -> None:
        """A kernel begins; `shared` are the bytes that the launch asks for."""
        self.end()
        self._begin(program.name)
        self._blocks = shape.blocks
        total = self.kernels.setdefault(program.name, Counts())
        total.launches, total.blocks = total.launches + 1, total.blocks + shape.blocks
        total.threads = max(total.threads, shape.threads)
        declared = sum(-(-elements(one) * one.dtype.bytes // _GRANULE) * _GRANULE for one in program.shared)
        total.shared = max(total.shared, declared, shared)

    def end(self) -> None:
        """Add what the last launch did to what its kernel did, all its blocks where only some ran."""
        if self._name is None or not self._ran:
            return
        scale = self._blocks / self._ran
        self.sampled |= scale != 1
        now, total = self._now, self.kernels[self._name]
        for work, (warps, threads) in self._work.items():
            now.instructions.update({name: count * warps for name, count in work.instructions})
            now.flops.update({name: count * threads for name, count in work.flops})
        now.l2_sectors = self._touched.l2_sectors()
        total.add(now, scale)
        total.dram_read += self._touched.dram_bytes(scale, is_load=True)
        total.dram_written += self._touched.dram_bytes(scale, is_load=False)
        self._begin(None)

    def ran(self, blocks: int) -> None:
        """So many blocks begin to run."""
        self._ran += blocks

    def instruction(self, name: str, times: int) -> None:
        """Count instructions of warps."""
        self._now.named[name] += times
        self._now.instructions[OTHER] += times

    def matrix(self, warps: int, flops: int, factor: str = "float16") -> None:
        """Count matrix instructions of warps, of so many flops each, of factors of that type."""
        self._now.matrix += warps
        self._now.instructions[OTHER] += warps
        self._now.matrix_flops[factor] += warps * flops

    def work(self, g: Any, work: Work, mask: Any) -> None:
        """Count what the threads of a mask evaluate."""
        if mask is None:
            warps, threads = g.size // WARP, g.size
        else:
            active = mask if mask.ndim == 1 else mask.any(axis=1)
            warps, threads = int(active.reshape(-1, WARP).any(axis=1).sum()), int(active.sum())
        sums = self._work.setdefault(work, [0, 0])
        sums[0] += warps
        sums[1] += threads

    def access(self, g: Any, site: Any, memory: Any, found: Any, vector: bool, verb: str) -> None:
        """Count the requests of an access: load, store, atomic, or what an asynchronous copy does."""
        if memory.owner == WARPS or not len(found.x):
            return
        size = memory.data.itemsize * (memory.data.shape[1] if memory.data.ndim == 2 else 1)
        asked = _asked(g, site, memory, found, vector, size)
        space, kind = "global" if memory.owner == GLOBAL else "shared", "copy" if verb in _COPIES else verb
        traffic = getattr(self._now, f"{space}_{kind}")
        count = requests(asked)
        traffic.requests += count
        traffic.bytes += len(found.x) * size
        if verb not in _COPIES:
            self._now.instructions[MEMORY] += count
        is_load = verb in ("load", "copy load")
        if space == "shared":
            taken = wavefronts(asked, is_load)
            traffic.wavefronts += taken.all
            traffic.ideal += taken.ideal
            return
        took = sectors(asked)
        traffic.sectors += took
        lane = asked.request // WARP  # noqa: F841
        self._touched.add(memory, asked.address, asked.block, is_load, took)
