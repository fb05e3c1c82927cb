"""A gang: threads that run the same code in step, and what each of them has.

Either all threads of some blocks, or one warp. Every access goes through it: located, checked against the extents,
against what was never written and what is still in flight, and against the accesses of other threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..instructions.pending import Pending
from ..instructions.touching import Located
from ..target.limits import WARP
from . import complaints, registers
from .clock import Array
from .instructions import MEANINGS
from .memory import BLOCK, GLOBAL, Memory
from .place import Place
from .registers import Registers
from .site import Site
from .values import Mask


class Gang:
    """Threads `threads`, numbered block by block over the whole grid; `live` are those that the blocks have."""

    def __init__(self, run: Any, threads: Array, live: Mask, slots: int) -> None:
        self.run, self.threads, self.live = run, threads, live
        self.size = len(threads)
        self.v: list[Any] = [None] * slots
        """The value of each variable, the memory of each buffer."""
        self.own = threads - run.clock.origin
        self.block = self.own // run.lanes
        self.warp = self.own // WARP
        self.all_lanes = np.arange(self.size)
        self.pending = Pending()

    def forget(self) -> None:
        """Let go of all memories."""
        self.v, self.pending = [], Pending()

    def lanes_of(self, mask: Mask) -> Array:
        """Return the threads of the gang that take part."""
        return self.all_lanes if mask is None else np.flatnonzero(mask)

    def require(self, stmt: Any, condition: Any, mask: Mask, what: str) -> None:
        """Report threads where an operation has no value."""
        if np.all(condition):
            return
        wrong = ~np.asarray(condition)
        bad = np.broadcast_to(wrong if wrong.ndim < 2 else wrong.any(axis=1), (self.size,))
        lanes = np.flatnonzero(bad if mask is None else bad & (mask if mask.ndim == 1 else mask.any(axis=1)))
        if len(lanes):
            because = f"thread ({self.name(lanes[0])}) does it"
            self.run.report("undefined", what, because, stmt, len(lanes))

    def name(self, lane: int) -> str:
        """Return how a program names a thread."""
        return self.run.thread_name(int(self.threads[lane]))

    def located(self, site: Site, memory: Memory, index: Any, mask: Mask, verb: str) -> Located:
        """Return the elements that an access is about; those outside of the memory are reported and left out."""
        if np.ndim(index) == 2:
            lanes = index.shape[1]
            flat = np.broadcast_to(index, (self.size, lanes)).ravel()
            lane = np.repeat(self.all_lanes, lanes)
        else:
            lanes = 1
            flat = np.broadcast_to(index, (self.size,))
            lane = self.all_lanes
        at = None
        if mask is not None:
            at = np.flatnonzero(_spread(mask, np.ndim(index) == 2, self.size, lanes))
            flat, lane = flat[at], lane[at]
        found = self.elements(site, memory, flat, lane, verb)
        if found.at is None:
            return Located(found.x, found.lane, at)
        return Located(found.x, found.lane, found.at if at is None else at[found.at])

    def elements(self, site: Site, memory: Memory, flat: Array, lane: Array, verb: str) -> Located:
        """Return elements `flat` of what threads `lane` have for a memory, without those that are outside of it."""
        flat = flat.astype(np.int64)
        at = None
        inside = (flat >= -memory.first) & (flat < memory.count - memory.first)
        if not inside.all():
            complaints.outside(self, site, memory, flat, lane, ~inside, verb)
            at = np.flatnonzero(inside)
            flat, lane = flat[at], lane[at]
        if memory.first:
            flat = flat + memory.first
        if memory.owner != GLOBAL:
            flat = flat + (self.block if memory.owner == BLOCK else self.warp)[lane] * memory.count
        return Located(flat, lane, at)

    def load(self, site: Site, index: Any, mask: Mask) -> Any:
        """Return the elements at `index`, in the threads of the mask; zero in others."""
        memory = self.v[site.slot]
        if type(memory) is Registers:
            return registers.load(self, site, memory, index, mask)
        if _is_one_for_all(memory, index):
            self.run.count_uniform(self, site, memory, index, mask)
            return memory.data[index] if memory.data.ndim == 1 else memory.data[index][None, :]
        found = self.located(site, memory, index, mask, "reads")
        if site.align:
            complaints.misaligned(self, site, memory, found, index, "reads")
        self.checked_read(site, memory, found, np.ndim(index) == 2)
        value = memory.data[found.x]
        lanes = memory.buffer.dtype.lanes if np.ndim(index) < 2 else index.shape[1]
        shape = (self.size,) if lanes == 1 and np.ndim(index) < 2 else (self.size, lanes)
        if found.at is None:
            return value.reshape(shape)
        whole = np.zeros(shape, memory.data.dtype)
        rows = whole.reshape(-1, *value.shape[1:])
        rows[found.at] = value
        return whole

    def checked_read(
        self, site: Site, memory: Memory, found: Located, vector: bool = False, verb: str = "load"
    ) -> None:
        """Note a read of elements, and report what is wrong with it."""
        x, lane = found.x, found.lane
        self.run.count(self, site, memory, found, vector, verb)
        if memory.marks is not None and not memory.marks[x].all():
            complaints.unwritten(self, site, memory, found, ~memory.marks[x])
        if memory.flight is not None:
            complaints.in_flight(self, site, memory, found, memory.flight[x] > 0, "reads")
        if memory.shadow is not None and self.run.watches:
            threads = self.threads[lane]
            epochs = self.run.clock.epoch[self.own[lane]]
            conflict = memory.shadow.read(self.run.clock, x, threads, epochs, site.number)
            if conflict is not None:
                complaints.race(self, site, memory, found, conflict, "reads")

    def store(self, site: Site, index: Any, value: Any, mask: Mask) -> None:
        """Store to the elements at `index`, in the threads of the mask."""
        memory = self.v[site.slot]
        if type(memory) is Registers:
            registers.store(self, site, memory, index, value, mask)
            return
        found = self.located(site, memory, index, mask, "writes")
        if site.align:
            complaints.misaligned(self, site, memory, found, index, "writes")
        self.checked_write(site, memory, found, np.ndim(index) == 2)
        if memory.data.ndim == 2:
            rows = np.broadcast_to(value, (self.size, memory.data.shape[1]))
        elif np.ndim(index) == 2:
            rows = np.broadcast_to(value, (self.size, index.shape[1])).ravel()
        else:
            rows = np.broadcast_to(value, (self.size,))
        memory.data[found.x] = rows if found.at is None else rows[found.at]

    def checked_write(
        self,
        site: Site,
        memory: Memory,
        found: Located,
        vector: bool = False,
        atomic: bool = False,
        verb: str = "store",
    ) -> None:
        """Note a write of elements, and report what is wrong with it."""
        x, lane = found.x, found.lane
        self.run.count(self, site, memory, found, vector, "atomic" if atomic else verb)
        if memory.flight is not None:
            complaints.in_flight(self, site, memory, found, memory.flight[x] != 0, "writes")
        if memory.marks is not None:
            if atomic and not memory.marks[x].all():
                complaints.unwritten(self, site, memory, found, ~memory.marks[x])
            memory.marks[x] = True
        if memory.shadow is not None and self.run.watches:
            threads = self.threads[lane]
            epochs = self.run.clock.epoch[self.own[lane]]
            conflict = memory.shadow.write(self.run.clock, x, threads, epochs, site.number, atomic)
            if conflict is not None:
                complaints.race(self, site, memory, found, conflict, "updates" if atomic else "writes")

    def place(self, site: Site, offset: Any) -> Place:
        """Return an address."""
        return Place(self.v[site.slot], offset, site)

    def instruction(self, site: Site, mask: Mask, *args: Any) -> Any:
        """Return what an instruction gives."""
        return MEANINGS[site.node.name](self, site, mask, *args)

    def regroup(self, value: Array, kind: np.dtype[Any], lanes: int) -> Any:
        """Return the bits of vectors as vectors of other elements."""
        whole = np.ascontiguousarray(value).view(kind)
        return whole if lanes > 1 else whole[:, 0]


def _is_one_for_all(memory: Memory, index: Any) -> bool:
    """Return whether all threads read one element that nothing here writes: a value that they have in common."""
    fixed = memory.owner == GLOBAL and memory.shadow is None and memory.marks is None and memory.flight is None
    return fixed and not memory.first and np.ndim(index) == 0 and 0 <= index < memory.count


def _spread(mask: Array, vector: bool, size: int, lanes: int) -> Array:
    """Return a mask for each element of an access: of threads for all lanes of one, of lanes for a thread if any is."""
    if not vector:
        return mask if mask.ndim == 1 else np.broadcast_to(mask.any(axis=1), (size,))
    return np.repeat(mask, lanes) if mask.ndim == 1 else np.broadcast_to(mask, (size, lanes))
