"""Asynchronous operations: what is on its way, and lands as late as the program lets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Flight(NamedTuple):
    """An operation that was begun; `land` ends it."""

    land: Callable[[], None]
    left: Callable[[], None] | None = None
    """What is wrong where nobody waits for it."""


class Flights:
    """The asynchronous operations of some blocks."""

    def __init__(self, run: Any) -> None:
        self._run = run
        self._names: list[str] = [""]
        self._late: list[Flight] = []

    def begin(self, name: str) -> int:
        """Return the number of a new operation."""
        self._names.append(name)
        return len(self._names) - 1

    def name(self, number: int) -> str:
        """Return an operation in words."""
        return self._names[number]

    def later(self, land: Callable[[], None], left: Callable[[], None] | None = None) -> None:
        """Let an operation land when nothing else can go on; `left` reports one that nobody waits for."""
        self._late.append(Flight(land, left))

    def end(self) -> None:
        """All threads have ended: report what is still on its way to their memory, and let it land."""
        for one in self._late:
            if one.left is not None:
                one.left()
        while self.land_one():
            pass

    def land_one(self) -> bool:
        """End one of the operations on their way, whichever the seed decides; answer whether there was one."""
        if not self._late:
            return False
        one = self._late.pop(int(self._run.random.integers(len(self._late))))
        one.land()
        return True
