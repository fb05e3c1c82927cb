"""What copies of words do in the simulator: they begin now, and land when their thread waits for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .meeting import mbarrier_at
from .touching import aligned, hold, let_go, note, pairs


class Copy:
    """A copy on its way: elements `x` of `memory` from elements `source_x` of `source`, each for a thread.

    `zero` tells which elements become zero in place of what the source has.
    """

    def __init__(self, g: Any, dst: Any, x: Any, src: Any, source_x: Any, lane: Any, zero: Any) -> None:
        self.g, self.site, self.memory, self.source = g, dst.site, dst.memory, src.memory
        self.x, self.source_x, self.lane, self.zero = x, source_x, lane, zero
        self.number = g.run.flights.begin(f"cp_async of thread ({g.name(int(lane[0]))})" if len(lane) else "cp_async")
        hold(self.source, source_x[~zero], -self.number)
        hold(self.memory, x, self.number)

    def land(self, chosen: Any) -> None:
        """End the copy for some threads: their elements are written, as these threads' doing."""
        now = chosen[self.lane]
        if not now.any():
            return
        x, source_x, lane, zero = self.x[now], self.source_x[now], self.lane[now], self.zero[now]
        values = self.source.data[source_x] if not zero.all() else np.zeros(len(x), self.memory.data.dtype)
        self.memory.data[x] = np.where(zero, np.zeros((), values.dtype), values)
        let_go(self.source, source_x[~zero], -self.number)
        let_go(self.memory, x, self.number)
        if self.memory.shadow is not None and self.g.run.watches:
            threads = self.g.threads[lane]
            self.memory.shadow.writes.put(x, threads, self.g.run.clock.epoch[self.g.own[lane]], self.site.number)
        self.x, self.source_x, self.lane, self.zero = (
            part[~now] for part in (self.x, self.source_x, self.lane, self.zero)
        )


def cp_async(g: Any, site: Any, mask: Any, dst: Any, src: Any, count: Any, src_bytes: Any = None) -> None:
    """Begin to copy 4, 8 or 16 bytes for each thread; behind `src_bytes` of them, zeros, and nothing is read."""
    lanes, size = g.lanes_of(mask), int(count)
    g.run.tally("cp_async", len(np.unique(g.warp[lanes])))
    for place in (dst, src):
        aligned(g, site, place, lanes, size)
    item = dst.memory.data.itemsize
    limit = size if src_bytes is None else np.broadcast_to(src_bytes, (g.size,))[lanes][:, None]
    zero = np.broadcast_to(np.arange(size // item) * item >= limit, (len(lanes), size // item)).ravel()
    x, source_x, lane, at = pairs(g, dst, src, lanes, size // item, zero)
    note(g, dst, x, src, source_x, lane, zero[at])
    g.pending.copies.open.append(Copy(g, dst, x, src, source_x, lane, zero[at]))


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

        g.run.flights.later(land)


COPIES_NUMPY: Final[dict[str, Callable[..., Any]]] = {
    "prefetch": lambda g, site, mask, element: None,
    "cp_async": cp_async,
    "cp_async_zfill": cp_async_zfill,
    "cp_async_commit": cp_async_commit,
    "cp_async_wait": cp_async_wait,
    "cp_async_mbarrier_arrive": cp_async_mbarrier_arrive,
}
"""What each does."""
