"""What asynchronous copies do in the simulator: they begin now, and land when one waits, or nothing else can run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .meeting import mbarrier_at

BULK: Final = 16
"""Bytes that addresses and sizes of bulk copies are multiples of."""


class Copy:
    """A copy on its way: elements `x` of `memory` from elements `source_x` of `source`, each for a thread."""

    def __init__(self, g: Any, site: Any, name: str, to: Any, x: Any, source: Any, source_x: Any, lane: Any) -> None:
        self.g, self.site, self.memory, self.source = g, site, to, source
        self.x, self.source_x, self.lane = x, source_x, lane
        self.number = g.run.flights.begin(f"{name} of thread ({g.name(int(lane[0]))})" if len(lane) else name)
        self.zero: Any = None
        """Which elements become zero in place of what the source has."""
        flying(to)[x] = self.number

    def land(self, chosen: Any) -> None:
        """End the copy for some threads: their elements are written, as these threads' doing."""
        now = chosen[self.lane]
        if not now.any():
            return
        x, lane = self.x[now], self.lane[now]
        values = self.source.data[self.source_x[now]]
        if self.zero is not None:
            values = np.where(self.zero[now], np.zeros((), values.dtype), values)
        self.memory.data[x] = values
        self.memory.flight[x[self.memory.flight[x] == self.number]] = 0
        if self.memory.shadow is not None and self.g.run.watches:
            threads = self.g.threads[lane]
            self.memory.shadow.writes.put(x, threads, self.g.run.clock.epoch[self.g.own[lane]], self.site.number)
        keep = ~now
        self.x, self.source_x, self.lane = self.x[keep], self.source_x[keep], self.lane[keep]
        self.zero = None if self.zero is None else self.zero[keep]


def flying(memory: Any) -> Any:
    """Return which operation each element of a memory is in the hands of."""
    if memory.flight is None:
        memory.flight = np.zeros(memory.count * memory.instances, np.int32)
    return memory.flight


def aligned(g: Any, site: Any, place: Any, lanes: Any, multiple: int) -> None:
    """Report addresses that are no multiple of what the instruction moves."""
    offset = np.broadcast_to(place.offset, (g.size,))[lanes].astype(np.int64)
    wrong = np.flatnonzero((place.memory.address + offset * place.memory.data.itemsize) % multiple)
    if len(wrong):
        lane = int(lanes[wrong[0]])
        what = f"'{place.memory.place(int(offset[wrong[0]]))}' is not at a multiple of {multiple} bytes"
        g.run.report(
            "misaligned", what, f"thread ({g.name(lane)}) copies {multiple} bytes there", site.stmt, len(wrong)
        )


def _span(g: Any, place: Any, lanes: Any, count: Any) -> tuple[Any, Any]:
    """Return `count` elements from an address on, for each thread, and whose each is."""
    start = np.broadcast_to(place.offset, (g.size,))[lanes].astype(np.int64)
    return (start[:, None] + np.arange(count)).ravel(), np.repeat(lanes, count)


def _pairs(g: Any, dst: Any, src: Any, lanes: Any, count: int, zero: Any = None) -> tuple[Any, Any, Any, Any]:
    """Return which elements a copy of `count` for each thread is between, those outside of either left out.

    Those that become zero are in no place of the source.
    """
    flat, lane = _span(g, dst, lanes, count)
    source, _ = _span(g, src, lanes, count)
    source = source if zero is None else np.where(zero, 0, source)
    to = g.elements(dst.site, dst.memory, flat, lane, "writes")
    of = g.elements(src.site, src.memory, source, lane, "reads")
    every = np.arange(len(flat))
    kept = [every if one.at is None else one.at for one in (to, of)]
    both = np.intersect1d(kept[0], kept[1])
    x, source_x = (one.x[np.searchsorted(at, both)] for one, at in zip((to, of), kept, strict=True))
    return x, source_x, lane[both], both


