"""Order between blocks by fences and atomic updates: partial results, a counter, and the last block that comes.

part[b] = sum                      a thread writes,
fence_device()                     orders that before what it tells others,
old = fetch_add(address(n[0]), 1)  and tells it by an update. Who updates the same element later, and fences,
fence_device()                     knows it too, and after a barrier all threads of its block do.
"""

from __future__ import annotations

from typing import Any

from .told import Told


class Flags:
    """What atomic updates have told, element by element, in one launch."""

    def __init__(self) -> None:
        self._told: dict[tuple[int, int], Told] = {}
        self._released: dict[int, Told] = {}
        self._heard: dict[int, Told] = {}

    def fence(self, g: Any, lanes: Any) -> None:
        """Threads order what they did before against what they do behind, and what they heard."""
        if not g.run.program.tells:
            return
        clock = g.run.clock
        for lane in lanes.tolist():
            thread = int(g.threads[lane])
            heard = self._heard.pop(thread, None)
            if heard is not None:
                clock.hear(thread, heard)
            self._released[thread] = clock.told(thread)

    def update(self, g: Any, memory: Any, x: int, lane: int) -> None:
        """A thread has updated an element and knows its old value."""
        thread, key = int(g.threads[lane]), (id(memory), x)
        known = self._told.get(key)
        if known is not None:
            heard = self._heard.get(thread)
            self._heard[thread] = known if heard is None else heard.joined(known)
        released = self._released.get(thread)
        if released is not None:
            self._told[key] = released if known is None else known.joined(released)
