"""Counts what kernels ask of the machine while the simulator runs them."""

from __future__ import annotations

from typing import Any, Final

from ..codegen.cuda_memory import elements
from ..target.limits import WARP
from .asked import asked, element_bytes, is_run
from .counts import Counts
from .matrix_asked import matrix_asked
from .memory import GLOBAL, WARPS
from .requests import Wavefronts, distinct, requests, sectors, wavefronts
from .touched import Touched
from .work import MEMORY, OTHER, Work

_KINDS: Final = {
    "load": "load",
    "store": "store",
    "atomic": "atomic",
    "copy load": "copy",
    "copy store": "copy",
    "matrix load": "load",
    "matrix store": "store",
}
"""As what each access is counted; what a warpgroup multiplies is a copy, too."""
_COPIES: Final = ("copy load", "copy store")
_LOADS: Final = ("load", "copy load", "matrix load")
_GRANULE: Final = 16
"""What the size of each shared array is rounded up to, in bytes."""
_WAVEFRONT: Final = 128
"""Bytes."""


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
        """Count the requests of an access, whose verb says what kind it is of."""
        if memory.owner == WARPS or not len(found.x):
            return
        is_global, kind = memory.owner == GLOBAL, _KINDS[verb]
        is_matrix = verb.startswith("matrix")
        what = matrix_asked(site, memory, found) if is_matrix else asked(site, memory, found, vector)
        moved = len(found.x) * element_bytes(memory)
        if what is None or (verb in _COPIES and is_run(found.lane, element_bytes(memory))):
            count, kind = len(distinct(found.lane)), "copy"
            what = what._replace(instruction=0) if what is not None and is_global else None
        else:
            count = requests(what)
            self._now.instructions[MEMORY] += count if verb not in _COPIES else 0
        traffic = getattr(self._now, f"{'global' if is_global else 'shared'}_{kind}")
        traffic.requests += count
        traffic.bytes += moved
        if is_global:
            assert what is not None
            took = sectors(what)
            traffic.sectors += took
            self._touched.add(memory, what.address, g.threads[what.thread] // g.run.lanes, verb in _LOADS, took)
            return
        least = -(-moved // _WAVEFRONT)
        taken = Wavefronts(least, least) if what is None else wavefronts(what, verb == "load")
        traffic.wavefronts += taken.all
        traffic.ideal += taken.ideal