def cp_async(g: Any, site: Any, mask: Any, dst: Any, src: Any, count: Any, src_bytes: Any = None) -> None:
    """Begin to copy 4, 8 or 16 bytes for each thread; behind `src_bytes` of them, zeros, and nothing is read."""
    lanes, size = g.lanes_of(mask), int(count)
    g.run.tally("cp_async", len(np.unique(g.warp[lanes])))
    for place in (dst, src):
        aligned(g, site, place, lanes, size)
    item = dst.memory.data.itemsize
    limit = size if src_bytes is None else np.broadcast_to(src_bytes, (g.size,))[lanes][:, None]
    zero = np.broadcast_to(np.arange(size // item) * item >= limit, (len(lanes), size // item)).ravel()
    x, source_x, lane, at = _pairs(g, dst, src, lanes, size // item, zero)
    _note(g, dst, x, src, source_x, lane, zero[at])
    copy = Copy(g, dst.site, "cp_async", dst.memory, x, src.memory, source_x, lane)
    copy.zero = zero[at]
    g.pending.copies.open.append(copy)


def _note(g: Any, dst: Any, x: Any, src: Any, source_x: Any, lane: Any, zero: Any = False) -> None:
    """Note what a copy reads and writes as done by its threads when it begins."""
    read = np.broadcast_to(~np.asarray(zero), (len(lane),))
    from_ = Touched(source_x[read], lane[read], None)
    g.checked_read(src.site, src.memory, from_, verb="copy load")
    g.checked_write(dst.site, dst.memory, Touched(x, lane, None), verb="copy store")


class Touched:
    """Elements of a memory, each for a thread: what `Gang.elements` gives."""

    def __init__(self, x: Any, lane: Any, at: Any) -> None:
        self.x, self.lane, self.at = x, lane, at


def cp_async_zfill(g: Any, site: Any, mask: Any, dst: Any, src: Any, count: Any, src_bytes: Any) -> None:
    """Begin a copy of which only `src_bytes` are read."""
    cp_async(g, site, mask, dst, src, count, src_bytes)


def cp_async_commit(g: Any, site: Any, mask: Any) -> None:
    """Make a group of the copies begun since the last one."""
    g.pending.copies.commit(g.lanes_of(mask))


def cp_async_wait(g: Any, site: Any, mask: Any, newest: Any) -> None:
    """Wait until all but the newest groups have landed."""
    for copy, chosen in g.pending.copies.older(int(newest), g.lanes_of(mask), g.size):
        copy.land(chosen)


def cp_async_mbarrier_arrive(g: Any, site: Any, mask: Any, at: Any) -> None:
    """Arrive at a barrier in memory when the copies that the thread has begun have landed."""
    begun = list(g.pending.copies.unended())
    for lane, key in mbarrier_at(g, site, mask, at):
        chosen = np.zeros(g.size, np.bool_)
        chosen[lane] = True

        def land(lane: int = lane, key: Any = key, chosen: Any = chosen) -> None:
            for copy in begun:
                copy.land(chosen)
            g.run.meetings.mbarrier(key).arrive(g, site, lane)

        g.run.flights.later(g.run.flights.begin("cp_async_mbarrier_arrive"), land)


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
        x, source_x, lanes, _ = _pairs(g, dst, src, one, size // dst.memory.data.itemsize)
        _note(g, dst, x, src, source_x, lanes)
        fly(g, dst, x, src.memory, source_x, lanes, size, key)


def _check_bulk(g: Any, site: Any, lane: int, size: int) -> None:
    if size % BULK:
        because = f"thread ({g.name(lane)}) copies {size} bytes"
        g.run.report("misaligned", f"a bulk copy of no multiple of {BULK} bytes", because, site.stmt)


def fly(g: Any, dst: Any, x: Any, source: Any, source_x: Any, lane: Any, size: int, key: Any, zero: Any = None) -> None:
    """Let a copy to shared memory land later, by the hands of a barrier's agent."""
    run, memory = g.run, dst.memory
    number = run.flights.begin("an asynchronous copy")
    flying(memory)[x] = number

    def land() -> None:
        values = source.data[source_x]
        memory.data[x] = values if zero is None else np.where(zero, np.zeros((), values.dtype), values)
        memory.flight[x[memory.flight[x] == number]] = 0
        barrier, epoch = run.meetings.mbarrier(key), run.ticker.tick()
        if memory.shadow is not None and run.watches:
            memory.shadow.writes.put_by_agent(x, barrier.agent, epoch, dst.site.number)
        barrier.copied(size, epoch)

    run.flights.later(number, land)


class Store:
    """A copy from shared to global memory on its way: it is read first, and written later."""

    def __init__(self, g: Any, src: Any, source_x: Any, dst: Any, x: Any, lane: Any) -> None:
        self.g, self.source, self.memory, self.lane = g, src.memory, dst.memory, int(lane)
        self.source_x, self.x = source_x, x
        self.number = g.run.flights.begin(f"an asynchronous copy of thread ({g.name(self.lane)})")
        self.values: Any = None
        self.done = False
        flying(self.source)[source_x] = -self.number
        flying(self.memory)[x] = self.number

    def read(self) -> None:
        """What it copies has been read."""
        if self.values is None:
            self.values = self.source.data[self.source_x].copy()
            flight = self.source.flight
            flight[self.source_x[flight[self.source_x] == -self.number]] = 0

    def land(self) -> None:
        """It has been written."""
        self.read()
        if not self.done:
            self.memory.data[self.x] = self.values
            flight = self.memory.flight
            flight[self.x[flight[self.x] == self.number]] = 0
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
        x, source_x, lanes, _ = _pairs(g, dst, src, one, size // dst.memory.data.itemsize)
        begin_store(g, site, dst, x, src, source_x, lanes)


def begin_store(g: Any, site: Any, dst: Any, x: Any, src: Any, source_x: Any, lanes: Any) -> None:
    """Begin a copy to global memory, of what ordinary stores wrote only behind a fence."""
    _note(g, dst, x, src, source_x, lanes)
    seen_by_async(g, site, src, source_x, lanes)
    if len(lanes):
        g.pending.stores.open.append(Store(g, src, source_x, dst, x, lanes[0]))


def seen_by_async(g: Any, site: Any, place: Any, x: Any, lane: Any) -> None:
    """Report what ordinary stores wrote with no fence_proxy_async behind it."""
    memory, clock = place.memory, g.run.clock
    if memory.shadow is None or not g.run.watches or not len(x):
        return
    writes = memory.shadow.writes
    who, epoch = writes.thread[x], writes.epoch[x]
    by_thread = who >= 0 if writes.agent is None else (who >= 0) & ~writes.agent[x]
    writer = np.where(by_thread, who - clock.origin, 0)
    fenced = np.maximum(clock.fenced[writer], clock.fenced[g.own[lane]])
    wrong = np.flatnonzero(by_thread & (epoch >= fenced))
    if len(wrong):
        because = f"thread ({g.run.thread_name(int(who[wrong[0]]))}) wrote it, with no fence_proxy_async behind"
        what = f"'{memory.place(int(x[wrong[0]]))}' is read by an asynchronous operation that need not see it"
        g.run.report("async", what, because, site.stmt, len(wrong))


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
            site = next(site for site in g.run.sites if site.slot >= 0 and g.v[site.slot] is store.source)
            g.run.report("async", "a copy reads shared memory of a block that has ended", because, site.stmt)
        store.land()


COPIES_NUMPY: Final[dict[str, Callable[..., Any]]] = {
    "prefetch": lambda g, site, mask, element: None,
    "cp_async": cp_async,
    "cp_async_zfill": cp_async_zfill,
    "cp_async_commit": cp_async_commit,
    "cp_async_wait": cp_async_wait,
    "cp_async_mbarrier_arrive": cp_async_mbarrier_arrive,
    "bulk_load": bulk_load,
    "bulk_store": bulk_store,
    "bulk_commit": bulk_commit,
    "bulk_wait": bulk_wait,
    "bulk_wait_read": bulk_wait_read,
}
"""What each does."""
