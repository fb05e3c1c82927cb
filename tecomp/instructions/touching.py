"""What asynchronous operations touch in the simulator: elements that are theirs until they end."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Located(NamedTuple):
    """The elements of an access one after the other: where, of which thread of the gang, in which position of it."""

    x: Any
    lane: Any
    at: Any
    """Positions in the whole access; None where all of it is there."""


def hold(memory: Any, x: Any, number: int) -> None:
    """Let an operation have elements in its hands; one that only reads them gives its number negated."""
    if not len(x):
        return
    if memory.flight is None:
        memory.flight = np.zeros(memory.count * memory.instances, np.int32)
    memory.flight[x] = number


def let_go(memory: Any, x: Any, number: int) -> None:
    """Take elements out of the hands of an operation, where no later one has them."""
    if len(x):
        memory.flight[x[memory.flight[x] == number]] = 0


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


def pairs(g: Any, dst: Any, src: Any, lanes: Any, count: int, zero: Any = None) -> tuple[Any, Any, Any, Any]:
    """Return which elements a copy of `count` for each thread is between, those outside of either left out.

    Those that become zero are in no place of the source.
    """
    flat, lane = _span(g, dst, lanes, count)
    source, _ = _span(g, src, lanes, count)
    source = source if zero is None else np.where(zero, 0, source)
    to = g.elements(dst.site, dst.memory, flat, lane, "writes")
    of = g.elements(src.site, src.memory, source, lane, "reads")
    every = np.arange(len(flat))
    if to.at is None and of.at is None:
        return to.x, of.x, lane, every
    kept = [every if one.at is None else one.at for one in (to, of)]
    both = np.intersect1d(kept[0], kept[1])
    x, source_x = (one.x[np.searchsorted(at, both)] for one, at in zip((to, of), kept, strict=True))
    return x, source_x, lane[both], both


def note(g: Any, dst: Any, x: Any, src: Any, source_x: Any, lane: Any, zero: Any = False) -> None:
    """Note what a copy reads and writes as done by its threads when it begins."""
    read = np.broadcast_to(~np.asarray(zero), (len(lane),))
    from_ = Located(source_x[read], lane[read], None)
    g.checked_read(src.site, src.memory, from_, verb="copy load")
    g.checked_write(dst.site, dst.memory, Located(x, lane, None), verb="copy store")


def seen_by_async(g: Any, site: Any, place: Any, x: Any, lane: Any, verb: str = "read") -> None:
    """Report what ordinary stores wrote with no fence_proxy_async behind it."""
    memory, clock = place.memory, g.run.clock
    if memory.shadow is None or not g.run.watches or not len(x):
        return
    writes = memory.shadow.writes
    who, epoch = writes.thread[x], writes.epoch[x]
    by_thread = who >= 0 if writes.agent is None else (who >= 0) & ~writes.agent[x]
    by_thread &= (who >= clock.origin) & (who < clock.origin + len(clock.epoch))
    writer = np.where(by_thread, who - clock.origin, 0)
    fenced = np.maximum(clock.fenced[writer], clock.fenced[g.own[lane]])
    wrong = np.flatnonzero(by_thread & (epoch >= fenced))
    if len(wrong):
        because = f"thread ({g.run.thread_name(int(who[wrong[0]]))}) wrote it, with no fence_proxy_async behind"
        what = f"'{memory.place(int(x[wrong[0]]))}' is {verb} by an asynchronous operation that need not see it"
        g.run.report("async", what, because, site.stmt, len(wrong))
