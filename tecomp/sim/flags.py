"""Order between blocks by fences and atomic updates: partial results, a counter, and the last block that comes.

part[b] = sum                      a thread writes,
fence_device()                     orders that before what it tells others,
old = fetch_add(address(n[0]), 1)  and tells it by an update. Who updates the same element later, and fences,
fence_device()                     knows it too, and after a barrier all threads of its block do.

Who has updated an element, and fences, comes after all updates before its own: the last one may store there.

With fence_block() in place of either fence, only threads of its own block do.
"""

from __future__ import annotations

from typing import Any

from .told import NOTHING, Told


class Flags:
    """What atomic updates have told, element by element, in one launch: to threads of the same block, and to all."""

    def __init__(self) -> None:
        self._told: dict[tuple[int, int, int], Told] = {}
        self._released: dict[tuple[int, bool], Told] = {}
        self._heard: dict[tuple[int, bool], Told] = {}

    def fence(self, g: Any, lanes: Any, to_all: bool) -> None:
        """Threads order what they did before against what they do behind, and what they heard."""
        if not g.run.program.tells:
            return
        clock = g.run.clock
        for lane in lanes.tolist():
            thread = int(g.threads[lane])
            reached = [(thread, scope) for scope in (False, True) if to_all or not scope]
            for heard in [self._heard.pop(one) for one in reached if one in self._heard]:
                clock.hear(thread, heard)
            told = clock.told(thread)
            for one in reached:
                self._released[one] = told

    def update(self, g: Any, memory: Any, x: int, lane: int, later: int = 0) -> None:
        """A thread has updated an element and knows its old value; of the updates noted, so many come later."""
        if not g.run.program.fences:
            return
        thread = int(g.threads[lane])
        seen = NOTHING
        if memory.shadow is not None and memory.shadow.writes.updates is not None:
            writes = memory.shadow.writes
            seen = Told(updates={(id(writes), x): int(writes.updates[x]) - later})
        for who, block in ((thread, False), int(g.block[lane])), ((thread, True), -1):
            key = (id(memory), x, block)
            known, heard, released = self._told.get(key), self._heard.get(who), self._released.get(who)
            self._heard[who] = seen if heard is None else heard.joined(seen)
            if known is not None:
                self._heard[who] = self._heard[who].joined(known)
            if released is not None:
                self._told[key] = released if known is None else known.joined(released)
