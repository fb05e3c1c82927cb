"""Order between blocks by fences and atomic updates: partial results, a counter, and the last block that comes."""

from __future__ import annotations

from typing import Any


class Flags:
    """What atomic updates of global memory have told of blocks."""

    def fence(self, g: Any, lanes: Any) -> None:
        """Threads order what they did before against what they do behind."""

    def update(self, g: Any, memory: Any, x: int, lane: int) -> None:
        """A thread has updated an element and knows its old value."""
