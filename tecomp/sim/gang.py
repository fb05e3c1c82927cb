"""A gang: threads that run the same code in step, and what each of them has.

Either all threads of some blocks, or one warp. Every access goes through it: located, checked against the extents,
against what was never written and what is still in flight, and against the accesses of other threads.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from .clock import WARP, Array
from .instructions import MEANINGS
from ..instructions.pending import Pending
from .memory import BLOCK, GLOBAL, Memory, Registers
from .shadow import Conflict
from .site import Site
from .values import Mask

Steps = Generator[Any, None, None]


class Place(NamedTuple):
    """An address: elements of a memory or of registers, `offset` from the first, in each thread."""

    memory: Any
    offset: Any
    site: Site


class Located(NamedTuple):
    """The elements of an access one after the other: where, of which thread of the gang, in which position of it."""

    x: Array
    lane: Array
    at: Array | None
    """Positions in the whole access; None where all of it is there."""


class Gang:
    """Threads `threads`, numbered block by block over the whole grid, of blocks from `first_block` on."""

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

    def lanes_of(self, mask: Mask) -> Array:
        """Return the threads of the gang that take part."""
        return self.all_lanes if mask is None else np.flatnonzero(mask)

    def require(self, stmt: Any, condition: Any, mask: Mask, what: str) -> None:
        """Report threads where an operation has no value."""
        if np.all(condition):
            return
        bad = (
            np.broadcast_to(~np.asarray(condition), np.broadcast_shapes(np.shape(condition), (self.size,)))
            if (np.ndim(condition) < 2)
            else (~condition).any(axis=1)
        )
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
        inside = (flat >= 0) & (flat < memory.count)
        if not inside.all():
            self._outside(site, memory, flat, lane, ~inside, verb)
            at = np.flatnonzero(inside)
            flat, lane = flat[at], lane[at]
        if memory.owner != GLOBAL:
            flat = flat + (self.block if memory.owner == BLOCK else self.warp)[lane] * memory.count
        return Located(flat, lane, at)

    def load(self, site: Site, index: Any, mask: Mask) -> Any:
        """Return the elements at `index`, in the threads of the mask; zero in others."""
        memory = self.v[site.slot]
        if type(memory) is Registers:
            return self._load_registers(site, memory, index, mask)
        if memory.owner == GLOBAL and np.ndim(index) == 0 and memory.shadow is None and memory.marks is None:
            if 0 <= index < memory.count:
                self.run.count_uniform(self, site, memory, index, mask)
                return memory.data[index] if memory.data.ndim == 1 else memory.data[index][None, :]
        found = self.located(site, memory, index, mask, "reads")
        if site.align:
            self._aligned(site, memory, found, index, "reads")
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
            self._unwritten(site, memory, found, ~memory.marks[x])
        if memory.flight is not None:
            self._in_flight(site, memory, found, memory.flight[x] > 0, "reads")
        if memory.shadow is not None and self.run.watches:
            threads = self.threads[lane]
            epochs = self.run.clock.epoch[self.own[lane]]
            conflict = memory.shadow.read(self.run.clock, x, threads, epochs, site.number)
            if conflict is not None:
                self._race(site, memory, found, conflict, "reads")

    def store(self, site: Site, index: Any, value: Any, mask: Mask) -> None:
        """Store to the elements at `index`, in the threads of the mask."""
        memory = self.v[site.slot]
        if type(memory) is Registers:
            self._store_registers(site, memory, index, value, mask)
            self.pending.puts += 1
            memory.last_put = self.pending.puts
            return
        found = self.located(site, memory, index, mask, "writes")
        if site.align:
            self._aligned(site, memory, found, index, "writes")
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
            self._in_flight(site, memory, found, memory.flight[x] != 0, "writes")
        if memory.marks is not None:
            if atomic and not memory.marks[x].all():
                self._unwritten(site, memory, found, ~memory.marks[x])
            memory.marks[x] = True
        if memory.shadow is not None and self.run.watches:
            threads = self.threads[lane]
            epochs = self.run.clock.epoch[self.own[lane]]
            conflict = memory.shadow.write(self.run.clock, x, threads, epochs, site.number, atomic)
            if conflict is not None:
                self._race(site, memory, found, conflict, "updates" if atomic else "writes")

    def _aligned(self, site: Site, memory: Memory, found: Located, index: Any, verb: str) -> None:
        """Report vectors that are moved together and are not at a multiple of what is moved at once."""
        item = memory.data.itemsize
        first = found.x if found.at is None else found.x[found.at % index.shape[1] == 0]
        first = first[:: index.shape[1]] if found.at is None else first
        wrong = np.flatnonzero((memory.address + first * item) % site.align)
        if len(wrong):
            what = f"'{memory.place(int(first[wrong[0]]))}' is not at a multiple of {site.align} bytes"
            because = f"a thread {verb} {site.align} bytes there at once"
            self.run.report("misaligned", what, because, site.stmt, len(wrong))

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

    def _load_registers(self, site: Site, memory: Registers, index: Any, mask: Mask) -> Any:
        if np.ndim(index) == 0:
            if not 0 <= index < memory.count:
                self._outside_registers(site, memory, index, mask, "reads")
                return memory.rows[0]
            if memory.marks[index] is not True:
                self._unwritten_registers(site, memory, int(index), memory.marks[index], mask)
            if memory.flight and memory.flight.get(int(index)):
                self._register_in_flight(site, memory, int(index), mask, "reads")
            return memory.rows[index]
        if np.ndim(index) == 2 and index.shape[0] == 1:
            parts = [self._load_registers(site, memory, one, mask_of(mask, at)) for at, one in enumerate(index[0])]
            return np.stack([np.broadcast_to(part, (self.size,)) for part in parts], axis=1)
        inside = self._inside_registers(site, memory, index, mask, "reads")
        lane = self.all_lanes if np.ndim(index) == 1 else self.all_lanes[:, None]
        marks = memory.mark_matrix()[inside, lane]
        wanted = (
            np.ones_like(marks)
            if mask is None
            else np.broadcast_to(mask if mask.ndim == marks.ndim else mask[:, None], marks.shape)
        )
        if (wanted & ~marks).any():
            bad = np.argwhere(wanted & ~marks)[0]
            self._unwritten_registers(
                site, memory, int(inside[tuple(bad)]), ~(wanted & ~marks).reshape(self.size, -1).any(1), None
            )
        if memory.buffer.dtype.lanes > 1:
            return np.stack([np.broadcast_to(row, (self.size, row.shape[-1])) for row in memory.rows])[inside, lane]
        return memory.matrix()[inside, lane]

    def _store_registers(self, site: Site, memory: Registers, index: Any, value: Any, mask: Mask) -> None:
        if np.ndim(index) == 0:
            if not 0 <= index < memory.count:
                self._outside_registers(site, memory, index, mask, "writes")
                return
            if memory.flight and memory.flight.get(int(index)):
                self._register_in_flight(site, memory, int(index), mask, "writes")
            memory.put(int(index), value, mask)
            return
        inside = self._inside_registers(site, memory, index, mask, "writes")
        if inside.ndim == 1:
            rows = np.broadcast_to(value, (self.size, *np.shape(value)[1:]))
            for at in np.unique(inside):
                memory.put(int(at), rows, _narrowed(mask, inside == at))
            return
        columns = np.broadcast_to(value, (self.size, inside.shape[1]))
        for lane in range(inside.shape[1]):
            index_of = np.broadcast_to(inside[:, lane], (self.size,))
            uniform = inside.shape[0] == 1
            for at in inside[:, lane] if uniform else np.unique(index_of):
                chosen = mask_of(mask, lane)
                memory.put(int(at), columns[:, lane], chosen if uniform else _narrowed(chosen, index_of == at))

    def _inside_registers(self, site: Site, memory: Registers, index: Array, mask: Mask, verb: str) -> Array:
        bad = (index < 0) | (index >= memory.count)
        if not bad.any():
            return index
        wanted = bad if mask is None else bad & (mask if mask.ndim == bad.ndim else mask[:, None])
        if wanted.any():
            self._outside_registers(site, memory, index[tuple(np.argwhere(wanted)[0])], mask, verb)
        return np.where(bad, 0, index)

    def _outside_registers(self, site: Site, memory: Registers, index: Any, mask: Mask, verb: str) -> None:
        what = f"{memory.buffer.name} {verb.removesuffix('s')} at element {int(index)}, outside its {memory.count}"
        self.run.report(
            "bounds", what, f"thread ({self.name(self.lanes_of(mask_of(mask, 0))[0])}) {verb} it", site.stmt
        )

    def _unwritten_registers(self, site: Site, memory: Registers, at: int, marks: Any, mask: Mask) -> None:
        missing = np.broadcast_to(~np.asarray(marks), (self.size,))
        lanes = np.flatnonzero(missing if mask is None else missing & mask)
        if self.live is not None:
            lanes = lanes[self.live[lanes]]
        if len(lanes):
            name = f"{memory.buffer.name}[{at}]" if memory.buffer.shape else memory.buffer.name
            because = f"thread ({self.name(lanes[0])}) reads it, and has not stored to it"
            self.run.report("uninitialised", f"{name} holds nothing", because, site.stmt, len(lanes))
            memory.marks[at] = True

    def _register_in_flight(self, site: Site, memory: Registers, at: int, mask: Mask, verb: str) -> None:
        because = f"thread ({self.name(self.lanes_of(mask)[0])}) {verb} it, and the instruction that computes it may not have ended"
        self.run.report("async", f"{memory.buffer.name}[{at}] is in flight", because, site.stmt)

    def _outside(self, site: Site, memory: Memory, flat: Array, lane: Array, bad: Array, verb: str) -> None:
        at = int(np.flatnonzero(bad)[0])
        what = f"'{memory.buffer.name}' is accessed at element {int(flat[at])}, outside its {memory.count}"
        shape = ", ".join(map(repr, memory.buffer.shape))
        because = f"thread ({self.name(lane[at])}) {verb} it; the shape is [{shape}]"
        self.run.report("bounds", what, because, site.stmt, int(bad.sum()))

    def _unwritten(self, site: Site, memory: Memory, found: Located, missing: Array) -> None:
        at = int(np.flatnonzero(missing)[0])
        because = f"thread ({self.name(found.lane[at])}) reads it, and no store has written it"
        what = f"'{memory.place(int(found.x[at]))}' in {memory.buffer.scope} memory holds nothing"
        self.run.report("uninitialised", what, because, site.stmt, int(missing.sum()))

    def _in_flight(self, site: Site, memory: Memory, found: Located, touched: Array, verb: str) -> None:
        if not touched.any():
            return
        at = int(np.flatnonzero(touched)[0])
        assert memory.flight is not None
        operation = self.run.operation(abs(int(memory.flight[found.x[at]])))
        because = f"thread ({self.name(found.lane[at])}) {verb} it, while {operation} has not been waited for"
        what = f"'{memory.place(int(found.x[at]))}' in {memory.buffer.scope} memory is in flight"
        self.run.report("async", what, because, site.stmt, int(touched.sum()))

    def _race(self, site: Site, memory: Memory, found: Located, conflict: Conflict, verb: str) -> None:
        at = int(conflict.at[0])
        x, lane = int(found.x[at]), int(found.lane[at])
        other = self.run.other_name(memory, x, int(conflict.others[0]))
        earlier = self.run.sites[int(conflict.sites[0])].stmt
        where = "" if earlier.loc is None or earlier is site.stmt else f" at {earlier.loc}"
        because = f"thread ({self.name(lane)}) {verb} it, {other} {conflict.verb} it{where}, and nothing orders the two"
        what = f"race on '{memory.place(x)}' in {memory.buffer.scope} memory"
        self.run.report("race", what, because, site.stmt, len(conflict.at))


def mask_of(mask: Mask, lane: int) -> Mask:
    """Return the threads that take part in one lane of a vector access."""
    return mask if mask is None or mask.ndim == 1 else mask[:, lane]


def _spread(mask: Array, vector: bool, size: int, lanes: int) -> Array:
    """Return a mask for each element of an access: of threads for all lanes of one, of lanes for a thread if any is."""
    if not vector:
        return mask if mask.ndim == 1 else np.broadcast_to(mask.any(axis=1), (size,))
    return np.repeat(mask, lanes) if mask.ndim == 1 else np.broadcast_to(mask, (size, lanes))


def _narrowed(mask: Mask, chosen: Array) -> Array:
    return chosen if mask is None else chosen & mask
