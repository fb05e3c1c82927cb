"""Who touched each element last, and whether an access races: two threads, one element, a write, and no order.

A Shadow keeps for each element its last write (thread, epoch, statement) and its reads. An access that is ordered after
the last one takes its place; one that is not is a race, or, of two reads, both are remembered as a group: of one
thread, of a warp, of a block, of the grid. WarpReads keeps the reads of each warp apart, so that a producer that
waits for some warps is told from one that waits for none.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from ..target.limits import WARP
from .clock import Clock
from .writes import MANY, NOBODY, Kind, Writes

Array = np.ndarray[Any, Any]
NO_ONE, THREAD, WHOLE_WARP, BLOCK, GRID = range(5)
"""Who has read: a group that a barrier may order."""


class Conflict(NamedTuple):
    """A race: the elements, which of the accesses they belong to, and who was there before, doing what, where."""

    at: Array
    """Positions in the access."""
    verb: str
    others: Array
    sites: Array


class GroupReads:
    """The reads of each element by anyone, remembered as the smallest group that they are of.

    `by_warp` has those of one block's warps apart, where warps wait for single others.
    """

    def __init__(self, size: int, number: Kind, by_warp: WarpReads | None = None) -> None:
        self.by_warp = by_warp
        self.level = np.zeros(size, np.int8)
        self.thread = np.full(size, NOBODY, number)
        self.epoch = np.zeros(size, np.int32)
        self.site = np.zeros(size, np.int32)

    def put(self, clock: Clock, x: Array, threads: Array, epochs: Array, site: int) -> None:
        """Note reads."""
        old_level, old = self.level[x], self.thread[x]
        fresh = (old_level == NO_ONE) | self._before(clock, x, threads)
        level = np.where(fresh, THREAD, np.maximum(old_level, _apart(threads, old, clock.lanes)))
        latest = np.where(fresh, epochs, np.maximum(self.epoch[x], epochs))
        self.level[x] = 0
        self.thread[x], self.site[x] = threads, site
        self.epoch[x] = latest
        np.maximum.at(self.epoch, x, latest)
        winners = self.thread[x]
        np.maximum.at(self.level, x, np.maximum(level, _apart(threads, winners, clock.lanes)).astype(np.int8))
        if self.by_warp is not None:
            self.by_warp.put(clock, x, threads, epochs, site)

    def _before(self, clock: Clock, x: Array, threads: Array) -> Array:
        """Return whether all reads come before what these threads do now."""
        level, epoch, own = self.level[x], self.epoch[x], threads - clock.origin
        others = np.where(level == NO_ONE, threads, self.thread[x])
        before = (epoch < clock.grid_floor[own]) | (level == NO_ONE)
        if before.all():
            return before
        same_block = threads // clock.lanes == others // clock.lanes
        before |= (level <= BLOCK) & same_block & (epoch < clock.block_floor[own])
        if clock.heard:
            before |= clock.after_blocks(threads, np.where(level <= BLOCK, others // clock.lanes, NOBODY), epoch)
        before |= (level <= WHOLE_WARP) & (threads // WARP == others // WARP) & (epoch < clock.warp_floor[own])
        return before | ((level <= THREAD) & clock.ordered(threads, others, epoch))

    def unordered(self, clock: Clock, x: Array, threads: Array) -> tuple[Array, Array, Array]:
        """Return the positions whose reads do not all come before, with one reader of each, and where it read."""
        open_ = np.flatnonzero(~self._before(clock, x, threads))
        if self.by_warp is None or not len(open_):
            return open_, self._others(x[open_], threads[open_]), self.site[x[open_]]
        block = threads[open_] // clock.lanes
        inside = (self.level[x[open_]] <= BLOCK) & (self.thread[x[open_]] // clock.lanes == block)
        rest = open_[~inside]
        at, readers, sites = self.by_warp.unordered(clock, x[open_[inside]], threads[open_[inside]])
        return (
            np.concatenate([rest, open_[inside][at]]),
            np.concatenate([self._others(x[rest], threads[rest]), readers]),
            np.concatenate([self.site[x[rest]], sites]),
        )

    def _others(self, x: Array, threads: Array) -> Array:
        """Return a reader of each element; MANY where the one that is remembered is the thread itself."""
        return np.where(self.thread[x] == threads, MANY, self.thread[x])


class WarpReads:
    """The reads of each element, or its atomic updates, those of each warp of the block apart."""

    def __init__(self, size: int, warps: int) -> None:
        self.warps = warps
        self.latest = np.zeros(size, np.int32)
        self.epoch = np.zeros(size * warps, np.int32)
        self.lanes = np.zeros(size * warps, np.uint32)
        """A bit for each lane that read."""
        self.site = np.zeros(size * warps, np.int32)

    def put(self, clock: Clock, x: Array, threads: Array, epochs: Array, site: int) -> None:
        """Note reads; what comes before all of them is forgotten."""
        place = x * self.warps + threads % clock.lanes // WARP
        alone = self.epoch[place] < clock.warp_floor[threads - clock.origin]
        kept = self.lanes[place[~alone]]
        self.lanes[place[alone]] = 0
        self.lanes[place[~alone]] = kept
        np.bitwise_or.at(self.lanes, place, np.uint32(1) << (threads % WARP).astype(np.uint32))
        self.site[place] = site
        np.maximum.at(self.epoch, place, epochs)
        np.maximum.at(self.latest, x, epochs)

    def unordered(self, clock: Clock, x: Array, threads: Array) -> tuple[Array, Array, Array]:
        """Return the positions whose reads do not all come before, with one reader of each, and where it read."""
        own = threads - clock.origin
        open_ = np.flatnonzero(self.latest[x] >= np.maximum(clock.block_floor[own], clock.grid_floor[own]))
        if not len(open_):
            return _NONE, _NONE, _NONE
        at, warp = (part.ravel() for part in np.meshgrid(open_, np.arange(self.warps), indexing="ij"))
        place = x[at] * self.warps + warp
        late = clock.late_lanes(threads[at], warp, self.epoch[place], self.lanes[place])
        bad = np.flatnonzero(late.any(axis=1))
        chosen = bad[np.unique(at[bad], return_index=True)[1]]
        first = threads[at[chosen]] // clock.lanes * clock.lanes + warp[chosen] * WARP
        return at[chosen], first + late[chosen].argmax(axis=1), self.site[place[chosen]]


class Shadow:
    """The accesses of one memory: reads against writes, writes against both."""

    def __init__(self, size: int, lanes: int, number: Kind, reads: GroupReads | WarpReads | None) -> None:
        apart = isinstance(reads, WarpReads) or (reads is not None and reads.by_warp is not None)
        by_warp = WarpReads(size, lanes // WARP) if apart else None
        self.writes, self.reads = Writes(size, lanes, number, by_warp), reads
        """`reads` are None where nothing that is read is written too."""

    def read(self, clock: Clock, x: Array, threads: Array, epochs: Array, site: int) -> Conflict | None:
        """Note reads; return what they race with."""
        at = self.writes.unordered(clock, x, threads)
        if self.reads is not None:
            self.reads.put(clock, x, threads, epochs, site)
        return self._with_write(at, x) if len(at) else None

    def write(
        self, clock: Clock, x: Array, threads: Array, epochs: Array, site: int, atomic: bool = False
    ) -> Conflict | None:
        """Note writes; return what they race with."""
        open_ = at = self.writes.unordered(clock, x, threads)
        if atomic and self.writes.atomic is not None:
            at = at[~self.writes.atomic[x[at]]]
        found = self._with_write(at, x) if len(at) else None
        if atomic and found is None:
            found = self._with_plain(self.writes.unordered_plain(clock, x, threads), x)
        if found is None and self.reads is not None:
            at, others, sites = self.reads.unordered(clock, x, threads)
            found = Conflict(at, "reads", others, sites) if len(at) else None
        if atomic:
            self.writes.update(clock, x, threads, epochs, site, open_)
            return found
        twice = self.writes.put(x, threads, epochs, site)
        if found is None and len(twice):
            found = Conflict(twice, "writes", self.writes.thread[x[twice]], self.writes.site[x[twice]])
        return found

    def _with_plain(self, at: Array, x: Array) -> Conflict | None:
        if not len(at):
            return None
        assert self.writes.plain is not None
        return Conflict(at, "writes", self.writes.plain[0, x[at]], self.writes.plain[2, x[at]])

    def _with_write(self, at: Array, x: Array) -> Conflict:
        return Conflict(at, "writes", self.writes.thread[x[at]], self.writes.site[x[at]])


_NONE: Final = np.zeros(0, np.int64)


def _apart(a: Array, b: Array, lanes: int) -> Array:
    """Return the smallest group that two threads are of, pair by pair."""
    return np.where(
        a == b, THREAD, np.where(a // WARP == b // WARP, WHOLE_WARP, np.where(a // lanes == b // lanes, BLOCK, GRID))
    )
