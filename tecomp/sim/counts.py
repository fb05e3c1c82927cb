"""What a kernel asked of the machine, as numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields

from .requests import SECTOR


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
        return self.bytes / (SECTOR * self.sectors) if self.sectors else 0.0


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
