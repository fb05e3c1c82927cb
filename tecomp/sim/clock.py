"""What happens before what: epochs of threads, and what each thread knows of the others.

Every access is stamped with its thread and that thread's epoch, a number that grows at each synchronisation. Thread t
comes after an access of thread u in epoch e when t has learnt of u's epochs up to e:

    grid_floor[t]    of all threads, by the start of the launch and by barriers of the grid
    block_floor[t]   of the threads of its block, by these and by barriers of the block
    warp_floor[t]    of the threads of its warp, by these and by barriers of the warp
    known[t, u]      of single threads of its block, and of the agents of asynchronous copies, by all that is finer:
                     named barriers, mbarriers, parts of a warp. It is made when the first of these is met.

Threads are numbered block by block, `lanes` numbers for each, which is its number of warps times 32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..target.limits import WARP
from .told import NOTHING, Told

Array = np.ndarray[Any, Any]


class Ticker:
    """The epochs of one run: whoever asks later gets a greater one."""

    def __init__(self) -> None:
        self.now = 0
        self.steps = 0
        """How many statements, and launches, have run."""

    def tick(self) -> int:
        """Return the next epoch."""
        self.now += 1
        return self.now


class Clock:
    """The threads of some blocks of one launch: `blocks` of them, from number `first` on."""

    def __init__(self, ticker: Ticker, start: int, first: int, blocks: int, lanes: int, agents: int) -> None:
        """Begin with all threads in the epoch `start`, in which the launch began."""
        self.ticker, self.lanes, self.agents = ticker, lanes, agents
        count = blocks * lanes
        self.origin = first * lanes
        self.epoch = np.full(count, start, np.int32)
        self.grid_floor = np.full(count, start, np.int32)
        self.block_floor = np.full(count, start, np.int32)
        self.warp_floor = np.full(count, start, np.int32)
        self.fenced = np.zeros(count, np.int32)
        """When each thread last made what it wrote seen by asynchronous copies."""
        self.announced = np.zeros(count, np.int32)
        """When each thread last made barriers in memory that it began seen by asynchronous copies."""
        self.known: Array | None = None
        self.heard: dict[int, Told] = {}
        """What threads were told by atomic updates."""

    def proxy_fence(self, threads: Array) -> None:
        """Threads make what they know to be written seen by asynchronous copies and matrix instructions."""
        own = threads - self.origin
        self.fenced[own] = self.announced[own] = self.epoch[own] = self.ticker.tick()

    def announce(self, threads: Array) -> None:
        """Threads make the barriers in memory that they began seen by asynchronous copies."""
        own = threads - self.origin
        self.announced[own] = self.epoch[own] = self.ticker.tick()

    def ordered(self, threads: Array, others: Array, epochs: Array) -> Array:
        """Return whether what `others` did in `epochs` comes before what `threads` do now, pair by pair."""
        own = threads - self.origin
        before = (epochs < self.grid_floor[own]) | (threads == others)
        if before.all():
            return before
        same_block = threads // self.lanes == others // self.lanes
        before |= same_block & (epochs < self.block_floor[own])
        before |= (threads // WARP == others // WARP) & (epochs < self.warp_floor[own])
        if self.known is not None and not before.all():
            before |= same_block & (epochs < self.known[own, others % self.lanes])
        if self.heard:
            for at in np.flatnonzero(~before).tolist():
                told = self.heard.get(int(own[at]), NOTHING)
                before[at] = told.before(int(others[at]) // self.lanes, int(others[at]), int(epochs[at]))
        return before

    def told(self, thread: int) -> Told:
        """Return what a thread knows when it fences, its own doings included; it goes on in a new epoch."""
        own, block = thread - self.origin, thread // self.lanes
        floor, first = int(self.block_floor[own]), block * self.lanes
        known = np.zeros(self.lanes, np.int32) if self.known is None else self.known[own, : self.lanes].copy()
        warp = slice(thread % self.lanes // WARP * WARP, thread % self.lanes // WARP * WARP + WARP)
        known[warp] = np.maximum(known[warp], self.warp_floor[own])
        more = {first + one: int(known[one]) for one in np.flatnonzero(known > floor).tolist()}
        self.epoch[own] = now = self.ticker.tick()
        return self.heard.get(own, NOTHING).joined(Told({block: floor}, {**more, thread: now}))

    def hear(self, thread: int, told: Told) -> None:
        """Let a thread know what it was told."""
        own = thread - self.origin
        self.heard[own] = self.heard.get(own, NOTHING).joined(told)

    def _share_told(self, own: Array, size: int) -> None:
        """Let all threads of each group of `size` know what one of them was told."""
        groups: dict[int, Told] = {}
        for thread in own.tolist():
            if thread in self.heard:
                groups[thread // size] = groups.get(thread // size, NOTHING).joined(self.heard[thread])
        for thread in own.tolist():
            if thread // size in groups:
                self.heard[thread] = groups[thread // size]

    def after_all(self, threads: Array, epochs: Array) -> Array:
        """Return whether what any threads of the block did up to `epochs` comes before."""
        own = threads - self.origin
        before = epochs < np.maximum(self.grid_floor[own], self.block_floor[own])
        if self.known is not None and not before.all():
            before |= epochs < self.known[own, : self.lanes].min(axis=1)
        return before

    def after_agent(self, threads: Array, agents: Array, epochs: Array) -> Array:
        """Return whether threads have waited for what agents of asynchronous copies did."""
        if self.known is None:
            return np.zeros(len(threads), np.bool_)
        return epochs < self.known[threads - self.origin, self.lanes + agents]

    def after_blocks(self, threads: Array, blocks: Array, epochs: Array) -> Array:
        """Return whether threads were told what all threads of `blocks` did up to `epochs`; of -1, of all blocks."""
        before = np.zeros(len(threads), np.bool_)
        own, first = threads - self.origin, self.origin // self.lanes
        every = range(first, first + len(self.epoch) // self.lanes)
        for at in np.flatnonzero([one in self.heard for one in own.tolist()]).tolist():
            told, here = self.heard[int(own[at])].blocks, int(threads[at]) // self.lanes
            known = {**told, here: max(told.get(here, 0), int(self.block_floor[own[at]]))}
            wanted = every if blocks[at] < 0 else (int(blocks[at]),)
            before[at] = all(epochs[at] < known.get(block, 0) for block in wanted)
        return before

    def after_updates(self, threads: Array, memory: int, x: Array, counts: Array) -> Array:
        """Return whether threads know so many atomic updates of elements of a memory, by their own behind them."""
        own = (threads - self.origin).tolist()
        known = [
            self.heard.get(one, NOTHING).updates.get((memory, at), 0) for one, at in zip(own, x.tolist(), strict=True)
        ]
        return np.array(known, np.int64) >= counts

    def late_lanes(self, threads: Array, warps: Array, epochs: Array, masks: Array) -> Array:
        """Return which of the lanes that `masks` name, of `warps` of the block, may have come up to `epochs` later than
        what `threads` do now: (threads, 32)."""
        own = threads - self.origin
        mine = threads % self.lanes // WARP == warps
        floor = np.maximum(self.grid_floor[own], self.block_floor[own])
        floor = np.where(mine, np.maximum(floor, self.warp_floor[own]), floor)
        open_ = epochs >= floor
        lanes = np.arange(WARP)
        late = (masks[:, None] >> lanes.astype(np.uint32) & 1).astype(np.bool_) & open_[:, None]
        late &= ~(mine[:, None] & (threads[:, None] % WARP == lanes))
        if self.known is not None and late.any():
            late &= epochs[:, None] >= self.known[own[:, None], warps[:, None] * WARP + lanes]
        return late

    def block_barrier(self, threads: Array) -> None:
        """All threads of some blocks have met."""
        own = threads - self.origin
        now = self.ticker.tick()
        for array in (self.epoch, self.block_floor, self.warp_floor):
            array[own] = now
        if self.known is not None:
            self._share(own, own // self.lanes)
        if self.heard:
            self._share_told(own, self.lanes)

    def cluster_barrier(self, threads: Array) -> None:
        """All threads of some blocks have met."""
        self.block_barrier(threads)
        told = Told(dict.fromkeys((threads // self.lanes).tolist(), self.ticker.now))
        for thread in threads.tolist():
            self.hear(thread, told)

    def grid_barrier(self, now: int) -> None:
        """All threads of the launch have met, in the epoch `now`."""
        for array in (self.epoch, self.grid_floor, self.block_floor, self.warp_floor):
            array[:] = now
        if self.known is not None:
            self.known[:] = now

    def warp_barrier(self, threads: Array) -> None:
        """All threads of some warps have met."""
        own = threads - self.origin
        now = self.ticker.tick()
        self.epoch[own] = now
        self.warp_floor[own] = now
        for floor in (self.block_floor, self.grid_floor):
            self._share_floor(floor, own)
        if self.heard:
            self._share_told(own, WARP)
        if self.known is not None:
            self._share(own, own // WARP)

    def _share_floor(self, floor: Array, own: Array) -> None:
        best = np.zeros(len(floor) // WARP, np.int32)
        np.maximum.at(best, own // WARP, floor[own])
        floor[own] = best[own // WARP]

    def _share(self, own: Array, groups: Array) -> None:
        """Let all threads of a group know what one of them knows."""
        assert self.known is not None
        order = np.argsort(groups, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(groups[order]) != 0])
        best = np.maximum.reduceat(self.known[own[order]], starts, axis=0)
        which = np.cumsum(np.r_[False, np.diff(groups[order]) != 0])
        self.known[own[order]] = best[which]

    def released(self, threads: Array) -> Array:
        """Return what threads of one block know together, their own doings included; they go on in a new epoch.

        It is a row of `known`: an epoch for each thread of the block, and each agent.
        """
        known = self.detail()
        own = threads - self.origin
        row = known[own].max(axis=0)
        row = np.maximum(row, max(int(self.block_floor[own].max()), int(self.grid_floor[own].max())))
        row[self.lanes :] = known[own, self.lanes :].max(axis=0)
        for warp in np.unique(own // WARP):
            of_warp = own[own // WARP == warp]
            place = int(warp) * WARP % self.lanes
            row[place : place + WARP] = np.maximum(row[place : place + WARP], int(self.warp_floor[of_warp].max()))
        now = self.ticker.tick()
        row[own % self.lanes] = now
        self.epoch[own] = now
        return row

    def acquire(self, threads: Array, row: Array) -> None:
        """Let threads of one block know what was released."""
        known, own = self.detail(), threads - self.origin
        known[own] = np.maximum(known[own], row)

    def detail(self) -> Array:
        """Return `known`, which is made here."""
        if self.known is None:
            self.known = np.zeros((len(self.epoch), self.lanes + self.agents), np.int32)
        return self.known
