"""What copies of runs of bytes do in the simulator: loads are counted by a barrier in memory when they land, as late as
can be; stores are read first and written later.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .meeting import mbarrier_at
from .touching import aligned, hold, let_go, note, pairs, seen_by_async

BULK: Final = 16
"""Bytes that addresses and sizes of bulk copies are multiples of."""


def bulk_load(g: Any, site: Any, mask: Any, dst: Any, src: Any, count: Any, at: Any) -> None:
    """Begin to copy a run of bytes to shared memory; a barrier in memory counts them when they land."""
    sizes = np.broadcast_to(count, (g.size,))
    for lane, key in mbarrier_at(g, site, mask, at):
        one, size = np.array([lane]), int(sizes[lane])
        g.run.tally("bulk copy", 1)
        _check_bulk(g, site, lane, size)
        g.run.meetings.mbarrier(key).check_seen(g, site, lane)
        for place in (dst, src):
            aligned(g, site, place, one, BULK)
        x, source_x, lanes, _ = pairs(g, dst, src, one, size // dst.memory.data.itemsize)
        seen_by_async(g, site, dst, x, lanes, "written")
        note(g, dst, x, src, source_x, lanes)
        fly(g, site, dst, x, src.memory, source_x, lanes, size, key)


def _check_bulk(g: Any, site: Any, lane: int, size: int) -> None:
    if size % BULK:
        because = f"thread ({g.name(lane)}) copies {size} bytes"
        g.run.report("misaligned", f"a bulk copy of no multiple of {BULK} bytes", because, site.stmt)


def fly(
    g: Any, site: Any, dst: Any, x: Any, source: Any, source_x: Any, lane: Any, size: int, key: Any, zero: Any = None
) -> None:
    """Let a copy to shared memory land later, by the hands of a barrier's agent."""
    run, memory = g.run, dst.memory
    number = run.flights.begin("an asynchronous copy")
    read = source_x if zero is None else source_x[~zero]
    hold(source, read, -number)
    hold(memory, x, number)

    def land() -> None:
        values = source.data[source_x] if len(read) else np.zeros(len(x), memory.data.dtype)
        memory.data[x] = values if zero is None else np.where(zero, np.zeros((), values.dtype), values)
        let_go(source, read, -number)
        let_go(memory, x, number)
        barrier, epoch = run.meetings.mbarrier(key), run.ticker.tick()
        if memory.shadow is not None and run.watches:
            memory.shadow.writes.put_by_agent(x, barrier.agent, epoch, dst.site.number)
        barrier.copied(size, epoch)

    def left() -> None:
        because = "no thread waits for the phase of the barrier in memory that counts its bytes"
        run.report("async", "a copy writes shared memory of a block that has ended", because, site.stmt)

    run.flights.later(land, left)


class Store:
    """A copy from shared to global memory on its way: it is read first, and written later."""

    def __init__(self, g: Any, site: Any, src: Any, source_x: Any, dst: Any, x: Any, lane: Any) -> None:
        self.g, self.site, self.source, self.memory, self.lane = g, site, src.memory, dst.memory, int(lane)
        self.source_x, self.x = source_x, x
        self.number = g.run.flights.begin(f"an asynchronous copy of thread ({g.name(self.lane)})")
        self.values: Any = None
        self.done = False
        hold(self.source, source_x, -self.number)
        hold(self.memory, x, self.number)

    def read(self) -> None:
        """What it copies has been read."""
        if self.values is None:
            self.values = self.source.data[self.source_x].copy()
            let_go(self.source, self.source_x, -self.number)

    def land(self) -> None:
        """It has been written."""
        self.read()
        if not self.done:
            self.memory.data[self.x] = self.values
            let_go(self.memory, self.x, self.number)
            self.done = True


def bulk_store(g: Any, site: Any, mask: Any, dst: Any, src: Any, count: Any) -> None:
    """Begin to copy a run of bytes from shared memory."""
    sizes = np.broadcast_to(count, (g.size,))
    for lane in g.lanes_of(mask).tolist():
        one, size = np.array([lane]), int(sizes[lane])
        g.run.tally("bulk copy", 1)
        _check_bulk(g, site, lane, size)
        for place in (dst, src):
            aligned(g, site, place, one, BULK)
        x, source_x, lanes, _ = pairs(g, dst, src, one, size // dst.memory.data.itemsize)
        begin_store(g, site, dst, x, src, source_x, lanes)


def begin_store(g: Any, site: Any, dst: Any, x: Any, src: Any, source_x: Any, lanes: Any) -> None:
    """Begin a copy to global memory, of what ordinary stores wrote only behind a fence."""
    note(g, dst, x, src, source_x, lanes)
    seen_by_async(g, site, src, source_x, lanes)
    if len(lanes):
        g.pending.stores.open.append(Store(g, site, src, source_x, dst, x, lanes[0]))


def bulk_commit(g: Any, site: Any, mask: Any) -> None:
    """Make a group of the stores begun since the last one."""
    g.pending.stores.commit(g.lanes_of(mask))


def bulk_wait(g: Any, site: Any, mask: Any, newest: Any) -> None:
    """Wait until all but the newest groups have been written."""
    for store, chosen in g.pending.stores.older(int(newest), g.lanes_of(mask), g.size):
        if chosen[store.lane]:
            store.land()


def bulk_wait_read(g: Any, site: Any, mask: Any, newest: Any) -> None:
    """Wait until all but the newest groups have been read."""
    for store, chosen in g.pending.stores.older(int(newest), g.lanes_of(mask), g.size):
        if chosen[store.lane]:
            store.read()


def ended(g: Any) -> None:
    """The threads have ended: what of their stores is unread is read no more, and what is unwritten is written."""
    for store in g.pending.stores.unended():
        if store.values is None:
            because = f"thread ({g.name(store.lane)}) has ended without bulk_wait or bulk_wait_read behind its commit"
            g.run.report("async", "a copy reads shared memory of a block that has ended", because, store.site.stmt)
        store.land()


BULK_NUMPY: Final[dict[str, Callable[..., Any]]] = {
    "bulk_load": bulk_load,
    "bulk_store": bulk_store,
    "bulk_commit": bulk_commit,
    "bulk_wait": bulk_wait,
    "bulk_wait_read": bulk_wait_read,
}
"""What each does."""
