"""Registers: what each thread has for itself, and how a gang reads and writes it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.stmt import Buffer
from .site import Site
from .values import Array, Mask


class Registers:
    """The elements of one buffer that each thread has for itself; a store makes a new row, and never changes one."""

    def __init__(self, buffer: Buffer, count: int, threads: int) -> None:
        self.buffer, self.count, self.threads = buffer, count, threads
        shape = () if buffer.dtype.lanes == 1 else (1, buffer.dtype.lanes)
        zero = np.zeros(shape, buffer.dtype.numpy)[()]
        self.rows: list[Any] = [zero] * count
        self.marks: list[Any] = [False] * count
        """For each element True, False, or which threads have stored to it."""
        self.flight: dict[int, int] = {}
        """The asynchronous operation that an element is in the hands of."""
        self.last_put = 0
        """The number of the last store, among those of the gang."""

    def put(self, at: int, value: Any, mask: Mask) -> None:
        """Store to one element, in the threads of the mask."""
        if mask is None:
            self.rows[at], self.marks[at] = value, True
            return
        chosen = mask[:, None] if self.buffer.dtype.lanes > 1 and mask.ndim == 1 else mask
        self.rows[at] = np.where(chosen, value, self.rows[at])
        if self.marks[at] is not True:
            self.marks[at] = self.marks[at] | mask

    def matrix(self) -> Array:
        """Return (elements, threads): all values."""
        return np.stack([np.broadcast_to(row, (self.threads,)) for row in self.rows])

    def mark_matrix(self) -> Array:
        """Return (elements, threads): which were stored to."""
        return np.stack([np.broadcast_to(np.asarray(mark), (self.threads,)) for mark in self.marks])


def load(g: Any, site: Site, memory: Registers, index: Any, mask: Mask) -> Any:
    """Return the elements at `index` of each thread of a gang; what other threads get means nothing."""
    if np.ndim(index) == 0:
        return _load_one(g, site, memory, index, _of_threads(mask))
    if np.ndim(index) == 2 and index.shape[0] == 1:
        parts = [_load_one(g, site, memory, one, mask_of(mask, at)) for at, one in enumerate(index[0])]
        return np.stack([np.broadcast_to(part, (g.size,)) for part in parts], axis=1)
    inside = _inside(g, site, memory, index, mask, "reads")
    lane = g.all_lanes if np.ndim(index) == 1 else g.all_lanes[:, None]
    missing = ~memory.mark_matrix()[inside, lane]
    if mask is not None:
        missing &= mask if mask.ndim == missing.ndim else mask[:, None]
    if missing.any():
        _unwritten(
            g, site, memory, int(inside[tuple(np.argwhere(missing)[0])]), ~missing.reshape(g.size, -1).any(1), None
        )
    if memory.buffer.dtype.lanes > 1:
        return np.stack([np.broadcast_to(row, (g.size, row.shape[-1])) for row in memory.rows])[inside, lane]
    return memory.matrix()[inside, lane]


def _load_one(g: Any, site: Site, memory: Registers, index: Any, mask: Mask) -> Any:
    if not 0 <= index < memory.count:
        for lane in g.lanes_of(mask)[:1]:
            _outside(g, site, memory, index, lane, "reads")
        return memory.rows[0]
    if memory.marks[index] is not True:
        _unwritten(g, site, memory, int(index), memory.marks[index], mask)
    _check_flight(g, site, memory, int(index), mask, "reads")
    return memory.rows[index]


def store(g: Any, site: Site, memory: Registers, index: Any, value: Any, mask: Mask) -> None:
    """Store to the elements at `index` of each thread of the mask."""
    g.pending.puts += 1
    memory.last_put = g.pending.puts
    if np.ndim(index) == 0:
        if not 0 <= index < memory.count:
            _outside(g, site, memory, index, g.lanes_of(_of_threads(mask))[0], "writes")
            return
        _check_flight(g, site, memory, int(index), mask, "writes")
        memory.put(int(index), value, mask)
        return
    inside = _inside(g, site, memory, index, mask, "writes")
    if inside.ndim == 1:
        rows = np.broadcast_to(value, (g.size, *np.shape(value)[1:]))
        for at in np.unique(inside):
            memory.put(int(at), rows, _narrowed(mask, inside == at))
        return
    columns = np.broadcast_to(value, (g.size, inside.shape[1]))
    for lane in range(inside.shape[1]):
        chosen = mask_of(mask, lane)
        if inside.shape[0] == 1:
            memory.put(int(inside[0, lane]), columns[:, lane], chosen)
            continue
        for at in np.unique(inside[:, lane]):
            memory.put(int(at), columns[:, lane], _narrowed(chosen, inside[:, lane] == at))


def _inside(g: Any, site: Site, memory: Registers, index: Array, mask: Mask, verb: str) -> Array:
    """Return the indices, 0 in place of those that are outside, which are reported."""
    bad = (index < 0) | (index >= memory.count)
    if not bad.any():
        return index
    wanted = bad if mask is None else bad & (mask if mask.ndim == bad.ndim else mask[:, None])
    if wanted.any():
        at = tuple(np.argwhere(wanted)[0])
        _outside(g, site, memory, np.broadcast_to(index, wanted.shape)[at], at[0], verb)
    return np.where(bad, 0, index)


def _outside(g: Any, site: Site, memory: Registers, index: Any, lane: Any, verb: str) -> None:
    what = f"'{memory.buffer.name}' is accessed at element {int(index)}, outside its {memory.count}"
    g.run.report("bounds", what, f"thread ({g.name(lane)}) {verb} it", site.stmt)


def _unwritten(g: Any, site: Site, memory: Registers, at: int, marks: Any, mask: Mask) -> None:
    missing = np.broadcast_to(~np.asarray(marks), (g.size,))
    lanes = np.flatnonzero(missing if mask is None else missing & mask_of(mask, 0))
    if g.live is not None:
        lanes = lanes[g.live[lanes]]
    if len(lanes):
        name = f"{memory.buffer.name}[{at}]" if memory.buffer.shape else memory.buffer.name
        because = f"thread ({g.name(lanes[0])}) reads it, and has not stored to it"
        g.run.report("uninitialised", f"'{name}' in local memory holds nothing", because, site.stmt, len(lanes))
        memory.marks[at] = True


def _check_flight(g: Any, site: Site, memory: Registers, at: int, mask: Mask, verb: str) -> None:
    lanes = g.lanes_of(_of_threads(mask)) if memory.flight.get(at) else ()
    for lane in lanes[:1]:
        because = (
            f"thread ({g.name(lane)}) {verb} it, while {g.run.operation(memory.flight[at])} has not been waited for"
        )
        g.run.report("async", f"'{memory.buffer.name}[{at}]' in local memory is in flight", because, site.stmt)


def mask_of(mask: Mask, lane: int) -> Mask:
    """Return the threads that take part in one lane of a vector access."""
    return mask if mask is None or mask.ndim == 1 else mask[:, lane]


def _of_threads(mask: Mask) -> Mask:
    """Return the threads that take part in any lane of a vector access."""
    return mask if mask is None or mask.ndim == 1 else mask.any(axis=1)


def _narrowed(mask: Mask, chosen: Array) -> Array:
    return chosen if mask is None else chosen & mask
