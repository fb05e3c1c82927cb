"""Races under the interpreter: two threads in one element, one of them writing, and nothing that orders them.

The threads of a block are ordered by its barriers: what happens between two of them is one phase. The blocks of a
launch are ordered by its end, and by barriers of the whole grid: what happens between two of these is one round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Element = tuple[int, ...]


class Turn(NamedTuple):
    """A thread from one barrier to the next. `block` and `thread` hold its numbers along the axes `tags`."""

    launch: int
    block: tuple[int, ...]
    phase: int
    thread: tuple[int, ...]
    tags: tuple[str, ...]
    round: int = 0

    def races(self, other: Turn) -> bool:
        """Return whether nothing orders two turns, of which neither is part of the other."""
        if (self.launch, self.round) != (other.launch, other.round):
            return False
        return self.block != other.block or (self.phase == other.phase and self.thread != other.thread)

    def next(self) -> Turn:
        """Return the thread's turn after a barrier of its block."""
        return self._replace(phase=self.phase + 1)

    def next_round(self) -> Turn:
        """Return the thread's turn after a barrier of the grid."""
        return self._replace(phase=self.phase + 1, round=self.round + 1)

    def __str__(self) -> str:
        return ", ".join(f"{tag}={index}" for tag, index in zip(self.tags, self.thread, strict=True))


class Clock:
    """Whose turn it is; None between launches, where nothing runs at once."""

    def __init__(self) -> None:
        self.turn: Turn | None = None
        self.launches = 0


Fail = Callable[[str, Element, str], Exception]
"""fail(verb, element, what another thread does): the report of an access."""


class Touched:
    """Who has touched the elements of one memory. `fail` makes the report."""

    __slots__ = ("clock", "fail", "readers", "updated", "writers")

    def __init__(self, clock: Clock, fail: Fail) -> None:
        self.clock, self.fail = clock, fail
        self.writers: dict[Element, Turn] = {}
        self.readers: dict[Element, tuple[Turn, ...]] = {}
        self.updated: set[Element] = set()
        """Those whose last writer updated them indivisibly."""

    def read(self, element: Element) -> None:
        """Note a read; raise where it races with a write."""
        turn = self.clock.turn
        if turn is None:
            return
        writer = self.writers.get(element)
        if writer is not None and writer is not turn and writer.races(turn):
            raise self._race("reads", element, turn, "writes", writer)
        known = self.readers.get(element, ())
        if turn not in known:
            self.readers[element] = _readers(known, turn)

    def write(self, element: Element) -> None:
        """Note a write; raise where it races with another access."""
        self._written(element, False)
        self.updated.discard(element)

    def update(self, element: Element) -> None:
        """Note an indivisible update; raise where it races with anything but another one."""
        self._written(element, element in self.updated)
        self.updated.add(element)

    def _written(self, element: Element, among_updates: bool) -> None:
        turn = self.clock.turn
        if turn is None:
            return
        writer = self.writers.get(element)
        if writer is not None and writer is not turn and writer.races(turn) and not among_updates:
            raise self._race("writes", element, turn, "writes", writer)
        for reader in self.readers.get(element, ()):
            if reader.races(turn):
                raise self._race("writes", element, turn, "reads", reader)
        self.writers[element] = turn

    def _race(self, verb: str, element: Element, turn: Turn, other_verb: str, other: Turn) -> Exception:
        return self.fail(
            verb, element, f"in thread ({turn}) while thread ({other}) {other_verb} it: no barrier between"
        )


def _readers(known: tuple[Turn, ...], turn: Turn) -> tuple[Turn, ...]:
    """Return the readers that a later write can race with if it can with any: two threads of the phase, another block.

    >>> known of (block 0), (block 1, phase 0); turn of (block 1, phase 1)  ->  (block 0), (block 1, phase 1)
    """
    others = [old for old in known if old.launch == turn.launch and old.block != turn.block][:1]
    alike = [old for old in known if (old.launch, old.block, old.phase) == (turn.launch, turn.block, turn.phase)][:1]
    return (*others, *alike, turn)
