"""Who wrote each element last: a thread, an asynchronous copy, or several that update it atomically.

Several are remembered as the smallest group that they are of: a warp, a block, the grid.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..target.limits import WARP
from .clock import Array, Clock

Kind = type[np.signedinteger[Any]]
NOBODY: Final = -1
MANY: Final = -2
"""In place of a thread: several of several blocks, which update atomically; `_many(block)` are several of one,
`_many_of_warp(warp)` several of a warp."""
_NONE: Final = np.zeros(0, np.int64)


ALL_LANES: Final = 0xFFFFFFFF


class Writes:
    """The last write of each element; `lanes` is how many numbers a block has, `number` their type."""

    def __init__(self, size: int, lanes: int, number: Kind, by_warp: Any = None) -> None:
        self.lanes, self.by_warp = lanes, by_warp
        self.thread = np.full(size, NOBODY, number)
        """Who wrote, NOBODY, MANY that update it atomically, or several of a block or a warp."""
        self.epoch = np.zeros(size, np.int32)
        self.site = np.zeros(size, np.int32)
        self.atomic: Array | None = None
        """Which of them were atomic updates."""
        self.updates: Array | None = None
        """How many atomic updates there were of each element."""
        self.plain: Array | None = None
        """Of an element that was updated: thread, epoch and statement of the last write before, which was none."""
        self.agent: Array | None = None
        """Which were done by an agent of asynchronous copies, whose number stands in place of the thread."""

    def unordered(self, clock: Clock, x: Array, threads: Array) -> Array:
        """Return the positions whose last write does not come before."""
        who = self.thread[x]
        open_ = np.flatnonzero((who != NOBODY) & (who != threads))
        if not len(open_):
            return open_
        x, threads, who = x[open_], threads[open_], who[open_]
        epochs = self.epoch[x]
        before = clock.ordered(threads, np.where(who < 0, threads, who), epochs) & (who >= 0)
        if (who < 0).any():
            same = who == _many(threads // self.lanes)
            before |= (who < 0) & (epochs < clock.grid_floor[threads - clock.origin])
            before |= same & clock.after_all(threads, epochs)
            before |= same & self._after_warps(clock, x, threads)
            inside = _is_of_warp(who) & (_block_of(who, self.lanes) == threads // self.lanes)
            warps = np.where(inside, _warp_of(who) % (self.lanes // WARP), 0)
            everyone = np.full(len(warps), ALL_LANES, np.uint32)
            before |= inside & ~clock.late_lanes(threads, warps, epochs, everyone).any(axis=1)
        if self.updates is not None and self.atomic is not None and clock.heard:
            before |= clock.after_updates(threads, id(self), x, self.updates[x]) & self.atomic[x]
        if self.agent is not None and self.agent[x].any():
            done = np.flatnonzero(self.agent[x])
            before[done] = clock.after_agent(threads[done], who[done], epochs[done])
        return open_[~before]

    def _after_warps(self, clock: Clock, x: Array, threads: Array) -> Array:
        """Return whether all updates by the block come before, those of each warp apart."""
        before = np.full(len(x), self.by_warp is not None)
        if self.by_warp is not None:
            before[self.by_warp.unordered(clock, x, threads)[0]] = False
        return before

    def unordered_plain(self, clock: Clock, x: Array, threads: Array) -> Array:
        """Return the positions of updated elements that were written before the updates, and that write does not come
        before."""
        if self.plain is None or self.atomic is None:
            return _NONE
        who = np.where(self.atomic[x], self.plain[0, x], NOBODY)
        open_ = np.flatnonzero((who >= 0) & (who != threads))
        return open_[~clock.ordered(threads[open_], who[open_], self.plain[1, x[open_]])]

    def put(self, x: Array, threads: Array, epochs: Array, site: int) -> Array:
        """Note writes; return the positions of those that another thread of this very access came after."""
        if self.agent is not None:
            self.agent[x] = False
        self.thread[x], self.epoch[x], self.site[x] = threads, epochs, site
        if self.atomic is not None:
            self.atomic[x] = False
        return np.flatnonzero(self.thread[x] != threads)

    def update(self, clock: Clock, x: Array, threads: Array, epochs: Array, site: int, open_: Array) -> None:
        """Note atomic updates; before those at the positions `open_` there were others that do not all come before."""
        if self.by_warp is not None:
            self.by_warp.put(clock, x, threads, epochs, site)
        if self.atomic is None or self.plain is None or self.updates is None:
            self.atomic = np.zeros(len(self.thread), np.bool_)
            self.plain = np.full((3, len(self.thread)), NOBODY, self.thread.dtype)
            self.updates = np.zeros(len(self.thread), np.int32)
        was = self.thread[x]
        again = np.zeros(len(x), np.bool_)
        again[open_] = self.atomic[x[open_]]
        first = x[~self.atomic[x]]
        if len(first):
            self.plain[:, first] = self.thread[first], self.epoch[first], self.site[first]
        if self.agent is not None:
            self.plain[0, first[self.agent[first]]] = NOBODY
            self.agent[x] = False
        np.add.at(self.updates, x, 1)
        latest = np.where(again, np.maximum(self.epoch[x], epochs), epochs)
        self.thread[x] = threads
        self.thread[x[(again & (was != threads)) | (self.thread[x] != threads)]] = NOBODY
        joined = np.flatnonzero(self.thread[x] == NOBODY)
        if len(joined):
            self._join(x[joined], threads[joined], np.where(again, was, NOBODY)[joined])
        self.epoch[x] = 0
        np.maximum.at(self.epoch, x, latest)
        self.site[x], self.atomic[x] = site, True

    def _join(self, x: Array, threads: Array, was: Array) -> None:
        """Note who has updated elements: threads, and who `was` there before unless NOBODY, as the smallest group."""
        warp, block = threads // WARP, threads // self.lanes
        of_warp = (was == NOBODY) | (was == _many_of_warp(warp)) | ((was >= 0) & (was // WARP == warp))
        of_block = (was == NOBODY) | (was == _many(block)) | (_block_of(was, self.lanes) == block)
        coarse = np.where(of_block, _many(block), MANY)
        at = np.arange(len(x))
        for group in (np.where(of_warp, _many_of_warp(warp), coarse), coarse, np.full_like(coarse, MANY)):
            self.thread[x[at]] = group[at]
            self.thread[x[at[self.thread[x[at]] != group[at]]]] = NOBODY
            at = at[self.thread[x[at]] == NOBODY]
            if not len(at):
                return

    def put_by_agent(self, x: Array, agent: int, epoch: int, site: int) -> None:
        """Note what an asynchronous copy has written."""
        if self.agent is None:
            self.agent = np.zeros(len(self.thread), np.bool_)
        self.thread[x], self.epoch[x], self.site[x], self.agent[x] = agent, epoch, site, True
        if self.atomic is not None:
            self.atomic[x] = False


def _many(block: Array) -> Array:
    return MANY - 1 - 2 * block


def _many_of_warp(warp: Array) -> Array:
    return MANY - 2 - 2 * warp


def _is_of_warp(who: Array) -> Array:
    return (who < MANY) & (who % 2 == 0)


def _warp_of(who: Array) -> Array:
    """Return the warp that threads, or several of one, are of."""
    return np.where(who >= 0, who // WARP, (MANY - 2 - who) // 2)


def _block_of(who: Array, lanes: int) -> Array:
    """Return the block of threads, or of several of a warp; none of others."""
    return np.where((who >= 0) | _is_of_warp(who), _warp_of(who) // (lanes // WARP), NOBODY)
